/* The helper functrace-probes: a program with the capabilities CAP_BPF and CAP_PERFMON, which loads the program and
 * makes links for a functrace that lacks them. functrace starts the helper and sends requests to it over a socket. The
 * helper checks every value of a request (probes_main.c). */
#ifndef FT_UPROBE_UPROBE_HELPER_H
#define FT_UPROBE_UPROBE_HELPER_H

#include "uprobe/uprobe_load.h"

/* ---- Messages ---- */

#define UPROBE_SITES_MAX 256 /* maximum number of sites in a request */
#define UPROBE_RING_MAX  (64u << 20)

enum uprobe_request_type { UPROBE_NO_REQUEST, UPROBE_LOAD, UPROBE_LINK };

/* A request always has this size. UPROBE_LINK carries a descriptor of the file. */
struct uprobe_request {
	uint32_t type; /* enum uprobe_request_type */
	/* UPROBE_LOAD: see struct uprobes_options */
	uint32_t frames, entry_stacks, signal;
	uint64_t ring_size;
	/* UPROBE_LINK: see uprobe_program_link() */
	int32_t pid;
	uint32_t at_return, count;
	uint32_t unused;
	struct uprobe_site sites[UPROBE_SITES_MAX];
};

/* The answer. UPROBE_LOAD has UPROBE_MAPS answers, with a map each. UPROBE_LINK has two: one with the link, and one
 * when the helper has closed its own descriptor of the link. After an answer with an error no other follows. */
struct uprobe_answer {
	int32_t error;     /* 0 or -errno; -EPERM: the helper has no capabilities; -EXDEV: it is in a container */
	char message[252]; /* the kernel's reason */
};

/* ---- The client ---- */

struct uprobe_helper;

/* Starts the helper, and lets it load the program. Sets maps[] to descriptors that the caller closes. Returns NULL if
 * that is impossible, and writes the reason, for a message, to `why`. */
struct uprobe_helper *uprobe_helper_start(const struct uprobes_options *options, int maps[UPROBE_MAPS], char *why,
					  size_t size);
/* Does the same as uprobe_program_link(). */
int uprobe_helper_link(struct uprobe_helper *helper, bool at_return, pid_t pid, int file,
		       const struct uprobe_site *sites, size_t count);
/* Closes the socket, at which the helper ends, and waits for its end. Links stay. NULL is allowed. */
void uprobe_helper_free(struct uprobe_helper *helper);

#endif

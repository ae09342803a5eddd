/* Probes in the kernel: a BPF program at the functions that a process calls most often. The program makes a record of
 * each call (uprobe_record.h) without stopping the thread. This room knows links, the ring and the table of rows, and
 * neither tasks nor events. Source: the kernel's kernel/trace/bpf_trace.c (uprobe_multi, Linux 6.6) and
 * kernel/bpf/ringbuf.c. */
#ifndef FT_UPROBE_UPROBES_H
#define FT_UPROBE_UPROBES_H

#include "uprobe/uprobe_maps.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct uprobes;

struct uprobes_options {
	uint64_t ring_size; /* bytes; a power of two, at least 64 KiB */
	unsigned frames;    /* number of frames of a stack, at most UPROBE_FRAMES_MAX */
	bool entry_stacks;  /* the release by realloc has a stack, too */
	int signal;         /* sent to a thread when the ring is half full; 0: none */
};

/* Loads the program; without the rights to do so, starts the helper functrace-probes, which loads it. Returns NULL if
 * that is impossible, and writes the reason, for a message, to `why`. The caller frees the result by uprobes_close(),
 * which also ends all links. */
struct uprobes *uprobes_open(const struct uprobes_options *options, char *why, size_t why_size);
void uprobes_close(struct uprobes *u);

/* A probed function. */
struct uprobe_site {
	uint64_t offset; /* offset in the file of the instruction that gets the probe */
	uint64_t cookie; /* address of the function in the process, and UPROBE_ bits */
};

/* The links of one thread group to functions of one file. */
struct uprobe_link {
	int fds[2]; /* of the entries, of the returns; -1: none */
};

#define UPROBE_LINK_NONE ((struct uprobe_link){{-1, -1}})

/* Probes functions of a file in the thread group `pid` only, and the returns of those with UPROBE_RETURN. file: an open
 * descriptor, for reading. Returns 0 or -errno. The probes are in place when it returns, and are removed by
 * uprobe_unlink() or when functrace ends in any way. */
int uprobe_link(struct uprobes *u, pid_t pid, int file, const struct uprobe_site *sites, size_t count,
		struct uprobe_link *link);
/* Removes the probes soon: another thread does it. */
void uprobe_unlink(struct uprobe_link *link);
/* Returns true if all probes that were to be removed are removed. */
bool uprobe_unlink_is_done(void);
/* Waits until they are removed. */
void uprobe_unlink_wait(void);

/* Returns the next record that is complete, or NULL if there is none before the position. The record is valid until
 * uprobe_ring_done(). */
const struct uprobe_record *uprobe_ring_next(struct uprobes *u, uint64_t until);
void uprobe_ring_done(struct uprobes *u);
/* Returns the position of the record that uprobe_ring_next() has returned. */
uint64_t uprobe_ring_position(const struct uprobes *u);
/* Returns the producer's position: uprobe_ring_next() with this position returns all records that were begun before. */
uint64_t uprobe_ring_end(const struct uprobes *u);

/* Enters a row for the pc (with UPROBE_EXACT if it is no return address). */
void uprobe_row_set(struct uprobes *u, const struct uprobe_row *row);
/* Removes the rows of a process in [start, end]. */
void uprobe_rows_forget(struct uprobes *u, uint32_t space, uint64_t start, uint64_t end);

/* Notes whether the thread is in a call that has a breakpoint, so that the program reports calls inside it as nested.
 * The thread must be stopped. */
void uprobe_set_outer(struct uprobes *u, pid_t tid, bool has_outer);

/* Gets the calls in flight of a stopped thread, whose return addresses the kernel has replaced. A call with return_sp 0
 * is none. begin: the caller acts on their entries, so their returns are recorded as those of calls whose entries were
 * recorded; is_entered is still the old value. Returns false if the calls are unknown: before Linux 6.9 the kernel
 * tells only those of a leader. */
bool uprobe_calls_in_flight(struct uprobes *u, pid_t tid, struct uprobe_call calls[UPROBE_CALLS], bool begin);
/* Takes the calls of a stopped thread with this return_sp, which return now without the kernel's program: those that
 * the kernel has forgotten, else those in flight. calls[i] is the one with `jumps` i. Returns their number. */
size_t uprobe_take_returned(struct uprobes *u, pid_t tid, uint64_t return_sp, struct uprobe_call calls[UPROBE_CALLS]);

/* Takes the numbers of one function's calls whose records were lost. Returns false if there are no more. */
bool uprobe_take_lost(struct uprobes *u, struct uprobe_lost_key *key, struct uprobe_lost *sum);
/* Counters of all processes. */
const volatile struct uprobe_shared *uprobe_counters(const struct uprobes *u);

/* Returns true if the program has sent the thread its signal since the last call. */
bool uprobe_sent_signal(struct uprobes *u, pid_t tid);

#endif

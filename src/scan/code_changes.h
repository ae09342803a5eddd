/* How the code in a process's memory differs from the files that it was mapped from.
 *
 * If all of functrace's processes are killed at once, the breakpoints of the processes that it traced stay in their
 * code: a thread that runs into one dies of SIGTRAP, and so does each child that is forked. A page that somebody has
 * written to is not the file's any more, which the kernel says (/proc/PID/pagemap), so that only these are compared. */
#ifndef FT_SCAN_CODE_CHANGES_H
#define FT_SCAN_CODE_CHANGES_H

#include "arch/arch.h"

#include <sys/types.h>

enum code_change_kind {
	CODE_BREAKPOINT, /* a breakpoint's bytes, where the file has others */
	CODE_OTHER,      /* anything else: a copy of an instruction, relocations, a program that changes its own code */
};

struct code_change {
	uint64_t address;
	enum code_change_kind kind;
	unsigned char size;
	unsigned char original[ARCH_BREAKPOINT_MAX]; /* of a breakpoint: the file's bytes */
};

/* Those of one process, by address. */
struct code_changes {
	struct code_change *items;
	size_t count, capacity;
	size_t breakpoints;
	char *path;       /* the file in whose code the first breakpoint is; NULL: there is none */
	bool has_uprobes; /* breakpoints may be the kernel's, which has made room for their copies ([uprobes]) */
	bool is_cut;      /* more were found than are kept */
};

/* Compares the process's executable mappings with their files. What cannot be opened or read counts as unchanged. 0, or
 * -errno: the process has gone, or may not be looked at. code_changes_free() in any case. */
int code_changes_find(pid_t pid, const struct arch *arch, struct code_changes *changes);
void code_changes_free(struct code_changes *changes);

/* Puts back the breakpoints that a tracer which is gone has left in the process's code, while all its threads are
 * stopped, and reports what was done. 0, or 1 after a message. */
int code_repair(pid_t pid);

#endif

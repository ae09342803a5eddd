/* Compares the code in a process's memory with the files that it was mapped from.
 *
 * If all of functrace's processes are killed at once, the breakpoints of the traced processes stay in their code: a
 * thread that runs into one dies of SIGTRAP, and so does each child that is forked. The kernel shows which pages
 * were written to and so are no longer the file's (/proc/PID/pagemap). Only these are compared. */
#ifndef FT_SCAN_CODE_CHANGES_H
#define FT_SCAN_CODE_CHANGES_H

#include "arch/arch.h"

#include <sys/types.h>

enum code_change_kind {
	CODE_BREAKPOINT, /* the bytes of a breakpoint, where the file has others */
	CODE_OTHER,      /* anything else: an instruction's copy, relocations, a program that changes its code */
};

struct code_change {
	uint64_t address;
	enum code_change_kind kind;
	unsigned char size;
	unsigned char original[ARCH_BREAKPOINT_MAX]; /* of a breakpoint: the file's bytes */
};

/* The changes in one process, by address. */
struct code_changes {
	struct code_change *items;
	size_t count, capacity;
	size_t breakpoints;
	char *path;       /* the file with the first breakpoint, or NULL */
	bool has_uprobes; /* breakpoints may be the kernel's, which has mapped room for their copies ([uprobes]) */
	bool is_cut;      /* there are more changes than are kept */
};

/* Compares the process's executable mappings with their files. Files and pages that cannot be read count as unchanged.
 * Returns 0, or -errno if the process has ended or may not be inspected. Call code_changes_free() in both cases. */
int code_changes_find(pid_t pid, const struct arch *arch, struct code_changes *changes);
void code_changes_free(struct code_changes *changes);

/* Removes the breakpoints that a killed tracer has left in the process's code, while all its threads are stopped, and
 * reports the result. Returns 0, or 1 after a message. */
int code_repair(pid_t pid);

#endif

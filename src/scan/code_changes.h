/* Compares the code in a process's memory with the files from which it was mapped.
 *
 * If all of functrace's processes are killed at once, the breakpoints of the traced processes stay in their code. A
 * thread that hits such a breakpoint dies of SIGTRAP, also in a child that is forked later. The kernel shows which
 * pages were written, so that they no longer have the file's contents (/proc/PID/pagemap). Only these pages are
 * compared. */
#ifndef FT_SCAN_CODE_CHANGES_H
#define FT_SCAN_CODE_CHANGES_H

#include "arch/arch.h"

#include <sys/types.h>

enum code_change_kind {
	CODE_BREAKPOINT, /* a breakpoint, which is not in the file */
	CODE_OTHER,      /* another change: a copied instruction, relocations, a program that changes its code */
};

struct code_change {
	uint64_t address;
	enum code_change_kind kind;
	unsigned char size;
	unsigned char original[ARCH_BREAKPOINT_MAX]; /* the file's bytes; only for a breakpoint */
};

/* The changes in one process, in order of address. */
struct code_changes {
	struct code_change *items;
	size_t count, capacity;
	size_t breakpoints;
	char *path;       /* path of the file with the first breakpoint, or NULL */
	bool has_uprobes; /* the process has the kernel's mapping [uprobes]: breakpoints may be the kernel's own */
	bool is_cut;      /* true if there are more changes than are stored */
};

/* Compares the process's executable mappings with their files. Files and pages that cannot be read are treated as
 * unchanged. Returns 0, or -errno if the process has ended or may not be inspected. In both cases the caller frees
 * *changes with code_changes_free(). */
int code_changes_find(pid_t pid, const struct arch *arch, struct code_changes *changes);
void code_changes_free(struct code_changes *changes);

/* Removes the breakpoints that a killed tracer has left in the process's code. All threads of the process are
 * stopped meanwhile. Prints the result. Returns 0, or 1 after an error message. */
int code_repair(pid_t pid);

#endif

/* A program under ptrace for the tests of the unwinder: it is stopped and stepped, and a snapshot of its stack is
 * taken. */
#ifndef FT_TESTS_UNWIND_TRACEE_H
#define FT_TESTS_UNWIND_TRACEE_H

#include "unwind/unwind.h"

#define TRACEE_STACK 65536

struct tracee {
	pid_t process, pid; /* pid: the thread that stopped */
	char *maps;         /* the text of the maps that the unwinders have */
	struct unwinder *rows, *libunwind;
	struct stack_snapshot snapshot;
	unsigned char stack[TRACEE_STACK];
	int status;          /* of the last wait */
	unsigned long reads; /* calls of the snapshot's read() */
};

/* Returns true if the file exists, and is an ELF file with addresses as wide as those of this build's processor. */
bool tracee_is_native(const char *path);
/* Starts a program, stopped at its first instruction. Returns NULL if that failed. Its standard output goes to `out`
 * (-1: unchanged). */
struct tracee *tracee_start(const char *const argv[], int out);
/* Kills the program if it still exists. */
void tracee_end(struct tracee *tracee);
/* Continues or steps it until it stops again, and delivers signals other than SIGSTOP and SIGTRAP. Returns false when
 * it has ended. */
bool tracee_continue(struct tracee *tracee);
bool tracee_step(struct tracee *tracee);
/* The number of steps to take: `most`, or fewer if UNWIND_STEPS in the environment says so, as for an emulated machine.
 */
size_t tracee_steps(size_t most);
/* Continues it to the next beginning or end of a system call. */
bool tracee_system_call(struct tracee *tracee);
/* Reads registers and up to `size` bytes of the stack into tracee->snapshot; passes changed maps to the unwinders if
 * `maps`. */
void tracee_snapshot(struct tracee *tracee, size_t size, bool maps);
/* Passes all objects to one unwinder; or as objects whose files cannot be opened. */
void tracee_add_objects(struct tracee *tracee, struct unwinder *unwinder);
void tracee_add_objects_without_files(struct tracee *tracee, struct unwinder *unwinder);
/* The name of the mapping and the offset in it, for messages; static storage of 4 results. */
const char *tracee_where(struct tracee *tracee, uint64_t address);

#endif

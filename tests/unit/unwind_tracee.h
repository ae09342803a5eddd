/* For the tests of the unwinder: runs a program under ptrace, stops and steps it, and takes snapshots of its stack. */
#ifndef FT_TESTS_UNWIND_TRACEE_H
#define FT_TESTS_UNWIND_TRACEE_H

#include "unwind/unwind.h"

#define TRACEE_STACK 65536

struct tracee {
	pid_t process, pid; /* pid: the thread that stopped */
	char *maps;         /* the text of /proc/PID/maps whose objects the unwinders have got */
	struct unwinder *rows, *libunwind;
	struct stack_snapshot snapshot;
	unsigned char stack[TRACEE_STACK];
	int status;          /* the status of the last wait */
	unsigned long reads; /* calls of the snapshot's read() */
};

/* Returns true if the file exists, and is an ELF file with addresses as wide as those of this build's processor. */
bool tracee_is_native(const char *path);
/* Starts a program, stopped at its first instruction. Returns NULL if that failed. Its standard output goes to `out`
 * (-1: unchanged). */
struct tracee *tracee_start(const char *const argv[], int out);
/* Kills the program if it still exists. */
void tracee_end(struct tracee *tracee);
/* Continue or step the program until it stops again, and deliver signals other than SIGSTOP and SIGTRAP. Return false
 * when it has ended. */
bool tracee_continue(struct tracee *tracee);
bool tracee_step(struct tracee *tracee);
/* Returns the number of steps to take: `most`, or the value of the environment variable UNWIND_STEPS if this is less
 * (as for an emulated machine).
 */
size_t tracee_steps(size_t most);
/* Continues the program to the next beginning or end of a system call. */
bool tracee_system_call(struct tracee *tracee);
/* Reads registers and up to `size` bytes of the stack into tracee->snapshot; if `maps`, passes changed maps to the
 * unwinders. */
void tracee_snapshot(struct tracee *tracee, size_t size, bool maps);
/* Pass all objects to one unwinder; tracee_add_objects_without_files() passes them as objects whose files cannot be
 * opened. */
void tracee_add_objects(struct tracee *tracee, struct unwinder *unwinder);
void tracee_add_objects_without_files(struct tracee *tracee, struct unwinder *unwinder);
/* Returns the name of the mapping and the offset in it, for messages. The text is static and stays valid for 4
 * calls. */
const char *tracee_where(struct tracee *tracee, uint64_t address);

#endif

/* Probes in the kernel (src/uprobe) at the functions that programs call most often: malloc, free and their like. All
 * other functions, and these if the kernel cannot probe them, get breakpoints. */
#ifndef FT_CALLS_PROBES_KERNEL_PROBES_H
#define FT_CALLS_PROBES_KERNEL_PROBES_H

#include "calls/probes/probes.h"

/* Probes in the kernel those functions of the process whose breakpoints are prepared and that the kernel can probe.
 * Their breakpoints stay in the table, with in_kernel set, and are not written. Does nothing if the run has no probes
 * in the kernel. If contexts are recorded, all functions get breakpoints. */
void kernel_probes_plant(struct process *p);
/* Called before the functions of a new program or object are probed: waits until the probes of old ones are removed. A
 * link is to a file and a task. So the probes of a program that has called execve, or of a library that was unloaded,
 * are in the file's new mapping, too, and would be taken for another program's. */
void kernel_probes_await_removal(const struct process *p);
/* Called before the functions of a new object are probed. If a file is mapped twice (dlmopen), the kernel's probes are
 * in both mappings, and their records have the addresses of the first. Marks the functions of the other mapping, so
 * that they get no probes of their own. */
void kernel_probes_cover(struct process *p, const struct object *object);
/* Probes in a fork's child the functions that are probed in the parent, as far as they are not probed yet. To be called
 * before the child runs, and again when the parent gets more probes while the child borrows its tables. Returns false
 * if that is impossible; then the caller gives the child its own tables, and calls kernel_probes_use_breakpoints(). */
bool kernel_probes_fork(const struct process *parent, struct process *child);
/* Returns true if the process gets breakpoints because it is a child: with --probes=auto. A shell script has thousands
 * of children that live for a millisecond, and the probes of each would take tens of milliseconds. */
bool kernel_probes_leave_out(const struct process *p);
/* Removes the parent's probes from the text of a fork's child that has none itself: the stopped task `tid`, whose
 * memory is open as mem_fd. Otherwise the kernel would remove each when the child reaches it. Returns 0, or the bitwise
 * or of all errors, as fork_text_clean() does. */
int kernel_probes_clean(const struct process *parent, int mem_fd, pid_t tid);
/* Probes the functions in one more thread group that shares the process's memory, before it runs. Returns false if that
 * is impossible. */
bool kernel_probes_join(struct process *p, pid_t tgid);
/* A thread group no longer uses the process's memory. */
void kernel_probes_leave(struct process *p, pid_t tgid);
/* Returns true if a record with this serial, at this position in the ring, is of the process's probes, and not of
 * those of an earlier program, and was made when all its first probes were in place. The kernel probes one function
 * after the other:
 *
 *	free() is probed | A: malloc() = q, free(q): a release of an unknown block | malloc() is probed */
bool kernel_probes_are_of(const struct process *p, unsigned serial, uint64_t position);
/* Removes all probes of the process, and inserts breakpoints at their functions. */
void kernel_probes_use_breakpoints(struct process *p);
/* Removes the probes of the objects in a range that is no longer mapped, and the kernel's rows of its code. */
void kernel_probes_forget_range(struct process *p, uint64_t start, uint64_t end);
/* Removes all probes of the process, and its rows. */
void kernel_probes_remove(struct process *p);
/* Returns true if this is the address by which the kernel replaces return addresses while it waits for a return. */
bool kernel_probes_is_trampoline(struct process *p, uint64_t address);
/* Notes this address from a record, because the process may have executed another program since. 0: unknown. */
void kernel_probes_note_trampoline(struct process *p, uint64_t address);
/* Notes by which number the kernel knows the process's rows. */
void kernel_probes_note_space(struct process *p, uint32_t space);
/* Returns this number; 0: it is not known yet. */
uint32_t kernel_probes_space(const struct process *p);
/* Returns the function of a C++ library that has called the probed function to get memory, such as operator new, if the
 * return address is in such a function; else NULL. The returns of these functions are not probed, because an exception
 * that passes through a probed return kills the program. */
const struct probe *kernel_probes_caller(const struct process *p, const struct probe *probe, uint64_t return_address);

#endif

/* Reads and writes a tracee's memory. All functions return 0 (or a count) or -errno; ESRCH and EIO are normal when
 * the tracee dies. */
#ifndef FT_PTRACE_TARGET_MEMORY_H
#define FT_PTRACE_TARGET_MEMORY_H

#include "ptrace/tracee.h"

/* Opens the memory of a task's process for reading and writing. Returns a descriptor, which the caller closes. */
int memory_open(pid_t tid);
/* The functions that read from a process accept the program's own pointers: they remove the tags, because not all
 * kernels do. */

/* Reads up to `size` bytes, at most to the end of the mapping. Returns the number of bytes, or -errno. */
ssize_t memory_read_some(struct process *p, uint64_t address, void *data, size_t size);
/* Does memory_read_some() with the signature of struct stack_snapshot's read; the context is the process. */
ssize_t memory_read_for_unwind(void *process, uint64_t address, void *data, size_t size);
/* Reads all bytes or fails. */
int memory_read(struct process *p, uint64_t address, void *data, size_t size);
/* Does memory_read() with the signature of struct arch_memory's read; the context is the process. */
int memory_read_for_arch(void *process, uint64_t address, void *data, size_t size);
/* Reads a pointer, which has four or eight bytes in the process. */
int memory_read_pointer(struct process *p, uint64_t address, uint64_t *value);
/* Writes data of the target, for example in an emulated push. For code there is text_write(). */
int memory_write(struct process *p, uint64_t address, const void *data, size_t size);

/* Read or write the text of a stopped task whose memory is open as mem_fd. If the kernel refuses that through mem_fd,
 * they use ptrace, word by word. */
int memory_read_stopped(int mem_fd, pid_t tid, uint64_t address, void *data, size_t size);
int memory_write_stopped(int mem_fd, pid_t tid, uint64_t address, const void *data, size_t size);
/* Writes by ptrace only. */
int memory_poke(pid_t tid, uint64_t address, const void *data, size_t size);
/* Writes as the target itself could: fails with -EFAULT where its page protection forbids the write, and writes no
 * neighbouring bytes, because another process that shares the page may be writing these. */
int memory_write_protected(pid_t tid, uint64_t address, const void *data, size_t size);

#endif

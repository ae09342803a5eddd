/* Reads and writes a tracee's memory: see target_memory.h. */
#include "config.h"
#include "ptrace/target_memory.h"
#include "proc/proc.h"
#include "base/util.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <unistd.h>

int memory_open(pid_t tid)
{
	return proc_open(tid, "mem", O_RDWR);
}

/* Reads by pread(). For sizes up to a page or two, it is a quarter cheaper than process_vm_readv(), which checks again
 * whether functrace may trace the task. pread() also returns the bytes before the end of a mapping. */
ssize_t memory_read_some(struct process *p, uint64_t address, void *data, size_t size)
{
	const ssize_t got = pread(p->mem_fd, data, size, (off_t)arch_data_address(p->arch, address));

	return got < 0 ? -errno : got;
}

ssize_t memory_read_for_unwind(void *process, uint64_t address, void *data, size_t size)
{
	return memory_read_some(process, address, data, size);
}

int memory_read(struct process *p, uint64_t address, void *data, size_t size)
{
	return read_all_at(p->mem_fd, data, size, arch_data_address(p->arch, address));
}

int memory_read_for_arch(void *process, uint64_t address, void *data, size_t size)
{
	return memory_read(process, address, data, size);
}

int memory_read_pointer(struct process *p, uint64_t address, uint64_t *value)
{
	unsigned char bytes[sizeof(*value)] = {0};
	const int error = memory_read(p, address, bytes, p->arch->pointer_size);

	*value = arch_pointer(p->arch, bytes);
	return error;
}

int memory_write(struct process *p, uint64_t address, const void *data, size_t size)
{
	const ssize_t done = pwrite(p->mem_fd, data, size, (off_t)address);

	if (done < 0)
		return -errno;
	return (size_t)done == size ? 0 : -EIO;
}

/* Copies the task's memory to `to` or, if `to` is NULL, `from` to the task's memory, by PTRACE_PEEKTEXT and
 * PTRACE_POKETEXT. */
static int copy_words(pid_t tid, uint64_t address, unsigned char *to, const unsigned char *from, size_t size)
{
	for (size_t done = 0, part; done < size; done += part) {
		const uint64_t at = align_down(address + done, sizeof(long));
		const size_t offset = address + done - at;

		part = size - done < sizeof(long) - offset ? size - done : sizeof(long) - offset;
		errno = 0;
		long word = ptrace(PTRACE_PEEKTEXT, tid, (void *)(uintptr_t)at, NULL);

		if (errno)
			return -errno;
		if (to) {
			memcpy(to + done, (const char *)&word + offset, part);
			continue;
		}
		memcpy((char *)&word + offset, from + done, part);
		if (ptrace(PTRACE_POKETEXT, tid, (void *)(uintptr_t)at, (void *)word) < 0)
			return -errno;
	}
	return 0;
}

int memory_poke(pid_t tid, uint64_t address, const void *data, size_t size)
{
	return copy_words(tid, address, NULL, data, size);
}

int memory_write_stopped(int mem_fd, pid_t tid, uint64_t address, const void *data, size_t size)
{
	const ssize_t done = pwrite(mem_fd, data, size, (off_t)address);

	return done == (ssize_t)size ? 0 : memory_poke(tid, address, data, size);
}

int memory_read_stopped(int mem_fd, pid_t tid, uint64_t address, void *data, size_t size)
{
	if (pread(mem_fd, data, size, (off_t)address) == (ssize_t)size)
		return 0;
	return copy_words(tid, address, data, NULL, size);
}

int memory_write_protected(pid_t tid, uint64_t address, const void *data, size_t size)
{
	const struct iovec from = {(void *)(uintptr_t)data, size}, to = {(void *)(uintptr_t)address, size};

	return process_vm_writev(tid, &from, 1, &to, 1, 0) == (ssize_t)size ? 0 : -EFAULT;
}

/* replaces: mmap and munmap of the program itself, which begin with a landing pad where the processor has one. It maps
 * three pages, maps another one in place of the second, and unmaps all. */
#include "target.h"

#include <sys/mman.h>
#include <sys/syscall.h>

#define PAGE 4096

NOINLINE void *mmap(void *address, size_t size, int protection, int flags, int fd, off_t offset)
{
	return (void *)syscall(SYS_mmap, address, size, protection, flags, fd, offset);
}

NOINLINE int munmap(void *address, size_t size)
{
	return (int)syscall(SYS_munmap, address, size);
}

int main(void)
{
	const int flags = MAP_PRIVATE | MAP_ANONYMOUS;
	char *const pages = mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE, flags, -1, 0);

	CHECK(pages != MAP_FAILED);
	CHECK(mmap(pages + PAGE, PAGE, PROT_READ, flags | MAP_FIXED, -1, 0) == pages + PAGE);
	CHECK(!munmap(pages, 3 * PAGE));
	return 0;
}

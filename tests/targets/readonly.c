/* Pointers in memory that the program may only read or only write: readonly HOW.
 *
 * Only a table points to 100 blocks of 56 bytes; nothing points to 10 of 40 bytes.
 *	relro    the table is among the program's constants that the dynamic linker relocates
 *	blocks   one half is in a read-only page of a block, the other in a page of another block that can be read and
 *	         executed; a page of a third block has no access
 *	twins    it is in read-only shared memory (memfd_create), directly before writable memory of the same name
 *	before   there is no table; the bytes before the program's first variable, in its page, contain the addresses of
 *	         the 10 blocks: these bytes are the end of the file's constants, so they do not count as pointers
 *	written  its parts are in memory that is mapped only for writing: private, shared, and a page of a block
 * Prints "ready" and the process id; ends with the standard input. */
#include "target.h"
#include <link.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#define BLOCKS 100
#define LOST   10

static void *relro[BLOCKS] __attribute__((section(".data.rel.ro"))) = {(void *)&relro};
static size_t page;

NOINLINE static void fill(void **table, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		table[i] = memset(malloc(56), 0x11, 56);
}

NOINLINE static void fill_relro(void)
{
	char *const first = (char *)((uintptr_t)relro & ~(page - 1));
	const size_t size = (size_t)((char *)(relro + BLOCKS) - first);

	CHECK(mprotect(first, size, PROT_READ | PROT_WRITE) == 0);
	fill(relro, BLOCKS);
	CHECK(mprotect(first, size, PROT_READ) == 0);
}

NOINLINE static void map_twin(char *at)
{
	const int fd = (int)syscall(SYS_memfd_create, "twin", 0);

	CHECK(fd >= 0 && ftruncate(fd, (off_t)page) == 0);
	CHECK(mmap(at, page, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0) == at);
	memset(at, 1, page);
}

NOINLINE static void fill_twin(void)
{
	char *const at = mmap(NULL, 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(at != MAP_FAILED);
	map_twin(at);
	map_twin(at + page);
	fill((void **)at, BLOCKS);
	CHECK(mprotect(at, page, PROT_READ) == 0);
}

static char *protected[3];

/* Puts the table's halves into a read-only page of the first block, and an executable page of the third. A page of the
 * second block, which is an mmapped chunk, gets no access. */
NOINLINE static void fill_blocks(void)
{
	static const size_t pages[3] = {3, 300, 3};
	static const int access[3] = {PROT_READ, PROT_NONE, PROT_READ | PROT_EXEC};

	for (unsigned i = 0; i < 3; i++) {
		void *at;

		CHECK(posix_memalign(&at, page, pages[i] * page) == 0);
		protected[i] = memset(at, 0, pages[i] * page);
		if (access[i])
			fill((void **)(protected[i] + page), BLOCKS / 2);
		CHECK(mprotect(protected[i] + page, page, access[i]) == 0);
	}
}

NOINLINE static void fill_written(void)
{
	static const int how[2] = {MAP_PRIVATE, MAP_SHARED};
	void *at;

	for (unsigned i = 0; i < 2; i++) {
		at = mmap(NULL, page, PROT_WRITE, how[i] | MAP_ANONYMOUS, -1, 0);
		CHECK(at != MAP_FAILED);
		fill(at, BLOCKS / 4);
	}
	CHECK(posix_memalign(&at, page, 3 * page) == 0);
	protected[0] = memset(at, 0, 3 * page);
	fill((void **)(protected[0] + page), BLOCKS / 2);
	CHECK(mprotect(protected[0] + page, page, PROT_WRITE) == 0);
}

/* Stores the lowest address of the program's variables in *result. */
static int first_variable(struct dl_phdr_info *info, size_t size, void *result)
{
	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_LOAD && info->dlpi_phdr[i].p_flags & PF_W) {
			*(uintptr_t *)result = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
			break;
		}
	return 1; /* only the first object, which is the program */
}

NOINLINE static void **before_variables(void)
{
	uintptr_t address = 0;

	CHECK(dl_iterate_phdr(first_variable, &address) == 1 && address % page >= LOST * sizeof(void *));
	char *const first = (char *)(address & ~(page - 1));

	CHECK(mprotect(first, page, PROT_READ | PROT_WRITE) == 0);
	return (void **)first;
}

NOINLINE static void lose(void **table)
{
	for (unsigned i = 0; i < LOST; i++) {
		void *p = memset(malloc(40), 0x33, 40);

		KEEP(p);
		if (table)
			table[i] = p;
	}
}

int main(int argc, char **argv)
{
	CHECK(argc == 2);
	page = (size_t)sysconf(_SC_PAGESIZE);
	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
	if (!strcmp(argv[1], "relro"))
		fill_relro();
	else if (!strcmp(argv[1], "blocks"))
		fill_blocks();
	else if (!strcmp(argv[1], "written"))
		fill_written();
	else if (!strcmp(argv[1], "twins"))
		fill_twin();
	lose(!strcmp(argv[1], "before") ? before_variables() : NULL);
	wipe_stack();
	say("ready");
	say("%d", getpid());
	wait_for_input_end();
	return 0;
}

/* A library that aliases.c loads. It calls one function by two names, through GOT slots of its own; the function forks,
 * and both processes return from it. */
#include "target.h"
#include <sys/wait.h>

void *je_aligned_alloc(size_t alignment, size_t size);
void *je_memalign(size_t alignment, size_t size);
void je_free(void *p);
int library_work(void);

static char arena[64];
static pid_t child;
static int forks = 1;

static NOINLINE void *fork_and_allocate(size_t alignment, size_t size)
{
	child = forks && size && alignment ? fork() : 0;
	return arena;
}

#ifdef IFUNC
static void *(*choose(void))(size_t alignment, size_t size)
{
	return fork_and_allocate;
}

void *je_aligned_alloc(size_t alignment, size_t size) __attribute__((ifunc("choose")));
void *je_memalign(size_t alignment, size_t size) __attribute__((ifunc("choose")));
#else
__typeof__(fork_and_allocate) je_aligned_alloc __attribute__((alias("fork_and_allocate")));
__typeof__(fork_and_allocate) je_memalign __attribute__((alias("fork_and_allocate")));
#endif

NOINLINE void je_free(void *p)
{
	KEEP(p);
}

static void end_child(void)
{
	int status;

	if (!child) {
		forks = 0;
		je_free(je_memalign(64, 37603)); /* from a place at which its parent never calls */
		_exit(0);
	}
	CHECK(waitpid(child, &status, 0) == child && status == 0);
}

int library_work(void)
{
	je_free(je_memalign(64, 37601));
	end_child();
	je_free(je_aligned_alloc(64, 37602));
	end_child();
	je_free(je_memalign(64, 37601));
	end_child();
	return 1;
}

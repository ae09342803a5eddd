/* Calls whose frame ends where the stack does: after the last argument, or after the return address if arguments are in
 * registers, there is no mapping. */
#include "target.h"
#include <sys/mman.h>

#define STACK ((size_t)256 << 10)

static uintptr_t *end; /* of the stack */

/* Calls function(a, b), or if `count` is 1 function(a), on a stack that ends above the call's frame. */
static NOINLINE void *call_at_end(void *function, unsigned count, uintptr_t a, uintptr_t b)
{
	void *result;

#if defined(__i386__)
	uintptr_t *const sp = end - count;

	sp[0] = a;
	if (count == 2)
		sp[1] = b;
	__asm__ volatile("movl %%esp, %%ebx\n\t"
			 "movl %2, %%esp\n\t"
			 "call *%1\n\t"
			 "movl %%ebx, %%esp"
			 : "=a"(result)
			 : "S"(function), "D"(sp)
			 : "ebx", "ecx", "edx", "memory", "cc");
#elif defined(__x86_64__)
	(void)count;
	__asm__ volatile("movq %%rsp, %%rbx\n\t"
			 "movq %4, %%rsp\n\t"
			 "callq *%3\n\t"
			 "movq %%rbx, %%rsp"
			 : "=&a"(result), "+D"(a), "+S"(b)
			 : "r"(function), "r"(end)
			 : "rbx", "rcx", "rdx", "r8", "r9", "r10", "r11", "memory", "cc");
#else
	result = count == 2 ? ((void *(*)(uintptr_t, uintptr_t))function)(a, b) : ((void *(*)(uintptr_t))function)(a);
#endif
	return result;
}

int main(void)
{
	char *stack = mmap(NULL, STACK + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	const unsigned rounds = 20;

	CHECK(stack != MAP_FAILED && munmap(stack + STACK, 4096) == 0);
	end = (uintptr_t *)(void *)(stack + STACK);
	/* Binds the functions now, because the dynamic linker may be unable to work on such a stack. */
	free(realloc(calloc(1, 1), 2));
	free(malloc(1));
	gate();
	for (unsigned i = 0; i < rounds; i++) {
		void *p = call_at_end((void *)malloc, 1, 38101, 0);

		CHECK(p);
		p = call_at_end((void *)realloc, 2, (uintptr_t)p, 38102);
		CHECK(p);
		call_at_end((void *)free, 1, (uintptr_t)p, 0);
		p = call_at_end((void *)calloc, 2, 38103, 1);
		CHECK(p);
		call_at_end((void *)free, 1, (uintptr_t)p, 0);
	}
	expect_alloc(rounds, 38101, "malloc");
	expect_release(rounds, 38101, "realloc");
	expect_alloc(rounds, 38102, "realloc");
	expect_release(rounds, 38102, "free");
	expect_alloc(rounds, 38103, "calloc");
	expect_release(rounds, 38103, "free");
	gate();
	return 0;
}

/* The program changes its stack pointer by hand, as coroutine libraries do, and allocates there. */
#include "target.h"
#include <sys/mman.h>

static NOINLINE void on_other_stack(void *data)
{
	void *p = malloc(36501);

	*(void **)data = p;
}

static NOINLINE void switch_and_call(char *top, void (*function)(void *), void *data)
{
#if defined(__x86_64__)
	__asm__ volatile("movq %%rsp, %%rbx\n\t"
			 "movq %0, %%rsp\n\t"
			 "movq %2, %%rdi\n\t"
			 "callq *%1\n\t"
			 "movq %%rbx, %%rsp"
			 :
			 : "r"(top), "r"(function), "r"(data)
			 : "rax", "rbx", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "memory", "cc");
#else
	(void)top;
	function(data);
#endif
}

int main(void)
{
	const size_t size = 256 << 10;
	char *stack = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	const unsigned rounds = 100;

	CHECK(stack != MAP_FAILED);
	gate();
	for (unsigned i = 0; i < rounds; i++) {
		void *p = NULL;

		switch_and_call(stack + size - 64, on_other_stack, &p);
		CHECK(p);
		free(p);
		free(malloc(36502));
	}
	expect_alloc(rounds, 36501, "malloc");
	expect_release(rounds, 36501, "free");
	expect_alloc(rounds, 36502, "malloc");
	expect_release(rounds, 36502, "free");
	say("expect stack 36501 on_other_stack");
	say("expect stack 36502 main");
	gate();
	return 0;
}

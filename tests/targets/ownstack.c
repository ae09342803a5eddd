/* The program changes its stack pointer itself, as coroutine libraries do, and allocates there. */
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
#elif defined(__aarch64__)
	__asm__ volatile("mov x19, sp\n\t"
			 "mov sp, %0\n\t"
			 "mov x0, %2\n\t"
			 "blr %1\n\t"
			 "mov sp, x19"
			 :
			 : "r"(top), "r"(function), "r"(data)
			 : "x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13",
			   "x14", "x15", "x16", "x17", "x18", "x19", "x30", "memory", "cc");
#elif defined(__arm__)
	register char *sp_there __asm__("r5") = top;
	register void (*its_function)(void *) __asm__("r6") = function;
	register void *its_data __asm__("r8") = data;

	__asm__ volatile("mov r4, sp\n\t"
			 "mov sp, %0\n\t"
			 "mov r0, %2\n\t"
			 "blx %1\n\t"
			 "mov sp, r4"
			 :
			 : "r"(sp_there), "r"(its_function), "r"(its_data)
			 : "r0", "r1", "r2", "r3", "r4", "ip", "lr", "memory", "cc");
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

/* throwing [handler]: exceptions through frames that allocate, and out of traced functions themselves; also in a
 * handler of a signal that interrupts such a function. */
#include "target.h"
#include <new>
#include <stdexcept>

struct owner {
	void *p;
	explicit owner(size_t size) : p(malloc(size))
	{
	}
	~owner()
	{
		free(p);
	}
};

static volatile size_t huge = static_cast<size_t>(PTRDIFF_MAX) + 30900;
static unsigned handled;

static NOINLINE void deep(unsigned levels)
{
	owner o(33301);

	if (!levels)
		throw std::runtime_error("bottom");
	deep(levels - 1);
	KEEP(o.p);
}

/* operator new calls it: it allocates, and throws the 3rd time. */
static void handler()
{
	void *p = malloc(33302); /* within operator new, but not a part of it */

	KEEP(p);
	free(p);
	if (++handled % 3 == 0)
		throw std::bad_alloc();
}

/* new_or(block, size): `block` if size is 0, else a new block. The instruction after the call is reached in both ways,
 * with the same stack pointer, and with a block in the result's register. */
extern "C" __attribute__((visibility("hidden"))) void *new_or(void *block, size_t size);
/* clang-format off */
__asm__(".text\n"
#if defined(__x86_64__)
	".type new_or, @function\nnew_or:\n\t.cfi_startproc\n"
	"\tsub $8, %rsp\n\t.cfi_adjust_cfa_offset 8\n"
	"\tmov %rdi, %rax\n\ttest %rsi, %rsi\n\tje 1f\n\tmov %rsi, %rdi\n\tcall _Znwm@PLT\n"
	"1:\tadd $8, %rsp\n\t.cfi_adjust_cfa_offset -8\n\tret\n\t.cfi_endproc\n"
#elif defined(__i386__)
	/* by a relocation of the text: a stub would need ebx */
	".type new_or, @function\nnew_or:\n\t.cfi_startproc\n"
	"\tsub $12, %esp\n\t.cfi_adjust_cfa_offset 12\n"
	"\tmov 16(%esp), %eax\n\tmov 20(%esp), %ecx\n\ttest %ecx, %ecx\n\tje 1f\n\tmov %ecx, (%esp)\n\tcall _Znwj\n"
	"1:\tadd $12, %esp\n\t.cfi_adjust_cfa_offset -12\n\tret\n\t.cfi_endproc\n"
#elif defined(__aarch64__)
	".type new_or, @function\nnew_or:\n\t.cfi_startproc\n\thint #34\n" /* bti c */
	"\tstp x29, x30, [sp, #-16]!\n\t.cfi_def_cfa_offset 16\n\t.cfi_offset 29, -16\n\t.cfi_offset 30, -8\n"
	"\tcbz x1, 1f\n\tmov x0, x1\n\tbl _Znwm\n"
	"1:\tldp x29, x30, [sp], #16\n\t.cfi_def_cfa_offset 0\n\t.cfi_restore 29\n\t.cfi_restore 30\n"
	"\tret\n\t.cfi_endproc\n"
#elif defined(__arm__)
	".syntax unified\n.arm\n.align 2\n.type new_or, %function\nnew_or:\n\t.fnstart\n"
	"\tpush {r4, lr}\n\t.save {r4, lr}\n\tcmp r1, #0\n\tbeq 1f\n\tmov r0, r1\n\tbl _Znwj(PLT)\n"
	"1:\tpop {r4, pc}\n\t.fnend\n"
#endif
	".size new_or, . - new_or\n");
/* clang-format on */

static const unsigned rounds = 20;
static const size_t stack_size = 256 << 10;
static char area[2 * stack_size] __attribute__((aligned(4096)));

static void throwing_handler(int)
{
	try {
		throw std::runtime_error("in a handler");
	} catch (const std::runtime_error &) {
		handled++;
	}
}

/* An allocator's function that a signal interrupts. */
extern "C" NOINLINE void *je_malloc(size_t size);
NOINLINE void *je_malloc(size_t size)
{
	KEEP(size);
	CHECK(!pthread_kill(pthread_self(), SIGUSR1));
	return area + size % 64;
}

/* The handler has a stack above the interrupted one, and catches an exception there. */
static void *interrupted(void *)
{
	stack_t other = {};

	other.ss_sp = area + stack_size;
	other.ss_size = stack_size;
	CHECK(!sigaltstack(&other, nullptr));
	for (unsigned i = 0; i < rounds; i++)
		CHECK(je_malloc(33306 + i));
	return nullptr;
}

static void interrupt()
{
	struct sigaction action = {};
	pthread_attr_t attributes;
	pthread_t thread;

	action.sa_handler = throwing_handler;
	action.sa_flags = SA_ONSTACK;
	CHECK(!sigaction(SIGUSR1, &action, nullptr));
	CHECK(!pthread_attr_init(&attributes));
	CHECK(!pthread_attr_setstack(&attributes, area, stack_size));
	CHECK(!pthread_create(&thread, &attributes, interrupted, nullptr));
	CHECK(!pthread_join(thread, nullptr));
	for (unsigned i = 0; i < rounds; i++)
		expect_alloc(1, 33306 + i, "je_malloc");
}

int main(int argc, char **)
{
	unsigned caught = 0;

	gate();
	for (unsigned i = 0; i < rounds; i++) {
		try {
			deep(10);
		} catch (const std::runtime_error &) {
			caught++;
		}
		free(malloc(33303));
	}
	CHECK(caught == rounds);
	expect_alloc(rounds * 11, 33301, "malloc");
	expect_release(rounds * 11, 33301, "free");
	expect_alloc(rounds, 33303, "malloc");
	expect_release(rounds, 33303, "free");

	std::set_new_handler(handler);
	for (unsigned i = 0; i < rounds; i++) {
		try {
			void *p = ::operator new(huge);
			KEEP(p);
		} catch (const std::bad_alloc &) {
			caught++;
		}
		void *p = ::operator new(33304);
		KEEP(p);
		::operator delete(p);
	}
	void *given = malloc(33305);

	for (unsigned i = 0; i < rounds; i++) {
		try {
			new_or(given, huge);
		} catch (const std::bad_alloc &) {
			caught++;
		}
		CHECK(new_or(given, 0) == given);
	}
	free(given);
	expect_alloc(1, 33305, "malloc");
	expect_release(1, 33305, "free");
	say("expect-between + 0 0 %zu operator new(" SIZE_T ")", static_cast<size_t>(huge));
	CHECK(caught == 3 * rounds && handled == 6 * rounds);
	if (argc > 1)
		interrupt();
	say("handled %u", handled);
	expect_alloc(rounds, 33304, "operator new(" SIZE_T ")");
	expect_release(rounds, 33304, "operator delete(void*)");
	say("expect-between + 0 %u 33302 malloc", handled); /* inner calls of a new that never returns */
	gate();
	return 0;
}

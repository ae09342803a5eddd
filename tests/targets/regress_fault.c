/* regress_fault: the instruction at a return site faults. Its handler must see the addresses of the program, not those
 * of a copy, and a handler that skips the instruction must get past it. */
#include "target.h"
#include <ucontext.h>

#define ROUNDS 20

/* What a program on i386 has in place of x86-64's. */
#if defined __x86_64__
#define PC     REG_RIP
#define CALL   "push %rbx\n\txor %ebx, %ebx\n\tcall malloc@PLT\n"
#define RETURN "pop %rbx\n\tret\n\t"
#define LOAD   "mov 16(%rbx), %rcx"
#define LENGTH 4
#elif defined __i386__
#define PC     REG_EIP
/* malloc by a relocation of the text */
#define CALL   "push %ebx\n\tsub $4, %esp\n\tpush 12(%esp)\n\txor %ebx, %ebx\n\tcall malloc\n"
#define RETURN "add $8, %esp\n\tpop %ebx\n\tret\n\t"
#define LOAD   "mov 16(%ebx), %ecx"
#define LENGTH 3
#endif

#ifdef PC

extern char site_segv[], site_fpe[], site_ill[];

static volatile sig_atomic_t seen;
static char *expected;
static int expected_signal;
static size_t skip;

static void handler(int sig, siginfo_t *info, void *context)
{
	ucontext_t *uc = context;
	char *pc = (char *)uc->uc_mcontext.gregs[PC];

	CHECK(sig == expected_signal);
	CHECK(pc == expected);
	if (sig == SIGFPE || sig == SIGILL)
		CHECK(info->si_addr == expected);
	if (sig == SIGSEGV)
		CHECK(info->si_addr == (void *)16);
	if (sig == SIGTRAP)
		CHECK(info->si_code == SI_KERNEL);
	seen++;
	uc->uc_mcontext.gregs[PC] += (greg_t)skip;
}

#define FUNCTION(name, instruction)                                                                                    \
	__asm__(".text\n"                                                                                              \
		".type call_" #name ", @function\n"                                                                    \
		"call_" #name ":\n\t" CALL "site_" #name ":\n\t" instruction "\n\t" RETURN ".size call_" #name         \
		", . - call_" #name "\n");                                                                             \
	extern void *call_##name(size_t n)

FUNCTION(segv, LOAD);
FUNCTION(fpe, "div %ebx");
FUNCTION(ill, "ud2");

static void run(int sig, char *site, size_t length, void *(*call)(size_t), size_t size)
{
	expected = site;
	expected_signal = sig;
	skip = length;
	seen = 0;
	for (unsigned i = 0; i < ROUNDS; i++) {
		void *p = call(size);

		CHECK(seen == (int)i + 1);
		CHECK(p);
		free(p);
	}
	expect_alloc(ROUNDS, size, "malloc");
	expect_release(ROUNDS, size, "free");
}

#endif

int main(void)
{
#ifdef PC
	static const int signals[] = {SIGSEGV, SIGFPE, SIGILL};
	struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO};

	for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++)
		CHECK(!sigaction(signals[i], &action, NULL));
	gate();
	run(SIGSEGV, site_segv, LENGTH, call_segv, 31001);
	run(SIGFPE, site_fpe, 2, call_fpe, 31002);
	run(SIGILL, site_ill, 2, call_ill, 31003);
#else
	say("skip: its code is x86's");
#endif
	return 0;
}

/* regress_fault: the instruction at a return site faults. The program's handler must see the program's addresses, not
 * those of functrace's copy of the instruction, and if it skips the instruction the program must continue after it. */
#include "target.h"
#include <ucontext.h>

#define ROUNDS 20

/* The code for each processor: a load from an invalid address, an invalid instruction (NO), and a division by 0, if the
 * processor faults then. */
#if defined __x86_64__
#define PC     gregs[REG_RIP]
#define CALL   "push %rbx\n\txor %ebx, %ebx\n\tcall malloc@PLT\n"
#define RETURN "pop %rbx\n\tret\n\t"
#define LOAD   "mov 16(%rbx), %rcx"
#define LENGTH 4
#elif defined __i386__
#define PC     gregs[REG_EIP]
/* calls malloc by a relocation of the text */
#define CALL   "push %ebx\n\tsub $4, %esp\n\tpush 12(%esp)\n\txor %ebx, %ebx\n\tcall malloc\n"
#define RETURN "add $8, %esp\n\tpop %ebx\n\tret\n\t"
#define LOAD   "mov 16(%ebx), %ecx"
#define LENGTH 3
#elif defined __aarch64__
#define PC     pc
#define CALL   "stp x29, x30, [sp, #-32]!\n\tstr x19, [sp, #16]\n\tmov x19, xzr\n\tbl malloc\n"
#define RETURN "ldr x19, [sp, #16]\n\tldp x29, x30, [sp], #32\n\tret\n\t"
#define LOAD   "ldr x1, [x19, #16]"
#define LENGTH 4
#define NO     "mrs x1, vbar_el1" /* the kernel's */
#elif defined __arm__
#define PC     arm_pc
#define CALL   "push {r4, lr}\n\tmov r4, #0\n\tbl malloc(PLT)\n"
#define RETURN "pop {r4, pc}\n\t"
#define LOAD   "ldr r1, [r4, #16]"
#ifdef __thumb__
#define LENGTH 2
#else
#define LENGTH 4
#endif
#define NO "mrc p15, 0, r1, c12, c0, 0" /* the kernel's */
#endif
#if defined __x86_64__ || defined __i386__
#define DIVIDE    "div %ebx"
#define NO        "ud2"
#define NO_LENGTH 2
#else
#define NO_LENGTH 4
#endif
#ifdef __thumb__
#define STATE ".syntax unified\n.thumb\n.thumb_func\n"
#elif defined __arm__
#define STATE ".syntax unified\n.arm\n.align 2\n"
#else
#define STATE
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
	char *at = (char *)(uintptr_t)uc->uc_mcontext.PC;

	CHECK(sig == expected_signal);
	CHECK(at == expected);
	if (sig == SIGFPE || sig == SIGILL)
		CHECK(info->si_addr == expected);
	if (sig == SIGSEGV)
		CHECK(info->si_addr == (void *)16);
	if (sig == SIGTRAP)
		CHECK(info->si_code == SI_KERNEL);
	seen++;
	uc->uc_mcontext.PC += skip;
}

#define FUNCTION(name, instruction)                                                                                    \
	__asm__(".text\n" STATE ".globl call_" #name ", site_" #name "\n.type call_" #name ", %function\n"             \
		"call_" #name ":\n\t" CALL "site_" #name ":\n\t" instruction "\n\t" RETURN ".size call_" #name         \
		", . - call_" #name "\n");                                                                             \
	extern void *call_##name(size_t n)

FUNCTION(segv, LOAD);
#ifdef DIVIDE
FUNCTION(fpe, DIVIDE);
#endif
FUNCTION(ill, NO);

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
#ifdef DIVIDE
	run(SIGFPE, site_fpe, 2, call_fpe, 31002);
#endif
	run(SIGILL, site_ill, NO_LENGTH, call_ill, 31003);
#else
	say("skip: it has no code for this processor");
#endif
	return 0;
}

/* barrier: the instruction at a return site reads or writes protected memory, as a collector's write barriers do. The
 * program's handler of SIGSEGV must run once each time and see the program's own addresses; then the instruction must
 * have its effect once. */
#include "target.h"
#include <sys/mman.h>
#include <ucontext.h>

#define ROUNDS 20

/* The registers and the tested instructions of each processor. */
#if defined __x86_64__
#define PC     gregs[REG_RIP]
#define A      "%rax"
#define B      "%rbx"
#define C      "%rcx"
#define BP     "%rbp"
#define SP     "%rsp"
#define ALIGN  "sub $8, %rsp\n\tmov %rsi, %rbx\n\t"
#define ADD    "addq"
#define MALLOC "malloc@PLT"
#elif defined __i386__
#define PC     gregs[REG_EIP]
#define A      "%eax"
#define B      "%ebx"
#define C      "%ecx"
#define BP     "%ebp"
#define SP     "%esp"
#define ALIGN  "sub $12, %esp\n\tmov 16(%ebp), %ebx\n\tpush 12(%ebp)\n\t"
#define ADD    "addl"
#define MALLOC "malloc" /* called by a relocation of the text, because a PLT stub would need ebx */
#elif defined __aarch64__
#define PC     pc
#define STORE  "str x0, [x19]"
#define LOAD   "ldr x1, [x19]"
#define ACROSS STORE
#define TWO    "ldp x1, x2, [x19]"
#elif defined __arm__
#define PC     arm_pc
#define STORE  "str r0, [r4]"
#define LOAD   "ldr r1, [r4]"
#define ACROSS STORE
#define TWO    "ldrd r2, r3, [r4]"
#endif
#if defined __x86_64__ || defined __i386__
#define STORE     "mov " A ", (" B ")"
#define LOAD      "mov (" B "), " C
#define ACROSS    ADD " $1, (" B ")"
#define ACROSS_IS old + 1
#define TWO       "push (" B ")"
#else
#define ACROSS_IS (uintptr_t) p
#endif

#ifdef PC
extern char site_store[], site_load[], site_across[], site_two[];

static volatile sig_atomic_t seen;
static char *pages, *expected, *expected_address; /* two pages */
static size_t page;

static void handler(int sig, siginfo_t *info, void *context)
{
	const ucontext_t *uc = context;

	(void)sig;
	CHECK((char *)(uintptr_t)uc->uc_mcontext.PC == expected);
	CHECK(info->si_addr == expected_address);
	CHECK(info->si_code == SEGV_ACCERR);
	CHECK(!mprotect(pages, 2 * page, PROT_READ | PROT_WRITE));
	seen++;
}

/* Begins a function: calls malloc; after the call B, x19 or r4 has the value of `where`. */
#if defined __x86_64__ || defined __i386__
#define FUNCTION_BEGINS "push " B "\n\tpush " BP "\n\tmov " SP ", " BP "\n\t" ALIGN "call " MALLOC "\n"
#define FUNCTION_ENDS   "mov " BP ", " SP "\n\tpop " BP "\n\tpop " B "\n\tret\n\t"
#define STATE
#elif defined __aarch64__
#define FUNCTION_BEGINS "stp x29, x30, [sp, #-32]!\n\tstr x19, [sp, #16]\n\tmov x19, x1\n\tbl malloc\n"
#define FUNCTION_ENDS   "ldr x19, [sp, #16]\n\tldp x29, x30, [sp], #32\n\tret\n\t"
#define STATE
#else
#define FUNCTION_BEGINS "push {r4, lr}\n\tmov r4, r1\n\tbl malloc(PLT)\n"
#define FUNCTION_ENDS   "pop {r4, pc}\n\t"
#ifdef __thumb__
#define STATE ".syntax unified\n.thumb\n.thumb_func\n"
#else
#define STATE ".syntax unified\n.arm\n.align 2\n"
#endif
#endif
#define FUNCTION(name, instruction)                                                                                    \
	__asm__(".text\n" STATE ".globl call_" #name ", site_" #name "\n.type call_" #name ", %function\n"             \
		"call_" #name ":\n\t" FUNCTION_BEGINS "site_" #name ":\n\t" instruction "\n\t" FUNCTION_ENDS           \
		".size call_" #name ", . - call_" #name "\n");                                                         \
	extern void *call_##name(size_t n, void *where)

FUNCTION(store, STORE);
FUNCTION(load, LOAD);
FUNCTION(across, ACROSS);
FUNCTION(two, TWO);

static void run(char *site, void *(*call)(size_t, void *), size_t size, char *where, char *fault, int protection)
{
	expected = site;
	expected_address = fault;
	seen = 0;
	for (unsigned i = 0; i < ROUNDS; i++) {
		char *protected = (char *)((uintptr_t)fault & -page);
		uintptr_t value, old = (UINTPTR_MAX >> 7) + i;
		void *p;

		memcpy(where, &old, sizeof(old));
		CHECK(!mprotect(protected, page, protection));
		p = call(size, where);
		CHECK(p);
		CHECK(seen == (int)i + 1);
		memcpy(&value, where, sizeof(value));
		CHECK(value == (call == call_store ? (uintptr_t)p : call == call_across ? ACROSS_IS : old));
		free(p);
	}
	expect_alloc(ROUNDS, size, "malloc");
	expect_release(ROUNDS, size, "free");
}

#endif

int main(void)
{
#ifdef PC
	struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO};

	page = (size_t)sysconf(_SC_PAGESIZE);
	pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(pages != MAP_FAILED);
	CHECK(!sigaction(SIGSEGV, &action, NULL));
	gate();
	run(site_store, call_store, 31011, pages + 8, pages + 8, PROT_READ);
	run(site_load, call_load, 31012, pages + 8, pages + 8, PROT_NONE);
	run(site_across, call_across, 31013, pages + page - sizeof(long) / 2, pages + page, PROT_READ);
	run(site_two, call_two, 31014, pages + 16, pages + 16, PROT_NONE);
#else
	say("skip: it has no code for this processor");
#endif
	return 0;
}

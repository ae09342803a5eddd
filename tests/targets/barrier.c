/* barrier: the instruction at a return site reads or writes memory that is protected, as a collector's write barriers
 * are: its handler of SIGSEGV must run, each time, and find the program's own addresses, and the instruction must
 * then do its work once. */
#include "target.h"
#include <sys/mman.h>
#include <ucontext.h>

#define ROUNDS 20

/* What a program on i386 has in place of x86-64's. */
#if defined __x86_64__
#define PC     REG_RIP
#define A      "%rax"
#define B      "%rbx"
#define C      "%rcx"
#define BP     "%rbp"
#define SP     "%rsp"
#define ALIGN  "sub $8, %rsp\n\tmov %rsi, %rbx\n\t"
#define ADD    "addq"
#define MALLOC "malloc@PLT"
#elif defined __i386__
#define PC     REG_EIP
#define A      "%eax"
#define B      "%ebx"
#define C      "%ecx"
#define BP     "%ebp"
#define SP     "%esp"
#define ALIGN  "sub $12, %esp\n\tmov 16(%ebp), %ebx\n\tpush 12(%ebp)\n\t"
#define ADD    "addl"
#define MALLOC "malloc" /* by a relocation of the text: a stub would need ebx */
#endif

#ifdef PC
extern char site_store[], site_load[], site_across[], site_push[];

static volatile sig_atomic_t seen;
static char *pages, *expected, *expected_address; /* two pages */
static size_t page;

static void handler(int sig, siginfo_t *info, void *context)
{
	const ucontext_t *uc = context;

	(void)sig;
	CHECK((char *)uc->uc_mcontext.gregs[PC] == expected);
	CHECK(info->si_addr == expected_address);
	CHECK(info->si_code == SEGV_ACCERR);
	CHECK(!mprotect(pages, 2 * page, PROT_READ | PROT_WRITE));
	seen++;
}

/* Calls malloc and then has `where` in B. */
#define FUNCTION(name, instruction)                                                                                    \
	__asm__(".text\n"                                                                                              \
		".type call_" #name ", @function\n"                                                                    \
		"call_" #name ":\n\t"                                                                                  \
		"push " B "\n\t"                                                                                       \
		"push " BP "\n\t"                                                                                      \
		"mov " SP ", " BP "\n\t" ALIGN "call " MALLOC "\n"                                                     \
		"site_" #name ":\n\t" instruction "\n\t"                                                               \
		"mov " BP ", " SP "\n\t"                                                                               \
		"pop " BP "\n\t"                                                                                       \
		"pop " B "\n\t"                                                                                        \
		"ret\n\t"                                                                                              \
		".size call_" #name ", . - call_" #name "\n");                                                         \
	extern void *call_##name(size_t n, void *where)

FUNCTION(store, "mov " A ", (" B ")");
FUNCTION(load, "mov (" B "), " C);
FUNCTION(across, ADD " $1, (" B ")");
FUNCTION(push, "push (" B ")");

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
		CHECK(value == (call == call_store ? (uintptr_t)p : call == call_across ? old + 1 : old));
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
	run(site_push, call_push, 31014, pages + 16, pages + 16, PROT_NONE);
#else
	say("skip: its code is x86's");
#endif
	return 0;
}

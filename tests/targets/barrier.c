/* barrier: the instruction at a return site reads or writes memory that is protected, as a collector's write barriers
 * are: its handler of SIGSEGV must run, each time, and find the program's own addresses, and the instruction must
 * then do its work once. */
#include "target.h"
#include <sys/mman.h>
#include <ucontext.h>

#define ROUNDS 20

extern char site_store[], site_load[], site_across[], site_push[];

static volatile sig_atomic_t seen;
static char *pages, *expected, *expected_address; /* two pages */
static size_t page;

static void handler(int sig, siginfo_t *info, void *context)
{
	const ucontext_t *uc = context;

	(void)sig;
	CHECK((char *)uc->uc_mcontext.gregs[REG_RIP] == expected);
	CHECK(info->si_addr == expected_address);
	CHECK(info->si_code == SEGV_ACCERR);
	CHECK(!mprotect(pages, 2 * page, PROT_READ | PROT_WRITE));
	seen++;
}

/* Calls malloc and then has `where` in rbx. */
#define FUNCTION(name, instruction)                                                                                    \
	__asm__(".text\n"                                                                                              \
		".type call_" #name ", @function\n"                                                                    \
		"call_" #name ":\n\t"                                                                                  \
		"push %rbx\n\t"                                                                                        \
		"push %rbp\n\t"                                                                                        \
		"mov %rsp, %rbp\n\t"                                                                                   \
		"sub $8, %rsp\n\t"                                                                                     \
		"mov %rsi, %rbx\n\t"                                                                                   \
		"call malloc@PLT\n"                                                                                    \
		"site_" #name ":\n\t" instruction "\n\t"                                                               \
		"mov %rbp, %rsp\n\t"                                                                                   \
		"pop %rbp\n\t"                                                                                         \
		"pop %rbx\n\t"                                                                                         \
		"ret\n\t"                                                                                              \
		".size call_" #name ", . - call_" #name "\n");                                                         \
	extern void *call_##name(size_t n, void *where)

FUNCTION(store, "mov %rax, (%rbx)");
FUNCTION(load, "mov (%rbx), %rcx");
FUNCTION(across, "addq $1, (%rbx)");
FUNCTION(push, "push (%rbx)");

static void run(char *site, void *(*call)(size_t, void *), size_t size, char *where, char *fault, int protection)
{
	expected = site;
	expected_address = fault;
	seen = 0;
	for (unsigned i = 0; i < ROUNDS; i++) {
		char *protected = (char *)((uintptr_t)fault & -page);
		uint64_t value, old = 0x01ffffffffffffff + i;
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

int main(void)
{
	struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO};

	page = (size_t)sysconf(_SC_PAGESIZE);
	pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(pages != MAP_FAILED);
	CHECK(!sigaction(SIGSEGV, &action, NULL));
	gate();
	run(site_store, call_store, 31011, pages + 8, pages + 8, PROT_READ);
	run(site_load, call_load, 31012, pages + 8, pages + 8, PROT_NONE);
	run(site_across, call_across, 31013, pages + page - 4, pages + page, PROT_READ);
	run(site_push, call_push, 31014, pages + 16, pages + 16, PROT_NONE);
	return 0;
}

/* regress_jit HOW: code that is generated at run time calls malloc, and is generated anew at the same place.
 *
 * rewrite   the page is written again while a breakpoint is at the return site: the code after the call differs
 * patch     only the immediate of the instruction at the return site is changed, as compilers patch their code (on x86:
 *           none of the bytes of a breakpoint)
 * shared    the page is shared with a child that is not traced (with -F): nothing may be written there */
#include "target.h"
#include <sys/mman.h>
#include <sys/wait.h>

#define ROUNDS 40

static unsigned char *page;

#if defined __x86_64__
#define BEGIN       "\x53\x48\x89\xf3\x48\xb8" /* push %rbx; mov %rsi, %rbx; movabs $malloc, %rax */
#define RETURN_SITE (sizeof(BEGIN) - 1 + 8 + 2)
#define STORE       "\x48\x89\x03"     /* mov %rax, (%rbx) */
#define END         "\x89\xc8\x5b\xc3" /* mov %ecx, %eax; pop %rbx; ret */
#elif defined __i386__
/* push %ebx; mov 12(%esp), %ebx; sub $4, %esp; push 12(%esp); mov $malloc, %eax */
#define BEGIN       "\x53\x8b\x5c\x24\x0c\x83\xec\x04\xff\x74\x24\x0c\xb8"
#define RETURN_SITE (sizeof(BEGIN) - 1 + 4 + 2)
#define STORE       "\x89\x03"
#define END         "\x89\xc8\x83\xc4\x08\x5b\xc3" /* and add $8, %esp */
#elif defined __aarch64__
/* stp x29, x30, [sp, #-32]!; str x19, [sp, #16]; mov x19, x1; ldr x9, of the literal after it; b after the literal */
static const uint32_t begin[] = {0xa9be7bfd, 0xf9000bf3, 0xaa0103f3, 0x58000049, 0x14000003};
static const uint32_t call_it = 0xd63f0120; /* blr x9 */
/* str x0, [x19]; mov w0, w1; ldr x19, [sp, #16]; ldp x29, x30, [sp], #32; ret */
static const uint32_t end[] = {0xf9000260, 0x2a0103e0, 0xf9400bf3, 0xa8c27bfd, 0xd65f03c0};
static const uint32_t clear = 0x2a1f03e1, add = 0x0b020021; /* mov w1, wzr; add w1, w1, w2 */
/* Returns the instruction mov w1 or w2, #value. */
static uint32_t set(unsigned to, uint32_t value)
{
	return 0x52800000 | value << 5 | to;
}
#define WORDS
#elif defined __arm__
/* A32: push {r4, lr}; mov r4, r1; ldr ip, of the literal after it; b after the literal */
static const uint32_t begin[] = {0xe92d4010, 0xe1a04001, 0xe59fc000, 0xea000000};
static const uint32_t call_it = 0xe12fff3c; /* blx ip */
/* str r0, [r4]; mov r0, r1; pop {r4, pc} */
static const uint32_t end[] = {0xe5840000, 0xe1a00001, 0xe8bd8010};
static const uint32_t clear = 0xe3a01000, add = 0xe0811002; /* mov r1, #0; add r1, r1, r2 */
/* Returns the instruction movw r1 or r2, #value. */
static uint32_t set(unsigned to, uint32_t value)
{
	return 0xe3000000 | (value & 0xf000) << 4 | (value & 0xfff) | to << 12;
}
#define WORDS
#endif
#ifdef WORDS
#define RETURN_SITE (sizeof(begin) + sizeof(void *) + sizeof(call_it))
#endif

#if defined BEGIN || defined WORDS
#define HAS_CODE

static void emit(unsigned char **at, const void *bytes, size_t size)
{
	memcpy(*at, bytes, size);
	*at += size;
}

/* Writes uint32_t f(size_t n, void **block): it stores malloc(n) in *block, and returns `value` in one of two ways. */
#ifdef WORDS
static void make(uint32_t value, int way)
{
	unsigned char *at = page;
	void *function = (void *)malloc;
	const uint32_t simple = set(1, value), other[] = {clear, set(2, value), add};

	emit(&at, begin, sizeof(begin));
	emit(&at, &function, sizeof(function));
	emit(&at, &call_it, sizeof(call_it));
	if (way)
		emit(&at, other, sizeof(other));
	else
		emit(&at, &simple, sizeof(simple));
	emit(&at, end, sizeof(end));
	__builtin___clear_cache((char *)page, (char *)at);
}

static void patch(uint32_t value)
{
	unsigned char *at = page + RETURN_SITE;
	const uint32_t simple = set(1, value);

	emit(&at, &simple, sizeof(simple));
	__builtin___clear_cache((char *)page, (char *)at);
}
#else
static void make(uint32_t value, int way)
{
	unsigned char *at = page;
	void *function = (void *)malloc;
	const unsigned char other[] = {0x31, 0xc9, 0x81, 0xc1}; /* xor %ecx, %ecx; add $value, %ecx */

	emit(&at, BEGIN, sizeof(BEGIN) - 1);
	emit(&at, &function, sizeof(function));
	emit(&at, "\xff\xd0", 2); /* call *%rax */
	if (way)
		emit(&at, other, sizeof(other));
	else
		emit(&at, "\xb9", 1); /* mov $value, %ecx */
	emit(&at, &value, 4);
	emit(&at, STORE, sizeof(STORE) - 1);
	emit(&at, END, sizeof(END) - 1);
	__builtin___clear_cache((char *)page, (char *)at);
}

static void patch(uint32_t value)
{
	memcpy(page + RETURN_SITE + 1, &value, 4);
}
#endif

static void call(uint32_t value)
{
	uint32_t (*const function)(size_t, void **) = (uint32_t(*)(size_t, void **))(uintptr_t)page;
	void *block = NULL;

	CHECK(function(37001, &block) == value);
	CHECK(block);
	free(block);
}

static void in_a_child(void)
{
	const pid_t pid = fork();
	int status;

	CHECK(pid >= 0);
	if (!pid) {
		call(7);
		_exit(3);
	}
	CHECK(waitpid(pid, &status, 0) == pid);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 3);
}

#endif

int main(int argc, char **argv)
{
#ifdef HAS_CODE
	const char *how = argc > 1 ? argv[1] : "rewrite";
	const int shared = !strcmp(how, "shared");

	page = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_ANONYMOUS | (shared ? MAP_SHARED : MAP_PRIVATE),
		    -1, 0);
	CHECK(page != MAP_FAILED);
	make(7, 0);
	if (!shared) {
		expect_alloc(ROUNDS, 37001, "malloc");
		expect_release(ROUNDS, 37001, "free");
	}
	gate();
	for (uint32_t i = 0; i < ROUNDS; i++) {
		if (shared) {
			call(7);
			in_a_child();
			continue;
		}
		if (!strcmp(how, "rewrite"))
			make(i, (int)(i & 1));
		else if (i)
			patch(i);
		else
			make(i, 0);
		call(i);
	}
#else
	(void)argc, (void)argv;
	say("skip: it has no code for this processor");
#endif
	return 0;
}

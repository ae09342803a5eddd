/* Tests where x86_64_uprobe_site() puts a probe of the kernel: on the first instruction that the kernel emulates, if
 * the call's arguments, its stack and its memory are still as at the entry, and the code does not jump back before
 * it. */
#include "config.h"
#include "unit_test.h"

#include <elf.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "arch/arch.h"
#include "base/util.h"
#include "tests/unit/arch_hex.h"

#define PAGE 4096u
#define NONE (-1)

static const struct arch *arch;
/* A page that is followed by unreadable memory: reading past the end of code at its end is a fault. */
static unsigned char *page;

/* Returns the offset of the site in these bytes, or NONE. */
static int site_of(const unsigned char *code, size_t size, unsigned arguments)
{
	unsigned char *const place = page + PAGE - size;
	size_t offset = 12345;

	if (size)
		memmove(place, code, size);
	if (!arch->uprobe.site(place, size, arguments, &offset))
		return NONE;
	assert_true(offset < size);
	return (int)offset;
}

struct site_form {
	const char *code;
	int sites[4]; /* for functions with 0, 1, 2 and 3 arguments */
};

#define AT(offset)                                                                                                     \
	{                                                                                                              \
		offset, offset, offset, offset                                                                         \
	}
#define NOWHERE AT(NONE)

static const struct site_form forms[] = {
	/* the first instruction: push of rbp, rbx, rsp, r8, r12, r15; nop; call; jmp, near and short; jcc */
	{"55 48 89 e5 c3", AT(0)},
	{"53 c3", AT(0)},
	{"54 c3", AT(0)},
	{"41 50 c3", AT(0)},
	{"41 54 c3", AT(0)},
	{"41 57 c3", AT(0)},
	{"90 c3", AT(0)},
	{"e8 00 10 00 00 c3", AT(0)},
	{"e9 00 10 00 00", AT(0)},
	{"eb 7e", AT(0)},
	{"74 10 c3", AT(0)},
	{"0f 84 00 01 00 00 c3", AT(0)},
	/* endbr64 and push */
	{"f3 0f 1e fa 55 c3", AT(4)},
	{"f3 0f 1e fa 41 57 c3", AT(4)},
	/* a condition: test rdi, rdi; je. cmp $imm, rsi; ja */
	{"48 85 ff 74 10 c3", AT(3)},
	{"f3 0f 1e fa 48 85 ff 0f 84 00 01 00 00 c3", AT(7)},
	{"48 81 fe 00 10 00 00 77 10 c3", AT(7)},
	/* reads: mov foo(%rip), %rax; mov %fs:0, %rax; lea 8(%rdi), %rax; mov %rdi, %rcx; nopw; nopl */
	{"48 8b 05 00 10 00 00 53 c3", AT(7)},
	{"64 48 8b 04 25 00 00 00 00 53 c3", AT(9)},
	{"48 8d 47 08 53 c3", AT(4)},
	{"48 89 f9 53 c3", AT(3)},
	{"66 90 53 c3", AT(2)},
	{"0f 1f 44 00 00 53 c3", AT(5)},
	/* registers that the kernel keeps besides: xor eax, eax; mov $1, r8d; pxor xmm0, xmm0 */
	{"31 c0 53 c3", AT(2)},
	{"41 b8 01 00 00 00 53 c3", AT(6)},
	{"66 0f ef c0 53 c3", AT(4)},
	/* executed out of line: push $1; pushq (%rax); rex.W push; 16-bit push; push fs */
	{"6a 01 53 c3", NOWHERE},
	{"68 01 00 00 00 53 c3", NOWHERE},
	{"ff 30 53 c3", NOWHERE},
	{"48 53 c3", NOWHERE},
	{"66 53 c3", NOWHERE},
	{"0f a0 53 c3", NOWHERE},
	/* branches that it does not emulate: jmp *%rax; jmp *foo(%rip); bnd jmp; ret; jrcxz; loop; 16-bit call */
	{"ff e0 53 c3", NOWHERE},
	{"ff 25 00 10 00 00", NOWHERE},
	{"f2 e9 00 10 00 00", NOWHERE},
	{"c3 53 c3", NOWHERE},
	{"e3 10 53 c3", NOWHERE},
	{"e2 10 53 c3", NOWHERE},
	{"66 e8 00 10 53 c3", NOWHERE},
	/* changed arguments: mov $1, edi; lea 8(%rdi), %rdi; mov %rsi, %rdi; mov $1, sil; mov %rdi, %rsi;
	 * imul %rsi, %rdi; xor edx, edx; cqto; cmovne %rax, %rdx; mul %rsi */
	{"bf 01 00 00 00 53 c3", {5, NONE, NONE, NONE}},
	{"48 8d 7f 08 53 c3", {4, NONE, NONE, NONE}},
	{"48 89 f7 53 c3", {3, NONE, NONE, NONE}},
	{"40 b6 01 53 c3", {3, 3, NONE, NONE}},
	{"48 89 fe 53 c3", {3, 3, NONE, NONE}},
	{"48 0f af fe 53 c3", {4, NONE, NONE, NONE}},
	{"31 d2 53 c3", {2, 2, 2, NONE}},
	{"48 99 53 c3", {2, 2, 2, NONE}},
	{"48 0f 45 d0 53 c3", {4, 4, 4, NONE}},
	{"48 f7 e6 53 c3", {3, 3, 3, NONE}},
	/* two exchanged registers; the last instruction before the site changes an argument */
	{"48 87 fe 53 c3", {3, NONE, NONE, NONE}},
	{"48 85 ff 31 d2 74 10 c3", {5, 5, 5, NONE}},
	/* changed sp and rbp: sub $8, %rsp; add; lea -8(%rsp), %rsp; pop %rax; mov %rsp, %rbp; xor ebp, ebp; leave */
	{"48 83 ec 08 53 c3", NOWHERE},
	{"48 81 c4 80 00 00 00 53 c3", NOWHERE},
	{"48 8d 64 24 f8 53 c3", NOWHERE},
	{"58 53 c3", NOWHERE},
	{"48 89 e5 53 c3", NOWHERE},
	{"31 ed 53 c3", NOWHERE},
	{"c9 53 c3", NOWHERE},
	/* changed memory: mov %rdi, -8(%rsp); movl $0, (%rsi); lock incl foo(%rip); movups; rep stosb; xchg */
	{"48 89 7c 24 f8 53 c3", NOWHERE},
	{"c7 06 00 00 00 00 53 c3", NOWHERE},
	{"f0 ff 05 00 10 00 00 53 c3", NOWHERE},
	{"0f 11 07 53 c3", NOWHERE},
	{"f3 aa 53 c3", NOWHERE},
	{"48 87 07 53 c3", NOWHERE},
	/* a push before the change is the site */
	{"53 48 83 ec 10 bf 01 00 00 00 c3", AT(0)},
	/* jumps back into the range: to the push; to the test before the je; je to an instruction before itself */
	{"48 85 ff 53 90 eb fc", NOWHERE},
	{"90 48 85 ff 74 10 eb f8", AT(0)},
	{"48 85 ff 48 85 f6 74 10 eb f9", NOWHERE},
	{"48 85 ff 48 85 f6 74 fb c3", NOWHERE},
	{"48 85 ff 48 85 f6 74 fe c3", NOWHERE},
	{"48 85 ff 53 90 0f 84 f8 ff ff ff c3", NOWHERE},
	{"48 85 ff 53 90 e2 fc c3", NOWHERE},
	{"48 85 ff 53 90 e8 f9 ff ff ff c3", NOWHERE},
	/* jumps to the entry, which is a call too, and after the site; call of the next instruction */
	{"48 85 ff 53 90 eb f9", AT(3)},
	{"48 85 ff 53 90 eb fd", AT(3)},
	{"53 90 eb fc", AT(0)},
	/* code that is no instruction, before the site and after it */
	{"06 53 c3", NOWHERE},
	{"48 85 ff 06 53 c3", NOWHERE},
	{"48 85 ff 53 06 c3", NOWHERE},
	/* cut in an instruction: before the site, in the site, and after it, where a jump back may follow */
	{"", NOWHERE},
	{"41", NOWHERE},
	{"f3 0f 1e", NOWHERE},
	{"48 85 ff", NOWHERE},
	{"48 85 ff 0f 84 00 01", NOWHERE},
	{"48 85 ff 53 48 8b", NOWHERE},
	{"48 85 ff 53", AT(3)},
	{"53", AT(0)},
};

static void test_sites_of_functions_are_found(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(forms); i++) {
		unsigned char code[64];
		const size_t size = hex_bytes(forms[i].code, code, sizeof(code));

		for (unsigned arguments = 0; arguments < 4; arguments++) {
			print_message("%s, %u arguments\n", forms[i].code, arguments);
			assert_int_equal(site_of(code, size, arguments), forms[i].sites[arguments]);
		}
	}
}

/* Without such a site, the first instruction gets the probe, if it is a common one. */
static void test_first_instructions_are_stepped(void **state)
{
	static const struct {
		const char *code;
		bool can_step;
	} firsts[] = {
		/* endbr64; mov %rdi, %rsi; mov $1, edi; mov %rdi, -8(%rsp); movslq; movzbl; lea -8(%rsp), %rsp */
		{"f3 0f 1e fa", true},
		{"48 89 fe", true},
		{"bf 01 00 00 00", true},
		{"48 89 7c 24 f8", true},
		{"48 63 ff", true},
		{"0f b6 07", true},
		{"48 8d 64 24 f8", true},
		/* sub $8, %rsp; test %rdi, %rdi; xor edx, edx; imul %rsi, %rdi; and $-8, %rdi; mul %rsi */
		{"48 83 ec 08", true},
		{"48 85 ff", true},
		{"31 d2", true},
		{"48 0f af fe", true},
		{"48 83 e7 f8", true},
		{"48 f7 e6", true},
		/* lock add; rep stosb; jmp *%rax; ret; syscall; hlt; int3; movups; pop; no instruction; a part of
		 * one */
		{"f0 48 01 07", false},
		{"f3 aa", false},
		{"ff e0", false},
		{"c3", false},
		{"0f 05", false},
		{"f4", false},
		{"cc", false},
		{"0f 11 07", false},
		{"58", false},
		{"06", false},
		{"48 83 ec", false},
		{"", false},
	};

	for (size_t i = 0; i < ARRAY_SIZE(firsts); i++) {
		unsigned char code[64];
		const size_t size = hex_bytes(firsts[i].code, code, sizeof(code));

		print_message("%s\n", firsts[i].code);
		assert_int_equal(arch->uprobe.can_step(code, size), firsts[i].can_step);
	}
}

/* A site is near the entry: a call that is interrupted before it would be seen too late. */
static void test_sites_are_near_the_entry(void **state)
{
	unsigned char code[256];

	for (size_t before = 0; before < 120; before++) {
		/* cmc, a byte that changes nothing but a flag */
		memset(code, 0xf5, sizeof(code));
		code[before] = 0x53;
		assert_int_equal(site_of(code, sizeof(code), 3), before < 64 ? (int)before : NONE);
	}
}

/* Each beginning of a function is judged without its end: the site is the same as in the whole function, or there is
 * none. */
static void test_beginnings_of_functions(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(forms); i++) {
		unsigned char code[64];
		const size_t size = hex_bytes(forms[i].code, code, sizeof(code));

		for (size_t part = 0; part < size; part++) {
			const int site = site_of(code, part, 0);

			/* Without the jump back, or the bytes that are no instruction, there may be a site. */
			if (site != NONE && forms[i].sites[0] != NONE)
				assert_int_equal(site, forms[i].sites[0]);
		}
	}
}

/* Whatever the code is, the site is in it, and no byte after it is read. */
static void test_sites_of_random_code(void **state)
{
	static const unsigned char likely[] = {0x48, 0x85, 0xff, 0x53, 0x41, 0x0f, 0x84, 0x66, 0xf3, 0xe8, 0xeb, 0x89};
	unsigned found = 0, later = 0;

	srand(11);
	for (unsigned n = 0; n < 100000; n++) {
		unsigned char code[300];
		const size_t size = (size_t)(rand() >> 4) % (n % 2 ? 24 : sizeof(code));

		for (size_t i = 0; i < size; i++)
			code[i] =
				n % 4 < 2 ? (unsigned char)(rand() >> 5) : likely[(rand() >> 5) % (int)sizeof(likely)];
		int before = NONE;

		for (unsigned arguments = 4; arguments-- > 0;) {
			const int site = site_of(code, size, arguments);

			/* With fewer arguments, fewer instructions change one. */
			if (before != NONE)
				assert_int_equal(site, before);
			assert_true(site < 64);
			before = site;
		}
		found += before != NONE;
		later += before > 0;
	}
	/* Both kinds of bytes have sites at the entry and after it. */
	assert_in_range(found, 1000, 60000);
	assert_in_range(later, 100, 30000);
}

static int make_page(void **state)
{
	page = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return page == MAP_FAILED || mprotect(page + PAGE, PAGE, PROT_NONE);
}

static int drop_page(void **state)
{
	return munmap(page, 2 * PAGE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sites_of_functions_are_found),
		cmocka_unit_test(test_first_instructions_are_stepped),
		cmocka_unit_test(test_sites_are_near_the_entry),
		cmocka_unit_test(test_beginnings_of_functions),
		cmocka_unit_test(test_sites_of_random_code),
	};

	arch = arch_for_elf(EM_X86_64, ELFCLASS64);
	return cmocka_run_group_tests(tests, make_page, drop_page);
}

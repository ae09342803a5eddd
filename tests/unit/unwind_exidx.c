/* Tests unwinding by ARM's index of functions, with hand-made byte codes, a small ELF file with an index, and walks
 * over hand-made stacks. The test runs on every machine. */
#include "config.h"
#include "unit_test.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/util.h"
#include "tests/unit/arch_hex.h"
#include "unwind/exidx.h"
#include "unwind/unwind.h"

extern const struct arch arch_arm;

/* ---- Byte codes ---- */

/* Writes a rule as text: "4:13+8" means that r4 is at r13 + 8; "=7+8" means that the new sp is r7 + 8. */
static void describe(const struct exidx_rule *rule, char *text, size_t size)
{
	size_t used = 0;

	for (unsigned reg = 0; reg < 16; reg++)
		if (rule->saved >> reg & 1)
			used += (size_t)snprintf(text + used, size - used, "%u:%u%+d ", reg, rule->places[reg].base,
						 rule->places[reg].offset);
	snprintf(text + used, size - used, "=%u%+d", rule->sp.base, rule->sp.offset);
}

static void test_codes_become_rules(void **state)
{
	static const struct {
		const char *bytes, *rule;
	} codes[] = {
		{"b0", "=13+0"},
		{"00 b0", "=13+4"},
		{"3f b0", "=13+256"},
		{"40 b0", "=13-4"},
		{"a8 b0", "4:13+0 14:13+4 =13+8"},
		{"a0", "4:13+0 =13+4"},
		{"af", "4:13+0 5:13+4 6:13+8 7:13+12 8:13+16 9:13+20 10:13+24 11:13+28 14:13+32 =13+36"},
		{"84 09", "4:13+0 7:13+4 14:13+8 =13+12"},
		{"88 00", "15:13+0 =13+4"},
		{"97 84 09", "4:7+0 7:7+4 14:7+8 =7+12"},
		{"9b 40 84 80", "11:11-4 14:11+0 =11+4"}, /* r11 - 4, then fp and lr */
		{"b1 0f a8", "0:13+0 1:13+4 2:13+8 3:13+12 4:13+16 14:13+20 =13+24"},
		{"b2 00 a8", "4:13+516 14:13+520 =13+524"},
		{"b2 81 01 a8", "4:13+1032 14:13+1036 =13+1040"},
		{"b3 83 a8", "4:13+36 14:13+40 =13+44"}, /* fstmfdx d8-d11 */
		{"bb a8", "4:13+36 14:13+40 =13+44"},    /* d8-d11 */
		{"d1 a8", "4:13+16 14:13+20 =13+24"},    /* vpush d8, d9 */
		{"c9 83 a8", "4:13+32 14:13+36 =13+40"}, /* d8-d11 */
		{"c8 01 a8", "4:13+16 14:13+20 =13+24"}, /* d16, d17 */
		{"c1 a8", "4:13+16 14:13+20 =13+24"},    /* wR10, wR11 */
		{"c6 01 a8", "4:13+16 14:13+20 =13+24"}, /* wR0, wR1 */
		{"c7 05 a8", "4:13+8 14:13+12 =13+16"},  /* wCGR0, wCGR2 */
		{"b4 a8", "4:13+4 14:13+8 =13+12"},      /* the authentication code */
		{"b5 a8", "4:13+0 14:13+4 =13+8"},
		{"27 b1 0f 8f ff", "0:13+160 1:13+164 2:13+168 3:13+172 4:13+176 5:13+180 6:13+184 7:13+188 8:13+192 "
				   "9:13+196 10:13+200 11:13+204 12:13+208 13:13+212 14:13+216 15:13+220 =13+224"},
		{"a8 b0 00 00", "4:13+0 14:13+4 =13+8"}, /* bytes after the end are ignored */
	};

	for (size_t i = 0; i < ARRAY_SIZE(codes); i++) {
		unsigned char bytes[16];
		const size_t size = hex_bytes(codes[i].bytes, bytes, sizeof(bytes));
		struct exidx_rule rule;
		char text[256];

		assert_true(exidx_run(bytes, size, &rule));
		describe(&rule, text, sizeof(text));
		assert_string_equal(text, codes[i].rule);
	}
}

static void test_invalid_codes_are_refused(void **state)
{
	static const char *const codes[] = {
		"",               /* cannot be unwound */
		"80 00",          /* the code for "cannot be unwound" */
		"84",             /* cut off */
		"9d",       "9f", /* reserved */
		"b1",       "b1 00", "b1 10", "b2", "b2 80", "b2 80 80 80 80 80",
		"b3",       "b6 00", "b7 00", "c6", "c7 00", "c7 10",
		"ca",       "ca 00", "d8",    "ff", "a3 97", /* r7 is in memory by now */
		"82 00 00",                                  /* changes sp after sp was loaded */
	};

	for (size_t i = 0; i < ARRAY_SIZE(codes); i++) {
		unsigned char bytes[16];
		struct exidx_rule rule;

		if (exidx_run(bytes, hex_bytes(codes[i], bytes, sizeof(bytes)), &rule))
			fail_msg("%s", codes[i]);
	}
}

/* Each code of two bytes, and each random one, is decoded or refused. */
static void test_any_codes_are_decoded_or_refused(void **state)
{
	struct exidx_rule rule;
	unsigned char bytes[64];
	uint32_t seed = 1;

	for (unsigned first = 0; first < 65536; first++) {
		bytes[0] = (unsigned char)first;
		bytes[1] = (unsigned char)(first >> 8);
		exidx_run(bytes, 2, &rule);
	}
	for (unsigned n = 0; n < 100000; n++) {
		for (size_t i = 0; i < sizeof(bytes); i++) {
			seed = seed * 1664525 + 1013904223;
			bytes[i] = (unsigned char)(seed >> 24);
		}
		exidx_run(bytes, seed % sizeof(bytes), &rule);
	}
}

/* ---- A file ---- */

#define INDEX     0x200u
#define TABLE     0x400u
#define FILE_SIZE 0x2000u
#define BIAS      0x100000u

enum {
	INNER = 0x1000,    /* Thumb: push {r4, lr} */
	MIDDLE = 0x1100,   /* Thumb, with a frame in r7 */
	OUTER = 0x1200,    /* A32, 516 bytes of locals */
	START = 0x1300,    /* the entry point; not to be unwound */
	CHILD = 0x1380,    /* the function after the entry point's 128 bytes; not to be unwound */
	OTHER = 0x1400,    /* not to be unwound, and not the start of a thread */
	RESTORER = 0x1500, /* the restorer of a C library */
	PLAIN = 0x1600,    /* Thumb: push {r4, lr}, by a table of a personality routine */
	LEAF = 0x1580,     /* Thumb: the return address stays in lr */
	END = 0x1700,
};

#define IN_MIDDLE   (BIAS + MIDDLE + 0x14 + 1) /* return addresses, with the state */
#define IN_OUTER    (BIAS + OUTER + 0x14)
#define IN_START    (BIAS + START + 0x14 + 1)
#define IN_OTHER    (BIAS + OTHER + 0x14 + 1)
#define IN_CHILD    (BIAS + CHILD + 0x8 + 1)
#define IN_PLAIN    (BIAS + PLAIN + 0x14 + 1)
#define IN_LEAF     (BIAS + LEAF + 0x14 + 1)
#define IN_LAST     (BIAS + END + 1) /* after the last instruction of a function */
#define TO_RESTORER (BIAS + RESTORER + 2 + 1)

static unsigned char file[FILE_SIZE];
static uint32_t restorer_code = 0x27adbf00; /* nop; movs r7, #173; and svc 0 after it */

static void put(uint32_t at, uint32_t word)
{
	memcpy(file + at, &word, sizeof(word));
}

static uint32_t distance(uint32_t from, uint32_t to)
{
	return (to - from) & 0x7fffffff;
}

static void put_call(uint32_t return_address)
{
	const uint32_t at = (return_address & ~1u) - BIAS - 4;

	put(at, return_address & 1 ? 0xf800f000 : 0xeb000000);
}

static void make_file(void)
{
	static const struct {
		uint32_t start, word;
		uint32_t table; /* where the function's codes are, if not in the word */
	} entries[] = {
		{INNER, 0x80a8b0b0, 0},
		{MIDDLE, 0x80978409, 0},
		{OUTER, 0, TABLE},
		{START, 1, 0},
		{CHILD, 1, 0},
		{OTHER, 1, 0},
		{RESTORER, 0, TABLE + 16},
		{LEAF, 0x80b0b0b0, 0},
		{PLAIN, 0, TABLE + 32},
		{END, 1, 0},
	};
	Elf32_Ehdr header = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS32, ELFDATA2LSB, EV_CURRENT},
			     .e_type = ET_DYN,
			     .e_machine = EM_ARM,
			     .e_version = EV_CURRENT,
			     .e_entry = START | 1,
			     .e_phoff = sizeof(Elf32_Ehdr),
			     .e_ehsize = sizeof(Elf32_Ehdr),
			     .e_phentsize = sizeof(Elf32_Phdr),
			     .e_phnum = 2};
	const Elf32_Phdr segments[2] = {
		{.p_type = PT_LOAD,
		 .p_filesz = FILE_SIZE,
		 .p_memsz = FILE_SIZE,
		 .p_flags = PF_R | PF_X,
		 .p_align = 4096},
		{.p_type = PT_ARM_EXIDX,
		 .p_offset = INDEX,
		 .p_vaddr = INDEX,
		 .p_filesz = sizeof(entries) / sizeof(*entries) * 8},
	};

	memset(file, 0, sizeof(file));
	memcpy(file, &header, sizeof(header));
	memcpy(file + sizeof(header), segments, sizeof(segments));
	for (size_t i = 0; i < ARRAY_SIZE(entries); i++) {
		const uint32_t at = INDEX + (uint32_t)i * 8;

		put(at, distance(at, entries[i].start));
		put(at + 4, entries[i].table ? distance(at + 4, entries[i].table) : entries[i].word);
	}
	put(TABLE, 0x8101b200); /* personality routine 1: one more word follows */
	put(TABLE + 4, 0xafb0b0b0);
	put(TABLE + 16, 0x810127b1);
	put(TABLE + 20, 0x0f8fffb0);
	put(TABLE + 32,
	    distance(TABLE + 32,
		     INNER)); /* an entry with a language's personality routine, and with a single word of data */
	put(TABLE + 36, 0x00a8b0b0);
	put_call(IN_MIDDLE);
	put_call(IN_OUTER);
	put_call(IN_START);
	put_call(IN_OTHER);
	put_call(IN_CHILD);
	put_call(IN_PLAIN);
	put_call(IN_LEAF);
	put_call(IN_LAST);
	put(RESTORER, restorer_code);
	put(RESTORER + 4, 0xdf00);
}

static int open_file(void)
{
	const int fd = memfd_create("exidx", MFD_CLOEXEC);

	make_file();
	assert_true(fd >= 0);
	assert_int_equal(write(fd, file, sizeof(file)), sizeof(file));
	return fd;
}

static void test_entries_are_found_by_address(void **state)
{
	static const struct {
		uint64_t address;
		bool found;
		uint64_t start, end;
		size_t size;
	} cases[] = {
		{INNER - 1, false, 0, 0, 0},          {INNER, true, INNER, MIDDLE, 3},
		{MIDDLE - 1, true, INNER, MIDDLE, 3}, {OUTER + 8, true, OUTER, START, 6},
		{START, true, START, CHILD, 0},       {PLAIN, true, PLAIN, END, 3},
		{END + 8, true, END, END + 9, 0},
	};
	struct exidx_entry entry;
	struct cfi cfi;

	assert_int_equal(cfi_open_file(&cfi, open_file(), &arch_arm), 0);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		assert_int_equal(exidx_find(&cfi, &arch_arm, cases[i].address, &entry), cases[i].found);
		if (!cases[i].found)
			continue;
		assert_int_equal(entry.start, cases[i].start);
		assert_int_equal(entry.end, cases[i].end);
		assert_int_equal(entry.size, cases[i].size);
	}
	cfi_close(&cfi);
}

/* ---- Walks ---- */

#define STACK   0x20000u
#define SIGPAGE 0x50000u /* the kernel's page for signals, which belongs to no object */
#define MAX     16

enum { R4 = 4, R7 = 7, SP = 13, LR = 14, PC = 15 };

static uint32_t stack[512];
static uint64_t highest_read;

static ssize_t read_page(void *context, uint64_t address, void *data, size_t size)
{
	static const unsigned char code[64] = {0x77, 0x27, 0x00, 0xdf, 0,    0,    0,    0,
					       0x77, 0x70, 0xa0, 0xe3, 0x77, 0x00, 0x90, 0xef};

	(void)context;
	if (address + size - 1 > highest_read)
		highest_read = address + size - 1;
	if (address < SIGPAGE || address >= SIGPAGE + sizeof(code))
		return -EFAULT;
	if (size > SIGPAGE + sizeof(code) - address)
		size = SIGPAGE + sizeof(code) - address;
	memcpy(data, code + (address - SIGPAGE), size);
	return (ssize_t)size;
}

static struct arch_regs registers_at(uint32_t pc, uint32_t sp)
{
	struct arch_regs regs = {.narrow = {0}};

	memset(stack, 0, sizeof(stack));
	regs.narrow[PC] = pc;
	regs.narrow[SP] = STACK + sp;
	return regs;
}

static void push(uint32_t at_byte, uint32_t word)
{
	stack[at_byte / 4] = word;
}

static size_t walk(const struct arch_regs *regs, bool inside, enum unwind_method method, uint64_t pcs[MAX], bool *cut)
{
	struct unwinder *unwinder = unwinder_new(getpid(), &arch_arm, method);
	struct unwind_frame frames[MAX];
	const uint32_t sp = regs->narrow[SP];
	const struct stack_snapshot snapshot = {.arch = &arch_arm,
						.regs = *regs,
						.address = sp,
						.bytes = (const unsigned char *)stack + (sp - STACK),
						.size = sizeof(stack) - (sp - STACK),
						.read = read_page,
						.inside = inside};
	const int fd = open_file();
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	unwinder_add(unwinder, BIAS, BIAS + FILE_SIZE, BIAS, path, "");
	const size_t count = unwind_stack(unwinder, &snapshot, frames, MAX, 0, cut);

	for (size_t i = 0; i < count; i++)
		pcs[i] = frames[i].pc;
	unwinder_free(unwinder);
	close(fd);
	return count;
}

/* Fails unless the walk has the expected pcs with UNWIND_ROWS and with UNWIND_LIBUNWIND. libunwind does not read ARM's
 * index, so functrace's own unwinder walks in both cases. */
static void check(const struct arch_regs *regs, bool inside, const uint64_t *expected, size_t count, bool expected_cut)
{
	uint64_t pcs[MAX];
	bool cut;

	for (enum unwind_method method = UNWIND_ROWS; method <= UNWIND_LIBUNWIND; method++) {
		assert_int_equal(walk(regs, inside, method, pcs, &cut), count);
		for (size_t i = 0; i < count; i++)
			assert_int_equal(pcs[i], expected[i]);
		assert_int_equal(cut, expected_cut);
	}
	assert_true(unwinder_has(&arch_arm, UNWIND_ROWS));
	assert_false(unwinder_has(&arch_arm, UNWIND_LIBUNWIND));
}

/* Puts outer's frame on the stack at byte `from`, with a return address in the entry point's function. */
static void push_outer(uint32_t from)
{
	push(from + 516 + 32, IN_START);
}

/* The thread is after a call in middle, whose frame is in r7. */
static void test_stack_is_walked_by_the_index(void **state)
{
	const uint64_t expected[] = {IN_MIDDLE - 1, IN_OUTER, IN_START};
	struct arch_regs regs = registers_at(IN_MIDDLE - 1, 0);

	regs.narrow[R7] = STACK + 64;
	push(64, 0x44);
	push(68, 0x77);
	push(72, IN_OUTER);
	push_outer(76);
	check(&regs, true, expected, ARRAY_SIZE(expected), false);
}

/* The thread is at inner's first instruction. The return address is in lr, and inner's rule, which expects it on the
 * stack, does not hold yet. */
static void test_caller_is_found_at_a_functions_entry(void **state)
{
	const uint64_t expected[] = {BIAS + INNER, IN_MIDDLE, IN_OUTER, IN_START};
	struct arch_regs regs = registers_at(BIAS + INNER, 0);

	regs.narrow[R7] = STACK + 64;
	regs.narrow[LR] = IN_MIDDLE;
	push(4, IN_PLAIN); /* the wrong address, which inner's rule would find */
	push(72, IN_OUTER);
	push_outer(76);
	check(&regs, false, expected, ARRAY_SIZE(expected), false);
}

/* With this r7, the addresses that middle's rule reads are beyond the last 32-bit address, so they wrap, as in the
 * program. */
static void test_addresses_wrap_at_32_bits(void **state)
{
	const uint64_t expected[] = {IN_MIDDLE - 1};
	struct arch_regs regs = registers_at(IN_MIDDLE - 1, 0);

	regs.narrow[R7] = UINT32_MAX - 3;
	highest_read = 0;
	check(&regs, true, expected, ARRAY_SIZE(expected), true);
	assert_in_range(highest_read, 1, UINT32_MAX);
}

/* The walk is truncated at code whose table says that it cannot be unwound, if the code starts no thread and no
 * program. */
static void test_walk_is_cut_at_unknown_code(void **state)
{
	const uint64_t expected[] = {IN_PLAIN - 1, IN_OTHER};
	struct arch_regs regs = registers_at(IN_PLAIN - 1, 0);

	push(4, IN_OTHER);
	check(&regs, true, expected, ARRAY_SIZE(expected), true);
}

/* A table says that the return address is in lr, but the function has made a call since then: lr is equal to the pc,
 * except for the state bit. */
static void test_walk_ends_if_lr_equals_the_pc(void **state)
{
	const uint64_t expected[] = {IN_LEAF - 1};
	struct arch_regs regs = registers_at(IN_LEAF - 1, 0);

	regs.narrow[LR] = IN_LEAF;
	check(&regs, true, expected, ARRAY_SIZE(expected), true);
}

/* If a call is the last instruction of its function, its return address is the start of the next function. The walk
 * must name the function of the call. */
static void test_call_at_the_end_belongs_to_its_function(void **state)
{
	const uint64_t expected[] = {IN_PLAIN - 1, IN_LAST, IN_START};
	struct arch_regs regs = registers_at(IN_PLAIN - 1, 0);

	push(4, IN_LAST);
	push(12, IN_START);
	check(&regs, true, expected, ARRAY_SIZE(expected), false);
}

/* The C library's function in which a thread begins has no rule. But the stack is complete there if a word nearby on
 * the stack is a return address into the code that starts a thread or the program. */
static void test_stack_of_a_thread_is_complete(void **state)
{
	const uint64_t expected[] = {IN_PLAIN - 1, IN_OTHER};
	struct arch_regs regs = registers_at(IN_PLAIN - 1, 0);

	push(4, IN_OTHER);
	push(40, BIAS + OTHER + 1); /* an address in code that is not after a call */
	push(80, IN_START);
	check(&regs, true, expected, ARRAY_SIZE(expected), false);
	push(80, IN_CHILD);
	check(&regs, true, expected, ARRAY_SIZE(expected), false);
	/* A return address into other code is nearer than the start's, so the stack counts as cut. */
	push(60, IN_MIDDLE);
	check(&regs, true, expected, ARRAY_SIZE(expected), true);
	/* The start's return address is too far away to belong to this frame. */
	push(60, 0);
	push(80, 0);
	push(8 + 1024, IN_START);
	check(&regs, true, expected, ARRAY_SIZE(expected), true);
}

/* Checks a walk from a signal handler that has interrupted the function middle, and that returns to the C library's
 * restorer or to the kernel's. */
static void check_signal(uint32_t restorer, uint32_t first, uint32_t registers)
{
	const uint64_t expected[] = {IN_PLAIN - 1, restorer, BIAS + MIDDLE + 0x20, IN_OUTER, IN_START};
	struct arch_regs regs = registers_at(IN_PLAIN - 1, 0);

	push(4, restorer);
	push(8, first);
	push(8 + registers + 4 * R7, STACK + 600);
	push(8 + registers + 4 * SP, STACK + 500);
	push(8 + registers + 4 * PC, BIAS + MIDDLE + 0x20);
	push(608, IN_OUTER);
	push_outer(612);
	check(&regs, true, expected, ARRAY_SIZE(expected), false);
}

static void test_signal_frames_are_walked(void **state)
{
	check_signal(TO_RESTORER, 10, 128 + 32);
	check_signal(TO_RESTORER, 0x5ac3c35a, 32);
	check_signal(SIGPAGE + 1, 10, 128 + 32);
	check_signal(SIGPAGE + 1, 0x5ac3c35a, 32);
	check_signal(SIGPAGE + 8, 0x5ac3c35a, 32); /* A32 */
	/* The restorer's code is unknown, but its rule restores all registers. */
	restorer_code = 0x46b7bf00;
	check_signal(TO_RESTORER, 10, 128 + 32);
	restorer_code = 0x27adbf00;
}

/* Changes bytes of the program headers, the index and its tables: reading them stays within bounds. */
static void test_damaged_index_is_read_within_bounds(void **state)
{
	struct exidx_entry entry;
	uint32_t seed = 7;

	for (unsigned n = 0; n < 3000; n++) {
		const int fd = open_file();
		struct row row;
		struct cfi cfi;
		size_t allocated;

		for (unsigned i = 0; i < 4; i++) {
			seed = seed * 1664525 + 1013904223;
			const off_t place = (off_t)(52 + (seed >> 8) % (TABLE + 40 - 52));
			const unsigned char byte = (unsigned char)(seed >> 3);

			assert_int_equal(pwrite(fd, &byte, 1, place < 0x200 && place >= 116 ? place + 0x200 : place),
					 1);
		}
		if (cfi_open_file(&cfi, fd, &arch_arm))
			continue;
		for (uint64_t address = INNER - 16; address < END + 64; address += 0x34) {
			row = (struct row){.start = address, .size = 1};
			exidx_find(&cfi, &arch_arm, address, &entry);
			if (exidx_row(&row, &cfi, &arch_arm, address, &allocated)) {
				assert_true(row.start <= address && address - row.start < row.size);
				if (row.kind == ROW_RULES)
					free(row.rules);
			}
		}
		cfi_close(&cfi);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_codes_become_rules),
		cmocka_unit_test(test_invalid_codes_are_refused),
		cmocka_unit_test(test_any_codes_are_decoded_or_refused),
		cmocka_unit_test(test_entries_are_found_by_address),
		cmocka_unit_test(test_stack_is_walked_by_the_index),
		cmocka_unit_test(test_caller_is_found_at_a_functions_entry),
		cmocka_unit_test(test_addresses_wrap_at_32_bits),
		cmocka_unit_test(test_walk_is_cut_at_unknown_code),
		cmocka_unit_test(test_walk_ends_if_lr_equals_the_pc),
		cmocka_unit_test(test_call_at_the_end_belongs_to_its_function),
		cmocka_unit_test(test_stack_of_a_thread_is_complete),
		cmocka_unit_test(test_signal_frames_are_walked),
		cmocka_unit_test(test_damaged_index_is_read_within_bounds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

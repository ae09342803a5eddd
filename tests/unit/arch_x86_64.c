/* Tests the x86-64 table on hand-assembled bytes: classification, copies, emulation, registers. */
#include "config.h"
#include "arch_reach.h"
#include "unit_test.h"

#include <elf.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/user.h>

#include "arch/arch.h"
#include "base/util.h"
#include "tests/unit/arch_hex.h"

#define HERE 0x400000u /* where the tests' instructions are */
#define SLOT 0x401000u /* where the copies of the instructions are */

#define WORD(member) (offsetof(struct user_regs_struct, member) / 8)

static const struct arch *arch(void)
{
	return arch_for_elf(EM_X86_64, ELFCLASS64);
}

static struct insn decode_at(uint64_t address, const char *hex, bool shadow_stack)
{
	unsigned char bytes[32];
	const size_t size = hex_bytes(hex, bytes, sizeof(bytes));
	struct insn insn;

	assert_true(arch()->insns.decode(address, bytes, size, shadow_stack, &insn));
	return insn;
}

static struct insn decode(const char *hex)
{
	return decode_at(HERE, hex, false);
}

/* --- classification and copies --- */

enum { PC_ONLY = 1, REACH = 2, SYSCALL = 4 };

static const struct {
	const char *hex;
	enum insn_kind kind;
	int flags;
	const char *copy; /* INSN_COPY from HERE to SLOT, without the jump back */
} classes[] = {
	/* nops */
	{"90", INSN_EMULATE, PC_ONLY, NULL},
	{"66 90", INSN_EMULATE, PC_ONLY, NULL},
	{"f3 90", INSN_EMULATE, PC_ONLY, NULL}, /* pause */
	{"0f 1f 00", INSN_EMULATE, PC_ONLY, NULL},
	{"0f 1f 44 00 00", INSN_EMULATE, PC_ONLY, NULL},
	{"66 2e 0f 1f 84 00 00 00 00 00", INSN_EMULATE, PC_ONLY, NULL},
	{"66 66 2e 0f 1f 84 00 00 00 00 00", INSN_EMULATE, PC_ONLY, NULL},
	{"0f 1f 05 10 00 00 00", INSN_EMULATE, PC_ONLY, NULL}, /* nopl 0x10(%rip) */
	{"f3 0f 1e fa", INSN_EMULATE, PC_ONLY, NULL},          /* endbr64 */
	{"41 90", INSN_COPY, 0, "41 90"},                      /* xchg %eax,%r8d is not a nop */
	/* jumps */
	{"eb 10", INSN_EMULATE, PC_ONLY, NULL},
	{"e9 10 00 00 00", INSN_EMULATE, PC_ONLY, NULL},
	{"f2 e9 10 00 00 00", INSN_EMULATE, PC_ONLY, NULL}, /* bnd jmp */
	{"ff e0", INSN_EMULATE, PC_ONLY, NULL},
	{"3e ff e0", INSN_EMULATE, PC_ONLY, NULL},
	{"41 ff e7", INSN_EMULATE, PC_ONLY, NULL},
	{"ff 25 10 00 00 00", INSN_EMULATE, PC_ONLY, NULL},
	{"f2 ff 25 10 00 00 00", INSN_EMULATE, PC_ONLY, NULL},
	{"ff 24 c5 10 00 00 00", INSN_EMULATE, PC_ONLY, NULL},
	{"67 ff 25 10 00 00 00", INSN_STEP, 0, NULL}, /* jmp *0x10(%eip) */
	{"66 e9 10 00 00 00", INSN_STEP, 0, NULL},
	{"66 ff e0", INSN_STEP, 0, NULL},
	{"ff 2d 10 00 00 00", INSN_STEP, 0, NULL}, /* ljmp *0x10(%rip) */
	{"48 ff 28", INSN_STEP, 0, NULL},
	{"eb 80", INSN_EMULATE, PC_ONLY, NULL},
	/* calls */
	{"e8 10 00 00 00", INSN_EMULATE, 0, NULL},
	{"67 e8 10 00 00 00", INSN_EMULATE, 0, NULL},
	{"66 66 48 e8 10 00 00 00", INSN_EMULATE, 0, NULL},
	{"66 e8 10 00 00 00", INSN_STEP, 0, NULL},
	{"ff d0", INSN_EMULATE, 0, NULL},
	{"ff 15 10 00 00 00", INSN_EMULATE, 0, NULL},
	{"66 48 ff 15 10 00 00 00", INSN_EMULATE, 0, NULL},
	{"ff 1d 10 00 00 00", INSN_STEP, 0, NULL}, /* lcall */
	/* loops */
	{"e2 10", INSN_EMULATE, 0, NULL},
	{"e1 10", INSN_EMULATE, 0, NULL},
	{"e0 10", INSN_EMULATE, 0, NULL},
	{"67 e2 10", INSN_EMULATE, 0, NULL},
	{"e3 10", INSN_EMULATE, PC_ONLY, NULL},
	{"67 e3 10", INSN_EMULATE, PC_ONLY, NULL},
	/* jcc */
	{"74 10", INSN_COPY, PC_ONLY | REACH, "0f 84 0c f0 ff ff"},
	{"75 fe", INSN_COPY, PC_ONLY | REACH, "0f 85 fa ef ff ff"},
	{"2e 7f 10", INSN_COPY, PC_ONLY | REACH, "0f 8f 0d f0 ff ff"},
	{"0f 82 00 01 00 00", INSN_COPY, PC_ONLY | REACH, "0f 82 00 f1 ff ff"},
	{"f2 0f 82 00 01 00 00", INSN_COPY, PC_ONLY | REACH, "0f 82 01 f1 ff ff"},
	{"66 74 10", INSN_STEP, 0, NULL},
	/* RIP-relative */
	{"80 3d 11 22 33 00 00", INSN_COPY, REACH, "80 3d 11 12 33 00 00"}, /* cmpb $0,x(%rip) */
	{"48 8d 05 00 00 00 00", INSN_COPY, REACH, "48 8d 05 00 f0 ff ff"},
	{"c7 05 00 10 00 00 78 56 34 12", INSN_COPY, REACH, "c7 05 00 00 00 00 78 56 34 12"},
	{"f0 48 0f b1 0d 00 10 00 00", INSN_COPY, REACH, "f0 48 0f b1 0d 00 00 00 00"},
	{"64 8b 05 00 10 00 00", INSN_COPY, REACH, "64 8b 05 00 00 00 00"},
	{"c5 f9 6f 05 00 10 00 00", INSN_COPY, REACH, "c5 f9 6f 05 00 00 00 00"}, /* vmovdqa */
	{"62 f1 fd 48 6f 05 00 10 00 00", INSN_COPY, REACH, "62 f1 fd 48 6f 05 00 00 00 00"},
	{"c4 e3 79 14 05 00 10 00 00 01", INSN_COPY, REACH, "c4 e3 79 14 05 00 00 00 00 01"},
	{"ff 35 00 10 00 00", INSN_COPY, REACH, "ff 35 00 00 00 00"}, /* push x(%rip) */
	{"67 8b 05 10 00 00 00", INSN_STEP, 0, NULL},                 /* mov x(%eip),%eax */
	/* copied unchanged */
	{"c3", INSN_COPY, 0, "c3"},
	{"f3 c3", INSN_COPY, 0, "f3 c3"},
	{"c2 08 00", INSN_COPY, 0, "c2 08 00"},
	{"c9", INSN_COPY, 0, "c9"},
	{"55", INSN_COPY, 0, "55"},
	{"41 57", INSN_COPY, 0, "41 57"},
	{"48 89 e5", INSN_COPY, 0, "48 89 e5"},
	{"48 83 ec 18", INSN_COPY, 0, "48 83 ec 18"},
	{"f3 48 a5", INSN_COPY, 0, "f3 48 a5"},
	{"64 48 8b 04 25 28 00 00 00", INSN_COPY, 0, "64 48 8b 04 25 28 00 00 00"},
	{"48 b8 88 77 66 55 44 33 22 11", INSN_COPY, 0, "48 b8 88 77 66 55 44 33 22 11"},
	{"a1 88 77 66 55 44 33 22 11", INSN_COPY, 0, "a1 88 77 66 55 44 33 22 11"},
	{"66 0f 6f 44 24 10", INSN_COPY, 0, "66 0f 6f 44 24 10"},
	{"c5 fe 6f 06", INSN_COPY, 0, "c5 fe 6f 06"},
	{"62 f1 7f 48 6f 46 01", INSN_COPY, 0, "62 f1 7f 48 6f 46 01"},
	{"8b 05 00 00 00 00", INSN_COPY, REACH, "8b 05 00 f0 ff ff"},
	{"8b 04 25 00 00 00 00", INSN_COPY, 0, "8b 04 25 00 00 00 00"}, /* absolute, SIB */
	{"9b", INSN_COPY, 0, "9b"},
	{"d9 7c 24 0e", INSN_COPY, 0, "d9 7c 24 0e"},
	{"0f 0b", INSN_COPY, 0, "0f 0b"}, /* the address of its fault is translated back */
	{"f4", INSN_COPY, 0, "f4"},
	{"0f 05", INSN_COPY, SYSCALL, "0f 05"},
	{"cd 80", INSN_COPY, SYSCALL, "cd 80"},
	{"0f a2", INSN_COPY, 0, "0f a2"},
	{"f3 48 0f 1e c8", INSN_COPY, 0, "f3 48 0f 1e c8"}, /* rdsspq %rax */
	{"cb", INSN_COPY, 0, "cb"},
	{"48 cf", INSN_COPY, 0, "48 cf"},
	/* in place only */
	{"c5 64 85 10 00 00 00", INSN_STEP, 0, NULL}, /* jknzd of Knights Corner */
	{"cc", INSN_STEP, 0, NULL},
	{"cd 03", INSN_STEP, 0, NULL},
	{"cd 21", INSN_STEP, 0, NULL},
	{"f1", INSN_STEP, 0, NULL},
	{"0f 34", INSN_STEP, 0, NULL},             /* sysenter */
	{"c7 f8 00 00 00 00", INSN_STEP, 0, NULL}, /* xbegin */
	{"c6 f8 01", INSN_STEP, 0, NULL},          /* xabort */
	{"0f 01 d5", INSN_STEP, 0, NULL},          /* xend */
	{"0f 01 d7", INSN_STEP, 0, NULL},          /* enclu */
};

static void test_instructions_are_classified_and_copied(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(classes); i++) {
		unsigned char bytes[32], expected[32];
		const size_t size = hex_bytes(classes[i].hex, bytes, sizeof(bytes));
		const struct insn insn = decode(classes[i].hex);
		struct insn_copy copy;

		print_message("%s\n", classes[i].hex);
		assert_int_equal(insn.kind, classes[i].kind);
		assert_int_equal(insn.length, size);
		assert_memory_equal(insn.bytes, bytes, size);
		assert_int_equal(insn.address, HERE);
		assert_int_equal(insn.pc_only, !!(classes[i].flags & PC_ONLY));
		assert_int_equal(needs_reach(arch(), &insn), !!(classes[i].flags & REACH));
		assert_int_equal(insn.is_syscall, !!(classes[i].flags & SYSCALL));
		if (insn.kind != INSN_COPY) {
			assert_int_equal(arch()->insns.relocate(&insn, SLOT, &copy), -EINVAL);
			continue;
		}

		const size_t copied = hex_bytes(classes[i].copy, expected, sizeof(expected));
		const uint32_t back = HERE + (uint32_t)size - (SLOT + (uint32_t)copied + 5);

		expected[copied] = 0xe9;
		memcpy(expected + copied + 1, &back, 4);
		assert_int_equal(arch()->insns.relocate(&insn, SLOT, &copy), 0);
		assert_int_equal(copy.size, copied + 5);
		assert_int_equal(copy.resume, copied);
		assert_memory_equal(copy.bytes, expected, copied + 5);
		assert_int_equal(insn_original_pc(&insn, &copy, SLOT, SLOT), HERE);
		assert_int_equal(insn_original_pc(&insn, &copy, SLOT, SLOT + copied), HERE + size);
	}
}

/* With a shadow stack only calls change, because the tracer cannot push there. */
static void test_calls_are_stepped_with_a_shadow_stack(void **state)
{
	assert_int_equal(decode_at(HERE, "e8 00 00 00 00", true).kind, INSN_STEP);
	assert_int_equal(decode_at(HERE, "ff d0", true).kind, INSN_STEP);
	assert_int_equal(decode_at(HERE, "ff 15 00 00 00 00", true).kind, INSN_STEP);
	assert_int_equal(decode_at(HERE, "ff e0", true).kind, INSN_EMULATE);
	assert_int_equal(decode_at(HERE, "eb 00", true).kind, INSN_EMULATE);
	assert_int_equal(decode_at(HERE, "c3", true).kind, INSN_COPY);
}

static void test_undecodable_instructions_can_only_be_stepped(void **state)
{
	unsigned char bytes[16];
	struct insn insn;

	/* Truncated, or longer than any instruction. */
	static const char *const none[] = {"e8 00 00 00", "0f", "48", "",
					   "66 66 66 66 66 66 66 66 66 66 66 66 66 66 66 90"};

	for (size_t i = 0; i < ARRAY_SIZE(none); i++) {
		const size_t size = hex_bytes(none[i], bytes, sizeof(bytes));

		assert_false(arch()->insns.decode(HERE, bytes, size, false, &insn));
		assert_int_equal(insn.kind, INSN_STEP);
		assert_int_equal(insn.length, 0);
	}
	/* Instructions that are unknown to the decoder, and may be known to the processor. d5: REX2 of APX. */
	static const char *const unknown[] = {"06", "d5 10 89 c0 90", "f0 90"};

	for (size_t i = 0; i < ARRAY_SIZE(unknown); i++) {
		insn = decode(unknown[i]);
		assert_int_equal(insn.kind, INSN_STEP);
		assert_int_equal(insn.length, 0);
	}
	/* A branch out of the user's addresses. */
	assert_int_equal(decode_at(0x1000, "eb 80", false).kind, INSN_EMULATE);
	assert_int_equal(decode_at(0x10, "eb 80", false).kind, INSN_STEP);
}

static void test_copies_out_of_reach_are_refused(void **state)
{
	const uint64_t high = 0x7f0000000000u, gib = 1u << 30;
	struct insn_copy copy;
	struct insn insn;

	/* push, too far away for rel32: the jump back reads its target from the 8 bytes after the jump. */
	insn = decode_at(high, "55", false);
	assert_int_equal(arch()->insns.relocate(&insn, HERE, &copy), 0);
	assert_int_equal(copy.size, 15);
	assert_int_equal(copy.resume, 1);
	assert_memory_equal(copy.bytes, "\x55\xff\x25\0\0\0\0\x01\0\0\0\0\x7f\0\0", 15);
	/* The longest instruction and the longest jump fit a slot. */
	insn = decode_at(high, "66 66 66 48 c7 84 d8 00 01 00 00 44 33 22 11", false);
	assert_int_equal(insn.length, 15);
	assert_int_equal(arch()->insns.relocate(&insn, HERE, &copy), 0);
	assert_int_equal(copy.size, 29);
	/* RIP-relative and jcc need a near slot. */
	insn = decode_at(high, "74 10", false);
	assert_int_equal(arch()->insns.relocate(&insn, HERE, &copy), -ERANGE);
	assert_int_equal(arch()->insns.relocate(&insn, high - gib, &copy), 0);
	assert_int_equal(arch()->insns.relocate(&insn, high + gib, &copy), 0);
	insn = decode_at(high, "80 3d 00 00 00 00 00", false);
	assert_int_equal(arch()->insns.relocate(&insn, HERE, &copy), -ERANGE);
	assert_int_equal(arch()->insns.relocate(&insn, high + gib, &copy), 0);
	assert_memory_equal(copy.bytes, "\x80\x3d\x00\x00\x00\xc0\x00", 7);
	/* Tests, in both directions, the last slot from which the operand is within reach, and the first from which it
	 * is not. */
	assert_int_equal(arch()->insns.relocate(&insn, high + 0x80000000u, &copy), 0);
	assert_memory_equal(copy.bytes, "\x80\x3d\x00\x00\x00\x80\x00", 7);
	assert_int_equal(arch()->insns.relocate(&insn, high + 0x80000001u, &copy), -ERANGE);
	assert_int_equal(arch()->insns.relocate(&insn, high - 0x7fffffffu, &copy), 0);
	assert_memory_equal(copy.bytes, "\x80\x3d\xff\xff\xff\x7f\x00", 7);
	assert_int_equal(arch()->insns.relocate(&insn, high - 0x80000000u, &copy), -ERANGE);
	/* Invalid descriptions, which decode never returns. */
	insn.length = 0;
	assert_int_equal(arch()->insns.relocate(&insn, SLOT, &copy), -EINVAL);
	insn.length = 16;
	assert_int_equal(arch()->insns.relocate(&insn, SLOT, &copy), -EINVAL);
}

/* Tests that decode() keeps its contract with any bytes, and that a copy fits into a slot. */
static void test_random_bytes_keep_the_decoders_contract(void **state)
{
	uint64_t random = 0x9e3779b97f4a7c15u;
	unsigned copies = 0;

	for (unsigned i = 0; i < 300000; i++) {
		unsigned char bytes[16];
		struct insn_copy copy;
		struct insn insn;

		for (size_t j = 0; j < sizeof(bytes); j++) {
			random = random * 6364136223846793005u + 1442695040888963407u;
			bytes[j] = (unsigned char)(random >> 56);
		}
		/* Half of the byte strings have a prefix, or the escape of a longer opcode, as their first or second
		 * byte. */
		if (i & 1)
			bytes[i >> 1 & 1] = "\x0f\x66\xf3\xf2\xc4\xc5\x62\x48"[i >> 2 & 7];
		if (!arch()->insns.decode(HERE, bytes, i % 17, i & 32, &insn)) {
			assert_int_equal(insn.kind, INSN_STEP);
			continue;
		}
		assert_true(insn.length <= 15 && insn.length <= i % 17);
		assert_true(insn.length > 0 || insn.kind == INSN_STEP);
		assert_memory_equal(insn.bytes, bytes, insn.length);
		assert_false(insn.pc_only && insn.kind != INSN_EMULATE && !insn.can_emulate);
		assert_false(insn.can_emulate && insn.kind != INSN_COPY);
		assert_false(needs_reach(arch(), &insn) && insn.kind != INSN_COPY);
		if (arch()->insns.relocate(&insn, i & 64 ? SLOT : UINT64_MAX - 20, &copy) == 0) {
			assert_int_equal(insn.kind, INSN_COPY);
			assert_true(copy.size <= ARCH_SLOT_SIZE);
			assert_true(copy.resume == insn.length || copy.resume == 6);
			assert_true(copy.resume < copy.size);
			copies++;
		}
	}
	assert_true(copies > 50000);
}

/* --- emulation --- */

/* A tracee's memory: one page. */
struct page {
	uint64_t base;
	unsigned char bytes[256];
	unsigned writes;
};

static int page_read(void *context, uint64_t address, void *data, size_t size)
{
	const struct page *page = context;

	if (address < page->base || address - page->base > sizeof(page->bytes) - size)
		return -EFAULT;
	memcpy(data, page->bytes + (address - page->base), size);
	return 0;
}

static int page_write(void *context, uint64_t address, const void *data, size_t size)
{
	struct page *page = context;

	if (address < page->base || address - page->base > sizeof(page->bytes) - size)
		return -EFAULT;
	memcpy(page->bytes + (address - page->base), data, size);
	page->writes++;
	return 0;
}

static struct page page;
static const struct arch_memory memory = {page_read, page_write, &page};

static void page_put(unsigned offset, uint64_t value)
{
	memcpy(page.bytes + offset, &value, sizeof(value));
}

/* Returns registers with different values; rsp is at the page's offset 0x80. */
static struct arch_regs start_regs(void)
{
	struct arch_regs regs = {.words = {0}};

	memset(&page, 0, sizeof(page));
	page.base = 0x10000;
	for (unsigned i = 0; i < 27; i++)
		regs.words[i] = 0x1000 + i;
	regs.words[WORD(rip)] = HERE;
	regs.words[WORD(rsp)] = page.base + 0x80;
	regs.words[WORD(eflags)] = 0x202;
	return regs;
}

/* Emulates the instruction, and compares the registers with the expected ones: as before, but with this `rip` and
 * `rsp`. */
static void check_emulated(const char *hex, struct arch_regs regs, uint64_t rip, uint64_t rsp)
{
	const struct insn insn = decode(hex);
	struct arch_regs expected = regs;

	expected.words[WORD(rip)] = rip;
	expected.words[WORD(rsp)] = rsp;
	assert_int_equal(arch()->insns.emulate(&insn, &regs, &memory), 0);
	assert_memory_equal(&regs, &expected, sizeof(regs));
}

static void test_jumps_are_emulated(void **state)
{
	struct arch_regs regs = start_regs();
	const uint64_t sp = regs.words[WORD(rsp)];

	check_emulated("90", regs, HERE + 1, sp);
	check_emulated("f3 0f 1e fa", regs, HERE + 4, sp);
	check_emulated("66 2e 0f 1f 84 00 00 00 00 00", regs, HERE + 10, sp);
	check_emulated("eb 10", regs, HERE + 0x12, sp);
	check_emulated("eb fe", regs, HERE, sp);
	check_emulated("e9 fb ef ff ff", regs, HERE - 0x1000, sp);
	regs.words[WORD(rax)] = 0x7f1234567890;
	check_emulated("ff e0", regs, 0x7f1234567890, sp);
	regs.words[WORD(r13)] = 0x7f1234567891;
	check_emulated("3e 41 ff e5", regs, 0x7f1234567891, sp);
	check_emulated("ff e4", regs, sp, sp); /* jmp *%rsp */
	/* jmp *8(%rbx,%r14,4) */
	regs.words[WORD(rbx)] = page.base;
	regs.words[WORD(r14)] = 2;
	page_put(16, 0x5555);
	check_emulated("42 ff 64 b3 08", regs, 0x5555, sp);
	/* jmp *-8(%rsp): no index */
	page_put(0x78, 0x6666);
	check_emulated("ff 64 24 f8", regs, 0x6666, sp);
	/* jmp *0x10008 and, by SIB without a base, jmp *0x10000(,%r14,4) */
	page_put(8, 0x7777);
	check_emulated("ff 24 25 08 00 01 00", regs, 0x7777, sp);
	check_emulated("42 ff 24 b5 00 00 01 00", regs, 0x7777, sp);
	/* jmp *-0x3f0006(%rip): HERE + 6 - 0x3f0006 = 0x10000 */
	page_put(0, 0x8888);
	check_emulated("ff 25 fa ff c0 ff", regs, 0x8888, sp);
	/* jmp *%fs:0x10, %gs:(%rdi) */
	regs.words[WORD(fs_base)] = page.base + 0x20;
	regs.words[WORD(gs_base)] = page.base + 0x30;
	regs.words[WORD(rdi)] = 8;
	page_put(0x30, 0x9999);
	page_put(0x38, 0xaaaa);
	check_emulated("64 ff 24 25 10 00 00 00", regs, 0x9999, sp);
	check_emulated("65 ff 27", regs, 0xaaaa, sp);
	/* jmp *(%r12d): the address is truncated to 32 bits before a segment's base is added */
	regs.words[WORD(r12)] = 0xffffffff00000000u + page.base;
	check_emulated("67 41 ff 24 24", regs, 0x8888, sp);
	regs.words[WORD(r12)] = 0xffffffff00000008u;
	check_emulated("64 67 41 ff 64 24 08", regs, 0x9999, sp);
	assert_int_equal(page.writes, 0);
}

static void test_calls_are_emulated(void **state)
{
	struct arch_regs regs = start_regs();
	const uint64_t sp = regs.words[WORD(rsp)];
	static const struct {
		const char *hex;
		uint64_t target, next;
	} calls[] = {
		{"e8 10 00 00 00", HERE + 0x15, HERE + 5},
		{"67 e8 10 00 00 00", HERE + 0x16, HERE + 6},
		{"66 66 48 e8 f8 ff ff ff", HERE, HERE + 8},
		{"ff d0", 0x7f1234567890, HERE + 2},
		{"ff d4", 0x10080, HERE + 2},      /* call *%rsp: its value before the push */
		{"ff 54 24 f8", 0x6666, HERE + 4}, /* call *-8(%rsp): read before the push */
		{"ff 14 24", 0x5555, HERE + 3},
	};

	for (size_t i = 0; i < ARRAY_SIZE(calls); i++) {
		unsigned char expected[sizeof(page.bytes)];

		regs = start_regs();
		regs.words[WORD(rax)] = 0x7f1234567890;
		page_put(0x78, 0x6666);
		page_put(0x80, 0x5555);
		memcpy(expected, page.bytes, sizeof(expected));
		memcpy(expected + 0x78, &calls[i].next, 8);
		check_emulated(calls[i].hex, regs, calls[i].target, sp - 8);
		assert_memory_equal(page.bytes, expected, sizeof(expected));
		assert_int_equal(page.writes, 1);
	}
}

static void check_loop(const char *hex, uint64_t rcx, uint64_t eflags, uint64_t rcx_after, bool is_taken)
{
	const struct insn insn = decode(hex);
	struct arch_regs regs = start_regs(), expected;

	regs.words[WORD(rcx)] = rcx;
	regs.words[WORD(eflags)] = eflags;
	expected = regs;
	expected.words[WORD(rcx)] = rcx_after;
	expected.words[WORD(rip)] = HERE + insn.length + (is_taken ? 0x10 : 0);
	assert_int_equal(arch()->insns.emulate(&insn, &regs, &memory), 0);
	assert_memory_equal(&regs, &expected, sizeof(regs));
}

static void test_loops_are_emulated(void **state)
{
	const uint64_t zero = 0x242, none = 0x202;

	check_loop("e2 10", 2, none, 1, true);
	check_loop("e2 10", 1, none, 0, false);
	check_loop("e2 10", 0, none, UINT64_MAX, true);
	check_loop("e2 10", 0x100000000u, none, 0xffffffff, true);
	check_loop("67 e2 10", 0xabcd00000001u, none, 0, false);
	check_loop("67 e2 10", 0xabcd00000000u, none, 0xffffffff, true);
	check_loop("e1 10", 2, zero, 1, true);
	check_loop("e1 10", 2, none, 1, false);
	check_loop("e1 10", 1, zero, 0, false);
	check_loop("e0 10", 2, none, 1, true);
	check_loop("e0 10", 2, zero, 1, false);
	check_loop("e3 10", 0, none, 0, true);
	check_loop("e3 10", 0x100000000u, none, 0x100000000u, false);
	check_loop("67 e3 10", 0x100000000u, none, 0x100000000u, true);
}

/* An emulation that faults changes nothing; the instruction is left to the tracee. */
static void test_failed_emulation_changes_nothing(void **state)
{
	static const struct {
		const char *hex;
		uint64_t rax, rsp;
	} faults[] = {
		{"ff 20", 0, 0x10080},                     /* jmp *(%rax), unmapped */
		{"ff 20", 0x100f9, 0x10080},               /* ... only its last byte */
		{"ff 10", 0, 0x10080},                     /* call *(%rax) */
		{"ff d0", 0x5555, 0x10000},                /* call *%rax, the push */
		{"ff d0", 0x8000000000000000u, 0x10080},   /* not canonical */
		{"ff e0", 0x0000800000000000u, 0x10080},   /* ... with four levels of pages */
		{"ff e0", 0xffffffffff600000u, 0x10080},   /* the kernel's half */
		{"ff 60 08", 0xffffffffffffffff, 0x10080}, /* address 7 */
		{"e8 00 00 00 00", 0, 0x10007},
		{"e8 00 00 00 00", 0, 0},
	};

	for (size_t i = 0; i < ARRAY_SIZE(faults); i++) {
		const struct insn insn = decode(faults[i].hex);
		struct arch_regs regs = start_regs(), before;

		regs.words[WORD(rax)] = faults[i].rax;
		regs.words[WORD(rsp)] = faults[i].rsp;
		before = regs;
		assert_int_equal(arch()->insns.emulate(&insn, &regs, &memory), -EFAULT);
		assert_memory_equal(&regs, &before, sizeof(regs));
		assert_int_equal(page.writes, 0);
	}

	struct arch_regs regs = start_regs();
	struct insn insn = decode("0f a2");

	assert_int_equal(arch()->insns.emulate(&insn, &regs, &memory), -EINVAL);
}

/* --- registers, breakpoints, the ABI --- */

static void test_registers_are_read_and_written(void **state)
{
	struct arch_regs regs = start_regs();
	struct user_regs_struct user;
	uint64_t value;

	memcpy(&user, &regs, sizeof(user));
	assert_int_equal(arch()->registers.size, sizeof(user));
	assert_int_equal(arch()->registers.pc_offset, offsetof(struct user, regs.rip));
	assert_ptr_equal(arch_for_regset(sizeof(user)), arch());
	assert_ptr_equal(arch_native(), arch());
	assert_null(arch_for_regset(72));
	assert_null(arch_for_elf(EM_X86_64, ELFCLASS32));
	assert_null(arch_for_elf(EM_386, ELFCLASS64));
	assert_string_equal(arch()->name, "x86_64");

	const uint64_t dwarf[] = {user.rax, user.rdx, user.rcx, user.rbx, user.rsi, user.rdi,
				  user.rbp, user.rsp, user.r8,  user.r9,  user.r10, user.r11,
				  user.r12, user.r13, user.r14, user.r15, user.rip};

	assert_int_equal(arch()->dwarf.registers, ARRAY_SIZE(dwarf));
	for (unsigned i = 0; i < ARRAY_SIZE(dwarf); i++)
		assert_int_equal(arch()->dwarf.get(&regs, i), dwarf[i]);
	assert_int_equal(arch()->dwarf.get(&regs, 17), 0);
	assert_int_equal(arch()->dwarf.get(&regs, arch()->dwarf.sp), user.rsp);
	assert_int_equal(arch()->dwarf.get(&regs, arch()->dwarf.pc), user.rip);
	assert_int_equal(arch()->registers.pc(&regs), user.rip);
	assert_int_equal(arch()->registers.sp(&regs), user.rsp);
	assert_int_equal(arch()->convention.result(&regs), user.rax);
	assert_false(arch()->convention.return_address(&regs, &value));
	assert_int_equal(value, user.rsp);
	assert_int_equal(arch()->convention.return_sp(&regs), user.rsp + 8);

	const uint64_t arguments[] = {user.rdi, user.rsi, user.rdx, user.rcx, user.r8, user.r9};

	assert_int_equal(arch()->convention.argument_registers, ARRAY_SIZE(arguments));
	for (unsigned i = 0; i < ARRAY_SIZE(arguments); i++)
		assert_int_equal(arch_register(arch(), &regs, arch()->convention.argument_words[i]), arguments[i]);
	assert_int_equal(arch()->convention.argument_stack, 8);

	arch()->registers.set_pc(&regs, 1);
	arch()->registers.set_sp(&regs, 2);
	user.rip = 1;
	user.rsp = 2;
	assert_memory_equal(&regs, &user, sizeof(user));
}

static void test_breakpoints_are_put_after_endbr64(void **state)
{
	unsigned char bytes[ARCH_BREAKPOINT_MAX] = {0};
	unsigned char code[8];
	size_t size;

	assert_int_equal(arch()->breakpoint.encode(HERE, bytes), 1);
	assert_memory_equal(bytes, "\xcc\0\0\0", 4);
	assert_int_equal(arch()->breakpoint.hit_address(HERE + 1), HERE);
	size = hex_bytes("f3 0f 1e fa 55", code, sizeof(code));
	assert_int_equal(arch()->breakpoint.entry(HERE, code, size), HERE + 4);
	assert_int_equal(arch()->breakpoint.entry(HERE, code, 4), HERE + 4);
	assert_int_equal(arch()->breakpoint.entry(HERE, code, 3), HERE);
	size = hex_bytes("f3 0f 1e fb 55", code, sizeof(code)); /* endbr32 */
	assert_int_equal(arch()->breakpoint.entry(HERE, code, size), HERE);
	assert_int_equal(arch()->breakpoint.entry(HERE, code, 0), HERE);
}

static const struct {
	const char *hex;
	enum arch_call call;
} before_return[] = {
	{"e8 01 02 03 04", CALL_FIXED},
	{"67 e8 01 02 03 04", CALL_FIXED},
	{"66 66 48 e8 01 02 03 04", CALL_FIXED},
	{"ff d0", CALL_COMPUTED},
	{"41 ff d7", CALL_COMPUTED},
	{"3e ff d0", CALL_COMPUTED},
	{"ff 10", CALL_COMPUTED},
	{"ff 14 24", CALL_COMPUTED},
	{"ff 50 08", CALL_COMPUTED},
	{"ff 54 24 08", CALL_COMPUTED},
	{"41 ff 54 24 08", CALL_COMPUTED},
	{"ff 15 01 02 03 04", CALL_FIXED},
	{"66 48 ff 15 01 02 03 04", CALL_FIXED},
	{"ff 90 01 02 03 04", CALL_COMPUTED},
	{"ff 94 24 01 02 03 04", CALL_COMPUTED},
	{"ff 14 c5 01 02 03 04", CALL_COMPUTED},
	{"64 ff 14 25 10 00 00 00", CALL_COMPUTED},
	{"90 90 90 ff d0", CALL_COMPUTED},
	{"e9 01 02 03 04", CALL_NONE},
	{"e8 01 02 03", CALL_NONE},
	{"ff e0", CALL_NONE},
	{"ff 25 01 02 03 04", CALL_NONE},
	{"ff 18", CALL_NONE}, /* lcall */
	{"ff 14", CALL_NONE}, /* cut short */
	{"ff 15 01 02 03", CALL_NONE},
	{"ff 14 25 01 02", CALL_NONE},
	{"d0", CALL_NONE},
	{"", CALL_NONE},
	{"90 90 90 90 90 90 90 90", CALL_NONE},
	{"e8 01 02 03 04 90", CALL_NONE},
	{"ff d0 90", CALL_NONE},
	{"e8 01 02 ff d0", CALL_COMPUTED}, /* can be decoded in two ways; this answer is the safe one */
};

static void test_calls_before_an_address_are_recognised(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(before_return); i++) {
		unsigned char bytes[16];
		const size_t size = hex_bytes(before_return[i].hex, bytes, sizeof(bytes));

		print_message("%s\n", before_return[i].hex);
		assert_int_equal(arch()->code.follows_call(HERE, bytes, size), before_return[i].call);
	}
}

/* In 32-bit code a call through %gs:0x10, where the C library keeps the address of the [vdso]'s entry, is a system
 * call. A call through another word is not. */
static void test_calls_of_the_vdso_are_system_calls(void **state)
{
	static const unsigned char by_thread[] = {0x65, 0xff, 0x15, 0x10, 0, 0, 0},
				   by_slot[] = {0xff, 0x15, 0x10, 0, 0, 0};
	const struct arch *const i386 = arch_for_elf(EM_386, ELFCLASS32);

	if (!i386)
		skip();
	assert_int_equal(i386->code.follows_call(HERE, by_thread, sizeof(by_thread)), CALL_SYSTEM);
	assert_int_equal(i386->code.follows_call(HERE, by_slot, sizeof(by_slot)), CALL_FIXED);
	assert_int_equal(arch()->code.follows_call(HERE, by_thread, sizeof(by_thread)), CALL_FIXED);
}

static void test_writes_of_the_stack_pointer_are_recognised(void **state)
{
	static const struct {
		const char *hex;
		bool ever, at_end;
	} codes[] = {
		{"", false, false},
		{"55 48 89 e5 48 83 ec 20 ff d0", false, false}, /* push; mov %rsp, %rbp; sub; call */
		{"48 81 c4 00 10 00 00 5d", false, false},       /* add; pop */
		{"48 8d 64 24 f8 ff d0", false, false},          /* lea -8(%rsp), %rsp */
		{"48 ff c4 48 ff cc", false, false},             /* inc, dec */
		{"48 8b 66 38 48 83 ec 40 ff d0", true, true},   /* mov 0x38(%rsi), %rsp; sub; call */
		{"48 89 f4 90", true, true},                     /* mov %rsi, %rsp */
		{"48 83 e4 f0 90", true, true},                  /* and */
		{"48 29 c4 90", true, true},                     /* sub %rax, %rsp */
		{"48 8d 65 d8 90", true, true},                  /* lea -40(%rbp), %rsp */
		{"48 8d 24 04 90", true, true},                  /* lea (%rsp, %rax), %rsp */
		{"48 94 90", true, true},                        /* xchg %rax, %rsp */
		{"5c 90", true, true},                           /* pop %rsp */
		{"bc 00 00 00 00 90", true, true},               /* mov $0, %esp */
		{"48 89 f4 c3 90", true, false},                 /* ... ret */
		{"48 89 f4 eb 00 90", true, false},              /* ... jmp */
		{"48 89 f4 0f 0b 90", true, false},              /* ... ud2 */
		{"48 89 f4 74 00 90", true, true},               /* ... je */
		{"89 e0 48 89 e6 90", false, false},             /* mov %esp, %eax; mov %rsp, %rsi */
		{"48 89 34 24 90", false, false},                /* mov %rsi, (%rsp) */
		{"48 3b e6 90", false, false},                   /* cmp %rsi, %rsp */
		{"90 48 89", false, false},                      /* cut short */
	};

	for (size_t i = 0; i < ARRAY_SIZE(codes); i++) {
		unsigned char bytes[16];
		bool ever;
		const size_t size = hex_bytes(codes[i].hex, bytes, sizeof(bytes));

		print_message("%s\n", codes[i].hex);
		assert_int_equal(arch()->code.sets_sp(bytes, size, &ever), codes[i].at_end);
		assert_int_equal(ever, codes[i].ever);
	}
}

static void test_interrupted_system_calls_are_restarted(void **state)
{
	static const struct {
		int64_t orig_rax, rax;
		bool is_restarted;
	} calls[] = {
		{SYS_epoll_wait, -EINTR, true},      {SYS_epoll_pwait, -EINTR, true},
		{SYS_rt_sigtimedwait, -EINTR, true}, {SYS_semtimedop, -EINTR, true},
		{SYS_epoll_wait, 1, false},          {SYS_epoll_wait, -EBADF, false},
		{SYS_close, -EINTR, false},                               /* the descriptor is closed nevertheless */
		{SYS_pause, -EINTR, false},          {-1, -EINTR, false}, /* in no call, or back from a handler */
		{INT64_MAX, -EINTR, false},
	};

	for (size_t i = 0; i < ARRAY_SIZE(calls); i++) {
		struct arch_regs regs = start_regs(), expected;

		regs.words[WORD(orig_rax)] = (uint64_t)calls[i].orig_rax;
		regs.words[WORD(rax)] = (uint64_t)calls[i].rax;
		expected = regs;
		if (calls[i].is_restarted)
			expected.words[WORD(rax)] = (uint64_t)-514; /* ERESTARTNOHAND */
		assert_int_equal(arch()->syscalls.restart(&regs), calls[i].is_restarted);
		assert_memory_equal(&regs, &expected, sizeof(regs));
	}
}

static void test_tids_of_created_tasks_are_read(void **state)
{
	static const struct {
		int64_t orig_rax, rax;
		pid_t made;
	} calls[] = {
		{SYS_fork, 1234, 1234},         {SYS_vfork, 1, 1},    {SYS_clone, 1234, 1234},
		{SYS_clone3, 4194304, 4194304}, {SYS_fork, 0, 0}, /* in the child */
		{SYS_clone, -EAGAIN, 0},        {SYS_clone, -514, 0}, {SYS_clone, 1ll << 40, 0},
		{SYS_exit_group, 1234, 0},      {SYS_read, 1234, 0},  {-1, 1234, 0}, /* in no call */
	};

	for (size_t i = 0; i < ARRAY_SIZE(calls); i++) {
		struct arch_regs regs = start_regs();

		regs.words[WORD(orig_rax)] = (uint64_t)calls[i].orig_rax;
		regs.words[WORD(rax)] = (uint64_t)calls[i].rax;
		assert_int_equal(arch()->syscalls.created_tid(&regs), calls[i].made);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_instructions_are_classified_and_copied),
		cmocka_unit_test(test_calls_are_stepped_with_a_shadow_stack),
		cmocka_unit_test(test_undecodable_instructions_can_only_be_stepped),
		cmocka_unit_test(test_copies_out_of_reach_are_refused),
		cmocka_unit_test(test_random_bytes_keep_the_decoders_contract),
		cmocka_unit_test(test_jumps_are_emulated),
		cmocka_unit_test(test_calls_are_emulated),
		cmocka_unit_test(test_loops_are_emulated),
		cmocka_unit_test(test_failed_emulation_changes_nothing),
		cmocka_unit_test(test_registers_are_read_and_written),
		cmocka_unit_test(test_breakpoints_are_put_after_endbr64),
		cmocka_unit_test(test_calls_before_an_address_are_recognised),
		cmocka_unit_test(test_calls_of_the_vdso_are_system_calls),
		cmocka_unit_test(test_writes_of_the_stack_pointer_are_recognised),
		cmocka_unit_test(test_interrupted_system_calls_are_restarted),
		cmocka_unit_test(test_tids_of_created_tasks_are_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

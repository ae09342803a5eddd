/* Tests the AArch64 table on instruction words: classification, copies, emulation, registers. The test runs on any
 * machine; arch_aarch64_run.c compares the table with the processor. */
#include "config.h"
#include "unit_test.h"

#include <elf.h>
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>

#include "arch/aarch64/aarch64.h"
#include "base/util.h"

#define HERE 0x400000u /* where the tests' instructions are */
#define SLOT 0x401000u /* where the copies of the instructions are */

static const struct arch *const arch = &arch_aarch64;

static bool decode_with(uint64_t address, const uint32_t *words, size_t count, bool shadow_stack, struct insn *insn)
{
	unsigned char bytes[16];

	for (size_t i = 0; i < count; i++)
		a64_put(bytes + 4 * i, words[i]);
	return arch->insns.decode(address, bytes, 4 * count, shadow_stack, insn);
}

static struct insn decode(uint32_t word)
{
	struct insn insn;

	assert_true(decode_with(HERE, &word, 1, false, &insn));
	return insn;
}

/* --- classification and copies --- */

enum { PC_ONLY = 1, SYSCALL = 2, CAN = 4 /* can be emulated, too */, NO_STEP = 8 };

static const struct {
	uint32_t word;
	enum insn_kind kind;
	int flags;
	uint32_t copy; /* INSN_COPY: the word of the copy at SLOT */
} classes[] = {
	/* nop, yield; bti, bti c, bti j, bti jc */
	{0xd503201f, INSN_EMULATE, PC_ONLY, 0},
	{0xd503203f, INSN_EMULATE, PC_ONLY, 0},
	{0xd503241f, INSN_EMULATE, PC_ONLY, 0},
	{0xd503245f, INSN_EMULATE, PC_ONLY, 0},
	{0xd503249f, INSN_EMULATE, PC_ONLY, 0},
	{0xd50324df, INSN_EMULATE, PC_ONLY, 0},
	/* b forward and backward, b.eq, b.al, bc.eq; cbz, cbnz w3, tbz x3 #33, tbnz w3 #4 */
	{0x14000004, INSN_EMULATE, PC_ONLY, 0},
	{0x17fffffc, INSN_EMULATE, PC_ONLY, 0},
	{0x54000080, INSN_EMULATE, PC_ONLY, 0},
	{0x54ffff8e, INSN_EMULATE, PC_ONLY, 0},
	{0x54000090, INSN_EMULATE, PC_ONLY, 0},
	{0xb4000083, INSN_EMULATE, PC_ONLY, 0},
	{0x35ffff83, INSN_EMULATE, PC_ONLY, 0},
	{0xb6080083, INSN_EMULATE, PC_ONLY, 0},
	{0x3727ff83, INSN_EMULATE, PC_ONLY, 0},
	/* br x16, ret, ret x5; bl, blr x8 */
	{0xd61f0200, INSN_EMULATE, PC_ONLY, 0},
	{0xd65f03c0, INSN_EMULATE, PC_ONLY, 0},
	{0xd65f00a0, INSN_EMULATE, PC_ONLY, 0},
	{0x94000004, INSN_EMULATE, 0, 0},
	{0xd63f0100, INSN_EMULATE, 0, 0},
	/* adr, adrp; ldr x1, ldr w1, ldrsw x1, prfm of a literal */
	{0x30000021, INSN_EMULATE, 0, 0},
	{0x90000001, INSN_EMULATE, 0, 0},
	{0x58000081, INSN_EMULATE, 0, 0},
	{0x18ffff81, INSN_EMULATE, 0, 0},
	{0x98000081, INSN_EMULATE, 0, 0},
	{0xd8000080, INSN_EMULATE, 0, 0},
	/* stp x29, x30, [sp, #-48]!; sub sp, sp, #32; mov x29, sp; ldr x0, [x1, x2] */
	{0xa9bd7bfd, INSN_COPY, CAN, 0xa9bd7bfd},
	{0xd10083ff, INSN_COPY, CAN, 0xd10083ff},
	{0x910003fd, INSN_COPY, CAN, 0x910003fd},
	{0xf8626820, INSN_COPY, 0, 0xf8626820},
	/* str x30, [sp, #-16]!, ldp x29, x30, [sp], #48, ldrsb w0, [x1, #3], ldur x0, [x1, #-8], mov x19, x0, cmp x0,
	 * #0, mov w0, #1, and w0, w1, w2, lsl #31 */
	{0xf81f0ffe, INSN_COPY, CAN, 0xf81f0ffe},
	{0xa8c37bfd, INSN_COPY, CAN, 0xa8c37bfd},
	{0x39c00c20, INSN_COPY, CAN, 0x39c00c20},
	{0xf85f8020, INSN_COPY, CAN, 0xf85f8020},
	{0xaa0003f3, INSN_COPY, CAN, 0xaa0003f3},
	{0xf100001f, INSN_COPY, CAN, 0xf100001f},
	{0x52800020, INSN_COPY, CAN, 0x52800020},
	{0x0a027c20, INSN_COPY, CAN, 0x0a027c20},
	/* the architecture leaves the effect open: ldr x1, [x1], #8, str x1, [x1, #8]!, ldp x1, x1, [x2], ldp x1, x2,
	 * [x1], #16; not allocated: and w0, w1, w2, lsl #32, add of a rotated register, movk w0, lsl #32 */
	{0xf8408421, INSN_COPY, 0, 0xf8408421},
	{0xf8008c21, INSN_COPY, 0, 0xf8008c21},
	{0xa9400441, INSN_COPY, 0, 0xa9400441},
	{0xa8c10821, INSN_COPY, 0, 0xa8c10821},
	{0x0a028020, INSN_COPY, 0, 0x0a028020},
	{0x8bc20020, INSN_COPY, 0, 0x8bc20020},
	{0x72c00020, INSN_COPY, 0, 0x72c00020},
	/* ldpsw, stnp, stgp, prfm [x1], ldtr, stp d8, d9, str q0, add of an extended register, ldr x0, [x1, x2] */
	{0x69400440, INSN_COPY, 0, 0x69400440},
	{0xa8000440, INSN_COPY, 0, 0xa8000440},
	{0x69000440, INSN_COPY, 0, 0x69000440},
	{0xf9800020, INSN_COPY, 0, 0xf9800020},
	{0xf8400820, INSN_COPY, 0, 0xf8400820},
	{0x6dbd27e8, INSN_COPY, 0, 0x6dbd27e8},
	{0x3d800020, INSN_COPY, 0, 0x3d800020},
	{0x8b226020, INSN_COPY, 0, 0x8b226020},
	/* paciasp, pacibsp, autiasp, xpaclri, retaa, retab, ldraa x0, [x1] */
	{0xd503233f, INSN_COPY, 0, 0xd503233f},
	{0xd503237f, INSN_COPY, 0, 0xd503237f},
	{0xd50323bf, INSN_COPY, 0, 0xd50323bf},
	{0xd50320ff, INSN_COPY, 0, 0xd50320ff},
	{0xd65f0bff, INSN_COPY, 0, 0xd65f0bff},
	{0xd65f0fff, INSN_COPY, 0, 0xd65f0fff},
	{0xf8200420, INSN_COPY, 0, 0xf8200420},
	/* braa x0, x1; blraaz x0; blraa x0, x1; paciasppc, pacm */
	{0xd71f0801, INSN_STEP, 0, 0},
	{0xd63f081f, INSN_STEP, 0, 0},
	{0xd73f0801, INSN_STEP, 0, 0},
	{0xdac1a3fe, INSN_STEP, 0, 0},
	{0xd50324ff, INSN_STEP, 0, 0},
	/* stlr, ldar; ldxr, ldaxp; cas, casp, ldadd */
	{0x889ffc01, INSN_COPY, 0, 0x889ffc01},
	{0x88dffc01, INSN_COPY, 0, 0x88dffc01},
	{0x885f7c01, INSN_COPY, NO_STEP, 0x885f7c01},
	{0xc87f8801, INSN_COPY, NO_STEP, 0xc87f8801},
	{0xc8a17c02, INSN_COPY, 0, 0xc8a17c02},
	{0x48207c82, INSN_COPY, 0, 0x48207c82},
	{0xf8210002, INSN_COPY, 0, 0xf8210002},
	/* fmov d0, x0; ld1 {v0.4s}, [x0]; mrs x0, tpidr_el0; dmb ish; dc zva, x0; wfe */
	{0x9e670000, INSN_COPY, 0, 0x9e670000},
	{0x4c407800, INSN_COPY, 0, 0x4c407800},
	{0xd53bd040, INSN_COPY, 0, 0xd53bd040},
	{0xd5033bbf, INSN_COPY, 0, 0xd5033bbf},
	{0xd50b7420, INSN_COPY, 0, 0xd50b7420},
	{0xd503205f, INSN_COPY, 0, 0xd503205f},
	/* SVE: ptrue, ld1w; movprfx, which forms one operation with the instruction after it */
	{0x2518e3e0, INSN_COPY, 0, 0x2518e3e0},
	{0xa540a000, INSN_COPY, 0, 0xa540a000},
	{0x0420bc20, INSN_STEP, 0, 0},
	{0x04902020, INSN_STEP, 0, 0},
	/* cpyfp, cpyfm, setp */
	{0x19010440, INSN_STEP, 0, 0},
	{0x19410440, INSN_STEP, 0, 0},
	{0x19c20420, INSN_STEP, 0, 0},
	/* svc #0, svc #128 */
	{0xd4000001, INSN_COPY, SYSCALL, 0xd4000001},
	{0xd4001001, INSN_COPY, SYSCALL, 0xd4001001},
	/* ldr d1, ldr q1, ldr s1 of literals 16 bytes after or before */
	{0x5c000081, INSN_COPY, 0, 0x5cff8081},
	{0x9cffff81, INSN_COPY, 0, 0x9cff7f81},
	{0x1c000081, INSN_COPY, 0, 0x1cff8081},
	/* not allocated, or branches of newer versions of the architecture */
	{0x02000001, INSN_STEP, 0, 0},
	{0x06000001, INSN_STEP, 0, 0},
	{0x00010000, INSN_STEP, 0, 0},
	{0x74000001, INSN_STEP, 0, 0},
	{0xf380001f, INSN_STEP, 0, 0},
	{0x5500001f, INSN_STEP, 0, 0},
	/* unallocated, beside the system instructions; msrr, mrrs, sysp; unallocated, beside loads of vector
	 * literals */
	{0xd5803020, INSN_STEP, 0, 0},
	{0xd5ffffff, INSN_STEP, 0, 0},
	{0xd5582002, INSN_COPY, 0, 0xd5582002},
	{0xd5782002, INSN_COPY, 0, 0xd5782002},
	{0xd5488702, INSN_COPY, 0, 0xd5488702},
	{0xdc000080, INSN_STEP, 0, 0},
};

static void test_instructions_are_classified_and_copied(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(classes); i++) {
		const struct insn insn = decode(classes[i].word);
		struct insn_copy copy;

		print_message("%08x\n", classes[i].word);
		assert_int_equal(insn.kind, classes[i].kind);
		assert_int_equal(insn.length, 4);
		assert_int_equal(insn.address, HERE);
		assert_int_equal(insn.pc_only, !!(classes[i].flags & PC_ONLY));
		assert_int_equal(insn.is_syscall, !!(classes[i].flags & SYSCALL));
		assert_int_equal(insn.can_emulate, !!(classes[i].flags & CAN));
		assert_int_equal(insn.cannot_step, !!(classes[i].flags & NO_STEP));
		if (insn.kind != INSN_COPY) {
			assert_int_equal(arch->insns.relocate(&insn, SLOT, &copy), -EINVAL);
			continue;
		}
		assert_int_equal(arch->insns.relocate(&insn, SLOT, &copy), 0);
		assert_int_equal(copy.size, 8);
		assert_int_equal(copy.resume, 4);
		assert_int_equal(a64_get(copy.bytes), classes[i].copy);
		assert_int_equal(a64_get(copy.bytes + 4), 0x17fffc00); /* b HERE + 4, from SLOT + 4 */
		assert_int_equal(insn_original_pc(&insn, &copy, SLOT, SLOT), HERE);
		assert_int_equal(insn_original_pc(&insn, &copy, SLOT, SLOT + 4), HERE + 4);
	}
}

static void test_traps_and_exclusive_stores_are_not_decoded(void **state)
{
	/* udf; brk #0, brk #1000, hlt, hvc, dcps1 */
	static const uint32_t traps[] = {0, 0x1234, 0xd4200000, 0xd4207d00, 0xd4400000, 0xd4000002, 0xd4a00001};
	static const struct {
		uint32_t words[4];
		bool is_decoded;
	} exclusives[] = {
		{{0x88037c01, 0x35ffff83, 0xd65f03c0, 0}, false},          /* stxr; cbnz; ret */
		{{0xc803fc01, 0xd65f03c0, 0, 0}, false},                   /* stlxr */
		{{0xc8230801, 0xd65f03c0, 0, 0}, false},                   /* stxp */
		{{0x11000421, 0x88037c01, 0x35ffffc3, 0xd65f03c0}, false}, /* add; stxr */
		{{0x6b02003f, 0x54000061, 0x88037c01, 0x35ffff83}, false}, /* cmp; b.ne; stxr */
		{{0x885f7c01, 0x11000421, 0x88037c01, 0x35ffff83}, true},  /* ldxr; add; stxr */
		{{0x910003fd, 0x885f7c01, 0x88037c01, 0x35ffff83}, true},  /* mov; ldxr; stxr */
		{{0xd65f03c0, 0x88037c01, 0, 0}, true},                    /* ret; stxr of another function */
		{{0x14000004, 0x88037c01, 0, 0}, true},                    /* b; stxr */
		{{0x48207c82, 0x48207c82, 0, 0}, true},                    /* casp */
	};
	const uint32_t nop = 0xd503201f;
	const unsigned char three[3] = {0x1f, 0x20, 0x03};
	struct insn insn;

	for (size_t i = 0; i < ARRAY_SIZE(traps); i++)
		assert_false(decode_with(HERE, &traps[i], 1, false, &insn));
	for (size_t i = 0; i < ARRAY_SIZE(exclusives); i++) {
		print_message("exclusives %zu\n", i);
		assert_int_equal(decode_with(HERE, exclusives[i].words, 4, false, &insn), exclusives[i].is_decoded);
	}
	assert_false(decode_with(HERE + 2, &nop, 1, false, &insn));
	assert_false(arch->insns.decode(HERE, three, sizeof(three), false, &insn));
}

static void test_calls_are_stepped_with_a_shadow_stack(void **state)
{
	static const uint32_t words[] = {0x94000004, 0xd63f0100};
	struct insn insn;

	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		assert_true(decode_with(HERE, &words[i], 1, true, &insn));
		assert_int_equal(insn.kind, INSN_STEP);
	}
	assert_true(decode_with(HERE, &(uint32_t){0xd61f0200}, 1, true, &insn));
	assert_int_equal(insn.kind, INSN_EMULATE);
	/* ret pops the address off both stacks, wherever it runs. */
	assert_true(decode_with(HERE, &(uint32_t){0xd65f03c0}, 1, true, &insn));
	assert_int_equal(insn.kind, INSN_COPY);
	assert_false(insn.can_emulate);
	/* Only HWCAP_GCS shows that a process may have a shadow stack. */
	assert_null(arch->shadow_stack.line);
	assert_int_equal(arch->shadow_stack.hwcap, 1ull << 32);
}

static void test_copies_out_of_reach_are_refused(void **state)
{
	const struct insn push = decode(0xa9bd7bfd), literal = decode(0x5c000081);
	const uint64_t far = 128 << 20, near = 1 << 20;
	struct insn_copy copy;

	/* b, from slot + 4 to HERE + 4 */
	assert_int_equal(arch->insns.relocate(&push, HERE + far, &copy), 0);
	assert_int_equal(a64_get(copy.bytes + 4), 0x16000000);
	assert_int_equal(arch->insns.relocate(&push, HERE + far + 4, &copy), -ERANGE);
	assert_int_equal(arch->insns.relocate(&push, HERE - far + 4, &copy), 0);
	assert_int_equal(a64_get(copy.bytes + 4), 0x15ffffff);
	assert_int_equal(arch->insns.relocate(&push, HERE - far, &copy), -ERANGE);
	assert_int_equal(arch->insns.relocate(&push, HERE + ((uint64_t)1 << 44), &copy), -ERANGE);
	/* ldr d1 of HERE + 16 */
	assert_int_equal(arch->insns.relocate(&literal, HERE + 16 + near, &copy), 0);
	assert_int_equal(a64_get(copy.bytes), 0x5c800001);
	assert_int_equal(arch->insns.relocate(&literal, HERE + 20 + near, &copy), -ERANGE);
	assert_int_equal(arch->insns.relocate(&literal, HERE + 20 - near, &copy), 0);
	assert_int_equal(a64_get(copy.bytes), 0x5c7fffe1);
	assert_int_equal(arch->insns.relocate(&literal, HERE + 16 - near, &copy), -ERANGE);
}

/* Any word that is decoded can be relocated if it is copied, and emulated if it is to be emulated. */
static void test_decoded_random_words_can_be_copied_or_emulated(void **state)
{
	uint32_t word = 1;

	for (unsigned i = 0; i < 2000000; i++) {
		struct arch_regs regs = {0};
		struct insn_copy copy;
		struct insn insn;

		word = word * 1664525 + 1013904223;
		if (!decode_with(HERE, &(uint32_t){word ^ word >> 16}, 1, i & 1, &insn))
			continue;
		if (insn.kind == INSN_COPY && arch->insns.relocate(&insn, SLOT, &copy))
			assert_int_equal(arch->insns.relocate(&insn, HERE, &copy), 0);
		if (insn.kind == INSN_EMULATE && (insn.bytes[3] & 0x3b) != 0x18)
			assert_int_equal(arch->insns.emulate(&insn, &regs, NULL), 0);
	}
}

/* --- emulation --- */

#define LITERALS (HERE - 16)
static const unsigned char literals[40] = {0xf0, 0xde, 0xbc, 0x9a, 0x78, 0x56, 0x34, 0x12, [32] = 0x01, [39] = 0x80};

static int literal_read(void *context, uint64_t address, void *data, size_t size)
{
	(void)context;
	if (address < LITERALS || address - LITERALS > sizeof(literals) - size)
		return -EFAULT;
	memcpy(data, literals + (address - LITERALS), size);
	return 0;
}

static const struct arch_memory memory = {.read = literal_read};

static struct arch_regs start_regs(void)
{
	struct arch_regs regs;

	memset(&regs, 0, sizeof(regs));
	for (unsigned i = 0; i <= A64_LR; i++)
		regs.words[i] = 0x1111111111111111u * (i % 16);
	regs.words[A64_SP] = 0x7ffff000;
	regs.words[A64_PC] = HERE;
	regs.words[A64_PSTATE] = 0x60000c00; /* Z and C; reached by an indirect branch */
	return regs;
}

static struct arch_regs regs_after_emulation(uint32_t word, struct arch_regs regs)
{
	const struct insn insn = decode(word);

	assert_int_equal(arch->insns.emulate(&insn, &regs, &memory), 0);
	return regs;
}

static void test_branches_and_literal_loads_are_emulated(void **state)
{
	static const struct {
		uint32_t word;
		uint64_t pc;
		int changed; /* the register, -1 none */
		uint64_t value;
	} cases[] = {
		{0xd503201f, HERE + 4, -1, 0},  /* nop */
		{0xd503245f, HERE + 4, -1, 0},  /* bti c */
		{0x14000004, HERE + 16, -1, 0}, /* b */
		{0x17fffffc, HERE - 16, -1, 0},
		{0x94000004, HERE + 16, A64_LR, HERE + 4},          /* bl */
		{0x97fffffc, HERE - 16, A64_LR, HERE + 4},          /* bl */
		{0xd61f0020, 0x0011111111111111, -1, 0},            /* br x1: without the tag in the top byte */
		{0xd61f0100, 0x8888888888888888, -1, 0},            /* br x8: an address of the kernel */
		{0xd61f03e0, 0, -1, 0},                             /* br xzr */
		{0xd63f03c0, 0xeeeeeeeeeeeeeeee, A64_LR, HERE + 4}, /* blr x30 */
		{0xd65f03c0, 0xeeeeeeeeeeeeeeee, -1, 0},            /* ret */
		{0x30000021, HERE + 4, 1, HERE + 5},                /* adr x1 */
		{0x10ffff81, HERE + 4, 1, HERE - 16},               /* adr x1 */
		{0x1000003f, HERE + 4, -1, 0},                      /* adr xzr */
		{0xb0000001, HERE + 4, 1, HERE + 0x1000},           /* adrp x1 */
		{0xf0ffffe1, HERE + 4, 1, HERE - 0x1000},           /* adrp x1 */
		{0x58ffff81, HERE + 4, 1, 0x123456789abcdef0},      /* ldr x1 */
		{0x18ffff81, HERE + 4, 1, 0x9abcdef0},              /* ldr w1 */
		{0x98ffff81, HERE + 4, 1, 0xffffffff9abcdef0},      /* ldrsw x1 */
		{0x58000081, HERE + 4, 1, 0x8000000000000001},      /* ldr x1 */
		{0x58ffff9f, HERE + 4, -1, 0},                      /* ldr xzr */
		{0xd8ffff80, HERE + 4, -1, 0},                      /* prfm */
		{0xd87fffe0, HERE + 4, -1, 0},                      /* prfm of an unmapped address */
		{0xb4000080, HERE + 16, -1, 0},                     /* cbz x0 */
		{0xb4000081, HERE + 4, -1, 0},                      /* cbz x1 */
		{0xb5000081, HERE + 16, -1, 0},                     /* cbnz x1 */
		{0xb500009f, HERE + 4, -1, 0},                      /* cbnz xzr */
		{0xb6080081, HERE + 16, -1, 0},                     /* tbz x1, #33 */
		{0xb7200081, HERE + 16, -1, 0},                     /* tbnz x1, #36 */
		{0x36ffff81, HERE - 16, -1, 0},                     /* tbz w1, #31 */
		{0x37ffff88, HERE - 16, -1, 0},                     /* tbnz w8, #31 */
		{0x3727ff81, HERE - 16, -1, 0},                     /* tbnz w1, #4 */
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct arch_regs expected = start_regs();

		print_message("%08x\n", cases[i].word);
		expected.words[A64_PC] = cases[i].pc;
		expected.words[A64_PSTATE] = 0x60000000;
		if (cases[i].changed >= 0)
			expected.words[cases[i].changed] = cases[i].value;
		const struct arch_regs after = regs_after_emulation(cases[i].word, start_regs());

		assert_memory_equal(&after, &expected, sizeof(after));
	}
}

/* 32-bit cbz and cbnz ignore the upper bits. */
static void test_32_bit_cbz_ignores_upper_bits(void **state)
{
	struct arch_regs regs = start_regs();

	regs.words[3] = 0xffffffff00000000;
	assert_int_equal(regs_after_emulation(0x34000083, regs).words[A64_PC], HERE + 16);
	assert_int_equal(regs_after_emulation(0x35000083, regs).words[A64_PC], HERE + 4);
	assert_int_equal(regs_after_emulation(0xb4000083, regs).words[A64_PC], HERE + 4);
}

/* Tests all conditions with all flags, by the manual's table of conditions (C1.2.4). */
static void test_all_conditions_follow_the_flags(void **state)
{
	for (uint32_t condition = 0; condition < 16; condition++)
		for (uint64_t flags = 0; flags < 16; flags++) {
			const bool n = flags & 8, z = flags & 4, c = flags & 2, v = flags & 1;
			const bool taken[] = {z,    !z,      c,          !c,     n,      !n,           v,
					      !v,   c && !z, !(c && !z), n == v, n != v, !z && n == v, z || n != v,
					      true, true};
			struct arch_regs regs = start_regs();

			regs.words[A64_PSTATE] = flags << 28;
			assert_int_equal(regs_after_emulation(0x54000080 | condition, regs).words[A64_PC],
					 taken[condition] ? HERE + 16 : HERE + 4);
		}
}

static void test_failed_literal_load_changes_no_registers(void **state)
{
	const struct insn insn = decode(0x58000fe1);
	const struct arch_regs before = start_regs();
	struct arch_regs regs = before;

	assert_int_equal(arch->insns.emulate(&insn, &regs, &memory), -EFAULT);
	assert_memory_equal(&regs, &before, sizeof(regs));
}

/* --- emulation in place of a copy --- */

#define STACK 0x7ffff000u

static struct {
	unsigned char bytes[64]; /* the bytes around STACK */
	uint64_t address;        /* of the last access; 0 none */
	size_t size;
	unsigned writes;
} stack;

static bool is_on_stack(uint64_t address, size_t size)
{
	stack.address = address;
	stack.size = size;
	return address >= STACK - 32 && address + size <= STACK + 32;
}

static int stack_read(void *context, uint64_t address, void *data, size_t size)
{
	(void)context;
	if (!is_on_stack(address, size))
		return -EFAULT;
	memcpy(data, stack.bytes + (address - (STACK - 32)), size);
	return 0;
}

static int stack_write(void *context, uint64_t address, const void *data, size_t size)
{
	(void)context;
	stack.writes++;
	if (!is_on_stack(address, size))
		return -EFAULT;
	memcpy(stack.bytes + (address - (STACK - 32)), data, size);
	return 0;
}

static const struct arch_memory stack_memory = {.read = stack_read, .write = stack_write};

static int emulate_on_stack(uint32_t word, struct arch_regs *regs)
{
	const struct insn insn = decode(word);

	assert_true(insn.can_emulate);
	memset(&stack, 0, sizeof(stack));
	for (unsigned i = 0; i < sizeof(stack.bytes); i++)
		stack.bytes[i] = (unsigned char)(0x80 + i);
	return arch->insns.emulate(&insn, regs, &stack_memory);
}

static void test_arithmetic_and_loads_are_emulated(void **state)
{
	const uint64_t z_c = 0x60000000, n = 0x80000000, zero_flags = 0;
	const struct {
		uint32_t word;
		int changed; /* the register, -1 none */
		uint64_t value, flags;
	} cases[] = {
		{0xd10083ff, A64_SP, STACK - 32, z_c},           /* sub sp, sp, #32 */
		{0x910003fd, 29, STACK, z_c},                    /* mov x29, sp */
		{0xf100001f, -1, 0, z_c},                        /* cmp x0, #0 */
		{0xf100043f, -1, 0, 0x20000000},                 /* cmp x1, #1 */
		{0xf100041f, -1, 0, n},                          /* cmp x0, #1 */
		{0x31000420, 0, 0x11111112, zero_flags},         /* adds w0, w1, #1 */
		{0xab080100, 0, 0x1111111111111110, 0x30000000}, /* adds x0, x8, x8: C and V */
		{0xeb02003f, -1, 0, n},                          /* cmp x1, x2 */
		{0xcb8203e0, 0, 0xddddddddddddddde, z_c},        /* neg x0, x2, asr #0 */
		{0xaa0003e1, 1, 0, z_c},                         /* mov x1, x0 */
		{0x2a2103e0, 0, 0xeeeeeeee, z_c},                /* mvn w0, w1 */
		{0xca020020, 0, 0x3333333333333333, z_c},        /* eor x0, x1, x2 */
		{0xea1f003f, -1, 0, 0x40000000},                 /* tst x1, xzr */
		{0xaac81fe0, 0, 0x1111111111111111, z_c},        /* mov x0, x8, ror #7 */
		{0x52800020, 0, 1, z_c},                         /* mov w0, #1 */
		{0x92800000, 0, UINT64_MAX, z_c},                /* mov x0, #-1 */
		{0xf2c00021, 1, 0x1111000111111111, z_c},        /* movk x1, #1, lsl #32 */
		{0xf94003e0, 0, 0xa7a6a5a4a3a2a1a0, z_c},        /* ldr x0, [sp] */
		{0xb98003e0, 0, 0xffffffffa3a2a1a0, z_c},        /* ldrsw x0, [sp] */
		{0x39c003e0, 0, 0xffffffa0, z_c},                /* ldrsb w0, [sp] */
		{0x785ff3e0, 0, 0xa09f, z_c},                    /* ldurh w0, [sp, #-1] */
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct arch_regs expected = start_regs(), regs = start_regs();

		print_message("%08x\n", cases[i].word);
		expected.words[A64_PC] = HERE + 4;
		expected.words[A64_PSTATE] = cases[i].flags;
		if (cases[i].changed >= 0)
			expected.words[cases[i].changed] = cases[i].value;
		assert_int_equal(emulate_on_stack(cases[i].word, &regs), 0);
		assert_memory_equal(&regs, &expected, sizeof(regs));
	}
}

static void test_stack_accesses_are_emulated(void **state)
{
	static const unsigned char pair[] = {0xdd, 0xdd, 0xdd, 0xdd, 0xdd, 0xdd, 0xdd, 0xdd,
					     0xee, 0xee, 0xee, 0xee, 0xee, 0xee, 0xee, 0xee};
	struct arch_regs regs = start_regs();

	/* stp x29, x30, [sp, #-16]!: one write, then the stack pointer */
	assert_int_equal(emulate_on_stack(0xa9bf7bfd, &regs), 0);
	assert_int_equal(stack.writes, 1);
	assert_int_equal(stack.address, STACK - 16);
	assert_memory_equal(stack.bytes + 16, pair, sizeof(pair));
	assert_int_equal(regs.words[A64_SP], STACK - 16);
	/* ldp x29, x30, [sp], #16 */
	assert_int_equal(emulate_on_stack(0xa8c17bfd, &regs), 0);
	assert_int_equal(regs.words[A64_SP], STACK);
	assert_int_equal(regs.words[29], 0x9796959493929190);
	assert_int_equal(regs.words[30], 0x9f9e9d9c9b9a9998);
	/* strb wzr, [sp, #1] */
	assert_int_equal(emulate_on_stack(0x390007ff, &regs), 0);
	assert_int_equal(stack.address, STACK + 1);
	assert_int_equal(stack.size, 1);
	assert_int_equal(stack.bytes[33], 0);
}

/* Emulation fails and changes nothing if the access may fault, because the program must get the fault: unmapped memory,
 * a tagged pointer (the tag may be checked), an unaligned stack pointer. */
static void test_faulting_accesses_are_left_to_the_processor(void **state)
{
	static const struct {
		uint32_t word;
		uint64_t sp;
	} cases[] = {{0xa9bf7bfd, 0x1000},
		     {0xf94003e0, 0x1000},
		     {0xf90003e0, STACK | (uint64_t)1 << 56},
		     {0xf94003e0, STACK + 8}};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct arch_regs before = start_regs(), regs;

		before.words[A64_SP] = cases[i].sp;
		regs = before;
		assert_int_equal(emulate_on_stack(cases[i].word, &regs), -EFAULT);
		assert_memory_equal(&regs, &before, sizeof(regs));
		assert_true(!stack.writes || i == 0);
	}
}

/* --- registers and the ABI --- */

static void test_registers_are_read_and_written(void **state)
{
	struct arch_regs regs = start_regs();
	uint64_t value = 0;

	assert_int_equal(arch->registers.size, 272);
	assert_int_equal(arch->registers.pc(&regs), HERE);
	assert_int_equal(arch->registers.sp(&regs), 0x7ffff000);
	assert_int_equal(arch->convention.result(&regs), 0);
	for (unsigned i = 0; i < 8; i++)
		assert_int_equal(arch->convention.argument_words[i], i);
	assert_int_equal(arch->convention.argument_registers, 8);
	assert_int_equal(arch->convention.argument_stack, 0);
	assert_true(arch->convention.return_address(&regs, &value));
	assert_int_equal(value, 0xeeeeeeeeeeeeeeee);
	assert_int_equal(arch->convention.return_sp(&regs), 0x7ffff000);
	/* Setting the pc clears the type of the branch, because the copy is not reached by an indirect branch. */
	arch->registers.set_pc(&regs, 0x1234);
	arch->registers.set_sp(&regs, 0x5678);
	assert_int_equal(regs.words[A64_PC], 0x1234);
	assert_int_equal(regs.words[A64_SP], 0x5678);
	assert_int_equal(regs.words[A64_PSTATE], 0x60000000);
	for (unsigned i = 0; i < arch->dwarf.registers; i++)
		assert_int_equal(arch->dwarf.get(&regs, i), regs.words[i]);
	assert_int_equal(arch->dwarf.registers, 33);
	assert_int_equal(arch->dwarf.get(&regs, 34), 0);
}

static void test_breakpoints_are_put_after_bti(void **state)
{
	static const struct {
		uint32_t word;
		unsigned skipped;
	} entries[] = {
		{0xd503245f, 4}, /* bti c */
		{0xd50324df, 4}, /* bti jc */
		{0xd503233f, 0}, /* paciasp */
		{0xd503201f, 0}, /* nop */
		{0xa9bd7bfd, 0},
	};
	static const unsigned char brk[] = {0x00, 0x00, 0x20, 0xd4};
	unsigned char bytes[ARCH_BREAKPOINT_MAX];

	assert_int_equal(arch->breakpoint.encode(HERE, bytes), sizeof(brk));
	assert_memory_equal(bytes, brk, sizeof(brk));
	assert_int_equal(arch->breakpoint.hit_address(HERE), HERE);
	for (size_t i = 0; i < ARRAY_SIZE(entries); i++) {
		a64_put(bytes, entries[i].word);
		assert_int_equal(arch->breakpoint.entry(HERE, bytes, 4), HERE + entries[i].skipped);
		assert_int_equal(arch->breakpoint.entry(HERE, bytes, 3), HERE);
	}
}

/* Signs an address as paciasp does, if the processor signs addresses. */
static uint64_t signed_address(uint64_t address, uint64_t with)
{
#ifdef __aarch64__
	register uint64_t x17 __asm__("x17") = address, x16 __asm__("x16") = with;

	__asm__("hint #8" : "+r"(x17) : "r"(x16)); /* pacia1716 */
	return x17;
#else
	(void)with;
	return address | 0x002a000000000000; /* above 48-bit addresses, which functrace assumes on other machines */
#endif
}

static void test_signatures_and_tags_are_stripped(void **state)
{
	static const uint64_t addresses[] = {0, 0x0000ffff80001234, 0x0000aaaac0001234, 0x0000007fb0001234};
	const uint64_t tag = 0xa500000000000000;

	for (size_t i = 0; i < ARRAY_SIZE(addresses); i++)
		for (uint64_t with = 0; with < 16; with++) {
			const uint64_t is_signed = signed_address(addresses[i], with << 4);

			assert_true(arch->unwind.strip(is_signed) == addresses[i]);
			assert_true(arch->unwind.strip(is_signed | tag) == addresses[i]);
		}
#ifdef __aarch64__
	/* Requests a high address. The kernel returns one of 52 bits if it supports them, else one of at most 48
	 * bits. */
	void *const high = mmap((void *)((uint64_t)1 << 51), 1, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_true(high != MAP_FAILED);
	assert_true(arch->strip((uintptr_t)high) == (uintptr_t)high);
	assert_true(arch->strip(signed_address((uintptr_t)high, 16)) == (uintptr_t)high);
	munmap(high, 1);
#endif
}

/* Kernels give programs addresses of 39, 42, 47, 48 or 52 bits. A signature is in the bits above those. Stripping must
 * remove the whole signature, and must keep all bits of a 52-bit address. */
static void test_stripping_keeps_all_address_bits(void **state)
{
	static const unsigned widths[] = {39, 42, 47, 48, 52};
	const uint64_t signature = 0x007fffffffffffff;

	for (size_t i = 0; i < ARRAY_SIZE(widths); i++) {
		const uint64_t end = (uint64_t)1 << widths[i], in_text = end - 0x80001234;

		assert_int_equal(a64_address_bits(end - 1), widths[i]);
		assert_true(a64_strip(in_text, widths[i]) == in_text);
		assert_true(a64_strip(in_text | (signature & ~(end - 1)), widths[i]) == in_text);
		assert_true(a64_strip(in_text | 0xff00000000000000, widths[i]) == in_text); /* a tag */
	}
	/* If xpaclri strips nothing, there are no signatures, and addresses may have any width. */
	assert_int_equal(a64_address_bits(signature), 52);
	assert_int_equal(a64_address_bits(0), 52);
}

static void test_system_calls_and_restorers_are_recognised(void **state)
{
	static const struct {
		uint64_t number;
		int64_t result;
		pid_t made;
	} calls[] = {
		{220, 1234, 1234}, {435, 4194304, 4194304}, {220, 0, 0},   {220, -EAGAIN, 0},
		{435, -512, 0},    {220, 1ll << 40, 0},     {93, 1234, 0},
	};
	static const uint64_t args[6] = {11, 12, 13, 14, 15, 16};
	unsigned char code[16];
	struct arch_regs regs = start_regs();
	uint64_t pc_at, sp_at;

	for (size_t i = 0; i < ARRAY_SIZE(calls); i++) {
		regs.words[8] = calls[i].number;
		regs.words[0] = (uint64_t)calls[i].result;
		assert_int_equal(arch->syscalls.created_tid(&regs), calls[i].made);
	}
	a64_put(code, 0xd65f03c0);
	a64_put(code + 4, 0xd2801168); /* mov x8, #139 */
	a64_put(code + 8, 0xd4000001);
	a64_put(code + 12, 0xd65f03c0);
	assert_int_equal(arch->syscalls.find(code, sizeof(code)), 8);
	assert_int_equal(arch->syscalls.find(code, 11), -1);
	assert_int_equal(arch->signal.find_restorer(code, sizeof(code)), 4);
	assert_int_equal(arch->signal.find_restorer(code, 11), -1);
	a64_put(code + 4, 0xd2801188); /* another call's number */
	assert_int_equal(arch->signal.find_restorer(code, sizeof(code)), -1);
	arch->syscalls.set(&regs, HERE + 8, 134, args);
	for (unsigned i = 0; i < 6; i++)
		assert_int_equal(regs.words[i], args[i]);
	assert_int_equal(regs.words[8], 134);
	assert_int_equal(regs.words[A64_PC], HERE + 8);
	assert_int_equal(arch->signal.frame(0x1000, NULL, &pc_at, &sp_at), 0);
	assert_int_equal(pc_at, 0x1000 + 568);
	assert_int_equal(sp_at, 0x1000 + 560);
	assert_true(arch->signal.frame_has_registers);
}

/* --- code around calls --- */

/* A piece of code, as words. Around it read_around() reads zeros, which is_constant() also assumes for memory that it
 * cannot read. */
struct around {
	const uint32_t *words;
	size_t count;
};

static int read_around(void *context, uint64_t address, void *data, size_t size)
{
	const struct around *around = context;
	unsigned char bytes[4];

	for (size_t i = 0; i < size; i++) {
		const uint64_t offset = address + i - HERE;

		a64_put(bytes, offset / 4 < around->count ? around->words[offset / 4] : 0);
		((unsigned char *)data)[i] = bytes[offset % 4];
	}
	return 0;
}

/* Tests code with constants after a call that never returns. */
static void test_constants_after_calls_are_recognised(void **state)
{
	/* As GCC generates them with -mcmodel=tiny -mpc-relative-literal-loads, and with -mcmodel=large. */
	static const uint32_t tiny[] = {
		0x5c0000a0,                           /* ldr d0, 14 */
		0x9c0000c1,                           /* ldr q1, 1c */
		0x180001c2,                           /* ldr w2, 40 */
		0x94000000,                           /* bl */
		0xd503201f,                           /* nop */
		0x180000a0,                           /* the double, whose first half could be ldr w0, 28 */
		0x4005bf0a, 1, 5, 77, 99, 0xd8000060, /* prfm pldl1keep, 38 */
		0x94000000,                           /* bl */
		0x52800000,                           /* mov w0, #0 */
	};
	static const uint32_t large[] = {
		0xa9bf7bfd, /* stp x29, x30, [sp, #-16]! */
		0x90000000, /* adrp x0, 0 */
		0x90000001, /* adrp x1, 0 */
		0xf9400c00, /* ldr x0, [x0, #24] */
		0xfd401020, /* ldr d0, [x1, #32] */
		0x94000000, /* bl */
		0x90000001, /* the constants, which could be adrp x1, 0; */
		0xfd401820, /* ldr d0, [x1, #48] */
		0,          0, 0xd503201f, 0xd503201f, 0xd503201f,
	};
	static const struct {
		const uint32_t *words;
		size_t count;
		unsigned from, to; /* the constants, in bytes */
	} cases[] = {{tiny, ARRAY_SIZE(tiny), 20, 44}, {large, ARRAY_SIZE(large), 24, 40}};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct around around = {cases[i].words, cases[i].count};
		const struct arch_memory code = {.read = read_around, .context = &around};

		for (unsigned at = 0; at < 4 * around.count; at += 4)
			if (arch->breakpoint.is_constant(HERE + at, &code) != (at >= cases[i].from && at < cases[i].to))
				fail_msg("case %zu: %u", i, at);
	}
}

static void test_calls_before_an_address_are_recognised(void **state)
{
	static const struct {
		uint32_t word;
		enum arch_call call;
	} cases[] = {
		{0x94000004, CALL_FIXED},    {0x97fffffc, CALL_FIXED},    {0xd63f0100, CALL_COMPUTED},
		{0xd63f081f, CALL_COMPUTED}, {0xd63f0c1f, CALL_COMPUTED}, {0xd73f0801, CALL_COMPUTED},
		{0x14000004, CALL_NONE},     {0xd61f0200, CALL_NONE},     {0xd65f03c0, CALL_NONE},
		{0xd4000001, CALL_NONE},     {0xd71f0801, CALL_NONE},
	};
	unsigned char code[8] = {0};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		a64_put(code + 4, cases[i].word);
		assert_int_equal(arch->code.follows_call(HERE, code, sizeof(code)), cases[i].call);
		assert_int_equal(arch->code.follows_call(HERE + 2, code, sizeof(code)), CALL_NONE);
		assert_int_equal(arch->code.follows_call(HERE, code + 5, 3), CALL_NONE);
	}
}

#define STUB (HERE + 0x100)

static unsigned char text[0x200]; /* at HERE */

static int text_read(void *context, uint64_t address, void *data, size_t size)
{
	(void)context;
	if (address < HERE || address - HERE > sizeof(text) - size)
		return -EIO;
	memcpy(data, text + (address - HERE), size);
	return 0;
}

static void test_slots_of_calls_through_linkage_are_found(void **state)
{
	static const struct {
		uint32_t call;              /* at HERE + 4 */
		uint32_t stub[7], other[5]; /* at STUB, and 0x40 after it */
		uint64_t slot;
	} cases[] = {
		/* adrp x16, 0x41f000; ldr x17, [x16, #0xfd8]; add x16, x16, #0xfd8; br x17 */
		{0x9400003f, {0xf00000f0, 0xf947ee11, 0x913f6210, 0xd61f0220}, {0}, 0x41ffd8},
		/* the same after bti c; with autia1716 the GOT slot is unknown */
		{0x9400003f, {0xd503245f, 0xf00000f0, 0xf947ee11, 0x913f6210, 0xd61f0220}, {0}, 0x41ffd8},
		{0x9400003f, {0xf00000f0, 0xf947ee11, 0x913f6210, 0xd503219f, 0xd71f0a30}, {0}, 0},
		/* mov w0, #64; mov x1, x2; b to procedure linkage that uses another register */
		{0x9400003f,
		 {0x52800800, 0xaa0203e1, 0x1400000e},
		 {0xf00000e9, 0x913f6129, 0xf9400129, 0xd61f0120},
		 0x41ffd8},
		/* the stub's register gets another value before the jump */
		{0x9400003f, {0xf00000f0, 0xaa0203f0, 0xf947ee11, 0xd61f0220}, {0}, 0},
		{0x9400003f, {0xf00000f0, 0xf947ee11, 0xa94147f0, 0xd61f0220}, {0}, 0},
		/* results in registers that no field of the instruction names: autia1716; chkfeat x16; casp x16, x17,
		 * x2, x3, [x0] */
		{0x9400003f, {0xf00000f0, 0xf947ee11, 0xd503219f, 0xd61f0220}, {0}, 0},
		{0x9400003f, {0xf00000f0, 0xd503251f, 0xf947ee11, 0xd61f0220}, {0}, 0},
		{0x9400003f, {0xf00000f0, 0xf947ee11, 0x48307c02, 0xd61f0220}, {0}, 0},
		/* a jump to an address, a return, a condition, a loop, another call, a trap */
		{0x9400003f, {0xf00000f0, 0x913f6210, 0xd61f0200}, {0}, 0},
		{0x9400003f, {0xf00000f0, 0xf947ee11, 0xd65f03c0, 0xd61f0220}, {0}, 0},
		{0x9400003f, {0xf00000f0, 0xf947ee11, 0xb4000040, 0xd61f0220}, {0}, 0},
		{0x9400003f, {0x14000000}, {0}, 0},
		{0x9400003f, {0xf00000f0, 0xf947ee11, 0x94000002, 0xd61f0220}, {0}, 0},
		{0x9400003f, {0xf00000f0, 0xf947ee11, 0xd4200000, 0xd61f0220}, {0}, 0},
		/* an indirect call; a call of unreadable code */
		{0xd63f0100, {0xf00000f0, 0xf947ee11, 0x913f6210, 0xd61f0220}, {0}, 0},
		{0x95ffffff, {0xf00000f0, 0xf947ee11, 0x913f6210, 0xd61f0220}, {0}, 0},
	};
	const struct arch_memory code = {.read = text_read};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		uint64_t slot = 0;

		print_message("case %zu\n", i);
		memset(text, 0, sizeof(text));
		a64_put(text + 4, cases[i].call);
		for (size_t k = 0; k < ARRAY_SIZE(cases[i].stub); k++)
			a64_put(text + (STUB - HERE) + 4 * k, cases[i].stub[k]);
		for (size_t k = 0; k < ARRAY_SIZE(cases[i].other); k++)
			a64_put(text + (STUB - HERE) + 0x40 + 4 * k, cases[i].other[k]);
		assert_int_equal(arch->code.call_slot(HERE + 8, 0, &code, &slot), cases[i].slot != 0);
		if (cases[i].slot)
			assert_int_equal(slot, cases[i].slot);
	}
}

static void test_writes_of_the_stack_pointer_are_recognised(void **state)
{
	static const struct {
		uint32_t words[3];
		bool at_end, ever;
	} cases[] = {
		{{0xa9bd7bfd, 0x910003fd, 0xd503201f}, false, false}, /* stp with write-back; mov x29, sp */
		{{0xd10083ff, 0x910083ff, 0xd14007ff}, false, false}, /* sub, add, sub of constants */
		{{0xa8c37bfd, 0xf84107e0, 0xd65f03c0}, false, false}, /* ldp, ldr with write-back */
		{{0x910043e0, 0xf240001f, 0xeb2063ff}, false, false}, /* add x0, sp; tst; cmp sp, x0 */
		{{0xaa0103ff, 0xb100043f, 0x04bf5020}, false, false}, /* mov xzr; cmn; rdvl */
		{{0x4cdf7be0, 0x918107ff, 0xd503201f}, false, false}, /* ld1 with a constant; addg sp, sp */
		{{0x910003bf, 0xd503201f, 0xd503201f}, true, true},   /* mov sp, x29 */
		{{0x910083bf, 0xa8c37bfd, 0xd503201f}, true, true},   /* add sp, x29, #32 */
		{{0x927be93f, 0xd503201f, 0xd503201f}, true, true},   /* and sp, x9, #-32 */
		{{0xcb2063ff, 0xd503201f, 0xd503201f}, true, true},   /* sub sp, sp, x0 */
		{{0xcb2163ff, 0xd503201f, 0xd503201f}, true, true},
		{{0x4cc17be0, 0xd503201f, 0xd503201f}, true, true},  /* ld1 {v0.4s}, [sp], x1 */
		{{0x043f57df, 0xd503201f, 0xd503201f}, true, true},  /* addvl sp, sp, #-2 */
		{{0x9adf101f, 0xd503201f, 0xd503201f}, true, true},  /* irg sp, x0 */
		{{0x910003bf, 0xd65f03c0, 0xd503201f}, false, true}, /* mov sp, x29; ret */
		{{0x910003bf, 0x14000004, 0xd503201f}, false, true}, /* ...; b */
		{{0x910003bf, 0xd61f0200, 0xd503201f}, false, true}, /* ...; br */
		{{0x910003bf, 0xd63f0100, 0xd503201f}, true, true},  /* ...; blr */
		{{0x910003bf, 0x94000004, 0xd503201f}, true, true},  /* ...; bl */
		{{0x910003bf, 0xd4207d00, 0xd503201f}, false, true}, /* ...; brk */
		{{0x910003bf, 0x5500001f, 0xd503201f}, false, true}, /* ...; retaasppc */
	};
	unsigned char code[12];
	bool ever;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		print_message("%08x\n", cases[i].words[0]);
		for (size_t k = 0; k < 3; k++)
			a64_put(code + 4 * k, cases[i].words[k]);
		assert_int_equal(arch->code.sets_sp(code, sizeof(code), &ever), cases[i].at_end);
		assert_int_equal(ever, cases[i].ever);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_instructions_are_classified_and_copied),
		cmocka_unit_test(test_traps_and_exclusive_stores_are_not_decoded),
		cmocka_unit_test(test_calls_are_stepped_with_a_shadow_stack),
		cmocka_unit_test(test_copies_out_of_reach_are_refused),
		cmocka_unit_test(test_decoded_random_words_can_be_copied_or_emulated),
		cmocka_unit_test(test_branches_and_literal_loads_are_emulated),
		cmocka_unit_test(test_32_bit_cbz_ignores_upper_bits),
		cmocka_unit_test(test_all_conditions_follow_the_flags),
		cmocka_unit_test(test_failed_literal_load_changes_no_registers),
		cmocka_unit_test(test_arithmetic_and_loads_are_emulated),
		cmocka_unit_test(test_stack_accesses_are_emulated),
		cmocka_unit_test(test_faulting_accesses_are_left_to_the_processor),
		cmocka_unit_test(test_registers_are_read_and_written),
		cmocka_unit_test(test_breakpoints_are_put_after_bti),
		cmocka_unit_test(test_signatures_and_tags_are_stripped),
		cmocka_unit_test(test_stripping_keeps_all_address_bits),
		cmocka_unit_test(test_system_calls_and_restorers_are_recognised),
		cmocka_unit_test(test_calls_before_an_address_are_recognised),
		cmocka_unit_test(test_slots_of_calls_through_linkage_are_found),
		cmocka_unit_test(test_constants_after_calls_are_recognised),
		cmocka_unit_test(test_writes_of_the_stack_pointer_are_recognised),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

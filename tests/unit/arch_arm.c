/* Tests the table of 32-bit ARM on hand-assembled bytes: classification, copies, emulation, calls, signal frames. No
 * code is run, so the test runs on every machine. */
#include "config.h"
#include "unit_test.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "arch/arch.h"
#include "base/util.h"
#include "tests/unit/arch_hex.h"

extern const struct arch arch_arm;

#define HERE  0x10000u
#define SLOT  0x11000u
#define THUMB 1u

enum { LR = 14, SP = 13, PC = 15, CPSR = 16, T = 0x20 };

static struct insn decode(uint32_t state, const char *hex)
{
	unsigned char bytes[16];
	const size_t size = hex_bytes(hex, bytes, sizeof(bytes));
	struct insn insn;

	assert_true(arch_arm.insns.decode(HERE | state, bytes, size, false, &insn));
	assert_int_equal(insn.address, HERE);
	return insn;
}

/* ---- Kinds ---- */

enum { PC_ONLY = 1, SYSCALL = 2, CAN_EMULATE = 4 };

static const struct {
	const char *text, *hex;
	enum insn_kind kind;
	int flags;
} a32[] =
	{
		{"push {r4, lr}", "10 40 2d e9", INSN_COPY, CAN_EMULATE},
		{"mov ip, sp", "0d c0 a0 e1", INSN_COPY, CAN_EMULATE},
		{"mov ip, sp with a first operand", "0d c0 a1 e1", INSN_COPY, 0},
		{"push {fp, ip, lr, pc}", "00 d8 2d e9", INSN_EMULATE, 0},
		{"pop {r4, pc}", "10 80 bd e8", INSN_EMULATE, 0},
		{"ldm sp, {fp, sp, pc}", "00 a8 9d e8", INSN_EMULATE, 0},
		{"ldm sp!, {r0, pc}^", "01 80 fd e8", INSN_STEP, 0},
		{"b", "02 00 00 ea", INSN_EMULATE, PC_ONLY},
		{"bl", "02 00 00 eb", INSN_EMULATE, 0},
		{"blx", "02 00 00 fa", INSN_EMULATE, 0},
		{"bx lr", "1e ff 2f e1", INSN_EMULATE, 0},
		{"blx r3", "33 ff 2f e1", INSN_EMULATE, 0},
		{"an instruction that only looks like bxj", "2f 76 23 e1", INSN_STEP, 0},
		{"blx pc", "3f ff 2f e1", INSN_STEP, 0},
		{"ldr r3, [pc, #16]", "10 30 9f e5", INSN_EMULATE, 0},
		{"ldr r3, [r2, #16]", "10 30 92 e5", INSN_COPY, CAN_EMULATE},
		{"ldr pc, [ip, #244]!", "f4 f0 bc e5", INSN_EMULATE, 0},
		{"ldrd r2, [pc, #8]", "d8 20 cf e1", INSN_EMULATE, 0},
		{"ldrh r2, [pc, #8]", "b8 20 df e1", INSN_EMULATE, 0},
		{"str r2, [pc, #8]", "08 20 8f e5", INSN_STEP, 0},
		{"add ip, pc, #0, 12", "00 c6 8f e2", INSN_EMULATE, 0},
		{"add ip, ip, #974848", "ee ca 8c e2", INSN_COPY, CAN_EMULATE},
		{"add r1, r2, r3, lsl r4", "13 14 82 e0", INSN_COPY, 0},
		{"cmp r4, #9", "09 00 54 e3", INSN_COPY, CAN_EMULATE},
		{"cmp r4, #9 with a result", "09 70 54 e3", INSN_COPY, 0},
		{"mov lr, pc", "0f e0 a0 e1", INSN_EMULATE, 0},
		{"mov pc, lr", "0e f0 a0 e1", INSN_EMULATE, 0},
		{"subs pc, lr, #4", "04 f0 5e e2", INSN_STEP, 0},
		{"addls pc, pc, r3, lsl #2", "03 f1 8f 90", INSN_EMULATE, 0},
		{"nop", "00 f0 20 e3", INSN_EMULATE, PC_ONLY},
		{"mov r0, r0", "00 00 a0 e1", INSN_EMULATE, PC_ONLY},
		{"movw r3, #4660", "34 32 01 e3", INSN_COPY, 0},
		{"mul r3, r2, r1", "92 01 03 e0", INSN_COPY, 0},
		{"ldrex r3, [r2]", "9f 3f 92 e1", INSN_STEP, 0},
		{"lda r3, [r2]", "9f 3c 92 e1", INSN_COPY, 0},
		{"swp r3, r1, [r2]", "91 30 02 e1", INSN_COPY, 0},
		{"svc 0", "00 00 00 ef", INSN_COPY, SYSCALL},
		{"mrc 15, 0, r3, cr13, cr0, {3}", "70 3f 1d ee", INSN_COPY, 0},
		{"vldr d0, [pc, #32]", "08 0b 9f ed", INSN_COPY, 0},
		{"vldr d0, [r0, #32]", "08 0b 90 ed", INSN_COPY, 0},
		{"vldmia pc, {d0}", "02 0b 9f ec", INSN_STEP, 0},
		{"setend be", "00 02 01 f1", INSN_STEP, 0},
		{"clz r0, r1", "11 0f 6f e1", INSN_COPY, 0},
		/* Encodings that are UNPREDICTABLE with the pc (as the second register of a pair, an offset, a shift, a
		 * result), and valid ones that resemble them. */
		{"ldrd lr, pc, [r2]", "d0 e0 c2 e1", INSN_STEP, 0},
		{"ldrd lr, pc, [pc, #8]", "d8 e0 cf e1", INSN_STEP, 0},
		{"strd lr, pc, [r2]", "f0 e0 c2 e1", INSN_STEP, 0},
		{"ldrh r2, [r3, pc]", "bf 20 93 e1", INSN_STEP, 0},
		{"add r1, r2, r3, lsl pc", "13 1f 82 e0", INSN_STEP, 0},
		{"cmp pc, r1 with a result", "01 f0 5f e1", INSN_STEP, 0},
		{"mov pc, r1 with a first operand", "01 f0 a2 e1", INSN_STEP, 0},
		{"mul pc, r2, r1", "92 01 0f e0", INSN_STEP, 0},
		{"smulbb r3, pc, r1", "8f 01 63 e1", INSN_STEP, 0},
		{"qadd pc, r2, r1", "52 f0 01 e1", INSN_STEP, 0},
		{"movw pc, #4660", "34 f2 01 e3", INSN_STEP, 0},
		{"mrs pc, cpsr", "00 f0 0f e1", INSN_STEP, 0},
		{"ubfx pc, r4, #1, #2", "d4 f0 e1 e7", INSN_STEP, 0},
		{"sbfx r2, pc, #1, #2", "df 20 a1 e7", INSN_STEP, 0},
		{"bfc r2, #1, #2", "9f 20 c2 e7", INSN_COPY, 0},
		{"sxtb r2, r3", "73 20 af e6", INSN_COPY, 0},
		{"smuad r2, r3, r4", "13 f4 02 e7", INSN_COPY, 0},
		{"sdiv pc, r3, r4", "13 f4 1f e7", INSN_STEP, 0},
		{"mcr 15, 0, pc, cr7, cr5, {4}", "95 ff 07 ee", INSN_STEP, 0},
		{"mrc 15, 0, APSR_nzcv, cr7, cr5, {4}", "95 ff 17 ee", INSN_COPY, 0},
		{"vmrs APSR_nzcv, fpscr", "10 fa f1 ee", INSN_COPY, 0},
		{"vmov pc, s1", "90 fa 10 ee", INSN_STEP, 0},
		{"mrrc 15, 0, pc, r3, cr7", "07 ff 53 ec", INSN_STEP, 0},
		{"an instruction that only looks like vldr", "08 0b 9f fd", INSN_STEP, 0},
		{"vld1.32 {d0}, [pc]", "8f 07 2f f4", INSN_STEP, 0},
		{"msr CPSR_f, r0", "00 f0 28 e1", INSN_COPY, 0},
		{"msr CPSR_x, r0", "00 f0 22 e1", INSN_STEP, 0},
		{"msr CPSR_x, #512", "02 fc 22 e3", INSN_STEP, 0},
		{"ldr r1, [r1], #4", "04 10 91 e4", INSN_COPY, 0},
},
  thumb[] = {
	  {"push {r3, r4, r5, r6, r7, lr}", "f8 b5", INSN_COPY, CAN_EMULATE},
	  {"push.w {r4, ..., r8, lr}", "2d e9 f0 41", INSN_COPY, CAN_EMULATE},
	  {"str.w r4, [sp, #-4]!", "4d f8 04 4d", INSN_COPY, CAN_EMULATE},
	  {"pop {r4, pc}", "10 bd", INSN_EMULATE, 0},
	  {"pop {r4}", "10 bc", INSN_COPY, 0},
	  {"pop.w {r4, ..., r8, pc}", "bd e8 f0 81", INSN_EMULATE, 0},
	  {"ldr.w pc, [sp], #4", "5d f8 04 fb", INSN_EMULATE, 0},
	  {"ldr.w pc, [pc, #8]", "df f8 08 f0", INSN_EMULATE, 0},
	  {"ldr.w pc, [r1, r2, lsl #2]", "51 f8 22 f0", INSN_EMULATE, 0},
	  {"ldr r3, [pc, #16]", "04 4b", INSN_EMULATE, 0},
	  {"ldr.w r8, [pc, #16]", "df f8 10 80", INSN_EMULATE, 0},
	  {"ldrsb.w r8, [pc, #-16]", "1f f9 10 80", INSN_EMULATE, 0},
	  {"pld [pc, #16]", "9f f8 10 f0", INSN_COPY, 0},
	  {"ldrd r2, r3, [pc, #16]", "df e9 04 23", INSN_EMULATE, 0},
	  {"ldrd r2, r3, [sp, #16]", "dd e9 04 23", INSN_COPY, 0},
	  {"adr r3", "04 a3", INSN_EMULATE, 0},
	  {"adr.w r8", "0f f2 10 08", INSN_EMULATE, 0},
	  {"adr.w r8, down", "af f2 10 08", INSN_EMULATE, 0},
	  {"add r3, pc", "7b 44", INSN_EMULATE, 0},
	  {"add r3, lr", "73 44", INSN_COPY, CAN_EMULATE},
	  {"mov pc, r3", "9f 46", INSN_EMULATE, 0},
	  {"bx lr", "70 47", INSN_EMULATE, 0},
	  {"bx pc", "78 47", INSN_EMULATE, 0},
	  {"blx r3", "98 47", INSN_EMULATE, 0},
	  {"b", "04 e0", INSN_EMULATE, PC_ONLY},
	  {"beq", "04 d0", INSN_EMULATE, PC_ONLY},
	  {"b.w", "00 f0 04 b8", INSN_EMULATE, PC_ONLY},
	  {"bne.w", "40 f0 04 80", INSN_EMULATE, PC_ONLY},
	  {"bl", "00 f0 04 f8", INSN_EMULATE, 0},
	  {"blx", "00 f0 04 e8", INSN_EMULATE, 0},
	  {"cbz r3", "23 b1", INSN_EMULATE, PC_ONLY},
	  {"cbnz r3", "23 b9", INSN_EMULATE, PC_ONLY},
	  {"tbb [pc, r3]", "df e8 03 f0", INSN_EMULATE, 0},
	  {"tbh [pc, r3, lsl #1]", "df e8 13 f0", INSN_EMULATE, 0},
	  {"it eq", "08 bf", INSN_EMULATE, 0},
	  {"nop", "00 bf", INSN_EMULATE, PC_ONLY},
	  {"nop.w", "af f3 00 80", INSN_EMULATE, PC_ONLY},
	  {"yield", "10 bf", INSN_COPY, 0},
	  {"svc 0", "00 df", INSN_COPY, SYSCALL},
	  {"ldrex r3, [r2]", "52 e8 00 3f", INSN_STEP, 0},
	  {"ldrexb r3, [r2]", "d2 e8 4f 3f", INSN_STEP, 0},
	  {"lda r3, [r2]", "d2 e8 af 3f", INSN_COPY, 0},
	  {"vldr d7, [pc, #24]", "9f ed 06 7b", INSN_COPY, 0},
	  {"mrc 15, 0, r3, cr13, cr0, {3}", "1d ee 70 3f", INSN_COPY, 0},
	  {"movs r7, #120", "78 27", INSN_COPY, CAN_EMULATE},
	  {"setend be", "58 b6", INSN_STEP, 0},
	  {"subs pc, lr, #4", "de f3 04 8f", INSN_STEP, 0},
	  {"mov r3, r0", "03 46", INSN_COPY, CAN_EMULATE},
	  {"mov sp, r7", "bd 46", INSN_COPY, 0},
	  {"cmp r0, #0", "00 28", INSN_COPY, CAN_EMULATE},
	  {"muls r3, r2", "53 43", INSN_COPY, 0},
	  {"lsls r3, r2", "93 40", INSN_COPY, 0},
	  {"strh r3, [r2, r1]", "53 52", INSN_COPY, CAN_EMULATE},
	  {"sub sp, #8", "82 b0", INSN_COPY, CAN_EMULATE},
	  {"sxth r3, r2", "13 b2", INSN_COPY, 0},
	  {"mov.w r8, #256", "4f f4 80 78", INSN_COPY, CAN_EMULATE},
	  {"movw r0, #31006", "47 f6 1e 10", INSN_COPY, CAN_EMULATE},
	  {"movt r0, #1", "c0 f2 01 00", INSN_COPY, 0},
	  {"orn r0, r1, #1", "61 f0 01 00", INSN_COPY, 0},
	  {"subs.w r0, r1, r2, lsr #3", "b1 eb d2 00", INSN_COPY, CAN_EMULATE},
	  {"pkhbt r0, r1, r2", "c1 ea 02 00", INSN_COPY, 0},
	  {"ldr.w r8, [r0, #4]!", "50 f8 04 8f", INSN_COPY, CAN_EMULATE},
	  {"ldrt r8, [r0, #4]", "50 f8 04 8e", INSN_COPY, 0},
	  {"pld [r0]", "90 f8 00 f0", INSN_COPY, 0},
	  /* Encodings that are not allocated, or UNPREDICTABLE with the pc, and valid ones that resemble them. */
	  {"blx with its lowest bit", "00 f0 05 e8", INSN_STEP, 0},
	  {"blx pc", "f8 47", INSN_STEP, 0},
	  {"bxns lr", "74 47", INSN_STEP, 0},
	  {"cmp r3, pc", "7b 45", INSN_STEP, 0},
	  {"it never", "f8 bf", INSN_STEP, 0},
	  {"ite always", "ec bf", INSN_STEP, 0},
	  {"tbb [r1, pc]", "d1 e8 0f f0", INSN_STEP, 0},
	  {"ldrd r2, pc, [pc, #16]", "df e9 04 2f", INSN_STEP, 0},
	  {"ldrd pc, r2, [r3]", "d3 e9 00 f2", INSN_STEP, 0},
	  {"strd r2, pc, [r3]", "c3 e9 00 2f", INSN_STEP, 0},
	  {"stmia.w r1, {r2, pc}", "81 e8 04 80", INSN_STEP, 0},
	  {"ldmia.w pc, {r2, r3}", "9f e8 0c 00", INSN_STEP, 0},
	  {"str.w pc, [sp, #-4]!", "4d f8 04 fd", INSN_STEP, 0},
	  {"str.w r2, [pc, #8]", "cf f8 08 20", INSN_STEP, 0},
	  {"ldrsw r2, [pc, #8]", "df f9 08 20", INSN_STEP, 0},
	  {"ldrsw pc, [r2, #8]", "d2 f9 08 f0", INSN_STEP, 0},
	  {"ldr.w pc, [r2] without a form", "52 f8 04 f8", INSN_STEP, 0},
	  {"ldr.w pc, [r2, r3] with more", "52 f8 43 f0", INSN_STEP, 0},
	  {"ldr.w r1, [r2, pc]", "52 f8 0f 10", INSN_STEP, 0},
	  {"adr.w pc", "0f f2 10 0f", INSN_STEP, 0},
	  {"add.w r1, pc, #1", "0f f1 01 01", INSN_STEP, 0},
	  {"add.w pc, r1, #1", "01 f1 01 0f", INSN_STEP, 0},
	  {"cmn.w r1, #1", "11 f1 01 0f", INSN_COPY, CAN_EMULATE},
	  {"sub.w r1, r2, pc", "a2 eb 0f 01", INSN_STEP, 0},
	  {"lsl.w pc, r1, r2", "01 fa 02 ff", INSN_STEP, 0},
	  {"sxtb.w r8, r9", "4f fa 89 f8", INSN_COPY, 0},
	  {"umull pc, r1, r2, r3", "a2 fb 03 f1", INSN_STEP, 0},
	  {"udiv r1, r2, r3", "b2 fb f3 f1", INSN_COPY, 0},
	  {"bfc r1, #1, #2", "6f f3 42 01", INSN_COPY, 0},
	  {"ubfx r1, pc, #1, #2", "cf f3 41 01", INSN_STEP, 0},
	  {"bxj r3", "c3 f3 00 8f", INSN_EMULATE, 0},
	  {"an instruction that only looks like bxj", "c3 f3 01 8f", INSN_STEP, 0},
	  {"msr CPSR_f, r0", "80 f3 00 88", INSN_COPY, 0},
	  {"msr CPSR_x, r0", "80 f3 00 82", INSN_STEP, 0},
	  {"mrs pc, cpsr", "ef f3 00 8f", INSN_STEP, 0},
	  {"vld1.32 {d0}, [pc]", "2f f9 8f 07", INSN_STEP, 0},
};

static void check_kind(uint32_t state, const char *text, const char *hex, enum insn_kind kind, int flags)
{
	const struct insn insn = decode(state, hex);

	if (insn.kind != kind || insn.pc_only != !!(flags & PC_ONLY) || insn.is_syscall != !!(flags & SYSCALL) ||
	    insn.can_emulate != !!(flags & CAN_EMULATE))
		fail_msg("%s: kind %d, pc_only %d, syscall %d, can_emulate %d", text, insn.kind, insn.pc_only,
			 insn.is_syscall, insn.can_emulate);
	assert_int_equal(insn.length, (strlen(hex) + 1) / 3);
}

static void test_instructions_are_classified(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(a32); i++)
		check_kind(0, a32[i].text, a32[i].hex, a32[i].kind, a32[i].flags);
	for (size_t i = 0; i < ARRAY_SIZE(thumb); i++)
		check_kind(THUMB, thumb[i].text, thumb[i].hex, thumb[i].kind, thumb[i].flags);
}

static void test_truncated_instructions_are_not_decoded(void **state)
{
	const unsigned char half_of_one[] = {0x2d, 0xe9}, push[] = {0x10, 0xb5};
	struct insn insn;

	assert_false(arch_arm.insns.decode(HERE | THUMB, half_of_one, 2, false, &insn));
	assert_true(arch_arm.insns.decode(HERE | THUMB, push, 2, false, &insn));
	assert_false(arch_arm.insns.decode(HERE | THUMB, push, 1, false, &insn));
	assert_false(arch_arm.insns.decode(HERE, push, 2, false, &insn));
}

/* Tests places where no breakpoint may be, and places that resemble them. */
static void test_traps_and_exclusive_stores_are_not_decoded(void **state)
{
	static const struct {
		uint32_t at;
		const char *hex;
		bool is_decoded;
	} cases[] = {
		{HERE, "f0 00 f0 e7", false},                          /* udf */
		{HERE, "f0 01 f0 e7", false},                          /* functrace's breakpoint */
		{HERE, "70 00 20 e1", false},                          /* bkpt */
		{HERE, "70 00 00 e1", false},                          /* hlt */
		{HERE, "93 1f 82 e1", false},                          /* strex */
		{HERE, "01 30 83 e2 93 1f 82 e1", false},              /* add; strex */
		{HERE, "01 30 83 e2 93 1e 82 e1", false},              /* add; stlex */
		{HERE, "01 30 83 e2 93 fc 82 e1", true},               /* add; stl */
		{HERE, "9f 3f 92 e1 01 30 83 e2 93 1f 82 e1", true},   /* ldrex; add; strex: decoded, as INSN_STEP */
		{HERE, "01 30 83 e2 9f 3f 92 e1 93 1f 82 e1", true},   /* add; ldrex; strex */
		{HERE, "02 00 00 0a 93 1f 82 e1", false},              /* beq; strex */
		{HERE, "02 00 00 ea 93 1f 82 e1", true},               /* b; strex */
		{HERE, "1e ff 2f e1 93 1f 82 e1", true},               /* bx lr; strex */
		{HERE + 2, "10 40 2d e9", false},                      /* not a place of A32 code */
		{HERE + 2 + THUMB, "10 b5", true},                     /* but one of Thumb code */
		{HERE + THUMB, "00 de", false},                        /* udf */
		{HERE + THUMB, "01 de", false},                        /* functrace's breakpoint */
		{HERE + THUMB, "00 be", false},                        /* bkpt */
		{HERE + THUMB, "80 ba", false},                        /* hlt */
		{HERE + THUMB, "f0 f7 00 a0", false},                  /* udf.w, for longer instructions */
		{HERE + THUMB, "42 e8 00 31", false},                  /* strex */
		{HERE + THUMB, "c2 e8 41 3f", false},                  /* strexb */
		{HERE + THUMB, "01 33 42 e8 00 31", false},            /* adds; strex */
		{HERE + THUMB, "52 e8 00 3f 01 33 42 e8 00 31", true}, /* ldrex; adds; strex */
		{HERE + THUMB, "01 33 c2 e8 af 3f", true},             /* adds; stl */
		{HERE + THUMB, "08 bf 01 33 42 e8 00 31", false},      /* it eq; addeq; strex */
		{HERE + THUMB, "70 47 42 e8 00 31", true},             /* bx lr; strex */
		{HERE + THUMB, "01 33 42 e8", true},                   /* adds; half of an instruction */
	};
	unsigned char bytes[16];
	struct insn insn;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const size_t size = hex_bytes(cases[i].hex, bytes, sizeof(bytes));

		if (arch_arm.insns.decode(cases[i].at, bytes, size, false, &insn) != cases[i].is_decoded)
			fail_msg("%s", cases[i].hex);
	}
}

/* ---- Copies ---- */

static void check_copy(uint32_t state, const char *hex, const char *literal, const char *expected, unsigned resume)
{
	struct insn insn = decode(state, hex);
	struct insn_copy copy;
	unsigned char bytes[ARCH_SLOT_SIZE];
	const size_t size = hex_bytes(expected, bytes, sizeof(bytes));

	if (literal)
		assert_int_equal(hex_bytes(literal, insn.literal, sizeof(insn.literal)), insn.literal_size);
	assert_int_equal(arch_arm.insns.relocate(&insn, SLOT, &copy), 0);
	assert_int_equal(copy.size, size);
	assert_memory_equal(copy.bytes, bytes, size);
	assert_int_equal(copy.resume, resume);
	assert_int_equal(insn_original_pc(&insn, &copy, SLOT, SLOT), HERE);
	assert_int_equal(insn_original_pc(&insn, &copy, SLOT, SLOT + resume), HERE + insn.length);
}

static void test_copies_end_with_a_jump_back(void **state)
{
	/* ldr pc, [pc, #-4]; the address */
	check_copy(0, "10 40 2d e9", NULL, "10 40 2d e9 04 f0 1f e5 04 00 01 00", 4);
	/* The copy ends with ldr.w pc, [pc, #4], for which the pc is rounded down, and the address with the state
	 * bit. */
	check_copy(THUMB, "10 b5", NULL, "10 b5 df f8 04 f0 00 00 03 00 01 00", 2);
	/* ldr.w pc, [pc] */
	check_copy(THUMB, "2d e9 f0 41", NULL, "2d e9 f0 41 df f8 00 f0 05 00 01 00", 4);
	/* vldr d0, [pc, #8], where the literal is at SLOT + 16 */
	check_copy(0, "08 0b 9f ed", "11 22 33 44 55 66 77 88",
		   "02 0b 9f ed 04 f0 1f e5 04 00 01 00 00 00 00 00 11 22 33 44 55 66 77 88", 4);
	/* vldr s15, [pc, #-32] becomes one with a positive offset */
	check_copy(THUMB, "5f ed 08 7a", "11 22 33 44", "df ed 03 7a df f8 00 f0 05 00 01 00 00 00 00 00 11 22 33 44",
		   4);
}

static void test_places_of_literals_are_decoded(void **state)
{
	assert_int_equal(decode(0, "08 0b 9f ed").literal_at, HERE + 8 + 32);
	assert_int_equal(decode(0, "08 0b 9f ed").literal_size, 8);
	assert_int_equal(decode(THUMB, "5f ed 08 7a").literal_at, HERE + 4 - 32);
	assert_int_equal(decode(THUMB, "5f ed 08 7a").literal_size, 4);
	assert_int_equal(decode(0, "08 0b 90 ed").literal_size, 0);
}

/* ---- Emulation ---- */

#define DATA 0x20000u

static unsigned char memory[256]; /* from DATA on */
static unsigned reads, writes;

static int read_data(void *context, uint64_t address, void *data, size_t size)
{
	(void)context;
	reads++;
	if (address < DATA || address + size > DATA + sizeof(memory))
		return -EFAULT;
	memcpy(data, memory + (address - DATA), size);
	return 0;
}

static int write_data(void *context, uint64_t address, const void *data, size_t size)
{
	(void)context;
	writes++;
	if (address < DATA || address + size > DATA + sizeof(memory))
		return -EFAULT;
	memcpy(memory + (address - DATA), data, size);
	return 0;
}

static const struct arch_memory data_memory = {read_data, write_data, NULL};

static void put(uint32_t address, uint32_t word)
{
	memcpy(memory + (address - DATA), &word, sizeof(word));
}

static uint32_t stored_word(uint32_t address)
{
	uint32_t word;

	memcpy(&word, memory + (address - DATA), sizeof(word));
	return word;
}

/* Returns registers: the value of each is 0x1000 plus its number, except for sp, which is DATA + 128. */
static struct arch_regs fresh(uint32_t state, uint32_t flags)
{
	struct arch_regs regs = {.narrow = {0}};

	for (unsigned i = 0; i < PC; i++)
		regs.narrow[i] = 0x1000 + i;
	regs.narrow[SP] = DATA + 128;
	regs.narrow[PC] = HERE;
	regs.narrow[CPSR] = (state ? T : 0) | 0x10 | flags;
	memset(memory, 0, sizeof(memory));
	reads = writes = 0;
	return regs;
}

static void emulate(uint32_t state, const char *hex, struct arch_regs *regs)
{
	const struct insn insn = decode(state, hex);

	assert_int_equal(arch_arm.insns.emulate(&insn, regs, &data_memory), 0);
}

static void test_branches_are_emulated(void **state)
{
	struct arch_regs regs = fresh(0, 0);

	emulate(0, "02 00 00 ea", &regs);
	assert_int_equal(regs.narrow[PC], HERE + 16);
	regs = fresh(0, 0);
	emulate(0, "02 00 00 eb", &regs);
	assert_int_equal(regs.narrow[PC], HERE + 16);
	assert_int_equal(regs.narrow[LR], HERE + 4);
	regs = fresh(0, 0);
	emulate(0, "02 00 00 fb", &regs); /* blx with H: to Thumb */
	assert_int_equal(regs.narrow[PC], HERE + 18);
	assert_int_equal(regs.narrow[CPSR] & T, T);
	assert_int_equal(regs.narrow[LR], HERE + 4);
	regs = fresh(1, 0);
	emulate(THUMB, "00 f0 04 f8", &regs);
	assert_int_equal(regs.narrow[PC], HERE + 12);
	assert_int_equal(regs.narrow[LR], HERE + 5);
	regs = fresh(1, 0);
	emulate(THUMB, "00 f0 04 e8", &regs); /* blx: to A32 */
	assert_int_equal(regs.narrow[PC], HERE + 12);
	assert_int_equal(regs.narrow[CPSR] & T, 0);
	assert_int_equal(regs.narrow[LR], HERE + 5);
	regs = fresh(1, 0);
	emulate(THUMB, "78 47", &regs); /* bx pc */
	assert_int_equal(regs.narrow[PC], HERE + 4);
	assert_int_equal(regs.narrow[CPSR] & T, 0);
	regs = fresh(1, 0);
	regs.narrow[LR] = 0x4001;
	emulate(THUMB, "f0 47", &regs); /* blx lr */
	assert_int_equal(regs.narrow[PC], 0x4000);
	assert_int_equal(regs.narrow[LR], HERE + 3);
	regs = fresh(0, 0);
	regs.narrow[3] = 0x4001;
	emulate(0, "03 f0 a0 e1", &regs); /* mov pc, r3 */
	assert_int_equal(regs.narrow[PC], 0x4000);
	assert_int_equal(regs.narrow[CPSR] & T, T);
	regs = fresh(1, 0);
	regs.narrow[3] = 0x4000;
	emulate(THUMB, "9f 46", &regs); /* mov pc, r3: stays */
	assert_int_equal(regs.narrow[PC], 0x4000);
	assert_int_equal(regs.narrow[CPSR] & T, T);
}

static void test_all_conditions_follow_the_flags(void **state)
{
	/* For each condition, bit n is set if the condition holds with the flags N Z C V = n (four bits). */
	static const uint16_t holds[] = {0xf0f0, 0x0f0f, 0xcccc, 0x3333, 0xff00, 0x00ff, 0xaaaa,
					 0x5555, 0x0c0c, 0xf3f3, 0xaa55, 0x55aa, 0x0a05, 0xf5fa};
	char hex[16];

	for (unsigned condition = 0; condition < ARRAY_SIZE(holds); condition++)
		for (uint32_t flags = 0; flags < 16; flags++) {
			const bool expected = holds[condition] >> flags & 1;
			struct arch_regs regs = fresh(1, flags << 28);

			snprintf(hex, sizeof(hex), "04 d%x", condition);
			emulate(THUMB, hex, &regs);
			assert_int_equal(regs.narrow[PC], expected ? HERE + 12 : HERE + 2);
			regs = fresh(0, flags << 28);
			snprintf(hex, sizeof(hex), "02 00 00 %xa", condition);
			emulate(0, hex, &regs);
			assert_int_equal(regs.narrow[PC], expected ? HERE + 16 : HERE + 4);
		}
}

static void test_cbz_and_cbnz_are_emulated(void **state)
{
	struct arch_regs regs = fresh(1, 0);

	emulate(THUMB, "23 b1", &regs);
	assert_int_equal(regs.narrow[PC], HERE + 2);
	regs = fresh(1, 0);
	emulate(THUMB, "23 b9", &regs);
	assert_int_equal(regs.narrow[PC], HERE + 12);
	regs = fresh(1, 0);
	regs.narrow[3] = 0;
	emulate(THUMB, "23 b1", &regs);
	assert_int_equal(regs.narrow[PC], HERE + 12);
}

/* Tests an IT instruction, and instructions in its IT block, the last of which is a branch. */
static void test_it_blocks_are_emulated(void **state)
{
	struct arch_regs regs = fresh(1, 0);

	emulate(THUMB, "06 bf", &regs); /* itte eq */
	assert_int_equal(regs.narrow[PC], HERE + 2);
	assert_int_equal(regs.narrow[CPSR], T | 0x10 | 2u << 25 | 1u << 10);
	regs = fresh(1, 2u << 25 | 2u << 10); /* 0000 1010: eq, then ne, eq */
	emulate(THUMB, "00 bf", &regs);
	assert_int_equal(regs.narrow[CPSR], T | 0x10 | 0u << 25 | 5u << 10); /* 0001 0100: ne */
	regs = fresh(1, 0u << 25 | 2u << 10);                                /* 0000 1000: the last, eq */
	emulate(THUMB, "70 47", &regs);
	assert_int_equal(regs.narrow[PC], HERE + 2); /* not taken */
	assert_int_equal(regs.narrow[CPSR], T | 0x10);
}

static void test_loads_of_the_pc_are_emulated(void **state)
{
	struct arch_regs regs = fresh(0, 0);

	put(DATA + 128, 0x11);
	put(DATA + 132, 0x4001);
	emulate(0, "10 80 bd e8", &regs); /* pop {r4, pc} */
	assert_int_equal(regs.narrow[4], 0x11);
	assert_int_equal(regs.narrow[PC], 0x4000);
	assert_int_equal(regs.narrow[CPSR] & T, T);
	assert_int_equal(regs.narrow[SP], DATA + 136);
	regs = fresh(1, 0);
	put(DATA + 128, 0x11);
	put(DATA + 132, 0x4000);
	emulate(THUMB, "10 bd", &regs);
	assert_int_equal(regs.narrow[PC], 0x4000);
	assert_int_equal(regs.narrow[CPSR] & T, 0);
	assert_int_equal(regs.narrow[SP], DATA + 136);
	regs = fresh(1, 0);
	put(DATA + 128, 0x4001);
	emulate(THUMB, "5d f8 04 fb", &regs); /* ldr.w pc, [sp], #4 */
	assert_int_equal(regs.narrow[PC], 0x4000);
	assert_int_equal(regs.narrow[SP], DATA + 132);
	regs = fresh(0, 0);
	regs.narrow[12] = DATA + 8;
	put(DATA + 8 + 16, 0x4000);
	emulate(0, "10 f0 bc e5", &regs); /* ldr pc, [ip, #16]! */
	assert_int_equal(regs.narrow[PC], 0x4000);
	assert_int_equal(regs.narrow[12], DATA + 24);
	regs = fresh(0, 0);
	regs.narrow[1] = DATA;
	regs.narrow[2] = 4;
	put(DATA + 16, 0x4001);
	emulate(0, "02 f1 91 e7", &regs); /* ldr pc, [r1, r2, lsl #2] */
	assert_int_equal(regs.narrow[PC], 0x4000);
	regs = fresh(1, 0);
	regs.narrow[1] = DATA;
	regs.narrow[2] = 3;
	memory[3] = 5;
	emulate(THUMB, "d1 e8 02 f0", &regs); /* tbb [r1, r2] */
	assert_int_equal(regs.narrow[PC], HERE + 4 + 10);
}

/* The instructions are decoded at DATA, so that their literals are in the test's memory. */
static void test_literal_loads_are_emulated(void **state)
{
	static const struct {
		uint32_t state;
		const char *hex;
		uint32_t from; /* to the literal */
		uint32_t value, second;
	} loads[] = {
		{0, "10 30 9f e5", 24, 0x887766f5, 0},       /* ldr r3, [pc, #16] */
		{0, "d0 31 df e1", 24, 0xfffffff5, 0},       /* ldrsb r3, [pc, #16] */
		{0, "f0 31 df e1", 24, 0x66f5, 0},           /* ldrsh */
		{0, "b0 31 df e1", 24, 0x66f5, 0},           /* ldrh */
		{0, "d0 21 cf e1", 24, 0, 0x887766f5},       /* ldrd r2, r3: r3 is second */
		{THUMB, "04 4b", 20, 0x887766f5, 0},         /* ldr r3, [pc, #16] */
		{THUMB, "df f8 10 30", 20, 0x887766f5, 0},   /* ldr.w */
		{THUMB, "9f f9 10 30", 20, 0xfffffff5, 0},   /* ldrsb.w */
		{THUMB, "9f f8 10 30", 20, 0xf5, 0},         /* ldrb.w */
		{THUMB, "bf f9 10 30", 20, 0x66f5, 0},       /* ldrsh.w */
		{THUMB, "df e9 04 32", 20, 0x887766f5, 0x1}, /* ldrd r3, r2 */
	};

	for (size_t i = 0; i < ARRAY_SIZE(loads); i++) {
		unsigned char bytes[8];
		const size_t size = hex_bytes(loads[i].hex, bytes, sizeof(bytes));
		struct arch_regs regs = fresh(loads[i].state, 0);
		struct insn insn;

		assert_true(arch_arm.insns.decode(DATA | loads[i].state, bytes, size, false, &insn));
		const bool reversed = !loads[i].value;

		put(DATA + loads[i].from, reversed ? 0 : 0x887766f5);
		put(DATA + loads[i].from + 4, reversed ? 0x887766f5 : 1);
		assert_int_equal(arch_arm.insns.emulate(&insn, &regs, &data_memory), 0);
		assert_int_equal(regs.narrow[3], reversed ? loads[i].second : loads[i].value);
		assert_int_equal(regs.narrow[PC], DATA + size);
	}
}

static void test_pushes_and_stores_are_emulated(void **state)
{
	struct arch_regs regs = fresh(0, 0);

	emulate(0, "00 d8 2d e9", &regs); /* push {fp, ip, lr, pc} */
	assert_int_equal(regs.narrow[SP], DATA + 112);
	assert_int_equal(stored_word(DATA + 112), 0x100b);
	assert_int_equal(stored_word(DATA + 116), 0x100c);
	assert_int_equal(stored_word(DATA + 120), 0x100e);
	assert_int_equal(stored_word(DATA + 124), HERE + 8);
	assert_int_equal(writes, 1);
	regs = fresh(1, 0);
	emulate(THUMB, "10 b5", &regs); /* push {r4, lr}, without a slot */
	assert_int_equal(regs.narrow[SP], DATA + 120);
	assert_int_equal(stored_word(DATA + 120), 0x1004);
	assert_int_equal(stored_word(DATA + 124), 0x100e);
	assert_int_equal(regs.narrow[PC], HERE + 2);
	regs = fresh(1, 0);
	emulate(THUMB, "4d f8 04 4d", &regs); /* str.w r4, [sp, #-4]! */
	assert_int_equal(stored_word(DATA + 124), 0x1004);
	regs = fresh(0, 0);
	emulate(0, "04 e0 2d e5", &regs); /* str lr, [sp, #-4]! */
	assert_int_equal(stored_word(DATA + 124), 0x100e);
	assert_int_equal(regs.narrow[SP], DATA + 124);
}

static void test_arithmetic_with_the_pc_is_emulated(void **state)
{
	struct arch_regs regs = fresh(0, 0);

	emulate(0, "00 c6 8f e2", &regs); /* add ip, pc, #0, 12 */
	assert_int_equal(regs.narrow[12], HERE + 8);
	regs = fresh(0, 0);
	emulate(0, "0f e0 a0 e1", &regs); /* mov lr, pc */
	assert_int_equal(regs.narrow[LR], HERE + 8);
	regs = fresh(0, 0x40000000); /* Z: ls holds */
	regs.narrow[3] = 2;
	emulate(0, "03 f1 8f 90", &regs); /* addls pc, pc, r3, lsl #2 */
	assert_int_equal(regs.narrow[PC], HERE + 16);
	regs = fresh(0, 0x20000000); /* C: it does not */
	emulate(0, "03 f1 8f 90", &regs);
	assert_int_equal(regs.narrow[PC], HERE + 4);
	regs = fresh(1, 0);
	emulate(THUMB, "7b 44", &regs); /* add r3, pc */
	assert_int_equal(regs.narrow[3], 0x1003 + HERE + 4);
	regs = fresh(1, 0);
	emulate(THUMB, "04 a3", &regs);
	assert_int_equal(regs.narrow[3], HERE + 20);
	regs = fresh(1, 0);
	emulate(THUMB, "af f2 10 08", &regs);
	assert_int_equal(regs.narrow[8], HERE + 4 - 16);
	regs = fresh(0, 0);
	emulate(0, "0f 00 5f e1", &regs); /* cmp pc, pc */
	assert_int_equal(regs.narrow[CPSR] >> 28, 6);
}

/* An access that fails does not change the registers. */
static void test_failed_emulation_changes_no_registers(void **state)
{
	static const struct {
		uint32_t state;
		const char *hex;
	} faults[] = {
		{0, "10 80 bd e8"}, {THUMB, "10 bd"}, {THUMB, "5d f8 04 fb"},
		{0, "10 30 9f e5"}, {THUMB, "04 4b"}, {0, "00 d8 2d e9"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(faults); i++) {
		const struct insn insn = decode(faults[i].state, faults[i].hex);
		struct arch_regs regs = fresh(faults[i].state, 0), before;

		regs.narrow[SP] = 0x100;
		before = regs;
		assert_int_equal(arch_arm.insns.emulate(&insn, &regs, &data_memory), -EFAULT);
		assert_memory_equal(&regs, &before, sizeof(regs));
	}
	/* A jump to A32 code must not lead between two words. */
	const struct insn insn = decode(0, "03 f0 a0 e1");
	struct arch_regs regs = fresh(0, 0);

	regs.narrow[3] = 0x4002;
	assert_true(arch_arm.insns.emulate(&insn, &regs, &data_memory) < 0);
	assert_int_equal(regs.narrow[PC], HERE);
}

/* ---- Calls ---- */

static enum arch_call call_kind_before(uint32_t state, const char *hex)
{
	unsigned char bytes[16];
	const size_t size = hex_bytes(hex, bytes, sizeof(bytes));

	return arch_arm.code.follows_call(HERE | state, bytes, size);
}

static void test_calls_before_an_address_are_recognised(void **state)
{
	assert_int_equal(call_kind_before(0, "02 00 00 eb"), CALL_FIXED);
	assert_int_equal(call_kind_before(0, "02 00 00 1b"), CALL_FIXED); /* blne */
	assert_int_equal(call_kind_before(0, "02 00 00 fa"), CALL_FIXED); /* blx */
	assert_int_equal(call_kind_before(0, "02 00 00 ea"), CALL_NONE);
	assert_int_equal(call_kind_before(0, "33 ff 2f e1"), CALL_COMPUTED);
	assert_int_equal(call_kind_before(0, "0f e0 a0 e1 04 f0 93 e5"),
			 CALL_COMPUTED); /* mov lr, pc; ldr pc, [r3, #4] */
	assert_int_equal(call_kind_before(0, "0f e0 a0 e1 13 ff 2f e1"), CALL_COMPUTED); /* mov lr, pc; bx r3 */
	assert_int_equal(call_kind_before(0, "00 00 a0 e1 13 ff 2f e1"), CALL_NONE);
	assert_int_equal(call_kind_before(THUMB, "00 f0 04 f8"), CALL_FIXED);
	assert_int_equal(call_kind_before(THUMB, "00 f0 04 e8"), CALL_FIXED);
	assert_int_equal(call_kind_before(THUMB, "98 47"), CALL_COMPUTED);
	assert_int_equal(call_kind_before(THUMB, "00 f0 04 f8 98 47"), CALL_COMPUTED);
	assert_int_equal(call_kind_before(THUMB, "18 47"), CALL_NONE); /* bx r3 */
	assert_int_equal(call_kind_before(THUMB, "00 f0 04 b8"), CALL_NONE);
	assert_int_equal(call_kind_before(THUMB, "47"), CALL_NONE);
	assert_int_equal(call_kind_before(0, "00 eb"), CALL_NONE);
	assert_int_equal(call_kind_before(2, "02 00 00 eb"), CALL_NONE); /* no place of A32 */
}

/* Code at HERE, read by call_slot. */
static unsigned char code[128];

static int read_code(void *context, uint64_t address, void *data, size_t size)
{
	(void)context;
	if (address < HERE || address + size > HERE + sizeof(code))
		return -EFAULT;
	memcpy(data, code + (address - HERE), size);
	return 0;
}

static bool slot_of(uint64_t return_address, const char *hex, uint64_t *slot)
{
	const struct arch_memory text = {.read = read_code};

	memset(code, 0xff, sizeof(code));
	hex_bytes(hex, code, sizeof(code));
	return arch_arm.code.call_slot(return_address, 0, &text, slot);
}

static void test_slots_of_calls_through_linkage_are_found(void **state)
{
	uint64_t slot;

	/* bl 1f; nop; 1: add ip, pc, #0, 12; add ip, ip, #974848; ldr pc, [ip, #244]! */
	assert_true(slot_of(HERE + 4, "00 00 00 eb 00 00 a0 e1 00 c6 8f e2 ee ca 8c e2 f4 f0 bc e5", &slot));
	assert_int_equal(slot, HERE + 16 + 0xee000 + 0xf4);
	/* Thumb's blx to the same */
	assert_true(slot_of(HERE + 4 + 1, "00 f0 02 e8 00 bf 00 bf 00 c6 8f e2 ee ca 8c e2 f4 f0 bc e5", &slot));
	assert_int_equal(slot, HERE + 16 + 0xee000 + 0xf4);
	/* bl to a function that only jumps (b.w) to the Thumb entry of linkage: bx pc; b.n */
	assert_true(slot_of(HERE + 4 + 1, "00 f0 00 f8 00 f0 00 b8 78 47 fd e7 00 c6 8f e2 ee ca 8c e2 f4 f0 bc e5",
			    &slot));
	assert_int_equal(slot, HERE + 20 + 0xee000 + 0xf4);
	/* bl to a veneer of Thumb: ldr.w pc, [pc]; the word */
	assert_true(slot_of(HERE + 4 + 1, "00 f0 00 f8 df f8 00 f0 f1 ff 00 00", &slot));
	assert_int_equal(slot, HERE + 8);
	/* bl to a function that does more */
	assert_false(slot_of(HERE + 4 + 1, "00 f0 00 f8 10 b5 00 f0 00 f8 10 bd", &slot));
	/* blx r3 */
	assert_false(slot_of(HERE + 4 + 1, "00 bf 98 47", &slot));
	/* ip is changed meanwhile */
	assert_false(slot_of(HERE + 4, "ff ff ff eb 00 c6 8f e2 03 c0 a0 e1 f4 f0 bc e5", &slot));
}

/* Reads the code at HERE, and zeros around it, which is_constant() also assumes for memory that it cannot read. */
static int read_around(void *context, uint64_t address, void *data, size_t size)
{
	(void)context;
	for (size_t i = 0; i < size; i++)
		((unsigned char *)data)[i] = address + i - HERE < sizeof(code) ? code[address + i - HERE] : 0;
	return 0;
}

static bool is_constant(uint32_t place, const char *hex)
{
	const struct arch_memory text = {.read = read_around};

	memset(code, 0, sizeof(code));
	hex_bytes(hex, code, sizeof(code));
	return arch_arm.breakpoint.is_constant(HERE + place, &text);
}

/* Tests code with constants after a call that never returns. */
static void test_constants_in_thumb_code_are_recognised(void **state)
{
	/* ldr r3, [pc, #8]; mov r1, r3; ldr r0, [pc, #8]; nop; bl; the two words, which would load other words if they
	 * were instructions; nop; nop; bl */
	static const char loads[] =
		"02 4b 19 46 02 48 00 bf 00 f0 04 f8 00 4f 00 4f 00 4f 00 4f 00 bf 00 bf 00 f0 04 f8";
	static const char wide[] =
		"df f8 08 00 df e9 02 23 00 f0 04 f8"; /* ldr.w r0, [pc, #8]; ldrd r2, r3, [pc, #8] */

	assert_true(is_constant(12 + THUMB, loads));
	assert_true(is_constant(16 + THUMB, loads));
	assert_false(is_constant(20 + THUMB, loads));
	assert_false(is_constant(28 + THUMB, loads));
	assert_false(is_constant(8 + THUMB, loads));
	assert_false(is_constant(14 + THUMB, loads)); /* constants begin only at multiples of four */
	assert_true(is_constant(12 + THUMB, wide));
	assert_true(is_constant(16 + THUMB, wide));
	assert_true(is_constant(20 + THUMB, wide));
	assert_false(is_constant(24 + THUMB, wide));
	assert_true(is_constant(8 + THUMB, "9f ed 01 0a 00 f0 04 f8"));  /* vldr s0, [pc, #4]; bl */
	assert_true(is_constant(8 + THUMB, "0f f2 04 00 00 f0 04 f8"));  /* adr.w r0; bl */
	assert_true(is_constant(4 + THUMB, "00 bf 00 4e 00 f0 04 f8"));  /* nop; ldr r6, [pc, #0] */
	assert_false(is_constant(4 + THUMB, "40 f6 00 4e 00 f0 04 f8")); /* movw lr; its second half is like ldr */
}

static void test_constants_in_a32_code_are_recognised(void **state)
{
	/* ldr r0, [pc, #4]; vldr d0, [pc, #4]; bl; a constant of one word; one of two words; bl; mov r0, #1 */
	static const char loads[] =
		"04 00 9f e5 01 0b 9f ed 02 00 00 eb 78 56 34 12 00 00 00 00 00 00 00 00 02 00 00 eb 01 00 a0 e3";
	static const char back[] = "02 00 00 eb 00 00 00 00 00 00 00 00 b0 01 5f e1"; /* ldrh r0, [pc, #-16] */

	assert_true(is_constant(12, loads));
	assert_true(is_constant(16, loads));
	assert_true(is_constant(20, loads));
	assert_false(is_constant(24, loads));
	assert_false(is_constant(28, loads));
	assert_true(is_constant(4, back));
	assert_true(is_constant(8, "00 00 8f e2 02 00 00 eb"));              /* adr r0; bl */
	assert_false(is_constant(8, "00 00 8f e5 02 00 00 eb 01 00 a0 e3")); /* str r0, [pc]; bl; mov r0, #1 */
}

/* The function after a call that never returns may have the other state. */
static void test_code_of_the_other_state_counts_as_constants(void **state)
{
	/* bl; push {r4, lr}; sub sp, sp, #8; mov r4, r0; bl */
	static const char to_a32[] = "00 f0 04 f8 10 40 2d e9 08 d0 4d e2 00 40 a0 e1 02 00 00 eb";
	/* bl; push {r4, lr}; sub sp, #8; mov r4, r0; cmp r0, #0 */
	static const char to_thumb[] = "02 00 00 eb 10 b5 82 b0 04 46 00 28";
	/* bl; b; ldrd r2, r3, [sp]; stm r4, {r0, r1}; strd r0, r1, [sp]; pop {r4, pc} */
	static const char long_ones[] = "00 f0 04 f8 01 e0 00 bf dd e9 00 23 84 e8 03 00 cd e9 00 01 10 bd";

	assert_true(is_constant(4 + THUMB, to_a32));
	assert_false(is_constant(4, to_a32));
	assert_true(is_constant(4, to_thumb));
	assert_false(is_constant(4 + THUMB, to_thumb));
	assert_false(is_constant(4 + THUMB, long_ones));
	assert_false(is_constant(4, "02 00 00 eb 50 00 c0 f2")); /* vmov.i32 d16, #0 has no condition */
	/* Only the first instruction after bl counts: cmp has no condition, the later moveq has one. */
	assert_false(is_constant(4, "02 00 00 eb 00 00 50 e3 01 00 a0 03 10 80 bd e8"));
}

/* ---- The rest of the table ---- */

static void test_breakpoints_fit_the_state(void **state)
{
	struct arch_regs regs = fresh(1, 0);
	unsigned char bytes[ARCH_BREAKPOINT_MAX];

	assert_int_equal(arch_arm.code_state.bits, 1);
	assert_int_equal(arch_arm.code_state.get(&regs), 1);
	regs = fresh(0, 0);
	assert_int_equal(arch_arm.code_state.get(&regs), 0);
	assert_int_equal(arch_arm.breakpoint.encode(HERE, bytes), 4);
	assert_memory_equal(bytes, "\xf0\x01\xf0\xe7", 4);
	assert_int_equal(arch_arm.breakpoint.encode(HERE | 1, bytes), 2);
	assert_memory_equal(bytes, "\x01\xde", 2);
	assert_int_equal(arch_arm.breakpoint.hit_address(HERE), HERE);
}

static void test_system_calls_are_found_and_set(void **state)
{
	const unsigned char t16[] = {0x00, 0xbf, 0x78, 0x27, 0x00, 0xdf},
			    a32_code[] = {0x06, 0x70, 0xa0, 0xe3, 0, 0, 0, 0xef};
	const uint64_t args[6] = {1, 2, 3, 4, 5, 6};
	unsigned char bytes[16] = {0};
	struct arch_regs regs = fresh(0, 0);

	memcpy(bytes, t16, sizeof(t16));
	assert_int_equal(arch_arm.syscalls.find(bytes, sizeof(bytes)), 4 + 1);
	assert_int_equal(arch_arm.syscalls.find(a32_code, sizeof(a32_code)), 4);
	assert_int_equal(arch_arm.syscalls.find(bytes + 6, 10), -1);
	regs.narrow[CPSR] |= 3u << 25;
	arch_arm.syscalls.set(&regs, 0x4001, 174, args);
	assert_int_equal(regs.narrow[PC], 0x4000);
	assert_int_equal(regs.narrow[CPSR], T | 0x10);
	assert_int_equal(regs.narrow[7], 174);
	assert_int_equal(regs.narrow[5], 6);
	arch_arm.syscalls.set(&regs, 0x4000, 174, args);
	assert_int_equal(regs.narrow[CPSR], 0x10);
}

static long restorer(const char *hex)
{
	unsigned char bytes[16];
	const size_t size = hex_bytes(hex, bytes, sizeof(bytes));

	return arch_arm.signal.find_restorer(bytes, size);
}

static void test_signal_frames_are_read(void **state)
{
	uint64_t pc_at, sp_at;

	assert_int_equal(restorer("77 27 00 df"), 0);
	assert_int_equal(restorer("00 bf ad 27 00 df"), 2);
	assert_int_equal(restorer("ad 70 a0 e3 00 00 00 ef"), 0);
	assert_int_equal(restorer("77 70 a0 e3 77 00 90 ef"), 0);
	assert_int_equal(restorer("4f f0 77 07 00 df"), 0); /* mov.w r7, #119; svc 0 */
	assert_int_equal(restorer("4f f0 78 07 00 df"), -1);
	assert_int_equal(restorer("78 27 00 df"), -1);
	fresh(0, 0);
	put(DATA, 5); /* si_signo */
	assert_int_equal(arch_arm.signal.frame(DATA, &data_memory, &pc_at, &sp_at), 0);
	assert_int_equal(pc_at, DATA + 128 + 20 + 12 + 15 * 4);
	assert_int_equal(sp_at, DATA + 128 + 20 + 12 + 13 * 4);
	put(DATA, 0x5ac3c35a);
	assert_int_equal(arch_arm.signal.frame(DATA, &data_memory, &pc_at, &sp_at), 0);
	assert_int_equal(pc_at, DATA + 20 + 12 + 15 * 4);
	assert_int_equal(arch_arm.signal.frame(0x10, &data_memory, &pc_at, &sp_at), -EFAULT);
}

/* frame_state() reads the bit for Thumb from the cpsr, which is the word after the pc in a signal frame. Within an IT
 * block the state is unknown. */
static void test_frame_states_are_unknown_in_it_blocks(void **unused)
{
	const struct {
		uint32_t word;
		bool is_known;
		uint64_t state;
	} words[] = {{0x60000010, true, 0},
		     {0x60000030, true, 1},
		     {0x66000010, true, 0},
		     {0x60000430, false, 0},
		     {0x62000030, false, 0}};
	uint64_t state;

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		assert_int_equal(arch_arm.signal.frame_state(words[i].word, &state), words[i].is_known);
		if (words[i].is_known)
			assert_int_equal(state, words[i].state);
	}
}

static void test_tids_of_created_tasks_are_read(void **state)
{
	struct arch_regs regs = fresh(0, 0);

	regs.narrow[7] = 120;
	regs.narrow[0] = 77;
	assert_int_equal(arch_arm.syscalls.created_tid(&regs), 77);
	regs.narrow[0] = (uint32_t)-11;
	assert_int_equal(arch_arm.syscalls.created_tid(&regs), 0);
	regs.narrow[0] = 77;
	regs.narrow[7] = 4;
	assert_int_equal(arch_arm.syscalls.created_tid(&regs), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_instructions_are_classified),
		cmocka_unit_test(test_truncated_instructions_are_not_decoded),
		cmocka_unit_test(test_traps_and_exclusive_stores_are_not_decoded),
		cmocka_unit_test(test_copies_end_with_a_jump_back),
		cmocka_unit_test(test_places_of_literals_are_decoded),
		cmocka_unit_test(test_branches_are_emulated),
		cmocka_unit_test(test_all_conditions_follow_the_flags),
		cmocka_unit_test(test_cbz_and_cbnz_are_emulated),
		cmocka_unit_test(test_it_blocks_are_emulated),
		cmocka_unit_test(test_loads_of_the_pc_are_emulated),
		cmocka_unit_test(test_literal_loads_are_emulated),
		cmocka_unit_test(test_pushes_and_stores_are_emulated),
		cmocka_unit_test(test_arithmetic_with_the_pc_is_emulated),
		cmocka_unit_test(test_failed_emulation_changes_no_registers),
		cmocka_unit_test(test_calls_before_an_address_are_recognised),
		cmocka_unit_test(test_slots_of_calls_through_linkage_are_found),
		cmocka_unit_test(test_breakpoints_fit_the_state),
		cmocka_unit_test(test_system_calls_are_found_and_set),
		cmocka_unit_test(test_signal_frames_are_read),
		cmocka_unit_test(test_frame_states_are_unknown_in_it_blocks),
		cmocka_unit_test(test_tids_of_created_tasks_are_read),
		cmocka_unit_test(test_constants_in_thumb_code_are_recognised),
		cmocka_unit_test(test_constants_in_a32_code_are_recognised),
		cmocka_unit_test(test_code_of_the_other_state_counts_as_constants),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Compares emulated instructions of x86-64, and with ARENA_32 of i386, with the processor: each instruction is
 * single-stepped in a traced child and emulated on the same registers, flags and memory. The instructions come from a
 * table of opcodes: each gets random prefixes, registers, addressing modes and immediates, the same in every run. */
#include "config.h"
#include "unit_test.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/user.h>
#include <Zydis/Zydis.h>

#include "arch/arch.h"
#include "base/hash.h"
#include "base/util.h"
#include "tests/unit/arch_arena.h"
#include "tests/unit/arch_flags.h"
#include "tests/unit/arch_hex.h"
#include "tests/unit/long.h"

#define WORD(member) (offsetof(struct user_regs_struct, member) / 8)

#define FLAG_TRAP      0x100
#define FLAG_ALIGNMENT 0x40000

#define ROUNDS 3 /* states for each encoding */

static unsigned encodings_wanted; /* number of encodings to try of each opcode; the test's argument replaces it */

static const struct arch *arch;
static struct arena_state idle; /* the child's state after its start */
static int cannot_trace;

/* --- random instructions --- */

enum {
	MODRM = 1,       /* the register field is any register */
	LOW = 2,         /* the opcode's low three bits are a register */
	BYTE = 4,        /* imm8 */
	SHORT = 8,       /* imm16 */
	WORDS = 16,      /* imm32, or imm16 with 66h */
	FULL = 32,       /* as wide as the operand */
	FAR = 64,        /* the address of mov's short form */
	CONDITION = 128, /* the opcode's low four bits are a condition */
	TO_TEXT = 256,   /* a relative branch */
};

#define HAS_DIGIT 0x800
#define DIGIT(n)  ((n) << 12 | HAS_DIGIT) /* the register field extends the opcode */
#define REGISTERS 0x8000                  /* register operands alone */
#define NO_66     0x10000

static const struct opcode {
	const char *hex;
	unsigned form;
} opcodes[] = {
	/* mov */
	{"88", MODRM},
	{"89", MODRM},
	{"8a", MODRM},
	{"8b", MODRM},
	{"c6", DIGIT(0) | BYTE},
	{"c7", DIGIT(0) | WORDS},
	{"b0", LOW | BYTE},
	{"b8", LOW | FULL},
	{"a0", FAR},
	{"a1", FAR},
	{"a2", FAR},
	{"a3", FAR},
	{"0f b6", MODRM},
	{"0f b7", MODRM},
	{"0f be", MODRM},
	{"0f bf", MODRM},
#ifndef ARENA_32
	{"63", MODRM | NO_66},
#endif
	{"8d", MODRM},
	/* the stack */
	{"50", LOW},
	{"58", LOW},
	{"6a", BYTE},
	{"68", WORDS},
	{"ff", DIGIT(6)},
	{"8f", DIGIT(0) | REGISTERS},
	{"c3", NO_66},
	{"c2", SHORT | NO_66},
	{"c9", NO_66},
	/* arithmetic */
	{"00", MODRM},
	{"01", MODRM},
	{"02", MODRM},
	{"03", MODRM},
	{"04", BYTE},
	{"05", WORDS},
	{"08", MODRM},
	{"09", MODRM},
	{"0a", MODRM},
	{"0b", MODRM},
	{"0c", BYTE},
	{"0d", WORDS},
	{"20", MODRM},
	{"21", MODRM},
	{"22", MODRM},
	{"23", MODRM},
	{"24", BYTE},
	{"25", WORDS},
	{"28", MODRM},
	{"29", MODRM},
	{"2a", MODRM},
	{"2b", MODRM},
	{"2c", BYTE},
	{"2d", WORDS},
	{"30", MODRM},
	{"31", MODRM},
	{"32", MODRM},
	{"33", MODRM},
	{"34", BYTE},
	{"35", WORDS},
	{"38", MODRM},
	{"39", MODRM},
	{"3a", MODRM},
	{"3b", MODRM},
	{"3c", BYTE},
	{"3d", WORDS},
	{"80", DIGIT(0) | BYTE},
	{"80", DIGIT(1) | BYTE},
	{"80", DIGIT(4) | BYTE},
	{"80", DIGIT(5) | BYTE},
	{"80", DIGIT(6) | BYTE},
	{"80", DIGIT(7) | BYTE},
	{"81", DIGIT(0) | WORDS},
	{"81", DIGIT(1) | WORDS},
	{"81", DIGIT(4) | WORDS},
	{"81", DIGIT(5) | WORDS},
	{"81", DIGIT(6) | WORDS},
	{"81", DIGIT(7) | WORDS},
	{"83", DIGIT(0) | BYTE},
	{"83", DIGIT(1) | BYTE},
	{"83", DIGIT(4) | BYTE},
	{"83", DIGIT(5) | BYTE},
	{"83", DIGIT(6) | BYTE},
	{"83", DIGIT(7) | BYTE},
	{"84", MODRM},
	{"85", MODRM},
	{"a8", BYTE},
	{"a9", WORDS},
	{"f6", DIGIT(0) | BYTE},
	{"f7", DIGIT(0) | WORDS},
	{"fe", DIGIT(0)},
	{"fe", DIGIT(1)},
	{"ff", DIGIT(0)},
	{"ff", DIGIT(1)},
	{"f6", DIGIT(2)},
	{"f7", DIGIT(2)},
	{"f6", DIGIT(3)},
	{"f7", DIGIT(3)},
	{"c0", DIGIT(4) | BYTE},
	{"c1", DIGIT(4) | BYTE},
	{"c0", DIGIT(5) | BYTE},
	{"c1", DIGIT(5) | BYTE},
	{"c0", DIGIT(6) | BYTE},
	{"c1", DIGIT(6) | BYTE},
	{"c0", DIGIT(7) | BYTE},
	{"c1", DIGIT(7) | BYTE},
	{"d0", DIGIT(4)},
	{"d1", DIGIT(4)},
	{"d0", DIGIT(5)},
	{"d1", DIGIT(5)},
	{"d0", DIGIT(7)},
	{"d1", DIGIT(7)},
	{"98", 0},
	{"99", 0},
	{"86", MODRM | REGISTERS},
	{"87", MODRM | REGISTERS},
	{"90", LOW},
	/* by condition */
	{"0f 40", MODRM | CONDITION},
	{"0f 90", DIGIT(0) | CONDITION},
	{"70", CONDITION | BYTE | TO_TEXT | NO_66},
	{"0f 80", CONDITION | WORDS | TO_TEXT | NO_66},
};

static bool one_in(unsigned n)
{
	return arena_random() % n == 0;
}

#ifdef ARENA_32
#define MACHINE_MODE  ZYDIS_MACHINE_MODE_LEGACY_32, ZYDIS_STACK_WIDTH_32
#define OPERAND_AT    ARENA_DATA
#define ADDRESS_BYTES 4
#else
#define MACHINE_MODE  ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64
#define OPERAND_AT    (ARENA_DATA - ARENA_HERE) /* relative to the instruction's start, which is near the pc */
#define ADDRESS_BYTES 8
#endif

struct bytes {
	unsigned char data[ARCH_INSN_MAX * 2];
	size_t size;
};

static void put(struct bytes *bytes, uint64_t value, size_t size)
{
	memcpy(bytes->data + bytes->size, &value, size);
	bytes->size += size;
}

/* Returns a small number, a number near the limits of signed types, or any number. */
static uint64_t random_immediate(void)
{
	static const uint64_t limits[] = {0, 1, 0x7f, 0x80, 0xff, 0x7fff, 0x8000, 0x7fffffff, 0x80000000, UINT64_MAX};

	return one_in(2) ? arena_random() : limits[arena_random() % ARRAY_SIZE(limits)];
}

/* Appends ModRM, SIB and displacement. An operand without registers is in DATA. */
static void put_modrm(struct bytes *bytes, unsigned form)
{
	const bool in_register = (form & REGISTERS) || one_in(3);
	const unsigned mod = in_register ? 3 : (unsigned)arena_random() % 3, rm = arena_random() & 7;
	const unsigned reg = form & HAS_DIGIT ? form >> 12 & 7 : (unsigned)arena_random() & 7;
	const unsigned sib = arena_random() & 0xff;

	put(bytes, mod << 6 | reg << 3 | rm, 1);
	if (mod == 3)
		return;
	if (rm == 4)
		put(bytes, sib, 1);
	if (mod == 1)
		put(bytes, arena_random(), 1);
	else if (mod == 2)
		put(bytes, one_in(4) ? arena_random() : arena_random() & 0xfff, 4);
	else if (rm == 5)
		put(bytes, OPERAND_AT + 0x800 + (arena_random() & 0x7ff), 4);
	else if (rm == 4 && (sib & 7) == 5)
		put(bytes, arena_random() & 0x7ff, 4);
}

static void random_insn(const struct opcode *opcode, struct bytes *bytes)
{
	const bool narrow = !(opcode->form & NO_66) && one_in(4);
	const unsigned char rex = ADDRESS_BYTES == 4 || one_in(3) ? 0 : 0x40 | (arena_random() & 15);
	unsigned char code[4];
	const size_t size = hex_bytes(opcode->hex, code, sizeof(code));

	*bytes = (struct bytes){.size = 0};
	if (one_in(5))
		put(bytes, one_in(2) ? 0x64 : 0x65, 1);
	if (narrow)
		put(bytes, 0x66, 1);
	if (one_in(8))
		put(bytes, 0x67, 1);
	if (rex)
		put(bytes, rex, 1);
	if (opcode->form & LOW)
		code[size - 1] |= arena_random() & 7;
	if (opcode->form & CONDITION)
		code[size - 1] |= arena_random() & 15;
	for (size_t i = 0; i < size; i++)
		put(bytes, code[i], 1);
	if (opcode->form & (MODRM | HAS_DIGIT))
		put_modrm(bytes, opcode->form);
	if (opcode->form & BYTE)
		put(bytes, opcode->form & TO_TEXT ? arena_random() : random_immediate(), 1);
	if (opcode->form & SHORT)
		put(bytes, arena_random() & 0xff, 2);
	if (opcode->form & WORDS)
		put(bytes, opcode->form & TO_TEXT ? arena_random() & 0xfff : random_immediate(),
		    narrow && !(rex & 8) ? 2 : 4);
	if (opcode->form & FULL)
		put(bytes, random_immediate(), rex & 8 ? 8 : narrow ? 2 : 4);
	if (opcode->form & FAR)
		put(bytes, one_in(4) ? ARENA_DATA + (arena_random() & 0xfff) : arena_random() & 0xfff, ADDRESS_BYTES);
}

/* --- random states --- */

static uint64_t *gpr(struct arch_regs *regs, ZydisRegister reg)
{
	static const unsigned char words[16] = {WORD(rax), WORD(rcx), WORD(rdx), WORD(rbx), WORD(rsp), WORD(rbp),
						WORD(rsi), WORD(rdi), WORD(r8),  WORD(r9),  WORD(r10), WORD(r11),
						WORD(r12), WORD(r13), WORD(r14), WORD(r15)};

	return &regs->words[words[ZydisRegisterGetId(reg) & 15]];
}

/* Returns an address in DATA for an operand. Sometimes the address is so near DATA's end that the operand is
 * incomplete. */
static uint64_t random_place(void)
{
	return one_in(50) ? ARENA_DATA + ARENA_DATA_SIZE - 1 - arena_random() % 8
			  : ARENA_DATA + 0x400 + (arena_random() & 0x1fff);
}

/* Sets the base register so that the memory operand is in DATA, if possible. */
static void point_base_into_data(struct arch_regs *regs, const ZydisDecodedOperand *operand)
{
	const ZydisRegister base = operand->mem.base, index = operand->mem.index;
	uint64_t address = random_place() - (uint64_t)operand->mem.disp.value;

	if (base == ZYDIS_REGISTER_NONE || base == ZYDIS_REGISTER_RIP)
		return;
	if (index != ZYDIS_REGISTER_NONE) {
		*gpr(regs, index) = one_in(2) ? arena_random() & 0xff : arena_random();
		address -= *gpr(regs, index) * operand->mem.scale;
	}
	if (operand->mem.segment == ZYDIS_REGISTER_FS)
		address -= regs->words[WORD(fs_base)];
	else if (operand->mem.segment == ZYDIS_REGISTER_GS)
		address -= regs->words[WORD(gs_base)];
	*gpr(regs, base) = address;
}

static void random_state(struct arena_state *state, const ZydisDecodedInstruction *z,
			 const ZydisDecodedOperand *operands)
{
	struct arch_regs *regs = &state->regs;

	*state = idle;
	for (unsigned i = 0; i <= WORD(rdi); i++)
		regs->words[i] = one_in(3) ? random_place() : random_immediate();
	regs->words[WORD(orig_rax)] = UINT64_MAX;
	regs->words[WORD(rsp)] = ARENA_STACK + (arena_random() & (one_in(8) ? 0x1f : 0x18));
	if (one_in(100))
		regs->words[WORD(rsp)] = arena_random();
	regs->words[WORD(rbp)] = random_place();
	regs->words[WORD(eflags)] = (arena_random() & 0xcd5) | 0x202;
	regs->words[WORD(fs_base)] = ARENA_DATA + 0x1000;
	regs->words[WORD(gs_base)] = ARENA_DATA + 0x1800;
	regs->words[WORD(rip)] = ARENA_HERE;
	arena_fit(regs);
	for (size_t i = 0; i < ARENA_DATA_SIZE; i += 8) {
		const uint64_t word = arena_random();

		memcpy(state->data + i, &word, sizeof(word));
	}
	for (unsigned i = 0; i < z->operand_count_visible; i++)
		if (operands[i].type == ZYDIS_OPERAND_TYPE_MEMORY && !one_in(20))
			point_base_into_data(regs, &operands[i]);
	arena_fit(regs);

	const uint64_t return_address = ARENA_TEXT + 0x2000 + (arena_random() & 0x3ff);
	const uint64_t sp = regs->words[WORD(rsp)];

	if (z->mnemonic == ZYDIS_MNEMONIC_RET && sp - ARENA_DATA < ARENA_DATA_SIZE - 8 && !one_in(20))
		memcpy(state->data + (sp - ARENA_DATA), &return_address, 8);
}

/* --- the memory as the emulation uses it --- */

static struct {
	unsigned reads, writes;
	size_t written; /* number of bytes of the last write */
	bool read_late; /* a read came after a write */
} accesses;

static int watched_read(void *context, uint64_t address, void *data, size_t size)
{
	accesses.reads++;
	accesses.read_late |= accesses.writes > 0;
	return arena_memory.read(context, address, data, size);
}

static int watched_write(void *context, uint64_t address, const void *data, size_t size)
{
	accesses.writes++;
	accesses.written = size;
	return arena_memory.write(context, address, data, size);
}

static const struct arch_memory watched = {watched_read, watched_write, NULL};

/* --- one comparison --- */

static struct {
	unsigned compared, faults, in_memory, stores;
} figures;

static bool report_difference(const struct bytes *bytes, const char *what, unsigned long long is,
			      unsigned long long native)
{
	char text[3 * ARCH_INSN_MAX * 2 + 1] = "";

	for (size_t i = 0; i < bytes->size; i++)
		snprintf(text + 3 * i, 4, "%02x ", bytes->data[i]);
	print_error("%s%s: %#llx, not %#llx\n", text, what, is, native);
	return false;
}

static bool same_registers(const struct bytes *bytes, const struct arch_regs *emulated, const struct arch_regs *native)
{
	const uint64_t undefined = undefined_flags(bytes->data, bytes->size);

	for (unsigned i = 0; i < sizeof(struct user_regs_struct) / 8; i++) {
		const uint64_t mask = i == WORD(eflags) ? ~undefined : UINT64_MAX;
		char name[32];

		snprintf(name, sizeof(name), "register word %u", i);
		if ((emulated->words[i] ^ native->words[i]) & mask)
			return report_difference(bytes, name, emulated->words[i], native->words[i]);
	}
	return true;
}

static bool same_data(const struct bytes *bytes, const struct arena_state *emulated, const struct arena_state *native)
{
	for (size_t i = 0; i < ARENA_DATA_SIZE; i++)
		if (emulated->data[i] != native->data[i])
			return report_difference(bytes, "a byte of memory", emulated->data[i], native->data[i]);
	return true;
}

/* Returns false if an access does not fit the operands: a write of the wrong size, or a read after the write. */
static bool accesses_fit_operands(const struct bytes *bytes, const ZydisDecodedInstruction *z,
				  const ZydisDecodedOperand *operands)
{
	if (accesses.writes > 1 || accesses.read_late)
		return report_difference(bytes, "writes", accesses.writes, 1);
	if (accesses.writes && operands[0].type == ZYDIS_OPERAND_TYPE_MEMORY && z->mnemonic != ZYDIS_MNEMONIC_PUSH &&
	    accesses.written != operands[0].size / 8u)
		return report_difference(bytes, "bytes written", accesses.written, operands[0].size / 8u);
	return true;
}

static bool compare(const struct bytes *bytes, const struct insn *insn, const ZydisDecodedInstruction *z,
		    const ZydisDecodedOperand *operands)
{
	struct arena_state before, native, emulated;
	int error;

	random_state(&before, z, operands);
	arena_step(&before, &native);
	emulated = before;
	memset(&accesses, 0, sizeof(accesses));
	arena_put_data(&before);
	error = arena_emulate(insn, &emulated.regs, &watched);
	arena_get_data(&emulated);
	figures.compared++;
	figures.in_memory += accesses.reads + accesses.writes > 0;
	figures.stores += accesses.writes > 0;
	if (!accesses_fit_operands(bytes, z, operands))
		return false;
	if (error) {
		/* The program must get the fault itself. */
		figures.faults++;
		if (native.signal == SIGTRAP || error != -EFAULT)
			return report_difference(bytes, "error", (unsigned)-error, (unsigned)native.signal);
		return same_registers(bytes, &emulated.regs, &before.regs) && same_data(bytes, &emulated, &before);
	}
	if (native.signal != SIGTRAP)
		return report_difference(bytes, "no error, but natively a signal", 0, (unsigned)native.signal);
	return same_registers(bytes, &emulated.regs, &native.regs) && same_data(bytes, &emulated, &native);
}

/* --- the table --- */

/* Returns a number for the properties that distinguish forms: operation, sizes, kinds of operands and address, and the
 * high-byte registers. */
static uint64_t form_of(const ZydisDecodedInstruction *z, const ZydisDecodedOperand *operands)
{
	uint16_t form[24] = {z->mnemonic, z->opcode, z->opcode_map, z->operand_width, z->address_width};
	size_t count = 5;

	for (unsigned i = 0; i < z->operand_count_visible && count + 6 <= ARRAY_SIZE(form); i++) {
		const ZydisDecodedOperand *operand = &operands[i];

		form[count++] = operand->type;
		form[count++] = operand->size;
		if (operand->type == ZYDIS_OPERAND_TYPE_REGISTER)
			form[count++] =
				operand->reg.value >= ZYDIS_REGISTER_AH && operand->reg.value <= ZYDIS_REGISTER_BH;
		if (operand->type != ZYDIS_OPERAND_TYPE_MEMORY)
			continue;
		form[count++] = (uint16_t)(operand->mem.base == ZYDIS_REGISTER_RIP ? 2 : operand->mem.base != 0);
		form[count++] = (uint16_t)(operand->mem.index != 0);
		form[count++] = operand->mem.segment;
	}
	return hash_bytes(form, count * sizeof(form[0]));
}

/* Compares random encodings of the opcode, emulated and run by the processor. Returns their number. It may be less than
 * encodings_wanted: encodings that decode as another instruction or as none, or cannot be emulated, are left out. */
static unsigned try_opcode(const struct opcode *opcode, struct hash *forms, unsigned *failed)
{
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction z;
	ZydisDecoder decoder;
	unsigned tried = 0;

	ZydisDecoderInit(&decoder, MACHINE_MODE);
	for (unsigned i = 0; i < encodings_wanted; i++) {
		struct bytes bytes;
		struct insn insn;

		random_insn(opcode, &bytes);
		if (!arch->insns.decode(ARENA_HERE, bytes.data, bytes.size, false, &insn) ||
		    insn.length != bytes.size || !insn.can_emulate ||
		    !ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, bytes.data, bytes.size, &z, operands)))
			continue;
		hash_set(forms, form_of(&z, operands), 1);
		tried++;
		arena_code(ARENA_HERE, bytes.data, bytes.size);
		for (unsigned round = 0; round < ROUNDS; round++)
			if (!compare(&bytes, &insn, &z, operands)) {
				++*failed;
				break;
			}
		arena_code(ARENA_HERE, NULL, bytes.size);
	}
	return tried;
}

static void test_emulation_matches_the_processor(void **state)
{
	struct hash forms = {0};
	unsigned failed = 0, encodings = 0;

	if (cannot_trace)
		skip();
#ifdef __SANITIZE_ADDRESS__
	print_message("the address sanitizer maps an eighth of all addresses: what is stored there is not put back\n");
	skip();
#endif
	for (size_t i = 0; i < ARRAY_SIZE(opcodes); i++) {
		const unsigned before = failed, tried = try_opcode(&opcodes[i], &forms, &failed);

		encodings += tried;
		if (tried < encodings_wanted / 4 || failed > before) {
			print_error("%s: %u encodings tried, %u differ\n", opcodes[i].hex, tried, failed - before);
			failed += tried < encodings_wanted / 4;
		}
	}
	print_message(
		"%zu opcodes, %u encodings, %zu forms; %u runs compared, %u with memory, %u with stores, %u faults\n",
		ARRAY_SIZE(opcodes), encodings, forms.count, figures.compared, figures.in_memory, figures.stores,
		figures.faults);
	hash_free(&forms);
	assert_int_equal(failed, 0);
	assert_true(figures.stores > 7 * encodings_wanted && figures.faults > 7 * encodings_wanted);
}

/* --- instructions that are left to the processor --- */

static struct insn decode(const char *hex, bool shadow_stack)
{
	unsigned char bytes[ARCH_INSN_MAX];
	const size_t size = hex_bytes(hex, bytes, sizeof(bytes));
	struct insn insn;

	assert_true(arch->insns.decode(ARENA_HERE, bytes, size, shadow_stack, &insn));
	return insn;
}

static void test_other_instructions_are_not_emulated(void **state)
{
	static const char *const refused[] = {
#ifdef ARENA_32
		"f0 01 07", "f0 ff 07",    "87 07",       "86 07",
		"8f 07",    "0f b1 0f",    "0f c1 07", /* locks, memory */
		"f3 a4",    "a5",          "aa",          "ae",
		"a6",       "ac",          "6d",                               /* strings */
		"0f 28 c1", "66 0f 6f 07", "c5 fe 6f 06", "d9 e8",             /* vectors, x87 */
		"64 8b 07", "65 8b 07",    "64 ff 30",    "65 a1 14 00 00 00", /* bases are unknown */
		"8e d8",    "8c d8",       "06",          "07",
		"1e",       "1f",          "0f a0",       "0f a1",
		"c4 07",    "c5 07", /* segments */
		"cb",       "66 c3",       "66 c9",       "c8 10 00 00",
		"cf",       "9c",          "9d",          "0f a2",
		"cd 80",    "0f 0b",       "f4",          "60",
		"61",       "27",          "37",          "d4 0a",
		"d5 0a",    "62 07",       "63 07",       "ce",
		"11 c0",    "19 c0",       "d3 e0",       "c1 c8 03",
		"f7 f1",    "0f af c1",    "0f a3 c8",    "fc",
		"f5",       "d6",
#else
		"f0 01 07", "f0 48 ff 07", "87 07",       "86 07",
		"8f 07",    "0f b1 0f",    "0f c1 07", /* locks, memory */
		"f3 a4",    "48 a5",       "aa",          "ae",
		"a6",       "ac", /* strings */
		"0f 28 c1", "66 0f 6f 07", "c5 fe 6f 06", "66 48 0f 6e c0",
		"d9 e8", /* vectors, x87 */
		"8e d8",    "8c d8",       "0f 20 c0",    "0f a0",
		"0f a1",    "48 0f b2 07", /* segments, control */
		"cb",       "66 c3",       "66 c9",       "c8 10 00 00",
		"48 cf",    "9c",          "9d",          "0f a2",
		"0f 05",    "cd 80",       "0f 0b",       "f4",
		"11 c0",    "19 c0",       "d3 e0",       "d0 d0",
		"c1 c8 03", "48 f7 f1",    "48 0f af c1", "0f a3 c8",
		"fc",       "f5",
#endif
	};

	for (size_t i = 0; i < ARRAY_SIZE(refused); i++) {
		const struct insn insn = decode(refused[i], false);

		if (insn.can_emulate || insn.pc_only)
			print_error("%s would be emulated\n", refused[i]);
		assert_false(insn.can_emulate || insn.pc_only);
	}
	assert_true(decode("c3", false).can_emulate);
	assert_false(decode("c3", true).can_emulate);
	assert_false(decode("c2 08 00", true).can_emulate);
	assert_true(decode("55", true).can_emulate);
	assert_true(decode("74 10", false).pc_only);
	assert_false(decode("55", false).pc_only);
}

static int refuse_write(void *context, uint64_t address, const void *data, size_t size)
{
	(void)context, (void)address, (void)data, (void)size;
	return -EFAULT;
}

static int read_zeros(void *context, uint64_t address, void *data, size_t size)
{
	(void)context, (void)address;
	memset(data, 0, size);
	return 0;
}

/* Nothing changes if the flags would cause further effects, or if memory cannot be written. */
static void test_failed_emulation_changes_no_registers(void **state)
{
	static const struct {
		const char *hex;
		uint64_t flags;
		int error;
	} cases[] = {
#ifdef ARENA_32
		{"89 c3", FLAG_TRAP, -ENOTSUP}, {"89 c3", FLAG_ALIGNMENT, -ENOTSUP},
		{"01 07", 0, -EFAULT},          {"ff 04 24", 0, -EFAULT},
#else
		{"48 89 c3", FLAG_TRAP, -ENOTSUP},
		{"48 89 c3", FLAG_ALIGNMENT, -ENOTSUP},
		{"48 01 07", 0, -EFAULT},
		{"48 ff 04 24", 0, -EFAULT},
#endif
		{"74 10", FLAG_TRAP, -ENOTSUP}, {"55", 0, -EFAULT},
		{"ff 37", 0, -EFAULT},          {"0f 94 07", 0, -EFAULT},
	};
	const struct arch_memory memory = {read_zeros, refuse_write, NULL};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct insn insn = decode(cases[i].hex, false);
		struct arch_regs regs = {.words = {0}}, before;

		for (unsigned j = 0; j <= WORD(rdi); j++)
			regs.words[j] = ARENA_DATA + 0x100 * j;
		regs.words[WORD(rsp)] = ARENA_STACK;
		regs.words[WORD(rip)] = ARENA_HERE;
		regs.words[WORD(eflags)] = 0x202 | cases[i].flags;
		arena_fit(&regs);
		before = regs;
		assert_int_equal(arena_emulate(&insn, &regs, &memory), cases[i].error);
		assert_memory_equal(&regs, &before, sizeof(regs));
	}
}

static int set_up(void **state)
{
	arch = arena_arch();
	cannot_trace = arena_start(&idle);
	if (cannot_trace)
		arena_skipped(cannot_trace);
	return 0;
}

static int tear_down(void **state)
{
	arena_end();
	return 0;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_emulation_matches_the_processor),
		cmocka_unit_test(test_other_instructions_are_not_emulated),
		cmocka_unit_test(test_failed_emulation_changes_no_registers),
	};

	encodings_wanted = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : test_is_long() ? 150 : 50;
	return cmocka_run_group_tests(tests, set_up, tear_down);
}

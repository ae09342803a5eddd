/* Runs instructions of x86-64, and with ARENA_32 of i386: the effect of an instruction from its copy, or emulated, is
 * compared with its effect in place, in all registers, flags, vector registers, memory and faults. */
#include "config.h"
#include "arch_reach.h"
#include "unit_test.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <unistd.h>
#include <Zydis/Zydis.h>

#include "arch/arch.h"
#include "base/hash.h"
#include "base/util.h"
#include "tests/unit/arch_arena.h"
#include "tests/unit/arch_flags.h"
#include "tests/unit/arch_hex.h"
#include "tests/unit/long.h"

#define WORD(member) (offsetof(struct user_regs_struct, member) / 8)

#define FLAG_TRAP   0x100
#define CACHE_LINE  64u
#define LOCK_STATES 100 /* maximum number of states that are tried until a locked access is within one cache line */

#ifdef ARENA_32
#define MACHINE_MODE ZYDIS_MACHINE_MODE_LEGACY_32, ZYDIS_STACK_WIDTH_32
#else
#define MACHINE_MODE ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64
#endif

static const struct arch *arch;
static struct arena_state idle; /* the child's state after its start */
static int cannot_trace;

/* --- random states, the same in every run --- */

static uint64_t random_text(void)
{
	return ARENA_TEXT + 0x2000 + (arena_random() & 0x3ff);
}

/* Returns an address in DATA (in half of the calls), one in TEXT, a small number, or any number. */
static uint64_t random_word(void)
{
	switch (arena_random() % 8) {
	case 0:
		return arena_random();
	case 1:
		return arena_random() % 20;
	case 2:
		return arena_random() % 20 - 10;
	case 3:
		return random_text();
	default:
		return ARENA_DATA + 0x400 + (arena_random() & 0x1fc0);
	}
}

static void random_state(struct arena_state *state)
{
	struct arch_regs *regs = &state->regs;
	uint64_t xcr0, features = 3;

	*state = idle;
	for (unsigned i = 0; i <= WORD(rdi); i++)
		regs->words[i] = random_word();
	regs->words[WORD(orig_rax)] = UINT64_MAX;
	regs->words[WORD(rsp)] = ARENA_STACK + (arena_random() & 0x18);
	regs->words[WORD(eflags)] = (arena_random() & 0xcd5) | 0x202;
	regs->words[WORD(fs_base)] = ARENA_DATA + 0x1000;
	regs->words[WORD(gs_base)] = ARENA_DATA + 0x1800;
	arena_fit(regs);
	for (size_t i = 0; i < ARENA_DATA_SIZE; i += 8) {
		const uint64_t word = arena_random() % 4 ? arena_random() : random_text();

		memcpy(state->data + i, &word, sizeof(word));
	}

	const uint64_t return_address = random_text();

	memcpy(state->data + (regs->words[WORD(rsp)] - ARENA_DATA), &return_address, 8);
	/* Draws the extended registers: xmm at byte 160, ymm's upper halves at 576; the XSAVE header is at 512. */
	memcpy(&xcr0, state->xstate + 464, sizeof(xcr0));
	for (size_t i = 160; i < 416; i++)
		state->xstate[i] = (unsigned char)arena_random();
	if ((xcr0 & 4) && state->xstate_size >= 832) {
		features |= 4;
		for (size_t i = 576; i < 832; i++)
			state->xstate[i] = (unsigned char)arena_random();
	}
	memcpy(&xcr0, state->xstate + 512, sizeof(xcr0));
	xcr0 |= features;
	memcpy(state->xstate + 512, &xcr0, sizeof(xcr0));
}

/* --- one comparison --- */

static struct {
	unsigned runs, copies, emulations, faults;
	unsigned locks; /* instructions not run, because they lock two cache lines in each state that was tried */
} figures;

/* Clears what may differ between two equal runs: the address of the last x87 instruction, and the XSAVE header, which
 * says which extended registers are in their initial state. */
static void clear_x87_pc(struct arena_state *state)
{
	memset(state->xstate + 8, 0, 8);
	memset(state->xstate + 512, 0, 64);
}

static const char *show_bytes(const struct insn *insn)
{
	static char text[64];

	text[0] = '\0';
	for (unsigned i = 0; i < insn->length; i++)
		snprintf(text + 3 * i, 4, "%02x ", insn->bytes[i]);
	return text;
}

/* Returns false and reports the difference unless both states are the same. */
static bool is_same(const struct insn *insn, const char *how, const struct arena_state *native,
		    const struct arena_state *other)
{
	if (native->signal != other->signal || native->code != other->code || native->fault != other->fault) {
		print_error("%s%s: signal %d code %d at %#llx, not signal %d code %d at %#llx\n", show_bytes(insn), how,
			    other->signal, other->code, (unsigned long long)other->fault, native->signal, native->code,
			    (unsigned long long)native->fault);
		return false;
	}
	for (unsigned i = 0; i < sizeof(struct user_regs_struct) / 8; i++)
		if (native->regs.words[i] != other->regs.words[i]) {
			print_error("%s%s: register word %u is %#llx, not %#llx\n", show_bytes(insn), how, i,
				    (unsigned long long)other->regs.words[i],
				    (unsigned long long)native->regs.words[i]);
			return false;
		}
	for (size_t i = 0; i < native->xstate_size; i++)
		if (native->xstate[i] != other->xstate[i]) {
			print_error("%s%s: xstate byte %zu differs\n", show_bytes(insn), how, i);
			return false;
		}
	for (size_t i = 0; i < ARENA_DATA_SIZE; i++)
		if (native->data[i] != other->data[i]) {
			print_error("%s%s: data byte %#zx differs\n", show_bytes(insn), how, i);
			return false;
		}
	return true;
}

static bool compare_copy(const struct insn *insn, enum arena_slot slot, const struct arena_state *before,
			 const struct arena_state *native)
{
	const uint64_t address = arena_slots[slot];
	static const char *const names[] = {"near", "above", "below", "far"};
	struct arena_state start = *before, after;
	struct insn_copy copy;
	const int error = arch->insns.relocate(insn, address, &copy);

	if (slot == SLOT_FAR && needs_reach(arch, insn))
		return error == -ERANGE;
	if (error) {
		print_error("%s%s: relocate: %d\n", show_bytes(insn), names[slot], error);
		return false;
	}
	start.regs.words[WORD(rip)] = address;
	arena_code(address, copy.bytes, copy.size);
	arena_run(&start, &after);
	arena_code(address, NULL, copy.size);
	figures.copies++;

	uint64_t *pc = &after.regs.words[WORD(rip)];

	if (*pc >= address && *pc < address + copy.size)
		*pc = insn_original_pc(insn, &copy, address, *pc);
	clear_x87_pc(&after);
	return is_same(insn, names[slot], native, &after);
}

static bool compare_emulation(const struct insn *insn, const struct arena_state *before,
			      const struct arena_state *native)
{
	struct arena_state start = *before, after;
	int error;

	arena_put_data(before);
	error = arena_emulate(insn, &start.regs, &arena_memory);
	figures.emulations++;
	if (error) {
		/* The instruction must run in place, and there it faults. */
		if (error == -EFAULT && (native->signal == SIGSEGV || native->signal == SIGBUS) &&
		    !memcmp(&start.regs, &before->regs, sizeof(start.regs)))
			return true;
		print_error("%semulated: error %d\n", show_bytes(insn), error);
		return false;
	}
	arena_get_data(&start);
	if (!arena_can_resume(&start.regs))
		return true;
	arena_run(&start, &after);
	clear_x87_pc(&after);

	/* The next instruction is int3: the flags are still those of this instruction. */
	const uint64_t undefined = undefined_flags(insn->bytes, insn->length);
	uint64_t *flags = &after.regs.words[WORD(eflags)];

	*flags = (*flags & ~undefined) | (native->regs.words[WORD(eflags)] & undefined);
	return is_same(insn, "emulated", native, &after);
}

/* Compares a run of the instruction in place with runs of its copies in the slots of the mask `slots`, and with its
 * emulation, if these exist. All begin in the state *before. Returns true if all results are the same. */
static bool compare_from(const struct arena_state *before, const struct insn *insn, unsigned slots)
{
	struct arena_state native;
	bool same = true;

	arena_code(ARENA_HERE, insn->bytes, insn->length);
	arena_run(before, &native);
	clear_x87_pc(&native);
	if (native.regs.words[WORD(eflags)] & FLAG_TRAP) {
		/* popf has set TF, so the trap comes after the next instruction. After a copy the next instruction is
		 * the jump back, so the two runs cannot be compared. */
		arena_code(ARENA_HERE, NULL, insn->length);
		return true;
	}
	figures.runs++;
	figures.faults += native.signal != SIGTRAP;
	if (insn->kind == INSN_EMULATE)
		same = compare_emulation(insn, before, &native);
	else
		for (unsigned slot = 0; slot < ARENA_SLOTS; slot++)
			if (slots & 1u << slot)
				same &= compare_copy(insn, slot, before, &native);
	if (insn->can_emulate)
		same &= compare_emulation(insn, before, &native);
	arena_code(ARENA_HERE, NULL, insn->length);
	return same;
}

/* Returns true if the instruction locks memory in two cache lines. On a busy virtual machine with bus lock detection,
 * such an instruction was seen to run for ever in a state in which it should end by a fault. */
static bool splits_lock(const struct arena_state *state, const unsigned char *bytes, size_t size)
{
	static const unsigned char order[] = {WORD(rax), WORD(rcx), WORD(rdx), WORD(rbx), WORD(rsp), WORD(rbp),
					      WORD(rsi), WORD(rdi), WORD(r8),  WORD(r9),  WORD(r10), WORD(r11),
					      WORD(r12), WORD(r13), WORD(r14), WORD(r15)};
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
	ZydisRegisterContext registers = {{0}};
	ZydisDecodedInstruction z;
	ZydisDecoder decoder;
	uint64_t address;

	ZydisDecoderInit(&decoder, MACHINE_MODE);
	if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, bytes, size, &z, operands)) ||
	    (!(z.attributes & ZYDIS_ATTRIB_HAS_LOCK) && z.mnemonic != ZYDIS_MNEMONIC_XCHG))
		return false;
	for (unsigned i = 0; i < ARRAY_SIZE(order); i++) {
		registers.values[ZYDIS_REGISTER_RAX + i] = state->regs.words[order[i]];
		registers.values[ZYDIS_REGISTER_EAX + i] = (uint32_t)state->regs.words[order[i]];
	}
	for (unsigned i = 0; i < z.operand_count; i++)
		if (operands[i].type == ZYDIS_OPERAND_TYPE_MEMORY &&
		    ZYAN_SUCCESS(ZydisCalcAbsoluteAddressEx(&z, &operands[i], ARENA_HERE, &registers, &address)) &&
		    address % CACHE_LINE + operands[i].size / 8 > CACHE_LINE)
			return true;
	return false;
}

/* Compares runs of the instruction from a random state with compare_from(). Returns false if the results differ twice,
 * or if the instruction can be neither copied nor emulated. One difference is not enough: once, on a virtual machine, a
 * copy stopped with another signal for an unknown reason. A wrong copy is wrong each time. */
static bool compare(const unsigned char *bytes, size_t size, unsigned slots)
{
	struct arena_state before;
	struct insn insn;

	if (!arch->insns.decode(ARENA_HERE, bytes, size, false, &insn) || insn.kind == INSN_STEP)
		return false;
	unsigned tries = 0;

	do {
		if (tries++ == LOCK_STATES) {
			figures.locks++;
			return true;
		}
		random_state(&before);
	} while (splits_lock(&before, bytes, size));
	before.regs.words[WORD(rip)] = ARENA_HERE;
	return compare_from(&before, &insn, slots) || compare_from(&before, &insn, slots);
}

#ifdef ARENA_32
/* Makes the operand, if it is only an address, point into DATA. */
static void point_operand_into_data(unsigned char *bytes, size_t size, uint64_t target)
{
	const uint32_t address = (uint32_t)target;
	ZydisDecodedInstruction z;
	ZydisDecoder decoder;
	ZydisDecoderContext context;

	ZydisDecoderInit(&decoder, MACHINE_MODE);
	if (ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&decoder, &context, bytes, size, &z)) && z.raw.disp.size == 32 &&
	    (z.raw.modrm.mod == 0 || !(z.attributes & ZYDIS_ATTRIB_HAS_MODRM)))
		memcpy(bytes + z.raw.disp.offset, &address, sizeof(address));
}
#else
/* Makes a 32-bit pc-relative operand point into DATA. */
static void point_operand_into_data(unsigned char *bytes, size_t size, uint64_t target)
{
	const int32_t aimed = (int32_t)(target - ARENA_HERE - size);
	struct insn insn;

	arch->insns.decode(ARENA_HERE, bytes, size, false, &insn);
	for (size_t i = 1; i + 4 <= size; i++) {
		unsigned char changed[ARCH_INSN_MAX];
		struct insn other;
		int32_t displacement;

		memcpy(&displacement, bytes + i, 4);
		if (displacement != insn.displacement)
			continue;
		memcpy(changed, bytes, size);
		memcpy(changed + i, &aimed, 4);
		if (arch->insns.decode(ARENA_HERE, changed, size, false, &other) && other.kind == insn.kind &&
		    other.length == size && other.displacement == aimed) {
			memcpy(bytes, changed, size);
			return;
		}
	}
}

#endif

/* --- instructions by hand --- */

/* The bytes 44 33 22 11 are a RIP-relative displacement or an address. The test replaces them, so that the operand is
 * in DATA. */
static const char *const by_hand[] = {
#ifdef ARENA_32
	/* first instructions of functions */
	"55", "53", "6a 10", "68 44 33 22 91", "83 ec 18", "81 ec 0c 10 00 00", "85 ff", "31 c0", "89 f8", "89 e5",
	"8d 4c 24 04", "8d 64 24 f8", "89 5c 24 e8", "8b 44 24 04", "8b 54 24 08", "0f b6 07", "b8 88 77 66 55",
	"f3 0f 1e fb", "f3 0f 1e fa", "90", "66 90", "f3 90", "0f 1f 44 00 00", "8d 74 26 00", "8d b4 26 00 00 00 00",
	"8d b6 00 00 00 00", "87 db", "40", "4f", "41", "48", "60", "61", "66 60", "06", "1e", "16", "0e", "07", "1f",
	"65 a1 14 00 00 00", "65 8b 07", "64 8b 03", "65 33 05 14 00 00 00", "65 83 3d 0c 00 00 00 00",
	/* addresses alone */
	"80 3d 44 33 22 11 00", "a1 44 33 22 11", "a3 44 33 22 11", "a0 44 33 22 11", "8b 05 44 33 22 11",
	"c7 05 44 33 22 11 78 56 34 12", "66 c7 05 44 33 22 11 34 12", "81 05 44 33 22 11 00 01 00 00",
	"f0 0f b1 0d 44 33 22 11", "f0 ff 05 44 33 22 11", "ff 35 44 33 22 11", "8f 05 44 33 22 11",
	"0f 94 05 44 33 22 11", "66 0f 6f 05 44 33 22 11", "dd 05 44 33 22 11", "c5 fe 6f 05 44 33 22 11",
	"67 8b 06 00 20", "67 8b 07", "67 8d 42 08", "67 89 5e 04",
	/* jcc, both widths, all conditions; flags are random */
	"70 10", "71 10", "72 10", "73 10", "74 10", "75 10", "76 10", "77 10", "78 10", "79 10", "7a 10", "7b 10",
	"7c 10", "7d 10", "7e 10", "7f 10", "74 f0", "2e 75 10", "3e 74 20", "0f 80 00 01 00 00", "0f 81 00 01 00 00",
	"0f 82 00 01 00 00", "0f 83 00 01 00 00", "0f 84 00 01 00 00", "0f 85 00 01 00 00", "0f 86 00 01 00 00",
	"0f 87 00 01 00 00", "0f 88 00 01 00 00", "0f 89 00 01 00 00", "0f 8a 00 01 00 00", "0f 8b 00 01 00 00",
	"0f 8c 00 01 00 00", "0f 8d 00 01 00 00", "0f 8e 00 01 00 00", "0f 8f 00 f1 ff ff",
	/* to unmapped memory, around the end of the address space */
	"0f 84 00 00 00 80", "e9 00 00 00 80", "e8 00 00 00 80", "e9 00 00 00 90", "e8 00 00 00 d0",
	"0f 85 00 00 00 c0",
	/* at return sites */
	"c3", "f3 c3", "c2 10 00", "c2 04 00", "c9", "5d", "5b", "83 c4 10", "89 c3", "85 c0", "89 45 fc", "8b 55 f8",
	"0f 28 44 24 10", "66 0f ef c0", "66 0f 6e c0", "c5 f8 77", "c5 fe 6f 06", "f3 a5", "f3 aa", "f2 ae", "a4",
	"ab", "9c", "9d", "9e", "9f", "fc", "fd", "cf", "cb", "d9 e8", "d9 7c 24 0e", "dd 07", "db 3f", "9b",
	"0f ae 16", "0f ae 1e", "0f ae e8", "0f 0b", "f4", "ec", "8e e0", "8e e8", "0f b2 07", "c4 07", "c5 07",
	"f7 f1", "f7 f9", "c8 10 00 00", "0f c8", "0f 18 0f", "27", "2f", "37", "3f", "d4 0a", "d5 0a", "d6", "62 07",
	"63 07", "0f a2", "d7", "98", "99", "66 98", "66 99", "66 50", "66 58", "54", "5c", "ff 34 24", "ff 74 24 04",
	/* emulated */
	"eb 10", "eb f0", "e9 00 01 00 00", "e9 00 f1 ff ff", "ff e0", "ff e7", "3e ff e3", "ff e4", "ff 27",
	"ff 65 08", "ff 24 24", "ff 24 b5 08 00 00 00", "ff 64 c5 10", "ff 25 44 33 22 11", "67 ff 27",
	"e8 00 01 00 00", "e8 00 f1 ff ff", "e8 00 00 00 00", "ff d0", "ff d7", "3e ff d3", "ff d4", "ff 17",
	"ff 55 08", "ff 14 24", "ff 54 24 08", "ff 14 b5 08 00 00 00", "ff 15 44 33 22 11", "67 ff 17", "2e ff 17",
	"36 ff 17", "e2 10", "e1 10", "e0 10", "67 e2 10", "67 e1 10", "67 e0 10", "e3 10", "67 e3 10"};
#else
	/* first instructions of functions */
	"55", "41 57", "53", "6a 10", "68 44 33 22 91", "48 83 ec 18", "48 85 ff", "31 c0", "89 f8", "48 89 e5",
	"48 8d 64 24 f8", "4c 8d 54 24 08", "48 89 5c 24 e8", "0f b6 07", "48 8b 07", "48 b8 88 77 66 55 44 33 22 11",
	"f3 0f 1e fa", "90", "66 90", "f3 90", "0f 1f 44 00 00", "66 2e 0f 1f 84 00 00 00 00 00", "41 90", "87 db",
	"64 48 8b 04 25 28 00 00 00", "65 48 8b 07", "64 48 03 04 25 10 00 00 00",
	/* RIP-relative */
	"80 3d 44 33 22 11 00", "48 8d 3d 44 33 22 11", "8b 05 44 33 22 11", "c7 05 44 33 22 11 78 56 34 12",
	"66 c7 05 44 33 22 11 34 12", "c6 05 44 33 22 11 01", "48 81 05 44 33 22 11 00 01 00 00",
	"48 6b 0d 44 33 22 11 07", "f0 48 0f b1 0d 44 33 22 11", "f0 ff 05 44 33 22 11", "ff 35 44 33 22 11",
	"8f 05 44 33 22 11", "0f 94 05 44 33 22 11", "0f 4f 05 44 33 22 11", "d1 25 44 33 22 11",
	"0f ba 2d 44 33 22 11 05", "66 0f 6f 05 44 33 22 11", "f3 0f 10 05 44 33 22 11", "66 0f 7f 0d 44 33 22 11",
	"66 0f 3a 0f 05 44 33 22 11 03", "c5 fe 6f 05 44 33 22 11", "c5 fe 7f 0d 44 33 22 11",
	"c4 e2 7d 58 05 44 33 22 11", "c4 e3 79 14 05 44 33 22 11 01", "dd 05 44 33 22 11", "48 0f c7 0d 44 33 22 11",
	"67 48 8d 04 25 10 00 00 00",
	"67 47 8d 24 e5 b8 03 00 00", /* REX.B, and no base: a decoder must not take r13 for the base */
	/* jcc, both widths, all conditions; flags are random */
	"70 10", "71 10", "72 10", "73 10", "74 10", "75 10", "76 10", "77 10", "78 10", "79 10", "7a 10", "7b 10",
	"7c 10", "7d 10", "7e 10", "7f 10", "74 f0", "2e 75 10", "3e 74 20", "0f 80 00 01 00 00", "0f 81 00 01 00 00",
	"0f 82 00 01 00 00", "0f 83 00 01 00 00", "0f 84 00 01 00 00", "0f 85 00 01 00 00", "0f 86 00 01 00 00",
	"0f 87 00 01 00 00", "0f 88 00 01 00 00", "0f 89 00 01 00 00", "0f 8a 00 01 00 00", "0f 8b 00 01 00 00",
	"0f 8c 00 01 00 00", "0f 8d 00 01 00 00", "0f 8e 00 01 00 00", "0f 8f 00 f1 ff ff", "f2 0f 84 00 01 00 00",
	/* at return sites */
	"c3", "f3 c3", "c2 10 00", "c9", "5d", "41 5f", "48 83 c4 18", "48 89 c3", "48 85 c0", "89 45 fc",
	"48 8b 55 f8", "0f 28 44 24 10", "66 0f ef c0", "66 48 0f 6e c0", "c5 f8 77", "c5 fe 6f 06", "c5 fd e7 07",
	"f3 48 a5", "f3 aa", "f2 ae", "a4", "48 ab", "62 f1 7f 48 6f 46 01", "62 f1 7f 48 7f 07", "c4 e2 79 8c 06",
	"9c", "9d", "9e", "fc", "fd", "48 cf", "cb", "d9 e8", "d9 7c 24 0e", "dd 07", "9b", "0f ae 16", "0f ae 1e",
	"0f ae e8", "f3 48 0f 1e c8", "0f 0b", "f4", "ec", "8e e0", "48 0f b2 07", "a1 44 33 22 11 00 20 00 00",
	"48 f7 f1", "c8 10 00 00", "48 0f c8", "0f 18 0f", "c5 f8 ae 17",
	/* emulated */
	"eb 10", "eb f0", "e9 00 01 00 00", "e9 00 f1 ff ff", "ff e0", "41 ff e7", "3e ff e3", "ff e4", "ff 27",
	"ff 65 08", "ff 24 24", "42 ff 24 f5 08 00 00 00", "41 ff 64 c5 10", "ff 25 44 33 22 11",
	"f2 ff 25 44 33 22 11", "64 ff 24 25 10 00 00 00", "65 ff 27", "67 ff 27", "e8 00 01 00 00", "e8 00 f1 ff ff",
	"67 e8 00 01 00 00", "66 66 48 e8 00 01 00 00", "ff d0", "41 ff d7", "3e ff d3", "ff d4", "ff 17", "ff 55 08",
	"ff 14 24", "ff 54 24 08", "42 ff 14 f5 08 00 00 00", "ff 15 44 33 22 11", "66 48 ff 15 44 33 22 11",
	"64 ff 14 25 10 00 00 00", "67 ff 17", "e2 10", "e1 10", "e0 10", "67 e2 10", "67 e1 10", "67 e0 10", "e3 10",
	"67 e3 10"};
#endif

static void test_chosen_instructions_run_alike_from_copies(void **state)
{
	unsigned failed = 0;

	if (cannot_trace)
		skip();
	for (size_t i = 0; i < ARRAY_SIZE(by_hand); i++) {
		for (unsigned round = 0; round < 12; round++) {
			unsigned char bytes[16];
			const size_t size = hex_bytes(by_hand[i], bytes, sizeof(bytes));

			if (strstr(by_hand[i], "44 33 22 11") && !strstr(by_hand[i], "88 77"))
				point_operand_into_data(bytes, size, ARENA_DATA + 0x800 + (arena_random() & 0x3f0));
			if (!compare(bytes, size, 0xf)) {
				print_error("%s: round %u\n", by_hand[i], round);
				failed++;
				break;
			}
		}
	}
	assert_int_equal(failed, 0);
}

#ifdef ARENA_32
#define GETPID 20
static const unsigned char system_call[] = {0xcd, 0x80};
#else
#define GETPID SYS_getpid
static const unsigned char system_call[] = {0x0f, 0x05};
#endif

/* A copied system call has the same effect as in its place, except on rcx: a 64-bit system call sets rcx to the pc
 * after the instruction. */
static void test_copied_system_call_has_the_same_effect(void **state)
{
	const unsigned char *const bytes = system_call;
	const size_t size = sizeof(system_call);
	struct arena_state before, native, after;
	struct insn_copy copy;
	struct insn insn;

	if (cannot_trace)
		skip();
	assert_true(arch->insns.decode(ARENA_HERE, bytes, size, false, &insn));
	assert_int_equal(insn.kind, INSN_COPY);
	assert_true(insn.is_syscall);
	assert_int_equal(arch->insns.relocate(&insn, arena_slots[SLOT_ABOVE], &copy), 0);
	random_state(&before);
	before.regs.words[WORD(rax)] = GETPID;
	before.regs.words[WORD(rip)] = ARENA_HERE;
	arena_code(ARENA_HERE, bytes, size);
	arena_run(&before, &native);
	before.regs.words[WORD(rip)] = arena_slots[SLOT_ABOVE];
	arena_code(arena_slots[SLOT_ABOVE], copy.bytes, copy.size);
	arena_run(&before, &after);
#ifndef ARENA_32
	assert_int_equal(native.regs.words[WORD(rcx)], ARENA_HERE + 2);
	assert_int_equal(after.regs.words[WORD(rcx)], arena_slots[SLOT_ABOVE] + 2);
	after.regs.words[WORD(rcx)] = ARENA_HERE + 2;
#endif
	assert_in_range(native.regs.words[WORD(rax)], 1, INT32_MAX);
	clear_x87_pc(&native);
	clear_x87_pc(&after);
	assert_true(is_same(&insn, "syscall", &native, &after));
	assert_int_equal(native.signal, SIGTRAP);
	arena_code(ARENA_HERE, NULL, size);
	arena_code(arena_slots[SLOT_ABOVE], NULL, copy.size);
}

/* --- instructions of installed libraries --- */

/* Returns false for instructions whose result depends on when, where or how often they run. */
static bool is_repeatable(const ZydisDecodedInstruction *z)
{
	switch (z->mnemonic) {
	case ZYDIS_MNEMONIC_CPUID:
	case ZYDIS_MNEMONIC_RDTSC:
	case ZYDIS_MNEMONIC_RDTSCP:
	case ZYDIS_MNEMONIC_RDPID:
	case ZYDIS_MNEMONIC_RDPMC:
	case ZYDIS_MNEMONIC_RDRAND:
	case ZYDIS_MNEMONIC_RDSEED:
	case ZYDIS_MNEMONIC_TPAUSE:
	case ZYDIS_MNEMONIC_UMWAIT:
	case ZYDIS_MNEMONIC_SYSCALL:
	case ZYDIS_MNEMONIC_INT:
	case ZYDIS_MNEMONIC_VMCALL:
	case ZYDIS_MNEMONIC_VMMCALL:
		return false;
	/* These store the pc of the last x87 instruction, or the mask of states in use. */
	case ZYDIS_MNEMONIC_FNSTENV:
	case ZYDIS_MNEMONIC_FNSAVE:
	case ZYDIS_MNEMONIC_FXSAVE:
	case ZYDIS_MNEMONIC_FXSAVE64:
	case ZYDIS_MNEMONIC_XSAVE:
	case ZYDIS_MNEMONIC_XSAVE64:
	case ZYDIS_MNEMONIC_XSAVEC:
	case ZYDIS_MNEMONIC_XSAVEC64:
	case ZYDIS_MNEMONIC_XSAVEOPT:
	case ZYDIS_MNEMONIC_XSAVEOPT64:
	case ZYDIS_MNEMONIC_XGETBV:
		return false;
	default:
		return true;
	}
}

/* Returns a number for the properties that distinguish instructions: the operation, the operands' kinds and sizes, the
 * prefixes and the addressing mode, but not registers and numbers. */
static uint64_t form_of(const ZydisDecodedInstruction *z, const ZydisDecodedOperand *operands)
{
	uint16_t form[32] = {z->mnemonic, z->encoding,      z->opcode,        z->opcode_map,
			     z->length,   z->raw.modrm.mod, z->raw.disp.size, z->raw.imm[0].size};
	size_t count = 8;

	for (unsigned i = 0; i < z->operand_count && count + 4 <= ARRAY_SIZE(form); i++) {
		form[count++] = operands[i].type;
		form[count++] = operands[i].size;
		if (operands[i].type == ZYDIS_OPERAND_TYPE_MEMORY)
			form[count++] = (uint16_t)(operands[i].mem.base == ZYDIS_REGISTER_RIP) |
					(operands[i].mem.base == ZYDIS_REGISTER_RSP) << 1 |
					(operands[i].mem.index != ZYDIS_REGISTER_NONE) << 2 |
					operands[i].mem.segment << 4;
	}
	return hash_bytes(form, count * sizeof(form[0]));
}

struct corpus {
	struct hash seen;
	ZydisDecoder decoder;
	size_t read, skipped, stepped;
	unsigned failed;
};

static void corpus_insn(struct corpus *corpus, const ZydisDecodedInstruction *z, const unsigned char *code)
{
	unsigned char bytes[ARCH_INSN_MAX];
	struct insn insn;
	uint64_t target;

	if (!is_repeatable(z)) {
		corpus->skipped++;
		return;
	}
	memcpy(bytes, code, z->length);
	for (unsigned round = 0; round < 2; round++) {
		point_operand_into_data(bytes, z->length, ARENA_DATA + 0x400 + (arena_random() & 0xfc0));
		if (!arch->insns.decode(ARENA_HERE, bytes, z->length, false, &insn) || insn.kind == INSN_STEP) {
			corpus->stepped++;
			return;
		}
		/* A jump to itself never ends. */
		target = ARENA_HERE + z->length + (uint64_t)insn.displacement;
		if (target >= ARENA_HERE && target < ARENA_HERE + z->length &&
		    (z->attributes & ZYDIS_ATTRIB_IS_RELATIVE)) {
			corpus->skipped++;
			return;
		}
		if (!compare(bytes, z->length, round ? 0x9 : 0x6))
			corpus->failed++;
	}
}

static void corpus_code(struct corpus *corpus, const unsigned char *code, size_t size)
{
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction z;

	for (size_t i = 0; i < size; i += z.length) {
		if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&corpus->decoder, code + i, size - i, &z, operands))) {
			z.length = 1;
			continue;
		}
		corpus->read++;
		if (hash_set(&corpus->seen, form_of(&z, operands), 1))
			corpus_insn(corpus, &z, code + i);
	}
}

static int corpus_object(struct dl_phdr_info *info, size_t size, void *context)
{
	(void)size;
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];

		if (segment->p_type == PT_LOAD && (segment->p_flags & PF_X) && (segment->p_flags & PF_R) &&
		    strcmp(info->dlpi_name, "linux-vdso.so.1"))
			corpus_code(context, (const unsigned char *)(info->dlpi_addr + segment->p_vaddr),
				    segment->p_memsz);
	}
	return 0;
}

#ifdef ARENA_32
/* Adds the code of a 32-bit library, which this process cannot load. */
static void corpus_file(struct corpus *corpus, const char *path)
{
	size_t size = 0;
	char *file = read_file(path, 1 << 26, &size);
	Elf32_Ehdr header;

	if (!file || size < sizeof(header)) {
		print_message("%s is not here: fewer instructions are tried\n", path);
		free(file);
		return;
	}
	memcpy(&header, file, sizeof(header));
	for (unsigned i = 0; i < header.e_phnum; i++) {
		Elf32_Phdr segment;

		if (header.e_phoff + (i + 1) * sizeof(segment) > size)
			break;
		memcpy(&segment, file + header.e_phoff + i * sizeof(segment), sizeof(segment));
		if (segment.p_type == PT_LOAD && (segment.p_flags & PF_X) && segment.p_offset < size &&
		    segment.p_filesz <= size - segment.p_offset)
			corpus_code(corpus, (const unsigned char *)file + segment.p_offset, segment.p_filesz);
	}
	free(file);
}

static void corpus_files(struct corpus *corpus)
{
	corpus_file(corpus, "/usr/lib32/libc.so.6");
	corpus_file(corpus, "/usr/lib32/libm.so.6");
	corpus_file(corpus, "/usr/lib32/libstdc++.so.6");
}
#else
static void corpus_files(struct corpus *corpus)
{
	(void)corpus;
}
#endif

/* Runs an instruction of each form that the libraries in this process contain, with operands in the arena. With
 * ARENA_32 the forms are those of 32-bit libraries, and those of the 64-bit libraries' bytes, decoded as 32-bit
 * code. */
static void test_library_instructions_run_alike_from_copies(void **state)
{
	static const char *const libraries[] = {"libm.so.6", "libstdc++.so.6", "libcrypto.so.3"};
	struct corpus corpus = {0};

	if (cannot_trace)
		skip();
	for (size_t i = 0; i < (test_is_long() ? ARRAY_SIZE(libraries) : 1); i++)
		if (!dlopen(libraries[i], RTLD_LAZY))
			print_message("%s is not here: fewer instructions are tried\n", libraries[i]);
	ZydisDecoderInit(&corpus.decoder, MACHINE_MODE);
	memset(&figures, 0, sizeof(figures));
	corpus_files(&corpus);
	dl_iterate_phdr(corpus_object, &corpus);
	print_message("%zu instructions, %zu forms (%zu not repeatable, %zu stepped), %u run in place "
		      "(%u ended by a fault), %u copies and %u emulations compared, %u differ, %u not run\n",
		      corpus.read, corpus.seen.count, corpus.skipped, corpus.stepped, figures.runs, figures.faults,
		      figures.copies, figures.emulations, corpus.failed, figures.locks);
	hash_free(&corpus.seen);
	assert_int_equal(corpus.failed, 0);
	assert_true(figures.runs > 2000);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_chosen_instructions_run_alike_from_copies, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_copied_system_call_has_the_same_effect, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_library_instructions_run_alike_from_copies, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Runs AArch64 instructions: the effect of an instruction from its copy, or emulated, is compared with its effect in
 * place, in all registers, flags, vector registers, memory and faults. */
#include "config.h"
#include "unit_test.h"

#include <elf.h>
#include <errno.h>
#include <link.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "arch/aarch64/aarch64.h"
#include "base/hash.h"
#include "base/util.h"
#include "tests/unit/arch_arena.h"

#define FLAGS    0xf0000000u
#define HAS_PADS ((getauxval(AT_HWCAP2) & 1u << 17) != 0) /* BTI */

static const struct arch *const arch = &arch_aarch64;
static struct arena_state idle; /* the child's state after its start */
static int cannot_trace;

/* --- random states, the same in every run --- */

static uint64_t random_text(void)
{
	return ARENA_TEXT + 0x2000 + (arena_random() & 0x3fc);
}

/* Returns an address in DATA (in half of the calls), a small number, an address in TEXT with or without a tag, or any
 * number. */
static uint64_t random_word(void)
{
	switch (arena_random() % 8) {
	case 0:
		return arena_random();
	case 1:
		return arena_random() % 20 - 10;
	case 2:
		return random_text();
	case 3:
		return random_text() | arena_random() << 56;
	default:
		return ARENA_DATA + 0x400 + (arena_random() & 0x1ff0);
	}
}

static void random_state(struct arena_state *state)
{
	struct arch_regs *regs = &state->regs;

	*state = idle;
	for (unsigned i = 0; i <= A64_LR; i++)
		regs->words[i] = random_word();
	regs->words[A64_SP] = ARENA_STACK + (arena_random() & 0xf0);
	regs->words[A64_PC] = ARENA_HERE;
	regs->words[A64_PSTATE] = (idle.regs.words[A64_PSTATE] & ~(uint64_t)FLAGS) | (arena_random() & FLAGS);
	for (size_t i = 0; i < ARENA_DATA_SIZE; i += 8) {
		const uint64_t word = random_word();

		memcpy(state->data + i, &word, sizeof(word));
	}
	for (size_t i = 0; i < 32 * 16; i++)
		state->xstate[i] = (unsigned char)arena_random();
}

/* --- one comparison --- */

static struct {
	unsigned runs, copies, emulations, faults;
} figures;

#define PSTATE_SSBS 0x1000u

/* Clears flags that may differ: an indirect branch leaves its type in the flags, but its emulation does not, and the
 * kernel sets SSBS when it switches tasks. */
static void clear_transient_flags(struct arena_state *state)
{
	state->regs.words[A64_PSTATE] &= ~(uint64_t)(PSTATE_BTYPE | PSTATE_SSBS);
}

/* Returns false and reports the difference unless both states are the same. */
static bool is_same(uint32_t word, const char *how, const struct arena_state *native, const struct arena_state *other)
{
	if (native->signal != other->signal || native->code != other->code || native->fault != other->fault) {
		print_error("%08x %s: signal %d code %d at %#llx, not signal %d code %d at %#llx\n", word, how,
			    other->signal, other->code, (unsigned long long)other->fault, native->signal, native->code,
			    (unsigned long long)native->fault);
		return false;
	}
	for (unsigned i = 0; i < A64_WORDS; i++)
		if (native->regs.words[i] != other->regs.words[i]) {
			print_error("%08x %s: register word %u is %#llx, not %#llx\n", word, how, i,
				    (unsigned long long)other->regs.words[i],
				    (unsigned long long)native->regs.words[i]);
			return false;
		}
	for (size_t i = 0; i < native->xstate_size; i++)
		if (native->xstate[i] != other->xstate[i]) {
			print_error("%08x %s: vector register byte %zu differs\n", word, how, i);
			return false;
		}
	for (size_t i = 0; i < ARENA_DATA_SIZE; i++)
		if (native->data[i] != other->data[i]) {
			print_error("%08x %s: data byte %#zx differs\n", word, how, i);
			return false;
		}
	return true;
}

static bool is_literal(uint32_t word)
{
	return (word & 0x3b000000) == 0x18000000;
}

static void run_copy(const struct insn_copy *copy, uint64_t address, struct arena_state *start,
		     struct arena_state *after)
{
	arch->registers.set_pc(&start->regs, address);
	arena_code(address, copy->bytes, copy->size);
	arena_run(start, after);
	arena_code(address, NULL, copy->size);
	figures.copies++;
}

static bool compare_copy(const struct insn *insn, enum arena_slot slot, const struct arena_state *before,
			 const struct arena_state *native)
{
	static const char *const names[] = {"near", "above", "below", "far"};
	const uint64_t address = arena_slots[slot];
	const uint32_t word = a64_get(insn->bytes);
	struct arena_state start = *before, after;
	struct insn_copy copy;
	const int error = arch->insns.relocate(insn, address, &copy);

	if (slot == SLOT_FAR || (slot != SLOT_NEAR && is_literal(word)))
		return error == -ERANGE;
	if (error) {
		print_error("%08x %s: relocate: %d\n", word, names[slot], error);
		return false;
	}
	run_copy(&copy, address, &start, &after);
	uint64_t *pc = &after.regs.words[A64_PC];

	if (*pc >= address && *pc < address + copy.size)
		*pc = insn_original_pc(insn, &copy, address, *pc);
	/* A fault of the instruction itself (SIGILL) is reported at the instruction's own address. */
	if (after.fault >= address && after.fault < address + copy.size)
		after.fault = insn_original_pc(insn, &copy, address, after.fault);
	clear_transient_flags(&after);
	return is_same(word, names[slot], native, &after);
}

/* Returns true if the instruction must run in place: it faults, or its address has a tag, which the processor may
 * check. */
static bool must_run_in_place(const struct insn *insn, const struct arena_state *before,
			      const struct arena_state *native)
{
	const uint64_t base = before->regs.words[a64_bits(a64_get(insn->bytes), 5, 5)];

	return native->signal == SIGSEGV || native->signal == SIGBUS || (insn->kind == INSN_COPY && base >> 56);
}

static bool compare_emulation(const struct insn *insn, const struct arena_state *before,
			      const struct arena_state *native)
{
	const uint32_t word = a64_get(insn->bytes);
	struct arena_state start = *before, after;
	int error;

	arena_put_data(before);
	error = arch->insns.emulate(insn, &start.regs, &arena_memory);
	figures.emulations++;
	if (error) {
		if (error == -EFAULT && must_run_in_place(insn, before, native) &&
		    !memcmp(&start.regs, &before->regs, sizeof(start.regs)))
			return true;
		print_error("%08x emulated: error %d\n", word, error);
		return false;
	}
	arena_get_data(&start);
	arena_run(&start, &after);
	clear_transient_flags(&after);
	return is_same(word, "emulated", native, &after);
}

/* Runs one instruction in a random state, in place, from copies in the first `slots` slots, and emulated; returns false
 * if the effects differ, or if the instruction can only run in place. */
static bool compare(uint32_t word, unsigned slots)
{
	struct arena_state before, native;
	unsigned char bytes[A64_INSN_SIZE];
	struct insn insn;
	bool same = true;

	a64_put(bytes, word);
	if (!arch->insns.decode(ARENA_HERE, bytes, sizeof(bytes), false, &insn) || insn.kind == INSN_STEP)
		return false;
	random_state(&before);
	arena_code(ARENA_HERE, bytes, sizeof(bytes));
	arena_run(&before, &native);
	clear_transient_flags(&native);
	figures.runs++;
	figures.faults += native.signal != SIGTRAP;
	if (insn.kind == INSN_EMULATE)
		same = compare_emulation(&insn, &before, &native);
	else
		for (unsigned slot = 0; slot < slots; slot++)
			same &= compare_copy(&insn, slot, &before, &native);
	if (insn.can_emulate)
		same &= compare_emulation(&insn, &before, &native);
	arena_code(ARENA_HERE, NULL, sizeof(bytes));
	return same;
}

/* --- instructions by hand --- */

/* Instructions relative to the pc point into TEXT, from which literals are read, too, unless the list says
 * otherwise. */
static const uint32_t by_hand[] = {
	/* nop, yield, bti, bti c, bti j, bti jc; b, b.cond, cbz, cbnz, tbz, tbnz, forward and backward, of both widths
	 */
	0xd503201f, 0xd503203f, 0xd503241f, 0xd503245f, 0xd503249f, 0xd50324df, 0x14000004, 0x17fffffc, 0x14000200,
	0x54000080, 0x54ffff81, 0x54000082, 0x54000083, 0x54000084, 0x54000085, 0x54000086, 0x54000087, 0x54000088,
	0x54000089, 0x5400008a, 0x5400008b, 0x5400008c, 0x5400008d, 0x5400008e, 0x5400008f, 0xb4000083, 0xb5ffff83,
	0x34000083, 0x35ffff83, 0xb400009f, 0xb500009f, 0xb6080083, 0xb7f80083, 0xb7ffff83, 0x36000083, 0x3727ff83,
	0x3600009f,
	/* br, blr, ret, of x3, x16, x30 and xzr; bl */
	0xd61f0060, 0xd61f0200, 0xd61f03c0, 0xd61f03e0, 0xd63f0060, 0xd63f0200, 0xd63f03c0, 0xd65f03c0, 0xd65f0060,
	0x94000004, 0x97fffffc, 0x94000200,
	/* adr, adrp, of x1, x30, xzr; ldr x1, w1, ldrsw x1, prfm, of near literals, and of unmapped ones */
	0x30000021, 0x10ffff9e, 0x1000003f, 0x90000001, 0xf0ffffde, 0xb000001f, 0x58000081, 0x58ffff81, 0x18000081,
	0x18ffff9f, 0x98000081, 0xd8000080, 0x58700001, 0x18700001, 0x98700001, 0xd8700000,
	/* ldr s1, d1, q1 of literals */
	0x1c000081, 0x5c000081, 0x9cffff81, 0x5cffff9f,
	/* first instructions: stp, sub sp, mov x29, str, ldr, add, cmp, paciasp, pacibsp, mov w0 */
	0xa9bd7bfd, 0xd10083ff, 0x910003fd, 0xf81e0ff3, 0xf9400003, 0x8b010000, 0xf100041f, 0xd503233f, 0xd503237f,
	0x52800020,
	/* at return sites: mov, ldp with write-back, str, ldrb, csel, cset, sxtw, ubfx, madd, fmov, ldr q */
	0xaa0003f3, 0xa8c37bfd, 0xf9000001, 0x39400000, 0x9a810000, 0x1a9f17e0, 0x93407c00, 0xd3441c00, 0x9b010800,
	0x9e670000, 0x3dc003e0, 0xf8626820, 0xf9000fe0, 0x6d0107e0,
	/* emulated in place of copies: stp w0, w1, [x2, #8], ldp w0, w1, [x2], #8, stp xzr, x1, [sp, #-32]!, str w1,
	 * [x2, #-4]!, strh w1, [x3], #2, ldrsb x0, [x4], ldrsb w0, [x4, #1]!, ldrsh w1, [x4], ldrsw x1, [x4], #4, ldur
	 * w1, [x4, #-3], str xzr, [sp], #16; adds, subs, cmp, cmn, add of immediates, of both widths, shifted ones too;
	 * of registers with lsl, lsr, asr; and, bic, orr, orn, eor, eon, ands, bics, with ror; movz, movn, movk */
	0x29010440, 0x28c10440, 0xa9be07ff, 0xb81fcc41, 0x78002461, 0x39800080, 0x38c01c80, 0x79c00081, 0xb8804481,
	0xb85fd081, 0xf80107ff, 0xb1000420, 0x31000420, 0xf1000420, 0x71000420, 0x7100041f, 0xb140043f, 0x11400420,
	0x51000420, 0xb13fffff, 0xab020020, 0x2b020020, 0xeb020020, 0x6b020020, 0xeb020c3f, 0x6b820c3f, 0xcb420c20,
	0x0b820420, 0x4b027c20, 0xab42fc20, 0x2b827c20, 0x8a020020, 0x0a220020, 0xaa020420, 0x2a627c20, 0xcac20c20,
	0x4ae20c20, 0xeac21020, 0x6a22003f, 0xea620420, 0xd2a00020, 0x12800021, 0x92e00021, 0xf2800021, 0x72a00021,
	0xf2e00021,
	/* autiasp, autia x0, x1, xpaclri, retaa, retab, mrs tpidr_el0; mrs, msr nzcv, dmb; ldar, stlr, ldxr, ldaxp */
	0xd50323bf, 0xdac11020, 0xd50320ff, 0xd65f0bff, 0xd65f0fff, 0xd53bd040, 0xd53b4200, 0xd51b4200, 0xd5033bbf,
	0x88dffc01, 0x889ffc01, 0x885f7c01, 0xc87f8801,
	/* cas, ldadd, casp; ld1, st1 with write-back, tbl, aese, crc32x; ptrue of SVE; not allocated */
	0xc8a17c02, 0xf8210002, 0x48207c82, 0x4c407800, 0x4c9f7800, 0x4e010000, 0x4e284800, 0x9ac14c00, 0x2518e3e0,
	0x1d000000};

static void test_chosen_instructions_run_alike_from_copies(void **state)
{
	unsigned failed = 0;

	if (cannot_trace)
		skip();
	for (size_t i = 0; i < ARRAY_SIZE(by_hand); i++)
		for (unsigned round = 0; round < 12; round++)
			if (!compare(by_hand[i], round % 4 ? 1 : ARENA_SLOTS)) {
				print_error("%08x: round %u\n", by_hand[i], round);
				failed++;
				break;
			}
	assert_int_equal(failed, 0);
}

/* A copied system call has the same effect as in its place. The call that is tried here must not fork, because the
 * child would continue in the copy. */
static void test_copied_system_call_has_the_same_effect(void **state)
{
	struct arena_state before, native, after;
	unsigned char bytes[A64_INSN_SIZE];
	struct insn_copy copy;
	struct insn insn;

	if (cannot_trace)
		skip();
	a64_put(bytes, A64_SVC_0);
	assert_true(arch->insns.decode(ARENA_HERE, bytes, sizeof(bytes), false, &insn));
	assert_int_equal(arch->insns.relocate(&insn, arena_slots[SLOT_ABOVE], &copy), 0);
	random_state(&before);
	before.regs.words[A64_X8] = SYS_getpid;
	arena_code(ARENA_HERE, bytes, sizeof(bytes));
	arena_run(&before, &native);
	assert_int_equal(native.signal, SIGTRAP);
	run_copy(&copy, arena_slots[SLOT_ABOVE], &before, &after);
	clear_transient_flags(&native);
	clear_transient_flags(&after);
	assert_true(is_same(A64_SVC_0, "from a copy", &native, &after));
	arena_code(ARENA_HERE, NULL, sizeof(bytes));
}

/* Tests a function in a guarded page that is entered by an indirect branch: a breakpoint on its landing pad is hit; the
 * copy of the pad runs without the branch, and so does the copy of another instruction. */
static void test_copies_of_landing_pads_need_no_branch(void **state)
{
	static const uint32_t words[] = {0xd503233f, 0xd503237f, 0xd503201f, 0xa9bd7bfd}; /* two pads, two others */
	unsigned char branch[A64_INSN_SIZE];

	if (cannot_trace)
		skip();
	a64_put(branch, 0xd61f0200); /* br x16 */
	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		const uint64_t from = ARENA_HERE + 0x100;
		struct arena_state before, native, hit, after;
		unsigned char bytes[A64_INSN_SIZE];
		struct insn_copy copy;
		struct insn insn;

		a64_put(bytes, words[i]);
		random_state(&before);
		before.regs.words[16] = ARENA_HERE;
		before.regs.words[A64_PC] = from;
		arena_code(from, branch, sizeof(branch));
		arena_run(&before, &hit);
		assert_int_equal(hit.signal, SIGTRAP);
		assert_int_equal(arch->breakpoint.hit_address(arch->registers.pc(&hit.regs)), ARENA_HERE);
		assert_int_equal((hit.regs.words[A64_PSTATE] & PSTATE_BTYPE) != 0, HAS_PADS);
		arena_code(ARENA_HERE, bytes, sizeof(bytes));
		arena_run(&before, &native);
		arena_code(ARENA_HERE, NULL, sizeof(bytes));
		assert_int_equal(native.signal, HAS_PADS && i >= 2 ? SIGILL : SIGTRAP);
		assert_true(arch->insns.decode(ARENA_HERE, bytes, sizeof(bytes), false, &insn));
		if (insn.kind == INSN_COPY) {
			assert_int_equal(arch->insns.relocate(&insn, arena_slots[SLOT_NEAR], &copy), 0);
			run_copy(&copy, arena_slots[SLOT_NEAR], &hit, &after);
			assert_int_equal(after.signal, SIGTRAP);
			assert_int_equal(arch->registers.pc(&after.regs), ARENA_HERE + 4);
		}
		clear_transient_flags(&native);
		clear_transient_flags(&after);
		if (i < 2)
			assert_true(is_same(words[i], "a landing pad's copy", &native, &after));
		arena_code(from, NULL, sizeof(branch));
	}
}

/* --- instructions of loaded libraries --- */

/* Instructions whose result depends on when, where or how often they run, or that have lasting effects, are not
 * repeatable. */
static bool is_repeatable(uint32_t word)
{
	if (word >> 24 == 0xd4 || word >> 22 == 0x354) /* svc; hints, msr, mrs, sys: by hand */
		return false;
	return true;
}

/* Returns the bits that distinguish instructions, without register numbers and immediates. */
static uint32_t form_of(uint32_t word)
{
	switch (a64_bits(word, 25, 4)) {
	case 8: /* immediates */
	case 9:
		return word & 0xffc00000;
	case 10: /* branches */
	case 11:
		return word & 0xff000000;
	case 4: /* loads and stores */
	case 6:
	case 12:
	case 14:
		return word & 0xffe00c00;
	default:
		return word & 0xffe0fc00;
	}
}

static struct hash forms;
static unsigned failed_forms;

static int walk_object(struct dl_phdr_info *info, size_t size, void *context)
{
	(void)size, (void)context;
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *phdr = &info->dlpi_phdr[i];
		const unsigned char *code = (const unsigned char *)(uintptr_t)(info->dlpi_addr + phdr->p_vaddr);

		if (phdr->p_type != PT_LOAD || !(phdr->p_flags & PF_X))
			continue;
		for (size_t at = 0; at + A64_INSN_SIZE <= phdr->p_memsz; at += A64_INSN_SIZE) {
			uint32_t word = a64_get(code + at);
			const uint32_t form = form_of(word);
			unsigned char bytes[A64_INSN_SIZE];
			struct insn insn;

			if (!is_repeatable(word) || hash_get_ptr(&forms, form))
				continue;
			hash_set_ptr(&forms, form, &forms);
			if (a64_bits(word, 24, 5) == 0x18 && is_literal(word)) /* otherwise it may be outside of TEXT */
				word = (word & ~0x00ffffe0u) | 0x80;
			a64_put(bytes, word);
			if (!arch->insns.decode(ARENA_HERE, bytes, sizeof(bytes), false, &insn) ||
			    insn.kind == INSN_STEP)
				continue;
			if (!compare(word, 1)) /* one slot only, because each run is slow in a guest */
				failed_forms++;
		}
	}
	return 0;
}

static void test_library_instructions_run_alike_from_copies(void **state)
{
	if (cannot_trace)
		skip();
	dl_iterate_phdr(walk_object, NULL);
	print_message("%zu forms, %u runs, %u copies, %u emulations, %u faults\n", forms.count, figures.runs,
		      figures.copies, figures.emulations, figures.faults);
	hash_free(&forms);
	assert_int_equal(failed_forms, 0);
	assert_true(figures.runs > 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_chosen_instructions_run_alike_from_copies),
		cmocka_unit_test(test_copied_system_call_has_the_same_effect),
		cmocka_unit_test(test_copies_of_landing_pads_need_no_branch),
		cmocka_unit_test(test_library_instructions_run_alike_from_copies),
	};

	cannot_trace = arena_start(&idle);
	if (cannot_trace)
		arena_skipped(cannot_trace);
	const int failed = cmocka_run_group_tests(tests, NULL, NULL);

	arena_end();
	return failed;
}

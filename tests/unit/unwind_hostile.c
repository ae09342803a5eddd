/* Tests stacks, registers and call frame information with random content: a walk ends within its limits and never
 * crashes. The last tests expect exact results of functions that a walk uses. */
#include "config.h"
#include "unwind_target.h"
#include "unwind_tracee.h"
#include "base/util.h"
#include "unwind/cfi.h"
#include "unwind/cfi_check.h"
#include "unwind/expression.h"
#include "unit_test.h"

#include <dwarf.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define TARGET(name) BUILD_DIR "/tests/unit/" name
#define FRAMES_MAX   256

static uint64_t random_state = 0x9e3779b97f4a7c15;

static uint64_t random_word(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

/* ---- random changes of a real stack ---- */

static struct tracee *start_and_stop(const char *target, const char *scenario)
{
	const char *const argv[] = {target, scenario, NULL};
	struct tracee *tracee = tracee_start(argv, -1);

	assert_non_null(tracee);
	do {
		assert_true(tracee_continue(tracee));
	} while (WSTOPSIG(tracee->status) != SIGTRAP);
	tracee_snapshot(tracee, TRACEE_STACK, true);
	return tracee;
}

static void walk_both(struct tracee *tracee, const struct stack_snapshot *snapshot)
{
	static struct unwind_frame frames[FRAMES_MAX + 1];
	struct unwinder *both[] = {tracee->rows, tracee->libunwind};

	for (size_t k = 0; k < 2; k++) {
		bool cut;

		memset(&frames[FRAMES_MAX], 0x77, sizeof(frames[FRAMES_MAX]));
		const size_t count = unwind_stack(both[k], snapshot, frames, FRAMES_MAX, 0, &cut);

		assert_in_range(count, 1, FRAMES_MAX);
		assert_int_equal(frames[0].pc, snapshot->arch->registers.pc(&snapshot->regs));
		assert_int_equal(frames[FRAMES_MAX].pc, 0x7777777777777777);
	}
}

/* Words of the stack are replaced by random values, by addresses of the stack, or by code addresses. */
static void test_walks_of_random_stacks_end(void **state)
{
	struct tracee *tracee = start_and_stop(TARGET("unwind-target-O2"), "nested");
	unsigned char *original = xmalloc(tracee->snapshot.size);
	struct stack_snapshot snapshot = tracee->snapshot;
	struct unwind_frame real[FRAMES_MAX];
	bool cut;
	const size_t count = unwind_stack(tracee->rows, &snapshot, real, FRAMES_MAX, 0, &cut);

	memcpy(original, tracee->stack, snapshot.size);
	for (unsigned round = 0; round < 3000; round++) {
		memcpy(tracee->stack, original, snapshot.size);
		snapshot.read = round % 2 ? NULL : tracee->snapshot.read;
		snapshot.regs = tracee->snapshot.regs;
		for (unsigned i = 0; i < 1 + round % 400; i++) {
			const uint64_t at = random_word() % (snapshot.size / 8) * 8;
			uint64_t word = random_word();

			if (round % 3 == 1)
				word = snapshot.address + word % snapshot.size;
			else if (round % 3 == 2)
				word = real[word % count].pc + (word >> 32) % 3;
			memcpy(tracee->stack + (i % 4 ? at % 4096 : at), &word, sizeof(word));
		}
		if (round % 5 == 0)
			snapshot.arch->registers.set_pc(&snapshot.regs, real[round % count].pc);
		if (round % 7 == 0)
			snapshot.regs.words[random_word() % 27] = snapshot.address + random_word() % 4096;
		walk_both(tracee, &snapshot);
	}
	/* Registers have random values, and there may be no stack. */
	for (unsigned round = 0; round < 2000; round++) {
		for (size_t i = 0; i < ARRAY_SIZE(snapshot.regs.words); i++)
			snapshot.regs.words[i] = random_word() >> random_word() % 64;
		if (round % 2)
			snapshot.arch->registers.set_pc(&snapshot.regs, real[round % count].pc);
		if (round % 4 == 0)
			snapshot.size = 0;
		walk_both(tracee, &snapshot);
	}
	free(original);
	tracee_end(tracee);
}

/* A frame pointer points to itself, so that the second frame's CFA is not above the first one's. */
static void test_cyclic_frame_pointer_ends_the_walk(void **state)
{
#ifndef __x86_64__
	print_message("it makes up frames as x86-64 has them\n");
	skip();
#endif
	struct tracee *tracee = start_and_stop(TARGET("unwind-target-O0"), "deep");
	const struct stack_snapshot *snapshot = &tracee->snapshot;
	struct unwind_frame frames[FRAMES_MAX];
	bool cut = false;

	assert_int_equal(unwind_stack(tracee->rows, snapshot, frames, FRAMES_MAX, 0, &cut), FRAMES_MAX);
	assert_false(cut);
	/* Frame 5's CFA is two words above its frame pointer, which points to the saved frame pointer and then the
	 * return address.
	 */
	const size_t word = snapshot->arch->pointer_size;
	const uint64_t pointer = frames[5].cfa - 2 * word, pc = frames[5].pc;

	memcpy(tracee->stack + (pointer - snapshot->address), &pointer, word);
	memcpy(tracee->stack + (pointer + word - snapshot->address), &pc, word);
	struct unwinder *both[] = {tracee->rows, tracee->libunwind};

	for (size_t k = 0; k < 2; k++) {
		const size_t count = unwind_stack(both[k], snapshot, frames, FRAMES_MAX, 0, &cut);

		assert_int_equal(count, 7);
		assert_true(cut);
		assert_int_equal(frames[6].pc, pc);
	}
	tracee_end(tracee);
}

/* ---- call frame information ---- */

static char directory[] = "/tmp/functrace-test-XXXXXX";

static bool find_section(const char *path, const char *wanted, GElf_Shdr *shdr)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	Elf_Scn *section = NULL;
	bool found = false;
	size_t names;
	Elf *elf;

	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	assert_int_equal(elf_getshdrstrndx(elf, &names), 0);
	while (!found && (section = elf_nextscn(elf, section)))
		found = gelf_getshdr(section, shdr) && !strcmp(elf_strptr(elf, names, shdr->sh_name), wanted);
	elf_end(elf);
	close(fd);
	return found;
}

static void write_file(const char *path, const char *data, size_t size)
{
	const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);

	assert_true(fd >= 0);
	static long version;
	const struct timespec times[2] = {{1, 1}, {1, ++version}};

	assert_int_equal(write_all(fd, data, size, NULL), 0);
	/* The unwinder also recognises a file by its time. Each file gets another time, because the system's clock is
	 * too coarse for this test. */
	assert_int_equal(futimens(fd, times), 0);
	close(fd);
}

static const struct unwind_frame *walk_with_file(struct tracee *tracee, uint64_t start, uint64_t end, uint64_t bias,
						 const char *path)
{
	static struct unwind_frame frames[FRAMES_MAX];
	bool cut;

	unwinder_add(tracee->rows, start, end, bias, path, NULL);
	unwinder_add(tracee->libunwind, start, end, bias, path, NULL);
	walk_both(tracee, &tracee->snapshot);
	memset(frames, 0, sizeof(frames));
	unwind_stack(tracee->rows, &tracee->snapshot, frames, FRAMES_MAX, 0, &cut);
	return frames;
}

/* Returns the address range of the program whose stack is unwound. */
static void program_range(struct tracee *tracee, uint64_t *start, uint64_t *end)
{
	const char *line = strstr(tracee->maps, "unwind-target-O2");
	unsigned long low, high;

	assert_non_null(line);
	*start = UINT64_MAX;
	*end = 0;
	for (line = tracee->maps; line && *line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
		const char *eol = strchr(line, '\n'), *name = strstr(line, "unwind-target-O2");

		if (!name || (eol && name > eol) || sscanf(line, "%lx-%lx", &low, &high) != 2)
			continue;
		*start = low < *start ? low : *start;
		*end = high > *end ? high : *end;
	}
}

/* Damages bytes of the program's file, in its CFI, its search table or its headers, and unwinds with the damaged
 * file. */
static void test_walks_with_damaged_cfi_end(void **state)
{
#ifdef __arm__
	print_message("32-bit ARM's programs have no .eh_frame: unwind_exidx damages their index\n");
	skip();
#endif
	static const char *const sections[] = {".eh_frame", ".eh_frame_hdr", ".eh_frame", NULL};
	struct tracee *tracee = start_and_stop(TARGET("unwind-target-O2"), "nested");
	char *path = xasprintf("%s/program", directory);
	size_t size;
	char *file = read_file(TARGET("unwind-target-O2"), 1 << 22, &size);
	uint64_t start, end;
	struct unwind_frame real[FRAMES_MAX];
	unsigned different = 0;
	bool cut;

	assert_true(unwind_stack(tracee->rows, &tracee->snapshot, real, FRAMES_MAX, 0, &cut) > 9);
	program_range(tracee, &start, &end);
	for (unsigned round = 0; round < 1200; round++) {
		const char *section = sections[round % ARRAY_SIZE(sections)];
		char *copy = xmalloc(size);
		uint64_t from = 0, length = 1024; /* headers */
		GElf_Shdr shdr;

		if (section) {
			assert_true(find_section(TARGET("unwind-target-O2"), section, &shdr));
			from = shdr.sh_offset;
			length = shdr.sh_size;
		}
		memcpy(copy, file, size);
		for (unsigned i = 0; i < 1 + round % 60; i++)
			copy[from + random_word() % length] = (char)random_word();
		write_file(path, copy, round % 50 == 49 ? size / 2 : size);
		const struct unwind_frame *frames = walk_with_file(tracee, start, end, start, path);

		bool same = true;

		for (size_t i = 0; i < 10; i++)
			same &= frames[i].pc == real[i].pc;
		different += !same;
		free(copy);
	}
	print_message("%u of 1200 walks came out different\n", different);
	assert_in_range(different, 300, 1190);
	unlink(path);
	free(path);
	free(file);
	tracee_end(tracee);
}

/* Builds an .eh_frame with one CIE and one FDE with these instructions. */
static size_t make_eh_frame(unsigned char *to, const unsigned char *instructions, uint32_t count)
{
	static const unsigned char cie[] = {0,
					    0,
					    0,
					    0,
					    1,
					    'z',
					    'R',
					    0,
					    1,
					    0x78,
					    16,
					    1,
					    DW_EH_PE_pcrel | DW_EH_PE_sdata4,
					    DW_CFA_def_cfa,
					    7,
					    8,
					    DW_CFA_offset | 16,
					    1,
					    0,
					    0};
	const uint32_t cie_size = sizeof(cie), fde_size = 4 + 8 + 1 + count, back = 4 + cie_size + 4;

	memcpy(to, &cie_size, 4);
	memcpy(to + 4, cie, sizeof(cie));
	unsigned char *fde = to + 4 + sizeof(cie);

	memcpy(fde, &fde_size, 4);
	memcpy(fde + 4, &back, 4);
	memset(fde + 8, 0, 9);
	memcpy(fde + 17, instructions, count);
	return 4 + sizeof(cie) + 4 + fde_size;
}

static bool harmless(const unsigned char *instructions, uint32_t count)
{
	static const unsigned char ident[EI_NIDENT] = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, 1};
	static unsigned char section[4 << 20];
	Elf_Data data = {.d_buf = section, .d_type = ELF_T_BYTE};

	data.d_size = make_eh_frame(section, instructions, count);
	return cfi_is_harmless(ident, &data, true, NULL, false);
}

static void test_harmful_call_frame_information_is_refused(void **state)
{
	static const unsigned char good[] = {DW_CFA_advance_loc | 4,
					     DW_CFA_def_cfa_offset,
					     0x90,
					     0x01,
					     DW_CFA_offset_extended,
					     0xff,
					     0x07,
					     2,
					     DW_CFA_remember_state,
					     DW_CFA_restore_state,
					     DW_CFA_expression,
					     3,
					     2,
					     DW_OP_breg7,
					     8};
	static const unsigned char registers[][8] = {
		{DW_CFA_offset_extended, 0xff, 0xff, 0xff, 0x3f, 1},
		{DW_CFA_undefined, 0x80, 0x08},
		{DW_CFA_register, 1, 0x80, 0x80, 0x08},
		{DW_CFA_val_expression, 0x80, 0x08, 1, DW_OP_lit0},
		{DW_CFA_set_loc, 0, 0, 0, 0},
	};
	static unsigned char many[2 << 20];

	assert_true(harmless(good, sizeof(good)));
	for (size_t i = 0; i < ARRAY_SIZE(registers); i++)
		assert_false(harmless(registers[i], sizeof(registers[i])));
	memset(many, DW_CFA_remember_state, sizeof(many));
	assert_true(harmless(many, 1024));
	assert_false(harmless(many, 1025));
	memset(many, DW_CFA_nop, sizeof(many));
	assert_true(harmless(many, 100000));
	assert_false(harmless(many, sizeof(many)));
}

/* ---- parts ---- */

static const unsigned char memory_bytes[32] = {1, 2, 3, 4, 5, 6, 7,    8,    0x10, 0,
					       0, 0, 0, 0, 0, 0, 0xfe, 0xff, 0xff, 0xff};

static ssize_t read_part(void *context, uint64_t address, void *data, size_t size)
{
	unsigned *calls = context;
	ssize_t got = 0;

	++*calls;
	/* Readable: [0x5000, 0x7000); byte i is the low byte of its own address. */
	for (; (size_t)got < size && address + (uint64_t)got >= 0x5000 && address + (uint64_t)got < 0x7000; got++)
		((unsigned char *)data)[got] = (unsigned char)(address + (uint64_t)got);
	return got ? got : -EFAULT;
}

static void begin_as(struct stack_memory *memory, struct stack_snapshot *snapshot, unsigned *calls,
		     unsigned char pointer_size)
{
	static struct arch wide;

	wide = *arch_native();
	wide.pointer_size = pointer_size;
	*snapshot = (struct stack_snapshot){
		.arch = &wide,
		.address = 0x1000,
		.bytes = memory_bytes,
		.size = sizeof(memory_bytes),
		.read = read_part,
		.context = calls,
	};
	*calls = 0;
	unwind_memory_begin(memory, snapshot);
}

static void begin(struct stack_memory *memory, struct stack_snapshot *snapshot, unsigned *calls)
{
	begin_as(memory, snapshot, calls, sizeof(uint64_t));
}

/* Sums wrap at the width of the tracee's addresses. */
static void test_sums_wrap_at_the_width_of_addresses(void **state)
{
	static struct stack_memory memory;
	struct stack_snapshot snapshot;
	unsigned calls;

	begin_as(&memory, &snapshot, &calls, sizeof(uint32_t));
	assert_int_equal(unwind_memory_sum(&memory, 0xfffffff0, 0x20), 0x10);
	assert_int_equal(unwind_memory_sum(&memory, 0x10, -0x20), 0xfffffff0);
	assert_int_equal(unwind_memory_sum(&memory, 0x1000, 0xfffffffc),
			 0xffc); /* a negative number without its sign */
	begin(&memory, &snapshot, &calls);
	assert_int_equal(unwind_memory_sum(&memory, 0xfffffff0, 0x20), 0x100000010);
	assert_true(unwind_memory_sum(&memory, 0x10, -0x20) == UINT64_MAX - 0xf);
}

static void test_words_are_read_with_few_reads(void **state)
{
	static struct stack_memory memory;
	struct stack_snapshot snapshot;
	unsigned calls;
	uint64_t word;

	begin(&memory, &snapshot, &calls);
	assert_true(unwind_memory_word(&memory, 0x1000, &word));
	assert_int_equal(word, 0x0807060504030201);
	assert_true(unwind_memory_number(&memory, 0x1010, 4, &word));
	assert_int_equal(word, 0xfffffffe);
	assert_true(unwind_memory_number(&memory, 0x1001, 2, &word));
	assert_int_equal(word, 0x0302);
	assert_false(unwind_memory_number(&memory, 0x1001, 3, &word));
	assert_int_equal(calls, 0);
	assert_false(unwind_memory_word(&memory, 0x1019, &word)); /* partly beyond the snapshot */
	assert_false(unwind_memory_word(&memory, 0x0fff, &word));
	assert_false(unwind_memory_word(&memory, UINT64_MAX - 3, &word));
	calls = 0;
	/* Words near each other need only one read. */
	assert_true(unwind_memory_word(&memory, 0x5800, &word));
	assert_int_equal(word, 0x0706050403020100);
	assert_true(unwind_memory_word(&memory, 0x5708, &word));
	assert_true(unwind_memory_word(&memory, 0x5ff8, &word));
	assert_int_equal(calls, 1);
	/* A word may be in two pages, or at the end of readable memory. */
	assert_true(unwind_memory_word(&memory, 0x5ffc, &word));
	assert_int_equal(word, 0x03020100fffefdfc);
	assert_true(unwind_memory_word(&memory, 0x6ff8, &word));
	assert_false(unwind_memory_word(&memory, 0x6ff9, &word));
	/* The number of reads is bounded. */
	for (unsigned i = 0; i < 100000; i++)
		unwind_memory_word(&memory, 0x5000 + i % 2 * 0x1000 + i % 64 * 16, &word);
	assert_false(unwind_memory_word(&memory, 0x5800, &word));
	assert_true(calls < 20010);
}

struct expression_case {
	int result;
	uint64_t value;
	Dwarf_Op ops[12];
};

static size_t op_count(const Dwarf_Op *ops)
{
	size_t count = 0;

	while (count < 12 && ops[count].atom)
		count++;
	return count;
}

static void test_expressions_are_evaluated_or_refused(void **state)
{
	static struct stack_memory memory;
	struct stack_snapshot snapshot;
	struct frame_registers registers = {.known = 0x1ffff & ~2ull};
	unsigned calls;
/* clang-format off */
#define OP(atom, number) {atom, number, 0, 0}
	/* clang-format on */
	/* Linkers describe the CFA of the PLT like this: rsp + 8 + ((rip & 15) >= 11) * 8. */
#define PLT                                                                                                            \
	OP(DW_OP_breg7, 8), OP(DW_OP_breg16, 0), OP(DW_OP_lit15, 0), OP(DW_OP_and, 0), OP(DW_OP_lit11, 0),             \
		OP(DW_OP_ge, 0), OP(DW_OP_lit3, 0), OP(DW_OP_shl, 0), OP(DW_OP_plus, 0)
	static const struct expression_case cases[] = {
		{0, 0x1010, {PLT}}, /* rip is 0x40000b */
		{0, 0x1008, {OP(DW_OP_breg7, 8)}},
		{0, 0x0807060504030201, {OP(DW_OP_breg7, 0), OP(DW_OP_deref, 0)}},
		{0, 0x0201, {OP(DW_OP_breg7, 0), OP(DW_OP_deref_size, 2)}},
		{0, 0xcfa0, {OP(DW_OP_call_frame_cfa, 0)}},
		{0, 7, {OP(DW_OP_lit3, 0), OP(DW_OP_lit7, 0), OP(DW_OP_swap, 0), OP(DW_OP_drop, 0)}},
		{0, 3, {OP(DW_OP_lit2, 0), OP(DW_OP_lit3, 0), OP(DW_OP_lit1, 0), OP(DW_OP_rot, 0)}},
		{0, 5, {OP(DW_OP_lit5, 0), OP(DW_OP_lit6, 0), OP(DW_OP_over, 0)}},
		{0, 9, {OP(DW_OP_lit9, 0), OP(DW_OP_lit8, 0), OP(DW_OP_lit7, 0), OP(DW_OP_pick, 2)}},
		{0, (uint64_t)-4, {OP(DW_OP_const1s, (uint64_t)-8), OP(DW_OP_lit2, 0), OP(DW_OP_div, 0)}},
		{0, (uint64_t)-2, {OP(DW_OP_const1s, (uint64_t)-8), OP(DW_OP_lit2, 0), OP(DW_OP_shra, 0)}},
		{0, 1, {OP(DW_OP_const1s, (uint64_t)-8), OP(DW_OP_lit2, 0), OP(DW_OP_lt, 0)}},
		{0, 0, {OP(DW_OP_lit1, 0), OP(DW_OP_const1u, 64), OP(DW_OP_shl, 0)}},
		{0, 8, {OP(DW_OP_const1s, (uint64_t)-8), OP(DW_OP_abs, 0)}},
		{0,
		 INT64_MIN,
		 {OP(DW_OP_const8u, (uint64_t)INT64_MIN), OP(DW_OP_const1s, (uint64_t)-1), OP(DW_OP_div, 0)}},
		{-EINVAL, 0, {OP(DW_OP_lit1, 0), OP(DW_OP_lit0, 0), OP(DW_OP_div, 0)}},
		{-EINVAL, 0, {OP(DW_OP_lit1, 0), OP(DW_OP_lit0, 0), OP(DW_OP_mod, 0)}},
		{-EINVAL, 0, {OP(DW_OP_plus, 0)}},
		{-EINVAL, 0, {OP(DW_OP_deref, 0)}},
		{-EINVAL, 0, {OP(DW_OP_lit1, 0), OP(DW_OP_drop, 0)}},
		{-EINVAL, 0, {OP(DW_OP_lit1, 0), OP(DW_OP_pick, 1)}},
		{-EINVAL, 0, {OP(DW_OP_breg1, 0)}}, /* the register is not known in this frame */
		{-EFAULT, 0, {OP(DW_OP_lit0, 0), OP(DW_OP_deref, 0)}},
	};
	static const Dwarf_Op unknown[][2] = {{OP(DW_OP_lit1, 0), OP(DW_OP_skip, 1)},
					      {OP(DW_OP_lit1, 0), OP(DW_OP_bra, (uint64_t)-4)},
					      {OP(DW_OP_breg31, 0)},
					      {OP(DW_OP_bregx, 17)},
					      {OP(DW_OP_addr, 1)},
					      {OP(DW_OP_lit1, 0), OP(DW_OP_xderef, 0)}};

	begin(&memory, &snapshot, &calls);
	registers.values[7] = 0x1000;
	registers.values[16] = 0x40000b;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct expression_op ops[12];
		const size_t count = op_count(cases[i].ops);
		uint64_t value = 0;

		assert_true(expression_is_known(cases[i].ops, count, 17));
		expression_copy(ops, cases[i].ops, count);
		const int result = expression_evaluate(ops, count, &registers, 0xcfa0, &memory, &value);

		if (result != cases[i].result || (!result && value != cases[i].value))
			print_message("case %zu: %d, 0x%lx\n", i, result, (unsigned long)value);
		assert_int_equal(result, cases[i].result);
		if (!result)
			assert_true(value == cases[i].value);
	}
	for (size_t i = 0; i < ARRAY_SIZE(unknown); i++)
		assert_false(expression_is_known(unknown[i], unknown[i][1].atom ? 2 : 1, 17));
	assert_false(expression_is_known(unknown[0], 0, 17));
	/* The expression has more operands than the stack can hold. */
	struct expression_op many[EXPRESSION_OPS_MAX];
	uint64_t value;

	for (size_t i = 0; i < ARRAY_SIZE(many); i++)
		many[i] = (struct expression_op){.atom = DW_OP_lit1};
	assert_int_equal(expression_evaluate(many, ARRAY_SIZE(many), &registers, 0, &memory, &value), -EINVAL);
}

/* The start functions of threads are found when a file is opened, so that the file need not be read later, while a
 * program waits. */
static void test_starts_of_threads_are_found_on_opening(void **state)
{
	char *const path = xasprintf("%s/program", directory);
	size_t size;
	char *const file = read_file("/proc/self/exe", SIZE_MAX - 1, &size);
	struct cfi cfi;

	assert_non_null(file);
	const uint64_t entry = arch_native()->elf_class == ELFCLASS64 ? ((const Elf64_Ehdr *)(void *)file)->e_entry
								      : ((const Elf32_Ehdr *)(void *)file)->e_entry;

	write_file(path, file, size);
	assert_int_equal(cfi_open_file(&cfi, open(path, O_RDONLY | O_CLOEXEC), arch_native()), 0);
	assert_true(cfi.start_count > 1); /* the entry point, and _start */
	assert_int_equal(truncate(path, 0), 0);
	assert_true(cfi_find_start(&cfi, arch_code_address(arch_native()->elf_machine, entry)));
	assert_false(cfi_find_start(&cfi, 0));
	cfi_close(&cfi);
	unlink(path);
	free(file);
	free(path);
}

static int make_directory(void **state)
{
	return mkdtemp(directory) ? 0 : -1;
}

static int remove_directory(void **state)
{
	return rmdir(directory);
}

int main(void)
{
	/* The limit of the address space, below, fails the test if functrace allocates as much memory as hostile data
	 * ask for. */
	const int fd = memfd_create("report", 0);
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_words_are_read_with_few_reads),
		cmocka_unit_test(test_sums_wrap_at_the_width_of_addresses),
		cmocka_unit_test(test_expressions_are_evaluated_or_refused),
		cmocka_unit_test(test_harmful_call_frame_information_is_refused),
		cmocka_unit_test(test_walks_of_random_stacks_end),
		cmocka_unit_test(test_cyclic_frame_pointer_ends_the_walk),
		cmocka_unit_test(test_walks_with_damaged_cfi_end),
		cmocka_unit_test(test_starts_of_threads_are_found_on_opening),
	};

	if (fd < 0 || ftruncate(fd, sizeof(struct target_report)) || dup2(fd, 100) != 100)
		return 1;
#ifndef __SANITIZE_ADDRESS__
	setrlimit(RLIMIT_AS, &(struct rlimit){(rlim_t)3 << 30, (rlim_t)3 << 30});
#endif
	alarm(300); /* ends the test if a walk never ends */
	return cmocka_run_group_tests(tests, make_directory, remove_directory);
}

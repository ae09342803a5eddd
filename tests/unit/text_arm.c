/* Tests breakpoints in code with two states (ARM's): breakpoints that overlap, and breakpoints in an IT block. They are
 * set in this process's memory, and ptrace() is a fake. arch_arm.c tests the effect of instructions. */
#include "config.h"
#include "unit_test.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <unistd.h>

#include "engine/shared_state.h"
#include "ptrace/tracee.h"
#include "breakpoints/breakpoints.h"
#include "breakpoints/step_over.h"
#include "breakpoints/out_of_line_slots.h"

extern const struct arch arch_arm;

#define TAIL  2048u /* offset of the copied instructions in the page */
#define THUMB 1u
#define PAGE  ((size_t)1 << 16)

enum { R3 = 3, PC = 15, CPSR = 16, WORDS = 18 };
enum { T = 0x20, ZERO = 0x40000000, NO_FLAGS = 0x10 };

long __wrap_ptrace(int request, pid_t tid, void *address, void *data);

/* The registers that functrace gave the task, and how often functrace resumed it. */
static uint32_t registers[WORDS];
static unsigned resumed;

long __wrap_ptrace(int request, pid_t tid, void *address, void *data)
{
	(void)tid, (void)address;
	if (request == PTRACE_SETREGSET) {
		const struct iovec *const iov = data;

		assert_int_equal(iov->iov_len, sizeof(registers));
		memcpy(registers, iov->iov_base, sizeof(registers));
	} else if (request == PTRACE_CONT) {
		resumed++;
	} else {
		fail_msg("request %d", request);
	}
	return 0;
}

struct world {
	struct engine engine; /* without a guardian, because no space is registered: process.guard is -1 */
	struct tracer tracer;
	struct process process;
	struct task task;
	struct text_range range;
	struct object object, *items[1];
	unsigned char *code;
	uint64_t address;
};

static int make_world(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	w->code = mmap((void *)(uintptr_t)0x10000000, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_true(w->code != MAP_FAILED);
	w->address = (uintptr_t)w->code;
	w->range = (struct text_range){.start = w->address,
				       .end = w->address + TAIL,
				       .tail_start = w->address + TAIL,
				       .tail_end = w->address + PAGE};
	w->object = (struct object){.path = (char *)(uintptr_t) "",
				    .start = w->address,
				    .end = w->address + PAGE,
				    .text = &w->range,
				    .text_count = 1,
				    .lasting = true};
	w->items[0] = &w->object;
	w->tracer.engine = &w->engine;
	w->process = (struct process){.pid = getpid(),
				      .tracer = &w->tracer,
				      .arch = &arch_arm,
				      .mem_fd = open("/proc/self/mem", O_RDWR | O_CLOEXEC),
				      .guard = -1,
				      .objects = {.items = w->items, .count = 1},
				      .text = text_new()};
	assert_true(w->process.mem_fd >= 0);
	w->task = (struct task){.tid = getpid(), .process = &w->process, .stopped = true, .regs_known = true};
	*state = w;
	return 0;
}

static int end_world(void **state)
{
	struct world *w = *state;

	text_free(&w->process);
	hits_free(&w->task);
	close(w->process.mem_fd);
	munmap(w->code, PAGE);
	free(w);
	return 0;
}

static void put_halves(struct world *w, const uint16_t *halves, size_t count)
{
	memcpy(w->code, halves, count * sizeof(*halves));
}

/* ---- Overlaps ---- */

static void test_breakpoint_inside_an_instruction_is_refused(void **state)
{
	static const uint16_t halves[] = {0x4010, 0xe92d, 0x4010, 0xe92d}; /* push {r4, lr}, in either state */
	static const unsigned char a32[] = {0xf0, 0x01, 0xf0, 0xe7};
	struct world *w = *state;

	put_halves(w, halves, 4);
	struct breakpoint *first = breakpoint_insert(&w->process, w->address);

	assert_non_null(first);
	assert_memory_equal(w->code, a32, 4);
	/* A breakpoint in the second half of the instruction at w->address is refused; one after the instruction is
	 * not. */
	assert_null(breakpoint_insert(&w->process, (w->address + 2) | THUMB));
	assert_non_null(breakpoint_insert(&w->process, (w->address + 4) | THUMB));
	assert_memory_equal(w->code, a32, 4);
	breakpoint_remove(&w->process, first);
	breakpoint_remove(&w->process, breakpoint_find(&w->process, w->address + 4));
	assert_memory_equal(w->code, halves, sizeof(halves));
}

static void test_breakpoint_that_reaches_another_is_refused(void **state)
{
	static const uint16_t halves[] = {0x4010, 0xe92d, 0x4010, 0xe92d};
	struct world *w = *state;

	put_halves(w, halves, 4);
	struct breakpoint *second = breakpoint_insert(&w->process, (w->address + 2) | THUMB);

	assert_non_null(second);
	assert_null(breakpoint_insert(&w->process, w->address));
	breakpoint_remove(&w->process, second);
	assert_memory_equal(w->code, halves, sizeof(halves));
}

/* ---- IT blocks ---- */

/* Returns a cpsr with the state of an IT block. `it` is the low byte of an IT instruction: a condition, and four bits,
 * of which the lowest set one ends the block. */
static uint32_t with_it(uint32_t it)
{
	return NO_FLAGS | T | (it & 3) << 25 | (it & 0xfc) << 8;
}

/* Lets the task hit a breakpoint on the instruction `halves`. `registers` are then those with which the task
 * continues. */
static void hit(struct world *w, const uint16_t *halves, uint32_t cpsr)
{
	put_halves(w, halves, 2);
	struct breakpoint *b = breakpoint_insert(&w->process, w->address | THUMB);

	assert_non_null(b);
	memset(&w->task.regs, 0, sizeof(w->task.regs));
	w->task.regs.narrow[R3] = 0x180;
	w->task.regs.narrow[PC] = (uint32_t)w->address;
	w->task.regs.narrow[CPSR] = cpsr;
	w->task.regs_known = true;
	resumed = 0;
	step_over_breakpoint(&w->task, b);
	assert_int_equal(resumed, 1);
	slot_left(&w->task);
	breakpoint_remove(&w->process, b);
	breakpoint_free(&w->process, b);
}

#define AT(w, offset) ((uint32_t)(w)->address + (offset))

static void test_instructions_in_it_blocks_are_emulated(void **state)
{
	static const uint16_t add[] = {0x3301, 0xbf00}, extend[] = {0xb25b, 0xbf00}, wide[] = {0xfa4f, 0xf383};
	static const uint16_t branch[] = {0xe006, 0xbf00}, nop[] = {0xbf00, 0xbf00};
	struct world *w = *state;

	slots_add_object(&w->process, &w->object);
	/* Outside of a block the task executes a copy of the instruction. */
	hit(w, add, NO_FLAGS | T);
	assert_true(registers[PC] >= AT(w, TAIL));
	/* adds in itt eq is executed, does not set the flags, and the next instruction is executed, too. */
	hit(w, add, with_it(0x04) | ZERO);
	assert_int_equal(registers[PC], AT(w, 2));
	assert_int_equal(registers[R3], 0x181);
	assert_int_equal(registers[CPSR], with_it(0x08) | ZERO);
	/* Now adds is the last instruction of its block, and the condition does not hold. */
	hit(w, add, with_it(0x08));
	assert_int_equal(registers[PC], AT(w, 2));
	assert_int_equal(registers[R3], 0x180);
	assert_int_equal(registers[CPSR], with_it(0));
	/* sxtb, sxtb.w, which are executed as copies outside of a block. */
	hit(w, extend, with_it(0x0c));
	assert_int_equal(registers[PC], AT(w, 2));
	assert_int_equal(registers[R3], 0x180);
	assert_int_equal(registers[CPSR], with_it(0x18));
	hit(w, wide, with_it(0x08));
	assert_int_equal(registers[PC], AT(w, 4));
	/* Instructions that change only the pc also advance the state of the block. */
	hit(w, branch, with_it(0x08) | ZERO);
	assert_int_equal(registers[PC], AT(w, 16));
	assert_int_equal(registers[CPSR], with_it(0) | ZERO);
	hit(w, nop, with_it(0x04) | ZERO);
	assert_int_equal(registers[PC], AT(w, 2));
	assert_int_equal(registers[CPSR], with_it(0x08) | ZERO);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_breakpoint_inside_an_instruction_is_refused, make_world,
						end_world),
		cmocka_unit_test_setup_teardown(test_breakpoint_that_reaches_another_is_refused, make_world, end_world),
		cmocka_unit_test_setup_teardown(test_instructions_in_it_blocks_are_emulated, make_world, end_world),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

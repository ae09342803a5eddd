/* Tests stacks of code that is generated at run time: callers are found by the frame pointer if the stack proves that
 * the code keeps one. */
#include "config.h"
#include "base/util.h"
#include "unwind/unwind.h"
#include "unit_test.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/user.h>
#include <unistd.h>

#define PAGE      4096
#define RETURN(n) (made + 0x100 * (n)) /* a return address: the instruction before it is a call */
#define STACK(at) ((uint64_t)(uintptr_t)&stack[at])

static uint64_t made, stack[64];

static ssize_t read_own(void *context, uint64_t address, void *data, size_t size)
{
	const uint64_t own = (uint64_t)(uintptr_t)stack;

	(void)context;
	if (!(address >= made && address + size <= made + PAGE) &&
	    !(address >= own && address + size <= own + sizeof(stack)))
		return -1;
	memcpy(data, (const void *)(uintptr_t)address, size);
	return (ssize_t)size;
}

/* Makes a page of generated code, with calls before the addresses RETURN(1) to RETURN(7).
 */
static int make(void **state)
{
	void *const code = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_ptr_not_equal(code, MAP_FAILED);
	made = (uint64_t)(uintptr_t)code;
	memset(code, 0x90, PAGE);
	for (unsigned i = 1; i < 8; i++)
		memcpy((unsigned char *)code + 0x100 * i - 5, "\xe8\1\0\0\0", 5);
	assert_int_equal(mprotect(code, PAGE, PROT_READ | PROT_EXEC), 0);
	return 0;
}

static void fill(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(stack); i++)
		stack[i] = i;
	stack[10] = STACK(20);
	stack[11] = RETURN(2);
	stack[20] = 1;
	stack[21] = RETURN(3);
}

/* Sets these registers of x86-64. On other processors no test is run. */
static void set_registers(struct stack_snapshot *snapshot, uint64_t pc, uint64_t sp, uint64_t frame)
{
#ifdef __x86_64__
	const struct user_regs_struct user = {.rip = pc, .rsp = sp, .rbp = frame};

	memcpy(&snapshot->regs, &user, sizeof(user));
#else
	(void)snapshot, (void)pc, (void)sp, (void)frame;
#endif
}

/* Returns the number of frames that the unwinder finds with that pc, sp and frame pointer. */
static size_t walk(uint64_t pc, uint64_t sp, uint64_t frame, struct unwind_frame *frames)
{
	struct unwinder *unwinder = unwinder_new(getpid(), arch_native(), UNWIND_ROWS);
	struct stack_snapshot snapshot = {.arch = arch_native(), .read = read_own, .inside = true};
	bool cut;

	set_registers(&snapshot, pc, sp, frame);
	const size_t count = unwind_stack(unwinder, &snapshot, frames, 8, 0, &cut);

	assert_true(cut);
	unwinder_free(unwinder);
	return count;
}

static void test_chain_of_frame_pointers_is_walked(void **state)
{
	struct unwind_frame frames[8];

	fill();
	assert_int_equal(walk(RETURN(1), STACK(4), STACK(10), frames), 3);
	assert_int_equal(frames[0].cfa, STACK(12));
	assert_int_equal(frames[1].pc, RETURN(2));
	assert_int_equal(frames[1].cfa, STACK(22));
	assert_int_equal(frames[2].pc, RETURN(3));
}

/* At a function's first instruction, and after it has pushed the frame pointer, the register is still the caller's
 * frame pointer. */
static void test_frame_pointer_of_the_caller_is_not_used(void **state)
{
	struct unwind_frame frames[8];

	fill();
	stack[4] = RETURN(4);
	assert_int_equal(walk(RETURN(1), STACK(4), STACK(10), frames), 1);
	assert_int_equal(walk(RETURN(1), STACK(3), STACK(10), frames), 1);
	assert_int_equal(walk(RETURN(1), STACK(5), STACK(10), frames), 3);
}

static void test_invalid_frame_pointers_end_the_walk(void **state)
{
	struct unwind_frame frames[8];

	fill();
	assert_int_equal(walk(RETURN(1), STACK(12), STACK(10), frames), 1);
	assert_int_equal(walk(RETURN(1), STACK(4), STACK(10) + 4, frames), 1);
	assert_int_equal(walk(RETURN(1), STACK(4), 0, frames), 1);
	assert_int_equal(walk(RETURN(1), STACK(4), UINT64_MAX - 7, frames), 1);
	stack[11] = RETURN(2) + 1;
	assert_int_equal(walk(RETURN(1), STACK(4), STACK(10), frames), 1);
	stack[11] = STACK(1);
	assert_int_equal(walk(RETURN(1), STACK(4), STACK(10), frames), 1);
}

/* A frame pointer may point downward or to itself. */
static void test_cyclic_frame_pointers_end_the_walk(void **state)
{
	struct unwind_frame frames[8];

	fill();
	stack[10] = STACK(10);
	assert_int_equal(walk(RETURN(1), STACK(4), STACK(10), frames), 2);
	stack[10] = STACK(6);
	assert_int_equal(walk(RETURN(1), STACK(4), STACK(10), frames), 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_chain_of_frame_pointers_is_walked, make),
		cmocka_unit_test_setup(test_frame_pointer_of_the_caller_is_not_used, make),
		cmocka_unit_test_setup(test_invalid_frame_pointers_end_the_walk, make),
		cmocka_unit_test_setup(test_cyclic_frame_pointers_end_the_walk, make),
	};

	if (strcmp(arch_native()->name, "x86_64") != 0) {
		puts("1..0 # SKIP the calls and registers are those of x86-64");
		return 77;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}

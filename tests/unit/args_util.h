/* A task that makes a call, for the tests of arguments: registers, and memory at a few addresses. */
#ifndef FT_TESTS_ARGS_UTIL_H
#define FT_TESTS_ARGS_UTIL_H

#include "args/args.h"
#include "args/value.h"
#include "unit_test.h"

#include <string.h>

#define JUNK       0x5ca1ab1e00000000u /* value of the upper half of a register, which must be ignored */
#define TEXT_AT    0x10000u
#define WILD       0x66660000u /* an address without memory */
#define STACK_AT   0x7ff000u
#define STACK_SIZE 4096u
#define FILES_AT   0x40000u
#define FILES_SIZE 0x40000u

extern const struct arch arch_aarch64, arch_arm;

/* Only memory that fake_memory() has added can be read. */
struct place_of_memory {
	uint64_t address;
	const void *bytes;
	size_t size;
};

struct fake_task {
	const struct arch *arch;
	struct arch_regs regs;
	unsigned char stack[STACK_SIZE]; /* the arguments are in the upper half */
	struct place_of_memory places[16];
	unsigned place_count, reads;
	unsigned char floats[ABI_FLOATS_MAX];
	size_t floats_size;
	int error;
	bool has_error;
	struct args_source source;
	struct arg_list *list;
	struct args_kept kept;
	char text[20000]; /* "name=value, ..." */
};

/* Initialises a task on that processor, with a limit of 16 bytes for strings. */
void fake_begin(struct fake_task *task, const struct arch *arch);
void fake_end(struct fake_task *task);
/* Adds memory at an address: the bytes must stay valid. */
void fake_memory(struct fake_task *task, uint64_t address, const void *bytes, size_t size);
/* These set integer argument `index`, and the result of calls, to a value of a pointer's size. */
void fake_argument(struct fake_task *task, unsigned index, uint64_t value);
void fake_result(struct fake_task *task, uint64_t value);
/* fake_entry() returns the arguments, and fake_return() the values that are added at the return: "name=value, ...". */
const char *fake_entry(struct fake_task *task, const struct args_plan *plan);
const char *fake_return(struct fake_task *task, const struct args_plan *plan, bool failed);
/* Returns the text of an argument with these bytes. address: where they are in memory; 0: they are in registers. */
const char *fake_value(struct fake_task *task, const struct data_type *type, const void *bytes, size_t size,
		       uint64_t address);

/* Returns the processors whose tables this build contains, and sets *count to their number. */
const struct arch *const *fake_arches(size_t *count);

/* Runs the statement that follows it for each of these processors. */
#define FOR_EACH_ARCH(arch)                                                                                            \
	size_t arch_count_, i_ = 0;                                                                                    \
	const struct arch *const *const arches_ = fake_arches(&arch_count_), *arch;                                    \
	for (; i_ < arch_count_ && (arch = arches_[i_], true); i_++)

/* fake_enter_row() enters a call with the arguments `values` of the function that a row describes, and returns their
 * text. fake_leave_row() returns from the call with `result`, and returns the text of the values that the return
 * adds. */
const char *fake_enter_row(struct fake_task *task, const struct function *row, const uint64_t *values, size_t count);
const char *fake_leave_row(struct fake_task *task, const struct function *row, uint64_t result, bool failed);

#define ENTRY(row, ...)                                                                                                \
	fake_enter_row(&task, (row), (const uint64_t[]){__VA_ARGS__},                                                  \
		       sizeof((uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t))

#define assert_text(actual, expected) assert_string_equal(actual, expected)

#endif

#include "config.h"
#include "args_util.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>

static size_t give_floats(void *context, unsigned char *bytes, size_t size)
{
	const struct fake_task *task = context;
	const size_t count = task->floats_size < size ? task->floats_size : size;

	memcpy(bytes, task->floats, count);
	return count;
}

static ssize_t read_memory(void *context, uint64_t address, void *to, size_t size)
{
	struct fake_task *task = context;

	task->reads++;
	for (unsigned i = 0; i < task->place_count; i++) {
		const struct place_of_memory *place = &task->places[i];
		const uint64_t at = address - place->address;

		if (address < place->address || at >= place->size)
			continue;
		const size_t count = place->size - at < size ? place->size - (size_t)at : size;

		memcpy(to, (const unsigned char *)place->bytes + at, count);
		return (ssize_t)count;
	}
	return -EFAULT;
}

static bool give_error(void *context, int *error)
{
	const struct fake_task *task = context;

	*error = task->error;
	return task->has_error;
}

static const char *give_name(void *context, uint64_t address)
{
	(void)context;
	return address == 0x401136 ? "compare" : NULL;
}

/* Returns true for addresses at which the test assumes mapped files. */
static bool is_object(void *context, uint64_t address)
{
	(void)context;
	return address >= FILES_AT && address < FILES_AT + FILES_SIZE;
}

void fake_begin(struct fake_task *task, const struct arch *arch)
{
	*task = (struct fake_task){.arch = arch,
				   .source = {.arch = arch,
					      .floats = give_floats,
					      .read = read_memory,
					      .error = give_error,
					      .name = give_name,
					      .is_object = is_object,
					      .limit = 16}};
	task->source.context = task;
	task->source.regs = &task->regs;
	if (arch->registers.set_sp)
		arch->registers.set_sp(&task->regs, STACK_AT + STACK_SIZE / 2);
	fake_memory(task, STACK_AT, task->stack, STACK_SIZE);
}

void fake_end(struct fake_task *task)
{
	arg_list_unref(task->list);
	task->list = NULL;
}

void fake_memory(struct fake_task *task, uint64_t address, const void *bytes, size_t size)
{
	assert_true(task->place_count < ARRAY_SIZE(task->places));
	task->places[task->place_count++] = (struct place_of_memory){address, bytes, size};
}

static void set_register(struct fake_task *task, unsigned word, uint64_t value)
{
	if (task->arch->pointer_size == 4)
		task->regs.narrow[word] = (uint32_t)value;
	else
		task->regs.words[word] = value;
}

void fake_argument(struct fake_task *task, unsigned index, uint64_t value)
{
	const struct arch *arch = task->arch;
	size_t at;

	if (index < arch->convention.argument_registers) {
		set_register(task, arch->convention.argument_words[index], value);
		return;
	}
	at = STACK_SIZE / 2 + arch->convention.argument_stack +
	     (size_t)(index - arch->convention.argument_registers) * arch->pointer_size;
	memcpy(task->stack + at, &value, arch->pointer_size);
}

void fake_result(struct fake_task *task, uint64_t value)
{
	struct arch_regs before = task->regs;
	const uint64_t other = ~task->arch->convention.result(&before);

	/* Finds the register that contains the result. */
	for (unsigned word = 0; word < 36; word++) {
		set_register(task, word, other);
		const bool is_it = (uint32_t)task->arch->convention.result(&task->regs) == (uint32_t)other;

		task->regs = before;
		if (is_it) {
			set_register(task, word, value);
			return;
		}
	}
	fail_msg("no register has the result");
}

static const char *list_text(struct fake_task *task)
{
	size_t size = 0;

	task->text[0] = '\0';
	for (size_t i = 0; i < task->list->count; i++) {
		const struct call_arg *arg = &task->list->items[i];

		size += (size_t)snprintf(task->text + size, sizeof(task->text) - size, "%s%s=%s", i ? ", " : "",
					 arg->name, arg->value);
		assert_true(size < sizeof(task->text));
	}
	return task->text;
}

const char *fake_entry(struct fake_task *task, const struct args_plan *plan)
{
	arg_list_unref(task->list);
	task->reads = 0;
	task->list = args_at_entry(plan, &task->source, &task->kept);
	return list_text(task);
}

const char *fake_return(struct fake_task *task, const struct args_plan *plan, bool failed)
{
	arg_list_unref(task->list);
	task->list = arg_list_new();
	task->reads = 0;
	args_at_return(plan, &task->source, &task->kept, failed, task->list);
	return list_text(task);
}

const char *fake_value(struct fake_task *task, const struct data_type *type, const void *bytes, size_t size,
		       uint64_t address)
{
	const struct value_view view = {.bytes = bytes, .size = size, .address = address};
	struct formatter showing;

	task->reads = 0;
	value_begin(&showing, &task->source);
	value_show(&showing, type, &view, 0, FOLLOW_ALL);
	snprintf(task->text, sizeof(task->text), "%s", out_finish(&showing.out));
	formatter_end(&showing);
	return task->text;
}

const struct arch *const *fake_arches(size_t *count)
{
	static const struct arch *arches[4];

	*count = 0;
	arches[(*count)++] = &arch_aarch64;
	arches[(*count)++] = &arch_arm;
	if (arch_for_elf(EM_X86_64, ELFCLASS64))
		arches[(*count)++] = arch_for_elf(EM_X86_64, ELFCLASS64);
	if (arch_for_elf(EM_386, ELFCLASS32))
		arches[(*count)++] = arch_for_elf(EM_386, ELFCLASS32);
	return arches;
}

const char *fake_enter_row(struct fake_task *task, const struct function *row, const uint64_t *values, size_t count)
{
	struct args_plan *plan = args_plan_of_row(task->arch, row, false);
	const char *text;

	for (size_t i = 0; i < count; i++)
		fake_argument(task, (unsigned)i, values[i]);
	assert_non_null(plan);
	text = fake_entry(task, plan);
	args_plan_free(plan);
	return text;
}

const char *fake_leave_row(struct fake_task *task, const struct function *row, uint64_t result, bool failed)
{
	struct args_plan *plan = args_plan_of_row(task->arch, row, false);
	const char *text;

	fake_result(task, result);
	assert_non_null(plan);
	text = fake_return(task, plan, failed);
	args_plan_free(plan);
	return text;
}

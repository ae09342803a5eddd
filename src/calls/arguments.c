#include "config.h"
#include "calls/arguments.h"
#include "calls/probes/probe_params.h"
#include "calls/calls.h"
#include "engine/settings.h"
#include "modules/known.h"
#include "ptrace/target_memory.h"
#include "ptrace/tasks.h"
#include "record/trace_output.h"
#include "record/string_pool.h"
#include "symbols/names/names.h"
#include "symbols/types/errno_place.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* Makes the texts of arguments. The parameters of a function come from its row in the module's table, if the row
 * describes them. Otherwise the parameters of a C library function that -x names (-x open) come from functrace's own
 * modules, those of other functions from the debug information of the object. */

#define UNKNOWN_MAX 10 /* maximum number of notes per trace about functions whose parameters are unknown */

/* ---- The parameters of a function ---- */

/* Returns true if the object may contain the C library's functions. In any other object, a function with the name of a
 * C library function is another function. Returns true for a static program, because the C library's functions in it
 * cannot be distinguished from its own. */
static bool is_c_library(const struct object *object)
{
	static const char *const names[] = {"libc", "libpthread", "libdl", "librt", "ld-linux", "ld-musl"};
	const char *const file = path_name(object->path);

	if (elf_file_is_static(object->file))
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		const size_t length = strlen(names[i]);
		const char *const rest = file + length;

		/* Matches libc.so.6, libc-2.31.so, ld-linux-x86-64.so.2, ld-musl-x86_64.so.1. */
		if (!strncmp(file, names[i], length) &&
		    (!strncmp(rest, ".so", 3) ||
		     (rest[0] == '-' && (names[i][1] == 'd' || isdigit((unsigned char)rest[1])))))
			return true;
	}
	return false;
}

static struct args_plan *plan_of_library(const struct arch *arch, const struct probe *probe,
					 const struct traced *traced)
{
	const struct function *const known =
		probe->object && is_c_library(probe->object) ? module_known_function(traced->shown) : NULL;

	return known ? args_plan_of_row(arch, known, elf_file_is_soft_float(probe->object->file)) : NULL;
}

/* Makes the plan of a function's arguments. Returns NULL if the parameters are unknown. Sets *is_late if the reason is
 * that the debug information could not be read in time; then a later call of make_plan() may succeed. */
static struct args_plan *make_plan(const struct process *p, const struct probe *probe, const struct traced *traced,
				   bool *is_late)
{
	const struct arch *const arch = p->arch;
	const bool is_soft_float = probe->object && elf_file_is_soft_float(probe->object->file);
	struct args_plan *plan = args_plan_of_row(arch, traced->function, is_soft_float);

	if (!plan && probe->object && !elf_file_is_static(probe->object->file))
		plan = plan_of_library(arch, probe, traced);
	if (!plan && probe->object)
		plan = args_plan_of_signature(arch, object_signature(probe->object, probe->start, is_late),
					      is_soft_float);
	if (!plan && !*is_late)
		plan = plan_of_library(arch, probe, traced);
	return plan;
}

static void report_unknown(struct process *p, const struct traced *traced)
{
	if (p->trace->counts.unknown_params++ < UNKNOWN_MAX)
		output_note(p->trace, "the parameters of %s are unknown: -a shows none", traced->shown);
}

/* Writes one note per trace for each kind of doubt, about the first such function. */
static void report_doubt(struct process *p, const struct traced *traced, enum args_doubt doubt)
{
	if (doubt == DOUBT_UNKNOWN && !p->trace->counts.unknown_results++)
		output_note(p->trace,
			    "the type of the result of %s is unknown, and perhaps also the types of other functions' "
			    "results: a result of unknown type is shown as the whole register that returns integers",
			    traced->shown);
	if (doubt == DOUBT_LOST && !p->trace->counts.lost_results++)
		output_note(p->trace,
			    "the shown result of %s may be wrong, and perhaps also the results of other functions: "
			    "the compiler leaves out a result that no caller uses",
			    traced->shown);
}

static const struct args_plan *plan_of(struct process *p, const struct probe *probe, const struct traced *traced)
{
	struct probe_params *const params = probe->params;

	if (!params)
		return NULL;
	if (!params->is_made) {
		bool is_late = false;

		params->plan = make_plan(p, probe, traced, &is_late);
		params->is_made = !is_late;
		if (params->is_made && !params->plan && p->tracer->set->calls.args)
			report_unknown(p, traced);
	}
	return params->plan;
}

/* ---- errno ---- */

/* Returns a word of the target, extended with its sign to 64 bits. */
static int64_t signed_word(const struct arch *arch, uint64_t word)
{
	return arch->pointer_size == sizeof(int32_t) ? (int32_t)word : (int64_t)word;
}

/* Computes the distance from the thread pointer to errno. Returns false if the object does not show this, or if its GOT
 * slot is not filled yet. */
static bool task_errno_offset_of(struct process *p, const struct errno_place *place, int64_t *offset)
{
	uint64_t word;

	*offset = place->offset;
	if (place->kind != ERRNO_SLOT)
		return place->kind != ERRNO_NONE;
	if (memory_read_pointer(p, place->slot, &word) < 0 || word == place->unfilled)
		return false;
	*offset += signed_word(p->arch, word);
	return true;
}

/* Finds the distance from the thread pointer to errno. Prefers an object in which errno is a thread-local variable: a
 * library, or the program if it is static. Otherwise uses a library whose code (__errno_location()) shows that errno is
 * a field of the thread's data. Returns false if two libraries have an errno (a second C library, in a linker namespace
 * of its own), because it is unknown which of them the program uses. */
static bool find_offset(struct process *p, int64_t *offset)
{
	struct errno_place best = {.kind = ERRNO_NONE};
	unsigned count = 0;

	for (size_t i = 0; i < p->objects.count; i++) {
		const struct object *object = p->objects.items[i];
		const struct errno_place place = object_errno_place(object, p->arch);

		if (place.kind == ERRNO_NONE || (place.kind == ERRNO_VARIABLE && object != p->program))
			continue;
		if (count && (place.kind == ERRNO_FIELD) != (best.kind == ERRNO_FIELD)) {
			if (place.kind == ERRNO_FIELD)
				continue;
			count = 0;
		}
		best = place;
		count++;
	}
	return count == 1 && task_errno_offset_of(p, &best, offset);
}

/* Reads the errno of a stopped task, which is a thread-local variable or field of its C library. Returns false if its
 * address is unknown (a static program without symbols, another C library), or if it cannot be read. Once the process's
 * errno_offset is known, this takes one read of memory, and on some processors one ptrace request. */
static bool read_error(void *context, int *value)
{
	struct task *const task = context;
	struct process *p = task->process;
	uint64_t pointer;
	int32_t number;

	if (!p->calls->errno_known)
		p->calls->errno_known = find_offset(p, &p->calls->errno_offset);
	if (!p->calls->errno_known || !task_thread_pointer(task, &pointer))
		return false;
	uint64_t at = pointer + (uint64_t)p->calls->errno_offset;

	if (p->arch->pointer_size == sizeof(uint32_t))
		at = (uint32_t)at;
	if (memory_read(p, at, &number, sizeof(number)) < 0)
		return false;
	*value = number;
	return true;
}

/* ---- A call ---- */

static ssize_t arguments_read_some(void *task, uint64_t address, void *to, size_t size)
{
	return memory_read_some(((struct task *)task)->process, address, to, size);
}

static size_t read_floats(void *task, unsigned char *bytes, size_t size)
{
	return task_floats(task, bytes, size);
}

/* Returns the name of the function whose first instruction is at the address, or NULL. */
static const char *function_name(void *task, uint64_t address)
{
	const struct process *const p = ((struct task *)task)->process;
	const struct object *const object = objects_find(&p->objects, address);
	struct run *const run = p->trace->run;

	if (!object)
		return NULL;
	const char *const symbol = elf_file_function_at(object->file, address - object->bias);

	if (!symbol)
		return NULL;
	char *const demangled = names_demangle(symbol);
	const char *const kept = interned_text(run, interned_number(run, demangled ? demangled : symbol));

	free(demangled);
	return kept;
}

static bool arguments_is_object(void *task, uint64_t address)
{
	return objects_find(&((struct task *)task)->process->objects, address);
}

static struct args_source source_of(struct task *task)
{
	return (struct args_source){.arch = task->process->arch,
				    .regs = &task->regs,
				    .floats = read_floats,
				    .read = arguments_read_some,
				    .error = read_error,
				    .name = function_name,
				    .is_object = arguments_is_object,
				    .context = task,
				    .limit = task->process->tracer->set->calls.args_limit};
}

struct arg_list *arguments_entered(struct task *task, const struct probe *probe, const struct traced *traced,
				   struct args_kept *kept)
{
	const bool is_wanted = task->process->tracer->set->calls.args;
	const struct args_plan *const plan = is_wanted ? plan_of(task->process, probe, traced) : NULL;
	struct args_kept unused;

	if (!plan)
		return NULL;
	const struct args_source source = source_of(task);

	return args_at_entry(plan, &source, kept ? kept : &unused);
}

void arguments_begin(struct task *task, struct call *call)
{
	struct args_kept kept;
	struct arg_list *const list = arguments_entered(task, call->probe, call->traced, &kept);

	if (!list)
		return;
	call->shown = xmalloc(sizeof(*call->shown));
	*call->shown = (struct call_arguments){.list = list, .kept = kept};
}

void arguments_returned(struct task *task, struct call *call, bool failed)
{
	const struct args_plan *const plan = call->shown ? plan_of(task->process, call->probe, call->traced) : NULL;

	if (!plan)
		return;
	const struct args_source source = source_of(task);

	args_at_return(plan, &source, &call->shown->kept, failed, call->shown->list);
}

uint64_t arguments_result(const struct task *task, const struct call *call, uint64_t result_register)
{
	struct process *const p = task->process;
	const struct settings *const set = p->tracer->set;
	const bool is_chosen = set->traced.chosen && call->probe->wanted->module == set->traced.chosen;
	const struct args_plan *const plan = is_chosen ? plan_of(p, call->probe, call->traced) : NULL;

	if (is_chosen)
		report_doubt(p, call->traced, args_plan_doubt(plan));
	return plan ? args_plan_number(plan, result_register) : result_register;
}

void call_arguments_free(struct call_arguments *arguments)
{
	if (!arguments)
		return;
	arg_list_unref(arguments->list);
	free(arguments);
}

struct call_arguments *call_arguments_copy(const struct call_arguments *arguments)
{
	if (!arguments)
		return NULL;
	struct call_arguments *const copy = xmalloc(sizeof(*copy));

	*copy = (struct call_arguments){.list = arg_list_copy(arguments->list), .kept = arguments->kept};
	return copy;
}

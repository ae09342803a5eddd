/* The public functions of the unwinder; see unwind.h. */
#include "config.h"
#include "unwind/unwinder.h"
#include "base/util.h"

#include <stdlib.h>

#define REGISTERS_FRAMES 8
#define PREPARED_MAX     (512u << 20) /* maximum number of file bytes that unwinder_prepare() reads */

bool unwinder_has(const struct arch *arch, enum unwind_method method)
{
	return method == UNWIND_ROWS || !arch->unwind.index_segment;
}

struct unwinder *unwinder_new(pid_t pid, const struct arch *arch, enum unwind_method method)
{
	struct unwinder *unwinder = xcalloc(1, sizeof(*unwinder));

	unwinder->pid = pid;
	unwinder->arch = arch;
	unwinder->method = unwinder_has(arch, method) ? method : UNWIND_ROWS;
	unwinder->cache = xcalloc(ROW_CACHE_SIZE, sizeof(*unwinder->cache));
	return unwinder;
}

void unwinder_free(struct unwinder *unwinder)
{
	if (!unwinder)
		return;
	for (size_t i = 0; i < unwinder->count; i++)
		object_release(unwinder->items[i].object);
	fallback_free(unwinder->fallback);
	libdw_free(unwinder->libdw);
	free(unwinder->executable.ranges);
	free(unwinder->cache);
	free(unwinder->items);
	free(unwinder);
}

struct unwinder *unwinder_clone(const struct unwinder *unwinder, pid_t pid)
{
	struct unwinder *clone = unwinder_new(pid, unwinder->arch, unwinder->method);

	if (!unwinder->count)
		return clone;
	clone->items = xreallocarray(NULL, unwinder->count, sizeof(*clone->items));
	clone->count = clone->capacity = unwinder->count;
	for (size_t i = 0; i < unwinder->count; i++) {
		clone->items[i] = unwinder->items[i];
		object_reference(clone->items[i].object);
	}
	return clone;
}

/* Discards cached rows for addresses in the range, and the libraries' cached data. */
static void unwind_forget(struct unwinder *unwinder, uint64_t start, uint64_t end)
{
	for (size_t i = 0; unwinder->cache && i < ROW_CACHE_SIZE; i++) {
		const uint64_t pc = arch_text_address(unwinder->arch, unwinder->cache[i].key & ~KEY_RETURN);

		/* If a call is the last instruction of an object, its return address is the object's end. */
		if (pc >= start && pc <= end)
			unwinder->cache[i] = (struct row_cache_entry){0, NULL};
	}
	if (unwinder->fallback)
		fallback_flush(unwinder->fallback);
	libdw_free(unwinder->libdw);
	unwinder->libdw = NULL;
}

void unwinder_remove(struct unwinder *unwinder, uint64_t start, uint64_t end)
{
	size_t kept = 0;
	bool changed = false;

	for (size_t i = 0; i < unwinder->count; i++) {
		struct unwind_mapping *item = &unwinder->items[i];

		if (item->start < end && start < item->end) {
			unwind_forget(unwinder, item->start, item->end);
			object_release(item->object);
			changed = true;
			continue;
		}
		unwinder->items[kept++] = *item;
	}
	unwinder->count = kept;
	if (!changed)
		unwind_forget(unwinder, start, end);
}

void unwinder_add(struct unwinder *unwinder, uint64_t start, uint64_t end, uint64_t bias, const char *path,
		  const char *build_id)
{
	size_t at = 0;

	if (start >= end)
		return;
	unwinder_remove(unwinder, start, end);
	ARRAY_GROW(unwinder->items, unwinder->capacity, unwinder->count);
	while (at < unwinder->count && unwinder->items[at].start < start)
		at++;
	memmove(unwinder->items + at + 1, unwinder->items + at, (unwinder->count - at) * sizeof(*unwinder->items));
	unwinder->items[at] = (struct unwind_mapping){start, end, bias, object_get(path, build_id, unwinder->arch)};
	unwinder->count++;
}

void unwinder_prepare(struct unwinder *unwinder)
{
	uint64_t bytes = 0;

	for (size_t i = 0; unwinder->method == UNWIND_ROWS && i < unwinder->count && bytes < PREPARED_MAX; i++) {
		object_prepare(unwinder->items[i].object);
		bytes += (uint64_t)unwinder->items[i].object->size;
	}
}

static void unwinder_begin(struct unwinder *unwinder, const struct stack_snapshot *snapshot)
{
	const struct arch *arch = snapshot->arch;

	unwind_memory_begin(&unwinder->memory, snapshot);
	unwinder->stopped_at = arch->registers.pc(&snapshot->regs) |
			       (arch->code_state.get ? arch->code_state.get(&snapshot->regs) : 0);
}

/* Computes the caller by the ABI, for a task that is stopped at a function's entry, where breakpoints are. The ABI is
 * used if the code has no rule at all (a C library built without CFI), or a rule that is valid only after the
 * function's calls. Returns false if the code has another rule, or if the caller has no rule. */
static bool enter_caller(struct unwinder *unwinder, const struct stack_snapshot *snapshot,
			 struct stack_snapshot *caller)
{
	const struct arch *arch = snapshot->arch;
	const struct row *row = unwinder_frame_row(unwinder, arch->registers.pc(&snapshot->regs), true);
	const bool calls_only = row && row->calls_only;
	uint64_t value;

	if (snapshot->inside || (row && row->kind != ROW_NONE && !calls_only))
		return false;
	if (!arch->convention.return_address(&snapshot->regs, &value) &&
	    !unwind_memory_word(&unwinder->memory, value, &value))
		return false;
	value = return_address_plain(arch, value);
	row = unwinder_frame_row(unwinder, value, false);
	if (!row || (row->kind == ROW_NONE && !calls_only) || row->kind == ROW_NOT_CODE)
		return false;
	*caller = *snapshot;
	arch->registers.set_pc(&caller->regs, value);
	arch->registers.set_sp(&caller->regs, arch->convention.return_sp(&snapshot->regs));
	return true;
}

size_t unwind_stack(struct unwinder *unwinder, const struct stack_snapshot *snapshot, struct unwind_frame *frames,
		    size_t max, uint64_t until_cfa, bool *cut)
{
	struct walk_request request = {snapshot, frames, max, until_cfa, !snapshot->is_caller, 0, NULL};
	const struct arch *arch = snapshot->arch;
	struct stack_snapshot caller;
	enum walk_end end = WALK_OTHER;

	*cut = false;
	if (!max)
		return 0;
	unwinder_begin(unwinder, snapshot);
	if (!snapshot->is_caller && __builtin_expect(enter_caller(unwinder, snapshot, &caller), 0)) {
		const uint64_t sp = arch->registers.sp(&caller.regs);

		frames[0] = (struct unwind_frame){.pc = arch->registers.pc(&snapshot->regs), .cfa = sp};
		if (max == 1 || (until_cfa && sp >= until_cfa))
			return 1;
		request = (struct walk_request){&caller, frames + 1, max - 1, until_cfa, false, 0, NULL};
	}
	if (unwinder->method == UNWIND_ROWS) {
		end = rows_walk(unwinder, &request);
		unwinder->fallbacks += end == WALK_OTHER;
	}
	/* A library needs all registers. */
	if (end == WALK_OTHER && !snapshot->is_partial)
		end = fallback_walk(unwinder, &request);
	*cut = end != WALK_COMPLETE;
	return request.count + (size_t)(request.frames - frames);
}

bool unwind_registers(struct unwinder *unwinder, const struct stack_snapshot *snapshot, size_t frames, uint64_t *values,
		      size_t max, size_t *count)
{
	struct unwind_frame walked[REGISTERS_FRAMES];
	struct frame_registers registers = {0};
	struct walk_request request = {snapshot, walked, frames, 0, true, 0, &registers};

	*count = 0;
	if (!frames || frames > REGISTERS_FRAMES)
		return false;
	unwinder_begin(unwinder, snapshot);
	if (rows_walk(unwinder, &request) != WALK_COMPLETE || request.count != frames || !registers.known)
		return false;
	for (unsigned i = 0; i < ROW_REGISTER_MAX && *count < max; i++)
		if ((registers.known & snapshot->arch->dwarf.preserved) >> i & 1)
			values[(*count)++] = registers.values[i];
	return true;
}

uint64_t unwinder_fallbacks(const struct unwinder *unwinder)
{
	return unwinder->fallbacks;
}

bool unwinder_function(struct unwinder *unwinder, const struct stack_snapshot *snapshot, uint64_t address,
		       uint64_t *start)
{
	const struct unwind_mapping *mapped = unwinder_find(unwinder, address);

	unwind_memory_begin(&unwinder->memory, snapshot);
	if (!mapped || !object_open(mapped->object, &unwinder->memory, mapped->start) ||
	    !cfi_function(&mapped->object->cfi, address - mapped->bias, start))
		return false;
	*start += mapped->bias;
	return true;
}

struct simple_row unwinder_simple_row(struct unwinder *unwinder, uint64_t pc, bool exact)
{
	const struct arch_dwarf *const dwarf = &unwinder->arch->dwarf;
	const struct row *row = unwinder_frame_row(unwinder, pc, exact);
	struct simple_row simple = {.kind = SIMPLE_NONE};

	if (!row || !dwarf->frame || row->from_code || row->transient || row->sets_sp || row->signal)
		return simple;
	if (row->kind == ROW_START || row->kind == ROW_END)
		return (struct simple_row){.kind = SIMPLE_LAST};
	if (row->kind != ROW_NORMAL || row->registers[0] != dwarf->pc ||
	    row->offsets[0] != -(int)unwinder->arch->pointer_size ||
	    (row->cfa_register != dwarf->sp && row->cfa_register != dwarf->frame))
		return simple;
	for (unsigned i = 1; i < row->saved_count; i++)
		if (row->registers[i] == dwarf->frame)
			simple.fp_offset = row->offsets[i];
	if (!simple.fp_offset && !(row->same >> dwarf->frame & 1))
		return simple;
	simple.cfa_offset = row->cfa_offset;
	simple.kind = row->cfa_register == dwarf->sp ? SIMPLE_FROM_SP : SIMPLE_FROM_FP;
	return simple;
}

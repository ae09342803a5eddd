#include "config.h"
#include "calls/kernel_calls.h"
#include "calls/backtrace.h"
#include "calls/call_enter.h"
#include "calls/call_return.h"
#include "calls/probes/kernel_probes.h"
#include "calls/probes/kernel_sites.h"
#include "breakpoints/breakpoints.h"
#include "ptrace/target_memory.h"
#include "base/msg.h"
#include "base/util.h"
#include "uprobe/uprobes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* A record is acted on as if its task were stopped at a breakpoint: the task's registers get the record's values, and
 * its stack is the record's. So the rest of src/calls makes the same events from both. Afterwards the task gets back
 * its registers, because it may be in a stop that came later and is not acted on yet. */

struct feeding {
	struct task *task;
	struct process *p;
	const struct uprobe_record *record;
	struct uprobe_copy *copy; /* NULL: the record has none */
	struct recorded_stack stack;
};

/* the frames of `stack` */
static struct unwind_frame frames[UPROBE_FRAMES_MAX];

static void set_register(struct feeding *f, unsigned word, uint64_t value)
{
	f->task->regs.words[word] = value;
}

/* Sets the registers to those of a hit at this address. */
static void begin_stop(struct feeding *f, uint64_t address, uint64_t sp)
{
	const struct arch *const arch = f->p->arch;
	struct task *const task = f->task;

	task->at_stop++;
	task->regs_known = true;
	memset(&task->regs, 0, sizeof(task->regs));
	for (unsigned i = 0; f->copy && i < UPROBE_REGISTERS; i++)
		set_register(f, arch->uprobe.words[i], f->copy->registers[i]);
	for (unsigned i = 0; i < UPROBE_ARGS; i++)
		set_register(f, arch->convention.argument_words[i], f->record->args[i]);
	arch->registers.set_pc(&task->regs, address + (address - arch->breakpoint.hit_address(address)));
	arch->registers.set_sp(&task->regs, sp);
	task_calls(task)->is_fed = true;
	task->calls->kept.valid_at = 0;
	task->calls->kept.call = 0;
}

/* ---- Return addresses ---- */

/* Replaces the trampoline's address in the copy, and in its pc. */
static void restore_returns(const struct feeding *f)
{
	struct uprobe_copy *const copy = f->copy;
	const uint64_t sp = copy->registers[UPROBE_SP];

	copy->registers[UPROBE_PC] = stack_true_return(f->task, sp, copy->registers[UPROBE_PC]);
	stack_restore_returns(f->task, sp, copy->bytes, copy->size);
}

static void keep_copy(struct feeding *f)
{
	struct kept_stack *const kept = &f->task->calls->kept;

	if (kept->capacity < f->copy->size) {
		free(kept->bytes);
		kept->bytes = xmalloc(f->copy->size);
		kept->capacity = f->copy->size;
	}
	memcpy(kept->bytes, f->copy->bytes, f->copy->size);
	kept->address = f->copy->registers[UPROBE_SP];
	kept->size = f->copy->size;
	kept->valid_at = f->task->at_stop;
}

/* ---- Stacks ---- */

static ssize_t read_code(void *context, uint64_t address, void *data, size_t size)
{
	const struct feeding *const f = context;

	return stack_read_running(f->p, address, data, size);
}

/* Returns true if a signal handler returns to the frame's pc, so that the kernel's struct ucontext is on the stack. */
static bool frame_is_restorer(struct feeding *f, const struct unwind_frame *frame)
{
	const struct arch *const arch = f->p->arch;
	unsigned char code[16];

	return arch->signal.find_restorer &&
	       stack_read_running(f->p, frame->pc, code, sizeof(code)) == (ssize_t)sizeof(code) &&
	       arch->signal.find_restorer(code, sizeof(code)) == 0;
}

/* Enters the rows of these frames in the kernel's table. is_first_exact: the first pc is no return address. */
static void teach(struct feeding *f, const struct unwind_frame *walked, size_t count, bool is_first_exact)
{
	for (size_t i = 0; i < count; i++) {
		const bool is_exact = walked[i].signal || (!i && is_first_exact);
		const struct simple_row simple = unwinder_simple_row(f->p->unwinder, walked[i].pc, is_exact);
		struct uprobe_row row = {.pc = is_exact ? walked[i].pc | UPROBE_EXACT : walked[i].pc,
					 .space = f->record->space,
					 .cfa_offset = simple.cfa_offset,
					 .bp_offset = simple.fp_offset,
					 .rule = simple.kind == SIMPLE_FROM_SP   ? UPROBE_FROM_SP
						 : simple.kind == SIMPLE_FROM_FP ? UPROBE_FROM_BP
						 : simple.kind == SIMPLE_LAST    ? UPROBE_LAST
										 : UPROBE_NOT_HERE};

		if (i + 1 < count && walked[i + 1].signal)
			row.rule = frame_is_restorer(f, &walked[i]) ? UPROBE_SIGNAL : UPROBE_NOT_HERE;
		uprobe_row_set(f->p->tracer->uprobes, &row);
	}
}

/* Makes the stack of a record, in which the first frame is the caller of the function. */
static void make_stack(struct feeding *f)
{
	const struct uprobe_record *const r = f->record;
	const bool is_return = r->kind == UPROBE_RETURNED;
	const size_t wanted = f->p->tracer->set->calls.depth + KERNEL_FRAMES_MORE;
	size_t count = r->frame_count;
	bool cut = false;

	for (size_t i = 0; i < count; i++)
		frames[i] = (struct unwind_frame){.pc = r->frames[i] & ~UPROBE_EXACT,
						  .signal = r->frames[i] & UPROBE_EXACT};
	if (r->stack == UPROBE_COPY && count < wanted) {
		const bool is_exact = f->copy->registers[UPROBE_PC] & UPROBE_EXACT;
		struct stack_snapshot snapshot = {.arch = f->p->arch,
						  .address = f->copy->registers[UPROBE_SP],
						  .bytes = f->copy->bytes,
						  .size = f->copy->size,
						  .read = read_code,
						  .context = f,
						  .inside = true,
						  .is_caller = !is_exact && (count || !is_return)};

		for (unsigned i = 0; i < UPROBE_REGISTERS; i++)
			snapshot.regs.words[f->p->arch->uprobe.words[i]] =
				f->copy->registers[i] & (i == UPROBE_PC ? ~UPROBE_EXACT : UINT64_MAX);
		snapshot.is_partial = count && !is_exact;
		const size_t more = unwind_stack(f->p->unwinder, &snapshot, frames + count, wanted - count, 0, &cut);

		msg_debug(DBG_UNWIND, 1, "%u: a stack was copied after %zu frames, %llu bytes from 0x%llx: %zu more%s",
			  r->tid, count, (unsigned long long)f->copy->size,
			  (unsigned long long)f->copy->registers[UPROBE_SP], more, cut ? ", cut" : "");
		kernel_probes_note_space(f->p, r->space);
		teach(f, frames + count, more, !snapshot.is_caller);
		if (more && is_exact)
			frames[count].signal = true;
		count += more;
	}
	f->stack =
		(struct recorded_stack){frames, count, r->stack == UPROBE_NO_STACK || cut ? STACK_LOST : STACK_WHOLE};
	f->task->calls->recorded = &f->stack;
}

/* ---- Entry and return ---- */

static void feed_entry(struct feeding *f, struct breakpoint *b)
{
	const struct uprobe_record *const r = f->record;
	struct task_calls *const own = f->task->calls;

	/* Such a function only jumps, as new[] to new: name_by_caller(). */
	if (kernel_site_is_named(b->probe)) {
		own->jumped = b->address;
		own->jumped_return = r->return_address;
		return;
	}
	begin_stop(f, b->address, r->return_sp - f->p->arch->pointer_size);
	own->word_at = r->return_sp - f->p->arch->pointer_size;
	own->word = stack_true_return(f->task, r->return_sp, r->return_address);
	if (b->probe->function->role != ROLE_RELEASE)
		stack_note_replaced(f->task, r->return_sp, own->word);
	own->word_stop = f->task->at_stop;
	if (r->flags & UPROBE_IS_NESTED && f->copy)
		keep_copy(f);
	else if (r->stack != UPROBE_NO_STACK)
		make_stack(f);
	call_enter(f->task, b);
}

/* If a C++ library's function has made the call to get its memory, the event is that function's. */
static const struct traced *name_by_caller(struct feeding *f, const struct probe *probe)
{
	const struct traced *named = NULL;
	const struct probe *caller;

	while (f->stack.count && (caller = kernel_probes_caller(f->p, probe, f->stack.frames[0].pc))) {
		named = &caller->traced;
		f->stack.frames++;
		f->stack.count--;
	}
	/* new[] has jumped to new. */
	struct task_calls *const own = f->task->calls;
	const struct breakpoint *const jumped =
		named && own->jumped && f->stack.count && f->stack.frames[0].pc == own->jumped_return
			? breakpoint_find(f->p, own->jumped)
			: NULL;

	if (jumped && jumped->probe && kernel_site_is_named(jumped->probe))
		named = &jumped->probe->traced;
	/* The same caller may call new next, by a pointer. If malloc has failed, new may call it again. */
	if (jumped && f->record->result)
		own->jumped = 0;
	return named;
}

static void feed_return(struct feeding *f, struct breakpoint *b)
{
	const struct uprobe_record *const r = f->record;

	begin_stop(f, r->return_address, r->return_sp);
	set_register(f, f->p->arch->uprobe.result_word, r->result);
	make_stack(f);
	const uint64_t pointee = r->pointee;
	const struct recorded_return back = {.result = r->result,
					     .pointee = &pointee,
					     .args = {r->args[0], r->args[1], r->args[2]},
					     .return_sp = r->return_sp,
					     .return_address = r->return_address,
					     .was_entered = r->flags & UPROBE_WAS_ENTERED,
					     .named = name_by_caller(f, b->probe)};

	call_returned(f->task, b, &back);
}

void kernel_call(struct task *task, const struct uprobe_record *record)
{
	struct process *const p = task->process;
	struct breakpoint *const b = breakpoint_find(p, record->address);

	if (!kernel_probes_are_of(p, record->serial, uprobe_ring_position(p->tracer->uprobes)) || !b || !b->in_kernel ||
	    !b->probe)
		return;
	msg_debug(DBG_CALL, 2, "%u: kernel record: %s %s flags %u stack %u sp 0x%llx args 0x%llx 0x%llx result 0x%llx",
		  record->tid, b->probe->traced.shown, record->kind == UPROBE_ENTERED ? "entered" : "returned",
		  record->flags, record->stack, (unsigned long long)record->return_sp,
		  (unsigned long long)record->args[0], (unsigned long long)record->args[1],
		  (unsigned long long)record->result);
	static struct uprobe_copy copy;
	static struct arch_regs own_regs; /* the task's */
	struct feeding f = {.task = task, .p = p, .record = record};
	const bool regs_known = task->regs_known;

	if (regs_known)
		own_regs = task->regs;
	task_calls(task);
	if (record->stack == UPROBE_COPY) {
		copy = *uprobe_record_copy(record);
		f.copy = &copy;
		kernel_probes_note_trampoline(p, copy.trampoline);
		restore_returns(&f);
	}
	times_at(&p->trace->times, record->time_ns);
	if (record->kind == UPROBE_ENTERED)
		feed_entry(&f, b);
	else
		feed_return(&f, b);
	times_at(&p->trace->times, 0);
	task->calls->recorded = NULL;
	task->calls->is_fed = false;
	task->calls->kept.valid_at = 0;
	if (regs_known)
		task->regs = own_regs;
	task->regs_known = regs_known;
	task->at_stop++;
}

void kernel_calls_begin(struct task *task, const struct breakpoint *inner)
{
	struct process *const p = task->process;
	struct uprobe_call calls[UPROBE_CALLS];

	if (!p->kernel || !kernel_site_is_hot(inner->probe) ||
	    !uprobe_calls_in_flight(p->tracer->uprobes, task->tid, calls, true))
		return;
	for (unsigned i = 0; i < UPROBE_CALLS; i++) {
		struct uprobe_record record = {.kind = UPROBE_ENTERED,
					       .stack = UPROBE_NO_STACK,
					       .tid = (uint32_t)task->tid,
					       .time_ns = clock_ns(CLOCK_MONOTONIC)};

		if (!calls[i].return_sp || calls[i].is_entered)
			continue;
		uprobe_record_call(&record, &calls[i]);
		kernel_call(task, &record);
	}
}

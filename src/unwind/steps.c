/* Steps of a walk by a library; see steps.h. */
#include "config.h"
#include "unwind/steps.h"

void steps_begin(struct steps *steps, struct unwinder *unwinder, struct walk_request *request)
{
	const struct stack_snapshot *snapshot = request->snapshot;

	*steps = (struct steps){.unwinder = unwinder,
				.request = request,
				.frame = request->frames,
				.progress.sp = snapshot->arch->registers.sp(&snapshot->regs),
				.exact = request->exact};
	*steps->frame =
		(struct unwind_frame){.pc = snapshot->arch->registers.pc(&snapshot->regs), .cfa = steps->progress.sp};
	request->count = 1;
}

bool steps_may_go_on(struct steps *steps)
{
	/* The row says whether the frame is a signal frame. Libraries report a signal for the frame itself or for the
	 * interrupted frame, depending on their version and the processor. */
	steps->row = unwinder_frame_row(steps->unwinder, steps->frame->pc, steps->exact);
	steps->end = WALK_CUT;
	if (!steps->row)
		return true;
	if (steps->row->kind == ROW_NOT_CODE)
		steps->request->count--;
	else if (steps->row->kind == ROW_START)
		steps->end = WALK_COMPLETE;
	else if (steps->row->kind != ROW_LOST)
		return true;
	return false;
}

bool steps_to_caller(struct steps *steps, uint64_t pc, uint64_t sp)
{
	struct walk_request *request = steps->request;
	struct unwind_frame *frame = steps->frame;
	const bool is_signal = steps->row && steps->row->signal;

	steps->end = WALK_COMPLETE;
	if (!pc) {
		if (sp > frame->cfa)
			frame->cfa = sp;
		return false;
	}
	if (!progress_to(&steps->progress, sp, is_signal, request->count == 1)) {
		steps->end = WALK_CUT;
		return false;
	}
	frame->cfa = sp;
	if (request->count == request->max || (request->until_cfa && sp >= request->until_cfa))
		return false;
	steps->exact = is_signal;
	*++steps->frame = (struct unwind_frame){.pc = pc, .cfa = sp, .signal = is_signal};
	request->count++;
	return true;
}

enum walk_end steps_without_rule(struct steps *steps)
{
	return unwinder_find_start(steps->unwinder, steps->frame->pc, steps->exact) ? WALK_COMPLETE : WALK_CUT;
}

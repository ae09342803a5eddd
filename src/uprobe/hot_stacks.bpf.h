/* The part of hot_calls.bpf.c that walks stacks. */
#ifndef FT_UPROBE_HOT_STACKS_BPF_H
#define FT_UPROBE_HOT_STACKS_BPF_H

static __always_inline const struct uprobe_row *find_row(__u64 pc, __u32 space)
{
	__u32 at = uprobe_row_hash(pc, space);
	const struct uprobe_row *row = bpf_map_lookup_elem(&rows, &at);

	if (row && row->pc == pc && row->space == space)
		return row;
	at ^= 1;
	row = bpf_map_lookup_elem(&rows, &at);
	return row && row->pc == pc && row->space == space ? row : 0;
}

/* Reads a word of the stack, from the window if it is there. */
static __always_inline bool stack_word(const struct uprobe_thread *thread, __u64 address, __u64 *word)
{
	const __u64 offset = address - thread->walk.window_at;

	if (offset < thread->walk.window_size && offset <= UPROBE_WINDOW - 8) {
		*word = *(const __u64 *)(thread->window + (offset & (UPROBE_WINDOW - 1)));
		return true;
	}
	return !bpf_probe_read_user(word, 8, (void *)address);
}

/* Goes on to the code that a signal has interrupted, which may be on another stack. Returns true if the walk ends here.
 * The kernel checks a function that is not inlined once, and not at each of its places in the walk. */
__noinline int leave_handler(struct uprobe_thread *thread)
{
	if (!thread)
		return true;
	struct uprobe_walk *const w = &thread->walk;
	const __u64 frame = w->at.sp;

	if (!stack_word(thread, frame + SIGNAL_PC, &w->at.pc) || !stack_word(thread, frame + SIGNAL_SP, &w->at.sp) ||
	    !stack_word(thread, frame + SIGNAL_FRAME, &w->at.bp))
		return true;
	const __u64 saved[] = {SIGNAL_SAVED};

#pragma clang loop unroll(full)
	for (__u32 i = 0; i < sizeof(saved) / sizeof(saved[0]); i++)
		stack_word(thread, frame + saved[i], &thread->interrupted[UPROBE_BP + 1 + i]);
	w->is_exact = true;
	w->end = UPROBE_CUT;
	w->interrupted = w->at;
	w->interrupted.pc |= UPROBE_EXACT;
	w->handler_frames = w->count;
	return false;
}

/* Adds a frame, and goes on to its caller. Returns 1 if the walk ends here. */
static long walk_frame(__u32 i, void *context)
{
	struct uprobe_thread *const thread = *(struct uprobe_thread **)context;
	struct uprobe_walk *const w = &thread->walk;

	if (i >= UPROBE_FRAMES_MAX)
		return 1;
	const __u64 key = w->is_exact ? w->at.pc | UPROBE_EXACT : w->at.pc;

	thread->frames[i] = i ? key : w->at.pc;
	w->count = i + 1;
	const struct uprobe_row *found = find_row(key, w->space);

	w->end = UPROBE_COPY;
	if (!found)
		return 1;
	const struct uprobe_row row = *found;

	/* The reader may have replaced the row since: it takes the key away first. */
	if (found->pc != key || found->space != w->space)
		return 1;
	w->end = row.rule == UPROBE_LAST ? UPROBE_WHOLE : UPROBE_NO_STACK;
	if (row.rule == UPROBE_LAST || row.rule == UPROBE_NOT_HERE)
		return 1;
	if (row.rule == UPROBE_SIGNAL)
		return leave_handler(thread) != 0;
	const __u64 cfa = (row.rule == UPROBE_FROM_BP ? w->at.bp : w->at.sp) + row.cfa_offset;

	if (cfa <= w->at.sp || !stack_word(thread, cfa - 8, &w->at.pc) ||
	    (row.bp_offset && !stack_word(thread, cfa + row.bp_offset, &w->at.bp)))
		return 1;
	w->at.sp = cfa;
	w->is_exact = false;
	w->end = w->at.pc ? UPROBE_CUT : UPROBE_WHOLE;
	return !w->at.pc;
}

/* Makes a record with the stack from `from` on. is_exact: the pc is where the thread is, and no return address. */
__noinline int send_walked(struct uprobe_thread *thread, const struct sent *what, const struct uprobe_place *from,
			   bool is_exact)
{
	if (!thread || !what || !from)
		return false;
	struct uprobe_walk *const w = &thread->walk;
	struct uprobe_record *const r = &thread->record;

	fill_record(r, what);
	w->at = *from;
	w->window_at = from->sp;
	w->window_size = UPROBE_WINDOW - 7;
	w->space = what->ids.space;
	w->count = w->handler_frames = w->end = 0;
	w->is_exact = is_exact;
	if (bpf_probe_read_user(thread->window, UPROBE_WINDOW, (void *)w->window_at))
		w->window_size = 0;
	bpf_loop(config.frames_wanted, walk_frame, &thread, 0);
	const __u32 count = w->count;

	if (count > UPROBE_FRAMES_MAX)
		return false;
	if (w->end == UPROBE_CUT || w->end == UPROBE_WHOLE) {
		r->stack = w->end;
		r->frame_count = count;
		return !bpf_ringbuf_output(&ring, r, sizeof(*r) + count * sizeof(__u64), BPF_RB_NO_WAKEUP);
	}
	if (w->end == UPROBE_COPY) {
		w->at.pc |= w->is_exact && count > 1 ? UPROBE_EXACT : 0;
		return send_copy(what, thread, count - 1, &w->at);
	}
	/* If a frame's caller cannot be computed from sp and bp, the reader walks the stack from the start, or, if a
	 * signal has come on another stack, from the code that it has interrupted. */
	if (!w->handler_frames || w->interrupted.sp - from->sp < UPROBE_COPY_SIZE)
		return send_copy(what, thread, 0, from);
	__builtin_memcpy(thread->registers, thread->interrupted, sizeof(thread->registers));
	return send_copy(what, thread, w->handler_frames, &w->interrupted);
}

#endif

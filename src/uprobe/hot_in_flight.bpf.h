/* The part of hot_calls.bpf.c that keeps the calls in flight of a thread. */
#ifndef FT_UPROBE_HOT_IN_FLIGHT_BPF_H
#define FT_UPROBE_HOT_IN_FLIGHT_BPF_H

struct calls_search {
	struct uprobe_thread *thread;
	struct sent *what; /* the new call */
	__u32 place;       /* where the new call is kept; UPROBE_CALLS: not found yet */
	bool is_nested;    /* another call of the thread may contain the new one */
	bool is_jumped;    /* the function of such a call has jumped to this one (realloc to malloc, in glibc) */
};

/* The kernel takes a call for ended if a later call, whose return is probed too, has its return address at a higher
 * place: the stack seems to be unwound. But a signal handler on another stack may have made the later call. Then the
 * earlier call still returns, and the kernel raises SIGILL. Keeps it for the reader, which then repairs the return.
 * Source: kernel/events/uprobes.c, cleanup_return_instances(). */
static __always_inline void keep_forgotten(struct uprobe_thread *thread, struct uprobe_call *ended, __u32 tid)
{
	const struct uprobe_forgotten_key key = {ended->return_sp, tid, ended->jumps};

	bpf_map_update_elem(&forgotten, &key, ended, BPF_ANY);
	ended->return_sp = 0;
	thread->used--;
	thread->has_forgotten = true;
}

/* The function of a forgotten call may jump to another one, for which the kernel then waits no more than for the first.
 * Returns true if the new call is such a one, and sets its number of jumps. */
static __noinline bool is_of_forgotten(struct uprobe_call *call, __u32 tid)
{
	struct uprobe_forgotten_key key = {call->return_sp, tid, 0};

	if (!bpf_map_lookup_elem(&forgotten, &key))
		return false;
	if (call->return_address != trampoline_address()) {
		/* The forgotten call was left by longjmp. */
		bpf_map_delete_elem(&forgotten, &key);
		return false;
	}
#pragma clang loop unroll(full)
	for (__u32 jumps = 1; jumps < UPROBE_CALLS; jumps++) {
		key.jumps = call->jumps = jumps;
		if (!bpf_map_lookup_elem(&forgotten, &key))
			break;
	}
	return true;
}

/* Keeps a new call until it returns. */
static __always_inline void keep_call(struct uprobe_thread *thread, __u32 at, const struct uprobe_call *call)
{
	struct uprobe_call *const place = &thread->calls[at < UPROBE_CALLS ? at : UPROBE_CALLS - 1];

	thread->used += !place->return_sp;
	*place = *call;
}

/* Looks at one call in flight. If it may contain the new one, it is sent, if it was not sent yet, so that the reader
 * knows it before the inner call. */
static long look_at_call(__u32 i, void *context)
{
	struct calls_search *const search = context;
	struct uprobe_call *const call = &search->what->call;

	if (i >= UPROBE_CALLS)
		return 1;
	struct uprobe_call *const outer = &search->thread->calls[i];

	if (outer->return_sp && outer->return_sp < call->return_sp && (call->address & UPROBE_RETURN))
		keep_forgotten(search->thread, outer, search->what->ids.tid);
	/* A call of the same function with the same return_sp has ended without a return. */
	if (outer->return_sp == call->return_sp && outer->address == call->address)
		search->place = i;
	else if (!outer->return_sp && search->place == UPROBE_CALLS)
		search->place = i;
	if (outer->return_sp < call->return_sp ||
	    (outer->return_sp == call->return_sp && outer->address == call->address))
		return 0;
	search->is_nested |= outer->return_sp > call->return_sp;
	if (outer->return_sp == call->return_sp && outer->jumps >= call->jumps) {
		search->is_jumped = true;
		call->jumps = outer->jumps + 1;
		call->return_address = outer->return_address;
	}
	if (outer->is_entered)
		return 0;
	const struct sent what = {.call = *outer, .ids = search->what->ids, .kind = UPROBE_ENTERED};

	sent_or_lost(send_plain(&what), &what);
	outer->is_entered = true;
	return 0;
}

struct return_search {
	struct uprobe_thread *thread;
	struct uprobe_call *call; /* is set to the call */
	bool is_found;
};

static long find_returned(__u32 i, void *context)
{
	struct return_search *const search = context;

	if (i >= UPROBE_CALLS)
		return 1;
	struct uprobe_call *const one = &search->thread->calls[i];

	if (one->return_sp != search->call->return_sp || one->address != search->call->address)
		return 0;
	*search->call = *one;
	one->return_sp = 0;
	search->thread->used--;
	search->is_found = true;
	return 1;
}

#endif

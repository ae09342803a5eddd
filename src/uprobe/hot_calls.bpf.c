/* The program in the kernel: makes a record of each call of a probed function, with the caller's stack.
 *
 * It runs at the entry and, for functions with UPROBE_RETURN, at the return of a call, in the thread that makes the
 * call. Each thread has a storage of its own, so nothing here is shared with another thread but the ring and the rows.
 *
 * The stack is walked by rows that the reader has entered. At a pc without a row the program sends the frames so far
 * and a copy of the stack from there; the reader walks the copy, and enters the rows that it has used. */
#include <linux/bpf.h>
#include <stdbool.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include "arch/x86/x86_uprobe_registers.h"
#include "uprobe/uprobe_record.h"

char LICENSE[] SEC("license") = "GPL";

#define CALLS_MAX   8    /* calls in flight of one thread: they nest only in signal handlers and in each other */
#define WINDOW      1024 /* stack bytes that are read at once */
#define MARGIN      (256u << 10) /* free bytes of the ring below which a thread waits for the reader */
#define SPIN_ROUNDS (1u << 16)

const volatile struct uprobe_config config = {.ring_size = 64 << 20, .frames_wanted = 16};

struct hot_call {
	__u64 address, return_sp, return_address, args[UPROBE_ARGS];
	__u64 is_entered; /* a record of the entry was sent or lost */
};

struct hot_thread {
	struct hot_call calls[CALLS_MAX]; /* return_sp 0: unused */
	struct uprobe_record record;      /* the record that is made, with its frames */
	__u64 frames[UPROBE_FRAMES_MAX];
	unsigned char window[WINDOW + 8];
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct hot_thread);
} threads SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 64 << 20);
} ring SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, UPROBE_ROWS);
	__type(key, __u32);
	__type(value, struct uprobe_row);
} rows SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct uprobe_shared);
} shared SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 65536);
	__type(key, __u32);
	__type(value, __u32);
} outers SEC(".maps"); /* threads in a call that has a breakpoint: uprobe_set_outer() */

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 65536);
	__type(key, __u32);
	__type(value, __u32);
} signalled SEC(".maps"); /* threads that were sent the signal: uprobe_sent_signal() */

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 4096);
	__type(key, struct uprobe_lost_key);
	__type(value, struct uprobe_lost);
} lost SEC(".maps");

struct ids {
	__u32 tid, tgid, space;
};

static __always_inline struct ids ids_of_thread(void)
{
	const __u64 both = bpf_get_current_pid_tgid();
	struct ids ids = {both, both >> 32, both >> 32};
	struct bpf_pidns_info info = {};

	if (config.ns_ino && !bpf_get_ns_current_pid_tgid(config.ns_dev, config.ns_ino, &info, sizeof(info))) {
		ids.tid = info.pid;
		ids.tgid = info.tgid;
	}
	return ids;
}

static __always_inline struct uprobe_shared *shared_memory(void)
{
	const __u32 zero = 0;

	return bpf_map_lookup_elem(&shared, &zero);
}

static __noinline void note_lost(__u64 address, __u32 tgid, __u64 bytes)
{
	const struct uprobe_lost_key key = {address, tgid, 0};
	const struct uprobe_lost none = {};
	struct uprobe_lost *sum = bpf_map_lookup_elem(&lost, &key);
	struct uprobe_shared *memory = shared_memory();

	if (!sum) {
		bpf_map_update_elem(&lost, &key, &none, BPF_NOEXIST);
		sum = bpf_map_lookup_elem(&lost, &key);
	}
	if (sum) {
		__sync_fetch_and_add(&sum->records, 1);
		__sync_fetch_and_add(&sum->bytes, bytes);
	} else if (memory) {
		__sync_fetch_and_add(&memory->unknown_lost, 1);
	}
	if (memory)
		__sync_fetch_and_add(&memory->lost, 1);
}

static __always_inline __u64 size_of_call(__u64 cookie, const __u64 args[UPROBE_ARGS])
{
	const __u32 at = cookie >> UPROBE_SIZE_SHIFT & 3;

	if (!(cookie & UPROBE_HAS_SIZE))
		return 0;
	if (cookie & UPROBE_TIMES)
		return at == 0 ? args[0] * args[1] : args[1] * args[2];
	return at == 0 ? args[0] : at == 1 ? args[1] : args[2];
}

static long ring_has_room(__u32 round, void *result)
{
	(void)round;
	if (bpf_ringbuf_query(&ring, BPF_RB_AVAIL_DATA) + MARGIN >= config.ring_size)
		return 0;
	*(__u32 *)result = 1;
	return 1;
}

/* Called before a record is made. If the ring is more than half full, sends this thread a signal, at which it stops
 * until the reader, which traces it, has emptied the ring. If the ring is nearly full, the thread also waits here for a
 * moment, because it may block the signal. */
static __noinline void wait_for_reader(__u32 tid)
{
	const __u32 one = 1;
	const __u64 used = bpf_ringbuf_query(&ring, BPF_RB_AVAIL_DATA);
	__u32 has_room = 0;

	if (used <= config.ring_size / 2)
		return;
	if (config.full_signal && !bpf_map_update_elem(&signalled, &tid, &one, BPF_ANY))
		bpf_send_signal_thread(config.full_signal);
	if (used + MARGIN >= config.ring_size)
		bpf_loop(SPIN_ROUNDS, ring_has_room, &has_room, 0);
}

struct sent {
	const struct hot_call *call;
	struct ids ids;
	__u64 result, pointee;
	__u8 kind, flags;
};

/* Fills a record without a stack. */
static __always_inline void fill_record(struct uprobe_record *r, const struct sent *what)
{
	const struct hot_call *const call = what->call;

	r->kind = what->kind;
	r->stack = UPROBE_NO_STACK;
	r->flags = what->flags;
	r->frame_count = 0;
	r->serial = call->address >> UPROBE_SERIAL_SHIFT & (UPROBE_SERIALS - 1);
	r->tid = what->ids.tid;
	r->tgid = what->ids.tgid;
	r->space = what->ids.space;
	r->address = call->address & UPROBE_ADDRESS;
	r->time_ns = bpf_ktime_get_ns();
	r->return_sp = call->return_sp;
	r->return_address = call->return_address;
	r->args[0] = call->args[0];
	r->args[1] = call->args[1];
	r->args[2] = call->args[2];
	r->result = what->result;
	r->pointee = what->pointee;
}

struct stack_place {
	__u64 pc, sp, bp;
};

#define PIECE 256

struct partial {
	struct uprobe_copy *copy;
	__u64 sp;
};

static long copy_piece(__u32 i, void *context)
{
	const struct partial *const partial = context;

	if (i >= UPROBE_COPY_SIZE / PIECE ||
	    bpf_probe_read_user(partial->copy->bytes + i * PIECE, PIECE, (void *)(partial->sp + i * PIECE)))
		return 1;
	partial->copy->size += PIECE;
	return 0;
}

/* Adds the registers and the stack from `at` on to a record. */
static __always_inline void copy_stack(struct uprobe_copy *copy, const struct pt_regs *ctx,
				       const struct stack_place *at)
{
	const __u64 saved[] = {TASK_SAVED(ctx)};

	copy->registers[UPROBE_PC] = at->pc;
	copy->registers[UPROBE_SP] = at->sp;
	copy->registers[UPROBE_BP] = at->bp;
	__builtin_memcpy(copy->registers + UPROBE_BP + 1, saved, sizeof(saved));
	copy->size = UPROBE_COPY_SIZE;
	if (!bpf_probe_read_user(copy->bytes, UPROBE_COPY_SIZE, (void *)at->sp))
		return;
	/* The stack ends within the copy. */
	struct partial partial = {copy, at->sp};

	copy->size = 0;
	bpf_loop(UPROBE_COPY_SIZE / PIECE, copy_piece, &partial, 0);
}

struct copied_record {
	struct uprobe_record record;
	__u64 frames[UPROBE_FRAMES_MAX];
	struct uprobe_copy copy;
};

/* Sends a record with the first `count` frames of the thread's record, and a copy of the stack from there on. */
static __noinline bool send_copy(const struct pt_regs *ctx, const struct sent *what, const struct hot_thread *thread,
				 __u32 count, const struct stack_place *at)
{
	struct copied_record *r = bpf_ringbuf_reserve(&ring, sizeof(*r), 0);
	struct uprobe_shared *memory = shared_memory();

	if (!r)
		return false;
	if (memory)
		__sync_fetch_and_add(&memory->copies, 1);
	fill_record(&r->record, what);
	r->record.stack = UPROBE_COPY;
	r->record.frame_count = count;
	__builtin_memcpy(r->frames, thread->frames, sizeof(r->frames));
	copy_stack(&r->copy, ctx, at);
	bpf_ringbuf_submit(r, BPF_RB_NO_WAKEUP);
	return true;
}

#include "hot_stacks.bpf.h"

static __noinline bool send_plain(const struct sent *what)
{
	struct uprobe_record *r = bpf_ringbuf_reserve(&ring, sizeof(*r), 0);

	if (!r)
		return false;
	fill_record(r, what);
	bpf_ringbuf_submit(r, BPF_RB_NO_WAKEUP);
	return true;
}

static __always_inline void sent_or_lost(bool is_sent, __u64 cookie, const struct hot_call *call, __u32 tgid)
{
	if (!is_sent)
		note_lost(cookie & UPROBE_ADDRESS, tgid, size_of_call(cookie, call->args));
}

struct outers_search {
	struct hot_thread *thread;
	const struct hot_call *call;
	struct ids ids;
	bool is_nested;
};

/* Looks at one call in flight: a call that may contain the new one is sent, if it was not sent yet, so that the reader
 * knows it before the inner call. */
static long look_at_outer(__u32 i, void *context)
{
	struct outers_search *const search = context;

	if (i >= CALLS_MAX)
		return 1;
	struct hot_call *const outer = &search->thread->calls[i];

	/* A call with the same return_sp may have jumped here (reallocarray to realloc). */
	if (outer->return_sp < search->call->return_sp ||
	    (outer->return_sp == search->call->return_sp && outer->address == search->call->address))
		return 0;
	search->is_nested = true;
	if (outer->is_entered)
		return 0;
	const struct sent what = {.call = outer, .ids = search->ids, .kind = UPROBE_ENTERED};

	sent_or_lost(send_plain(&what), outer->address, outer, search->ids.tgid);
	outer->is_entered = true;
	return 0;
}

/* Returns true if another call of the thread may be in flight: one of these functions, or one with a breakpoint. */
static __always_inline bool begin_outers(struct hot_thread *thread, const struct hot_call *call, struct ids ids)
{
	struct uprobe_shared *memory = shared_memory();
	struct outers_search search = {.thread = thread, .call = call, .ids = ids};

	search.is_nested = memory && memory->outer_count && bpf_map_lookup_elem(&outers, &ids.tid);
	bpf_loop(CALLS_MAX, look_at_outer, &search, 0);
	return search.is_nested;
}

/* Notes a call in flight. Its place is that of a call of the same function with the same return_sp, which has ended
 * without a return, or a free one, else the last. */
static __always_inline void keep_call(struct hot_thread *thread, const struct hot_call *call)
{
#pragma clang loop unroll(disable)
	for (int i = 0; i < CALLS_MAX; i++) {
		struct hot_call *other = &thread->calls[i];

		if (other->return_sp == call->return_sp && other->address == call->address) {
			*other = *call;
			return;
		}
	}
#pragma clang loop unroll(disable)
	for (int i = 0; i < CALLS_MAX; i++)
		if (!thread->calls[i].return_sp) {
			thread->calls[i] = *call;
			return;
		}
	thread->calls[CALLS_MAX - 1] = *call;
}

static __always_inline int call_entered(struct pt_regs *ctx)
{
	const __u64 cookie = bpf_get_attach_cookie(ctx);
	struct hot_thread *thread =
		bpf_task_storage_get(&threads, bpf_get_current_task_btf(), 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	const struct ids ids = ids_of_thread();
	struct hot_call call = {.address = cookie, .return_sp = TASK_SP(ctx) + 8, .args = {TASK_ARGUMENTS(ctx)}};
	struct sent what = {.call = &call, .ids = ids, .kind = UPROBE_ENTERED};

	if (!thread) {
		note_lost(cookie & UPROBE_ADDRESS, ids.tgid, size_of_call(cookie, call.args));
		return 0;
	}
	bpf_probe_read_user(&call.return_address, 8, (void *)TASK_SP(ctx));
	wait_for_reader(ids.tid);
	if (begin_outers(thread, &call, ids)) {
		const struct stack_place at = {cookie & UPROBE_ADDRESS, TASK_SP(ctx), TASK_FRAME(ctx)};

		what.flags = UPROBE_IS_NESTED;
		sent_or_lost(send_copy(ctx, &what, thread, 0, &at), cookie, &call, ids.tgid);
		call.is_entered = true;
	} else if ((cookie & UPROBE_STACK) &&
		   (!(cookie & UPROBE_RETURN) || ((cookie & UPROBE_ENTER) && config.entry_stacks))) {
		const struct stack_place at = {call.return_address, call.return_sp, TASK_FRAME(ctx)};

		sent_or_lost(send_walked(ctx, thread, &what, &at, false), cookie, &call, ids.tgid);
		call.is_entered = true;
	} else if (cookie & UPROBE_ENTER) {
		sent_or_lost(send_plain(&what), cookie, &call, ids.tgid);
		call.is_entered = true;
	}
	if (cookie & UPROBE_RETURN)
		keep_call(thread, &call);
	return 0;
}

static __always_inline int call_returned_here(struct pt_regs *ctx)
{
	const __u64 cookie = bpf_get_attach_cookie(ctx) & ~UPROBE_AT_RETURN;
	struct hot_thread *thread = bpf_task_storage_get(&threads, bpf_get_current_task_btf(), 0, 0);
	const struct ids ids = ids_of_thread();
	struct uprobe_shared *memory = shared_memory();
	struct hot_call call;
	bool is_found = false;

	if (!thread || !memory)
		return 0;
#pragma clang loop unroll(disable)
	for (int i = 0; i < CALLS_MAX; i++) {
		struct hot_call *one = &thread->calls[i];

		if (one->return_sp != TASK_SP(ctx) || one->address != cookie)
			continue;
		call = *one;
		one->return_sp = 0;
		is_found = true;
		break;
	}
	if (!is_found) {
		__sync_fetch_and_add(&memory->unmatched, 1);
		return 0;
	}
	struct sent what = {.call = &call, .ids = ids, .kind = UPROBE_RETURNED, .result = TASK_RESULT(ctx)};
	const struct stack_place at = {TASK_PC(ctx), TASK_SP(ctx), TASK_FRAME(ctx)};

	/* The entry could not read it if that page of the stack was not in memory. */
	call.return_address = TASK_PC(ctx);
	if (call.is_entered)
		what.flags = UPROBE_WAS_ENTERED;
	if (cookie & UPROBE_POINTEE)
		bpf_probe_read_user(&what.pointee, 8, (void *)call.args[0]);
	wait_for_reader(ids.tid);
	sent_or_lost(cookie & UPROBE_STACK ? send_walked(ctx, thread, &what, &at, true) : send_plain(&what), cookie,
		     &call, ids.tgid);
	return 0;
}

SEC("kprobe/call")
int on_call(struct pt_regs *ctx)
{
	return bpf_get_attach_cookie(ctx) & UPROBE_AT_RETURN ? call_returned_here(ctx) : call_entered(ctx);
}

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
#include "uprobe/uprobe_maps.h"

char LICENSE[] SEC("license") = "GPL";

#define MARGIN      (256u << 10) /* free bytes of the ring below which a thread waits for the reader */
#define SPIN_ROUNDS (1u << 16)

const volatile struct uprobe_config config = {.ring_size = 64 << 20, .frames_wanted = 16};

#include "hot_rights.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct uprobe_thread);
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
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1024);
	__type(key, struct uprobe_forgotten_key);
	__type(value, struct uprobe_call);
} forgotten SEC(".maps"); /* uprobe_take_returned() */

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

static __always_inline struct ids ids_of_thread(__u64 cookie)
{
	const __u64 both = bpf_get_current_pid_tgid();
	struct ids ids = {both, both >> 32, uprobe_space(both >> 32, cookie)};
	struct task_struct *const task = bpf_get_current_task_btf();

	if (config.ns_ino) {
		ids.tid = number_of(task);
		ids.tgid = number_of(BPF_CORE_READ(task, group_leader));
	}
	return ids;
}

static __always_inline struct uprobe_shared *shared_memory(void)
{
	const __u32 zero = 0;

	return bpf_map_lookup_elem(&shared, &zero);
}

struct sent {
	struct uprobe_call call;
	struct ids ids;
	__u64 result, pointee;
	__u8 kind, flags;
};

static __always_inline __u64 size_of_call(__u64 cookie, const __u64 args[UPROBE_ARGS])
{
	const __u32 at = cookie >> UPROBE_SIZE_SHIFT & 3;

	if (!(cookie & UPROBE_HAS_SIZE))
		return 0;
	if (cookie & UPROBE_TIMES)
		return at == 0 ? args[0] * args[1] : args[1] * args[2];
	return at == 0 ? args[0] : at == 1 ? args[1] : args[2];
}

/* Counts a call that has no record. */
__noinline int note_lost(const struct sent *what)
{
	if (!what)
		return 0;
	const struct uprobe_lost_key key = {what->call.address & UPROBE_ADDRESS, what->ids.tgid, 0};
	const struct uprobe_lost none = {};
	struct uprobe_lost *sum = bpf_map_lookup_elem(&lost, &key);
	struct uprobe_shared *memory = shared_memory();

	if (!sum) {
		bpf_map_update_elem(&lost, &key, &none, BPF_NOEXIST);
		sum = bpf_map_lookup_elem(&lost, &key);
	}
	if (sum) {
		__sync_fetch_and_add(&sum->records, 1);
		__sync_fetch_and_add(&sum->bytes, size_of_call(what->call.address, what->call.args));
	} else if (memory) {
		__sync_fetch_and_add(&memory->unknown_lost, 1);
	}
	if (memory)
		__sync_fetch_and_add(&memory->lost, 1);
	return 0;
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
__noinline int wait_for_reader(__u32 tid)
{
	const __u32 one = 1;
	const __u64 used = bpf_ringbuf_query(&ring, BPF_RB_AVAIL_DATA);
	__u32 has_room = 0;

	if (used <= config.ring_size / 2)
		return 0;
	if (config.full_signal && !is_blocked(config.full_signal) &&
	    !bpf_map_update_elem(&signalled, &tid, &one, BPF_ANY))
		bpf_send_signal_thread(config.full_signal);
	if (used + MARGIN >= config.ring_size)
		bpf_loop(SPIN_ROUNDS, ring_has_room, &has_room, 0);
	return 0;
}

/* Fills a record without a stack. */
static __always_inline void fill_record(struct uprobe_record *r, const struct sent *what)
{
	r->kind = what->kind;
	r->stack = UPROBE_NO_STACK;
	r->flags = what->flags;
	r->frame_count = 0;
	r->tid = what->ids.tid;
	r->tgid = what->ids.tgid;
	r->space = what->ids.space;
	r->time_ns = bpf_ktime_get_ns();
	uprobe_record_call(r, &what->call);
	r->result = what->result;
	r->pointee = what->pointee;
}

#define PIECE 256

struct partial {
	struct uprobe_copy *copy;
	__u64 sp;
};

static long copy_piece(__u32 i, void *context)
{
	const struct partial *const partial = context;

	if (i >= UPROBE_COPY_SIZE / PIECE)
		return 1;
	const __u64 at = partial->sp + i * PIECE, rest = -at & (PIECE - 1);
	unsigned char *const to = partial->copy->bytes + i * PIECE;

	if (!bpf_probe_read_user(to, PIECE, (void *)at)) {
		partial->copy->size += PIECE;
		return 0;
	}
	/* The stack ends within this piece, at the end of a page. */
	if (!bpf_probe_read_user(to, rest, (void *)at))
		partial->copy->size += rest;
	return 1;
}

/* Adds the registers and the stack from `at` on to a record. */
static __always_inline void copy_stack(struct uprobe_copy *copy, const struct uprobe_thread *thread,
				       const struct uprobe_place *at)
{
	__builtin_memcpy(copy->registers, thread->registers, sizeof(copy->registers));
	copy->trampoline = trampoline_address();
	copy->registers[UPROBE_PC] = at->pc;
	copy->registers[UPROBE_SP] = at->sp;
	copy->registers[UPROBE_BP] = at->bp;
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
__noinline int send_copy(const struct sent *what, const struct uprobe_thread *thread, __u32 count,
			 const struct uprobe_place *at)
{
	if (!what || !thread || !at)
		return false;
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
	copy_stack(&r->copy, thread, at);
	bpf_ringbuf_submit(r, BPF_RB_NO_WAKEUP);
	return true;
}

#include "hot_stacks.bpf.h"

__noinline int send_plain(const struct sent *what)
{
	if (!what)
		return false;
	struct uprobe_record *r = bpf_ringbuf_reserve(&ring, sizeof(*r), 0);

	if (!r)
		return false;
	fill_record(r, what);
	bpf_ringbuf_submit(r, BPF_RB_NO_WAKEUP);
	return true;
}

static __always_inline void sent_or_lost(bool is_sent, const struct sent *what)
{
	if (!is_sent)
		note_lost(what);
}

#include "hot_in_flight.bpf.h"

/* Keeps the registers that a copy of the stack may need. */
static __always_inline void keep_registers(struct uprobe_thread *thread, const struct pt_regs *ctx)
{
	const __u64 saved[] = {TASK_SAVED(ctx)};

	__builtin_memcpy(thread->registers + UPROBE_BP + 1, saved, sizeof(saved));
}

/* Sends what is to be sent of a new call. Returns true if a record was sent or lost. */
static __always_inline bool send_entry(const struct calls_search *search, __u64 frame)
{
	struct uprobe_thread *const thread = search->thread;
	struct sent *const what = search->what;
	const __u64 cookie = what->call.address;

	if (search->is_nested || search->is_jumped)
		what->flags = UPROBE_IS_NESTED;
	if (search->is_nested) {
		const struct uprobe_place at = {cookie & UPROBE_ADDRESS, what->call.return_sp - 8, frame};

		sent_or_lost(send_copy(what, thread, 0, &at), what);
	} else if (search->is_jumped) {
		sent_or_lost(send_plain(what), what);
	} else if ((cookie & UPROBE_STACK) &&
		   (!(cookie & UPROBE_RETURN) || ((cookie & UPROBE_ENTER) && config.entry_stacks))) {
		const struct uprobe_place at = {what->call.return_address, what->call.return_sp, frame};

		sent_or_lost(send_walked(thread, what, &at, false), what);
	} else if (cookie & UPROBE_ENTER) {
		sent_or_lost(send_plain(what), what);
	} else {
		return false;
	}
	return true;
}

static __always_inline int call_entered(struct pt_regs *ctx, __u64 cookie)
{
	struct uprobe_thread *thread =
		bpf_task_storage_get(&threads, bpf_get_current_task_btf(), 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	struct uprobe_shared *memory = shared_memory();
	struct sent what = {.call = {.address = cookie, .return_sp = TASK_SP(ctx) + 8, .args = {TASK_ARGUMENTS(ctx)}},
			    .ids = ids_of_thread(cookie),
			    .kind = UPROBE_ENTERED};
	struct calls_search search = {.thread = thread, .what = &what, .place = UPROBE_CALLS};

	if (!thread || !memory) {
		sent_or_lost(false, &what);
		return 0;
	}
	bpf_probe_read_user(&what.call.return_address, 8, (void *)TASK_SP(ctx));
	keep_registers(thread, ctx);
	wait_for_reader(what.ids.tid);
	search.is_nested = memory->outer_count && bpf_map_lookup_elem(&outers, &what.ids.tid);
	if (thread->used)
		bpf_loop(UPROBE_CALLS, look_at_call, &search, 0);
	else
		search.place = 0;
	const bool is_forgotten =
		thread->has_forgotten && (cookie & UPROBE_RETURN) && is_of_forgotten(&what.call, what.ids.tid);

	search.is_jumped |= is_forgotten;
	what.call.is_entered = send_entry(&search, TASK_FRAME(ctx));
	if (is_forgotten) {
		const struct uprobe_forgotten_key key = {what.call.return_sp, what.ids.tid, what.call.jumps};

		bpf_map_update_elem(&forgotten, &key, &what.call, BPF_ANY);
	} else if (cookie & UPROBE_RETURN) {
		keep_call(thread, search.place, &what.call);
	}
	return 0;
}

static __always_inline int call_returned_here(struct pt_regs *ctx, __u64 cookie)
{
	struct uprobe_thread *thread = bpf_task_storage_get(&threads, bpf_get_current_task_btf(), 0, 0);
	struct uprobe_shared *memory = shared_memory();
	struct sent what = {.call = {.address = cookie, .return_sp = TASK_SP(ctx)},
			    .ids = ids_of_thread(cookie),
			    .kind = UPROBE_RETURNED,
			    .result = TASK_RESULT(ctx)};
	struct return_search search = {.thread = thread, .call = &what.call};
	const struct uprobe_place at = {TASK_PC(ctx), TASK_SP(ctx), TASK_FRAME(ctx)};

	if (!thread || !memory)
		return 0;
	/* Mostly no other call is in flight. */
	if (!find_returned(0, &search))
		bpf_loop(UPROBE_CALLS, find_returned, &search, 0);
	if (!search.is_found) {
		__sync_fetch_and_add(&memory->unmatched, 1);
		return 0;
	}
	/* The entry could not read it if that page of the stack was not in memory. */
	what.call.return_address = TASK_PC(ctx);
	if (what.call.is_entered)
		what.flags = UPROBE_WAS_ENTERED;
	if (cookie & UPROBE_POINTEE)
		bpf_probe_read_user(&what.pointee, 8, (void *)what.call.args[0]);
	keep_registers(thread, ctx);
	wait_for_reader(what.ids.tid);
	sent_or_lost(cookie & UPROBE_STACK ? send_walked(thread, &what, &at, true) : send_plain(&what), &what);
	return 0;
}

/* Counts a call of a traced thread that ptrace would not show any more. */
static __always_inline void note_unseen(void)
{
	struct uprobe_shared *const memory = shared_memory();

	if (memory && is_tracee())
		__sync_fetch_and_add(&memory->unknown_lost, 1);
}

SEC("kprobe/call")
int on_call(struct pt_regs *ctx)
{
	const __u64 cookie = bpf_get_attach_cookie(ctx);

	if (!may_record()) {
		note_unseen();
		return 0;
	}
	return cookie & UPROBE_AT_RETURN ? call_returned_here(ctx, cookie & ~UPROBE_AT_RETURN)
					 : call_entered(ctx, cookie);
}

#include "config.h"
#include "tracer/model.h"
#include "base/msg.h"

#include <stdlib.h>
#include <string.h>

/* What is live, and the order in which events may be written.
 *
 * A release is recorded at its entry and an allocation at its return. Then "A: free(p)", "B: malloc() = p" can
 * never appear swapped: B can only be given p after A has run on from its stop.
 *
 * A release that can fail (realloc) is reserved at its entry and committed by the first proof that it
 * succeeded: its own return; an inner release; or another call that returns the same id:
 *
 *	A: realloc(p) enters | A frees p inside | B: malloc returns p | A: realloc returns q
 *
 * Where an id is out before its call returns (posix_memalign writes its pointer first), a release of an
 * unknown id waits until the calls that may produce it have returned. */

#define FAMILY_SHIFT 56
#define INHERITED    (1ull << 55) /* from before the fork */
#define SIZE_MASK    (INHERITED - 1)

#define HELD_MAX 1024

struct held_release {
	struct event event;
	struct unwind_frame *frames;
	pid_t tid;
	struct held_release *next;
};

static size_t resource_count(const struct process *p)
{
	size_t count = 1;

	for (size_t i = 0; i < p->tracer->set->module_count; i++)
		count += p->tracer->set->modules[i]->resource_count;
	return count;
}

void ledger_init(struct process *p)
{
	p->live = xcalloc(resource_count(p), sizeof(*p->live));
	p->held_end = &p->held;
}

void ledger_free(struct process *p)
{
	for (size_t i = 0; p->live && i < resource_count(p); i++)
		hash_free(&p->live[i].sizes);
	free(p->live);
	hash_free(&p->reserved);
	p->held_count = 0;
	while (p->held) {
		struct held_release *next = p->held->next;

		free(p->held->frames);
		free(p->held);
		p->held = next;
	}
}

/* A fork's child has the parent's blocks too. */
void ledger_fork(const struct process *from, struct process *to)
{
	struct hash_entry *entry;

	for (size_t r = 0; r < resource_count(from); r++) {
		struct hash *const sizes = &to->live[r].sizes;

		hash_copy(&from->live[r].sizes, sizes);
		for (size_t i = 0; (entry = hash_next(sizes, &i));)
			entry->value |= INHERITED;
		to->live[r].bytes = to->live[r].peak_bytes = from->live[r].bytes;
		to->live[r].inherited = from->live[r].sizes.count;
		to->live[r].inherited_bytes = from->live[r].bytes;
	}
}

static struct live_set *live_of(struct process *p, const struct event *e)
{
	return &p->live[e->probe->wanted->resource];
}

bool ledger_knows(const struct process *p, uint32_t resource, uint64_t id)
{
	return hash_get(&p->live[resource].sizes, id) != NULL;
}

struct live_total ledger_live(const struct process *p)
{
	struct live_total total = {0};

	for (size_t i = 0; i < resource_count(p); i++) {
		const struct live_set *live = &p->live[i];

		total.blocks += live->sizes.count - live->inherited;
		total.bytes += live->bytes - live->inherited_bytes;
		total.inherited += live->inherited;
		total.inherited_bytes += live->inherited_bytes;
	}
	return total;
}

/* A block is not live any more. */
static void drop_live(struct live_set *live, uint64_t value)
{
	live->bytes -= value & SIZE_MASK;
	if (!(value & INHERITED))
		return;
	live->inherited--;
	live->inherited_bytes -= value & SIZE_MASK;
}

/* Families ("malloc", "new") are numbered by their first letters: enough to tell them apart. */
static unsigned family_of(const struct event *e)
{
	const char *family = e->probe->any_family ? NULL : e->probe->wanted->function->family;
	unsigned number = 0;

	for (; family && *family; family++)
		number = (number * 31 + (unsigned char)*family) & 0xff;
	return number;
}

static void mismatch_check(struct process *p, const struct event *e, uint64_t live)
{
	const unsigned made = (unsigned)(live >> FAMILY_SHIFT), released = family_of(e);

	if (!made || !released || made == released)
		return;
	if (p->counts.mismatched++ < 100)
		output_note(p, "mismatch: %s releases 0x%llx, which another family of functions allocated",
			    e->probe->shown, (unsigned long long)e->id);
}

static void write_release(struct process *p, const struct event *e)
{
	struct live_set *live = live_of(p, e);
	uint64_t value;

	lend_no_more(p);
	p->counts.releases++;
	output_call(p, e, CALL_RELEASE);
	if (hash_remove(&live->sizes, e->id, &value)) {
		drop_live(live, value);
		mismatch_check(p, e, value);
		return;
	}
	p->counts.unknown_releases++;
	/* Nobody is accused where a call may have been missed. */
	if (!p->attached && !p->may_miss && !p->counts.no_return_seen && p->counts.unknown_releases <= 100)
		output_note(p, "%s releases 0x%llx, which is not allocated (a double or foreign release)",
			    e->probe->shown, (unsigned long long)e->id);
}

void ledger_allocated(struct process *p, const struct event *e)
{
	struct live_set *live = live_of(p, e);
	const uint64_t size = e->size < SIZE_MASK ? e->size : SIZE_MASK;

	lend_no_more(p);
	if (p->reserved.count) {
		struct call *call = hash_get_ptr(&p->reserved, e->id);

		if (call)
			ledger_commit(p, call);
	}
	const uint64_t *old = hash_get(&live->sizes, e->id);

	if (old)
		drop_live(live, *old);
	hash_set(&live->sizes, e->id, size | (uint64_t)family_of(e) << FAMILY_SHIFT);
	live->bytes += size;
	if (live->bytes > live->peak_bytes)
		live->peak_bytes = live->bytes;
	p->counts.allocations++;
	output_call(p, e, CALL_ALLOC);
}

void ledger_call(struct process *p, const struct event *e)
{
	output_call(p, e, CALL_COPY);
}

/* Writes a held release; *link is the next one then. */
static void write_held(struct process *p, struct held_release **link)
{
	struct held_release *held = *link;

	*link = held->next;
	held->event.task = task_find(p->tracer, held->tid);
	write_release(p, &held->event);
	free(held->frames);
	free(held);
	p->held_count--;
}

void ledger_released(struct process *p, const struct event *e)
{
	if (!p->publishers || ledger_knows(p, e->probe->wanted->resource, e->id)) {
		write_release(p, e);
		return;
	}
	struct held_release *held = xcalloc(1, sizeof(*held));

	held->event = *e;
	held->tid = e->task->tid;
	held->frames = frames_copy(e->frames, e->frame_count);
	held->event.frames = held->frames;
	*p->held_end = held;
	p->held_end = &held->next;
	/* A call that never returns (a longjmp out of posix_memalign) must not hold everything for ever. */
	if (++p->held_count <= HELD_MAX)
		return;
	write_held(p, &p->held);
	if (!p->held)
		p->held_end = &p->held;
}

void ledger_publisher_done(struct process *p)
{
	struct held_release **link = &p->held;

	while (*link) {
		const struct event *e = &(*link)->event;

		if (p->publishers && !ledger_knows(p, e->probe->wanted->resource, e->id))
			link = &(*link)->next;
		else
			write_held(p, link);
	}
	p->held_end = link;
}

void ledger_forget_probe(struct process *p, const struct probe *probe)
{
	struct held_release **link = &p->held;

	while (*link) {
		if ((*link)->event.probe == probe)
			write_held(p, link);
		else
			link = &(*link)->next;
	}
	p->held_end = link;
}

static void unreserve(struct process *p, struct call *call)
{
	if (hash_get_ptr(&p->reserved, call->released) == call)
		hash_remove(&p->reserved, call->released, NULL);
	call->reserved = false;
	free(call->frames);
	call->frames = NULL;
}

void ledger_withdraw(struct process *p, struct call *call)
{
	unreserve(p, call);
}

void ledger_reserve(struct process *p, struct call *call, uint64_t id)
{
	struct call *older = hash_get_ptr(&p->reserved, id);

	/* Nobody gives the same id up twice at a time: the older call has ended without a return. */
	if (older)
		ledger_withdraw(p, older);
	call->released = id;
	call->reserved = true;
	hash_set_ptr(&p->reserved, id, call);
}

void ledger_commit(struct process *p, struct call *call)
{
	/* The event carries the entry's time: that is when the caller gave the id up. */
	const struct event e = {.task = call->task,
				.probe = call->probe,
				.id = call->released,
				.time_ns = call->time_ns,
				.frames = call->frames,
				.frame_count = call->frame_count,
				.has_frames = call->frames,
				.end = call->end};

	/* It proves nothing any more while its own event is written. */
	call->frames = NULL;
	unreserve(p, call);
	write_release(p, &e);
	free(e.frames);
}

void ledger_entered_release(struct process *p, struct task *task, uint64_t id, bool is_inner)
{
	struct call *call = hash_get_ptr(&p->reserved, id);

	if (call && !is_inner)
		ledger_withdraw(p, call);
	else if (call && call->task == task)
		ledger_commit(p, call);
}

/* Converts random traces from each format into each format. The result must be what both formats can represent, which
 * the projections below compute independently of the formats' code. */
#include "config.h"
#include "records.h"
#include "unit_test.h"

#include "long.h"
#include "trace_util.h"

#include <inttypes.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TRACES = 100, TRACES_LONG = 1000, EVENTS_MAX = 60, ROOM = 3 * EVENTS_MAX };

struct event {
	enum call_kind kind;
	const char *function;
	uint32_t resource, tid;
	uint64_t id, size, time_ns;
	uint32_t frames;
};

struct list {
	struct event items[ROOM];
	size_t count;
};

static uint64_t state;

static uint64_t below(uint64_t limit)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state % limit;
}

/* ---- Made up ---- */

static const uint64_t stack[] = {0x401000, 0x402000, 0x7f0000001234};

static void add(struct list *list, enum call_kind kind, const char *function, uint64_t id, uint64_t size, uint32_t tid)
{
	list->items[list->count] = (struct event){
		.kind = kind,
		.function = function,
		.resource = 1,
		.tid = tid,
		.id = id,
		.size = kind == CALL_RELEASE ? 0 : size,
		.time_ns = UINT64_C(80000000000000) + list->count * UINT64_C(1234567000),
		.frames = kind == CALL_RELEASE ? 0 : (uint32_t)(1 + below(3)),
	};
	list->count++;
}

/* Makes random events with few ids, so that some are allocated while live, released twice, or released without an
 * allocation. */
static void make_random_events(struct list *list, size_t count)
{
	list->count = 0;
	while (list->count < count) {
		const uint64_t id = 0x7000 + 16 * below(8), size = below(4) ? below(5000) : below(UINT64_C(1) << 40);
		const uint32_t tid = (uint32_t)(1000 + below(3));

		switch (below(10)) {
		case 0:
		case 1:
		case 2:
			add(list, CALL_ALLOC, "malloc", id, size, tid);
			break;
		case 3:
			add(list, CALL_ALLOC, "operator new(unsigned long)", id, size, tid);
			break;
		case 4:
		case 5:
			add(list, CALL_RELEASE, "free", id, 0, tid);
			break;
		case 6:
			add(list, CALL_RELEASE, "realloc", id, 0, tid);
			add(list, CALL_ALLOC, "realloc", below(2) ? id : 0x7000 + 16 * below(8), size, tid);
			break;
		case 7: /* a realloc with a call of another thread in its middle, or without its second half */
			add(list, CALL_RELEASE, "realloc", id, 0, tid);
			if (below(2))
				add(list, CALL_RELEASE, "free", 0x7000 + 16 * below(8), 0, tid + 1);
			if (below(2))
				add(list, CALL_ALLOC, "realloc", 0x7000 + 16 * below(8), size, tid);
			break;
		case 8:
			add(list, CALL_ALLOC, "malloc", 0, size, tid);
			break;
		case 9:
			add(list, below(2) ? CALL_ALLOC : CALL_RELEASE, "open", 3 + below(4), 0, tid);
			list->items[list->count - 1].resource = 2;
			break;
		}
	}
}

static void put_all(const struct list *list, const char *encoding, struct buf *out)
{
	struct record *records = calloc(3 + 2 * list->count, sizeof(*records));
	size_t count = 0;
	uint32_t tid = 0;

	records[count++] =
		(struct record){PROCESS_RECORD(.arch = "x86_64", .pointer_size = 8, .pid = 7, .has_pid = true,
					       .start_sec = 1700000000, .depth = 8, .has_depth = true)};
	records[count++] =
		(struct record){.type = RECORD_RESOURCE, .resource = {1, 0, "memory", "memory allocation in bytes"}};
	records[count++] = (struct record){.type = RECORD_RESOURCE, .resource = {2, 0, "fd", "file descriptor"}};
	for (size_t i = 0; i < list->count; i++) {
		const struct event *e = &list->items[i];

		if (e->tid != tid)
			records[count++] = (struct record){.type = RECORD_THREAD, .thread = {e->tid, ""}};
		tid = e->tid;
		records[count++] = (struct record){
			CALL_RECORD(.index = i + 1, .time_ns = e->time_ns, .resource = e->resource, .kind = e->kind,
				    .function = e->function, .id = e->id, .size = e->size, .frames = stack,
				    .frame_count = e->frames, .has_frames = e->frames)};
	}
	write_trace(encoding, NULL, records, count, out);
	free(records);
}

/* ---- The data that a format can represent ---- */

static size_t find_live(const struct list *live, uint64_t id)
{
	size_t i = 0;

	while (i < live->count && live->items[i].id != id)
		i++;
	return i;
}

static bool take_live(struct list *live, uint64_t id)
{
	const size_t i = find_live(live, id);

	if (i == live->count)
		return false;
	live->items[i] = live->items[--live->count];
	return true;
}

static void put_event(struct list *to, enum call_kind kind, const char *function, const struct event *e)
{
	to->items[to->count] = *e;
	to->items[to->count].kind = kind;
	to->items[to->count].function = function;
	to->items[to->count].time_ns = TIME_NONE;
	to->items[to->count].frames = 0;
	to->items[to->count++].resource = 1;
}

/* Adds the allocation to the events and to the live blocks. */
static void put_allocation(struct list *to, struct list *live, const char *function, const struct event *e)
{
	live->items[live->count++] = *e;
	put_event(to, CALL_ALLOC, function, e);
}

static void put_unseen(struct list *to, struct list *live, uint64_t id)
{
	if (take_live(live, id))
		put_event(to, CALL_RELEASE, "free", &(struct event){.id = id});
}

/* Keeps the data that mpatrol's format can represent: only memory, with malloc, realloc and free in place of all other
 * functions; no failed calls, no releases of unknown blocks, and no times. */
static void project_mpatrol(const struct list *from, struct list *to)
{
	struct list live = {0}, memory = {0};

	to->count = 0;
	for (size_t i = 0; i < from->count; i++)
		if (from->items[i].resource == 1)
			memory.items[memory.count++] = from->items[i];
	for (size_t i = 0; i < memory.count; i++) {
		const struct event *e = &memory.items[i], *next = e + 1;
		const bool is_pair = !strcmp(e->function, "realloc") && e->kind == CALL_RELEASE &&
				     i + 1 < memory.count && next->kind == CALL_ALLOC && next->id &&
				     !strcmp(next->function, "realloc") && next->tid == e->tid;

		if (e->kind == CALL_ALLOC && e->id) {
			put_unseen(to, &live, e->id);
			put_allocation(to, &live, "malloc", e);
		} else if (e->kind == CALL_RELEASE && take_live(&live, e->id)) {
			if (!is_pair) {
				put_event(to, CALL_RELEASE, "free", e);
				continue;
			}
			put_unseen(to, &live, next->id);
			put_event(to, CALL_RELEASE, "realloc", e);
			put_allocation(to, &live, "realloc", next);
			i++;
		}
	}
}

static void project_same(const struct list *from, struct list *to)
{
	*to = *from;
}

static const struct format {
	const char *name;
	void (*project)(const struct list *from, struct list *to);
} formats[] = {
	{"rtrace", project_same}, {"text", project_same},       {"mpatrol", project_mpatrol},
	{"swap", project_same},   {"stacktrack", project_same},
};

/* ---- Compared ---- */

static void describe(struct buf *out, const struct event *e)
{
	buf_printf(out, "%u %s r%u t%u %" PRIx64 " %" PRIu64 " %u frames", (unsigned)e->kind, e->function, e->resource,
		   e->tid, e->id, e->size, e->frames);
	if (e->time_ns != TIME_NONE)
		buf_printf(out, " at %" PRIu64, e->time_ns);
	buf_add_char(out, '\n');
}

static void describe_trace(const struct buf *bytes, struct buf *out)
{
	char error[512];
	struct reader *reader = reader_new(memory_file(bytes->data, bytes->size), NULL, error, sizeof(error));
	struct record record;
	uint32_t tid = 0;
	int status;

	assert_non_null(reader);
	while ((status = reader_next(reader, &record)) == 1) {
		const struct record_call *call = &record.call;

		if (record.type == RECORD_THREAD)
			tid = record.thread.tid;
		if (record.type == RECORD_CALL)
			describe(out, &(struct event){.kind = call->kind,
						      .function = call->function,
						      .resource = call->resource,
						      .tid = tid,
						      .id = call->id,
						      .size = call->size,
						      .frames = call->frame_count,
						      .time_ns = call->time_ns});
	}
	assert_int_equal(status, 0);
	assert_int_equal(reader_complaints(reader), 0);
	reader_close(reader);
}

static void check(const struct list *made, const struct format *from, const struct format *to)
{
	struct buf first = {0}, second = {0}, third = {0}, got = {0}, expected = {0};
	struct list *held = malloc(sizeof(*held)), *both = malloc(sizeof(*both));

	from->project(made, held);
	to->project(held, both);
	for (size_t i = 0; i < both->count; i++)
		describe(&expected, &both->items[i]);
	put_all(made, from->name, &first);
	assert_int_equal(convert_trace(first.data, first.size, to->name, false, &second), 0);
	describe_trace(&second, &got);
	assert_text(&got, buf_str(&expected));
	/* The result is the same after the conversion back. */
	got.size = 0;
	assert_int_equal(convert_trace(second.data, second.size, from->name, false, &third), 0);
	describe_trace(&third, &got);
	assert_text(&got, buf_str(&expected));
	free(held);
	free(both);
	buf_free(&first);
	buf_free(&second);
	buf_free(&third);
	buf_free(&got);
	buf_free(&expected);
}

static void test_conversions_keep_what_both_formats_represent(void **unused)
{
	const uint64_t traces = test_is_long() ? TRACES_LONG : TRACES;
	struct list *made = malloc(sizeof(*made));

	for (uint64_t seed = 1; seed <= traces; seed++) {
		state = seed * UINT64_C(0x9e3779b97f4a7c15);
		make_random_events(made, below(EVENTS_MAX));
		for (size_t from = 0; from < ARRAY_SIZE(formats); from++)
			for (size_t to = 0; to < ARRAY_SIZE(formats); to++)
				check(made, &formats[from], &formats[to]);
	}
	free(made);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_conversions_keep_what_both_formats_represent)};

	/* The memory of one trace is reused for the next one: page faults would take longer than the rest. */
	mallopt(M_TRIM_THRESHOLD, 64 << 20);
	mallopt(M_MMAP_THRESHOLD, 64 << 20);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

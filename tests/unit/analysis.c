/* Tests the stages of the pipeline with records that the tests make. */
#include "config.h"
#include "records.h"
#include "unit_test.h"

#include "analysis/leaks/call_store.h"
#include "analysis/leaks/call_groups.h"
#include "analysis/call_pool.h"
#include "analysis/leaks/sp_rtrace_order.h"
#include "analysis/leaks/leaks.h"
#include "analysis/mpatrol/mpatrol_outputs.h"
#include "analysis/select/prepare.h"
#include "analysis/trim.h"
#include "analysis/leaks/reorder.h"
#include "analysis/select/select.h"
#include "analysis/select/split.h"
#include "analysis/leaks/leak_summary.h"
#include "base/buf.h"

#include <dlfcn.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* The last stage, which writes each record as a short line. */
struct sink {
	struct stage stage;
	struct buf text;
	bool finished;
	unsigned fail_after; /* after this number of records sink_put() returns -ENOSPC; 0: never */
	unsigned count;
};

static void write_call(struct buf *text, const struct record_call *call)
{
	buf_printf(text, "%" PRIu64 " %c%" PRIu32 " %s", call->index, "?-+="[call->kind], call -> resource,
		   call -> function);
	if (call->context)
		buf_printf(text, " @%" PRIx32, call->context);
	buf_printf(text, " %" PRIx64 " size %" PRIu64, call->id, call->size);
	for (uint32_t i = 0; i < call->arg_count; i++)
		buf_printf(text, " %s=%s", call->args[i].name, call->args[i].value);
	buf_add_str(text, call->has_frames ? " :" : " no stack");
	for (uint32_t i = 0; i < call->frame_count; i++) {
		buf_printf(text, " %" PRIx64, call->frames[i]);
		if (call->frame_texts && call->frame_texts[i])
			buf_printf(text, "'%s'", call->frame_texts[i]);
	}
	if (call->end)
		buf_add_str(text, call->end == STACK_CUT ? " cut" : " lost");
	if (call->shares_next)
		buf_add_str(text, " shared");
	if (call->summary)
		buf_printf(text, " %s", call->summary);
}

static int sink_put(struct stage *stage, const struct record *record)
{
	struct sink *sink = (struct sink *)stage;
	struct buf *text = &sink->text;

	if (sink->fail_after && ++sink->count > sink->fail_after)
		return -ENOSPC;
	switch (record->type) {
	case RECORD_PROCESS:
		buf_printf(text, "process %" PRIu32 " filters %u", record->process.pid, record->process.filters);
		if (record->process.has_depth)
			buf_printf(text, " depth %" PRIu32, record->process.depth);
		break;
	case RECORD_RESOURCE:
		buf_printf(text, "resource %" PRIu32 " %s", record->resource.id, record->resource.type);
		break;
	case RECORD_MODULE:
		buf_printf(text, "module %s", record->module.name);
		break;
	case RECORD_CONTEXT:
		buf_printf(text, "context %" PRIx32, record->context.id);
		break;
	case RECORD_OBJECT:
		buf_printf(text, "object %" PRIx64 "-%" PRIx64 " %s", record->object.from, record->object.to,
			   record->object.path);
		break;
	case RECORD_BUILD_ID:
		buf_printf(text, "build-id %" PRIx64 " %s", record->build_id.from, record->build_id.hex);
		break;
	case RECORD_THREAD:
		buf_printf(text, "thread %" PRIu32 " %s", record->thread.tid, record->thread.name);
		break;
	case RECORD_NOTE:
		buf_printf(text, "note %s", record->note.text);
		break;
	case RECORD_COMMENT:
		buf_printf(text, "comment %s", record->comment.text);
		break;
	case RECORD_SCAN:
		buf_printf(text, "scan %" PRIu32 " %s", record->scan.resource, record->scan.reason);
		break;
	case RECORD_LOST:
		buf_printf(text, "lost %" PRIx64 " %d", record->lost.id, (int)record->lost.kind);
		break;
	case RECORD_RESIDENT:
		buf_printf(text, "resident %" PRIu64 " %" PRIu64, record->resident.now, record->resident.peak);
		break;
	case RECORD_ESTIMATE:
		buf_printf(text, "estimate %.6g", record->estimate.live_bytes);
		break;
	case RECORD_INTERVAL:
		buf_printf(text, "interval %" PRIu64, record->interval.time_ns);
		break;
	case RECORD_BASELINE:
		buf_add_str(text, "before");
		for (uint32_t i = 0; i < record->baseline.count; i++)
			buf_printf(text, " %" PRIx64 "+%" PRIu64, record->baseline.blocks[i].id,
				   record->baseline.blocks[i].size);
		break;
	case RECORD_AREA:
		buf_printf(text, "area %" PRIx64, record->area.from);
		break;
	case RECORD_HEAP:
		buf_add_str(text, "heap");
		if (record->heap.lowest)
			buf_printf(text, " %" PRIx64 "-%" PRIx64, record->heap.lowest, record->heap.highest);
		break;
	case RECORD_ATTACHMENT:
		buf_printf(text, "attachment %s", record->attachment.name);
		break;
	case RECORD_CALL:
		write_call(text, &record->call);
	}
	buf_add_char(text, '\n');
	return 0;
}

static int sink_finish(struct stage *stage)
{
	struct sink *sink = (struct sink *)stage;

	assert_false(sink->finished);
	sink->finished = true;
	return 0;
}

static struct sink make_sink(void)
{
	return (struct sink){.stage = {.put = sink_put, .finish = sink_finish}};
}

static void put(struct stage *stage, struct record record)
{
	assert_int_equal(stage_put(stage, &record), 0);
}

static void put_process(struct stage *stage, uint32_t pid)
{
	put(stage, (struct record){.type = RECORD_PROCESS, .process = {.pid = pid, .has_pid = true}});
}

static void put_resource(struct stage *stage, uint32_t id, const char *type, uint32_t flags)
{
	put(stage, (struct record){.type = RECORD_RESOURCE,
				   .resource = {.id = id, .type = type, .desc = "a kind", .flags = flags}});
}

static void put_object(struct stage *stage, uint64_t from, uint64_t to, const char *path)
{
	put(stage, (struct record){.type = RECORD_OBJECT, .object = {from, to, path}});
}

static void put_build_id(struct stage *stage, uint64_t from, const char *hex)
{
	put(stage, (struct record){.type = RECORD_BUILD_ID, .build_id = {from, hex}});
}

static void put_thread(struct stage *stage, uint32_t tid, const char *name)
{
	put(stage, (struct record){.type = RECORD_THREAD, .thread = {tid, name}});
}

static void put_note(struct stage *stage, const char *text)
{
	put(stage, (struct record){.type = RECORD_NOTE, .note = {text}});
}

static uint64_t next_index;

/* Puts a call. The calls of each test are numbered from 1. frame, outer: the frames of the stack; 0: none. */
static void put_call_of(struct stage *stage, uint32_t resource, enum call_kind kind, uint64_t id, uint64_t size,
			uint64_t frame, uint64_t outer)
{
	const uint64_t frames[] = {frame, outer};
	const char *function = kind == CALL_RELEASE ? "free" : kind == CALL_COPY ? "copy" : "malloc";

	put(stage,
	    (struct record){CALL_RECORD(.index = ++next_index, .time_ns = TIME_NONE, .resource = resource, .kind = kind,
					.function = function, .id = id, .size = size, .frames = frames,
					.frame_count = !frame   ? 0
						       : !outer ? 1
								: 2,
					.has_frames = frame)});
}

static void alloc(struct stage *stage, uint64_t id, uint64_t size, uint64_t frame, uint64_t outer)
{
	put_call_of(stage, 0, CALL_ALLOC, id, size, frame, outer);
}

static void release(struct stage *stage, uint64_t id)
{
	put_call_of(stage, 0, CALL_RELEASE, id, 0, 0, 0);
}

static void expect_so_far(struct sink *sink, const char *text)
{
	assert_string_equal(buf_str(&sink->text), text);
}

static void finish_and_expect(struct stage *stage, struct sink *sink, const char *text)
{
	assert_int_equal(stage_finish(stage), 0);
	assert_true(sink->finished);
	expect_so_far(sink, text);
	buf_free(&sink->text);
	stage->free(stage);
}

static int set_up(void **state)
{
	next_index = 0;
	return 0;
}

static void unreleased_calls_are_leaks(void **state)
{
	struct sink sink = make_sink();
	struct stage *leaks = leaks_new(&sink.stage, LEAK_KINDS_DEFAULT);

	put_process(leaks, 7);
	put_resource(leaks, 1, "memory", 0);
	alloc(leaks, 0x10, 1, 0xa1, 0xb1);
	alloc(leaks, 0x20, 2, 0xa2, 0);
	release(leaks, 0x10);
	release(leaks, 0x99);              /* never allocated in the trace */
	alloc(leaks, 0x10, 3, 0xa1, 0xb1); /* the id again, after its release */
	alloc(leaks, 0x20, 4, 0xa3, 0);    /* the release of the first 0x20 was missed: it is no leak */
	put_call_of(leaks, 1, CALL_COPY, 0x30, 5, 0xa4, 0);
	alloc(leaks, 0x40, 6, 0xa5, 0);
	release(leaks, 0x40);
	release(leaks, 0x40); /* twice */
	finish_and_expect(leaks, &sink,
			  "process 7 filters 1\n"
			  "resource 1 memory\n"
			  "5 +0 malloc 10 size 3 : a1 b1\n"
			  "6 +0 malloc 20 size 4 : a3\n");
}

static void put_baseline(struct stage *stage, uint32_t resource, const struct baseline_block *blocks, uint32_t count)
{
	put(stage, (struct record){.type = RECORD_BASELINE, .baseline = {resource, blocks, count}});
}

static void put_lost(struct stage *stage, uint64_t id, enum lost_kind kind)
{
	put(stage, (struct record){.type = RECORD_LOST, .lost = {1, id, kind}});
}

/* Blocks from before the trace are no leaks, unless a scan reports them. */
static void baseline_blocks_are_leaks_only_if_a_scan_lost_them(void **state)
{
	static const struct baseline_block blocks[] = {{0x10, 1}, {0x20, 2},  {0x30, 4},
						       {0x40, 8}, {0x50, 16}, {0x60, 32}};
	struct sink sink = make_sink();
	struct stage *leaks = leaks_new(&sink.stage, LEAK_KINDS_DEFAULT);
	struct buf before = {0};

	put_process(leaks, 7);
	put_resource(leaks, 1, "memory", 0);
	alloc(leaks, 0x60, 3, 0xa1, 0); /* a hostile baseline has this block, too */
	put_baseline(leaks, 1, blocks, 6);
	release(leaks, 0x10);
	alloc(leaks, 0x20, 5, 0xa2, 0); /* the call had not returned when the baseline was taken */
	put(leaks, (struct record){.type = RECORD_SCAN, .scan = {1, ""}});
	put_lost(leaks, 0x30, LOST_INDIRECTLY);
	put_lost(leaks, 0x40, LOST_POSSIBLY);
	put_lost(leaks, 0x20, LOST_POSSIBLY);
	put_lost(leaks, 0x30, LOST_DEFINITELY); /* again */
	assert_int_equal(leaks->finish(leaks), 0);
	leaks_not_shown(leaks, &before);
	assert_string_equal(buf_str(&before),
			    "1 block(s) possibly lost with total size of 5 bytes: not shown\n"
			    "1 block(s) still reachable with total size of 3 bytes: not shown\n"
			    "2 block(s) alive from before the trace began with total size of 24 bytes: not shown\n");
	expect_so_far(&sink, "process 7 filters 1\n"
			     "resource 1 memory\n"
			     "scan 1 \n"
			     "before 30+4\n"
			     "lost 30 1\n"
			     "lost 30 0\n");
	leaks->free(leaks);
	buf_free(&sink.text);
	buf_free(&before);
}

/* A block that a scan reported as lost is a leak only if nothing contradicts it later: no release, no call that returns
 * its address again, and no later scan of the resource, whatever its result. */
static void lost_blocks_are_leaks_unless_later_records_contradict(void **state)
{
	static const struct baseline_block blocks[] = {{0x10, 1}, {0x20, 2}, {0x30, 4}, {0x40, 8}};
	struct sink sink = make_sink();
	struct stage *leaks = leaks_new(&sink.stage, LEAK_KINDS_ALL);

	put_process(leaks, 7);
	put_resource(leaks, 1, "memory", 0);
	put_baseline(leaks, 1, blocks, 4);
	alloc(leaks, 0x50, 5, 0xa1, 0);
	alloc(leaks, 0x60, 6, 0xa2, 0);
	put(leaks, (struct record){.type = RECORD_SCAN, .scan = {1, ""}});
	put_lost(leaks, 0x40, LOST_DEFINITELY); /* reachable in the next scan */
	put_lost(leaks, 0x60, LOST_DEFINITELY);
	put(leaks, (struct record){.type = RECORD_SCAN, .scan = {1, ""}});
	put_lost(leaks, 0x10, LOST_DEFINITELY);
	put_lost(leaks, 0x20, LOST_DEFINITELY);
	put_lost(leaks, 0x30, LOST_DEFINITELY);
	put_lost(leaks, 0x50, LOST_DEFINITELY);
	put_lost(leaks, 0x99, LOST_DEFINITELY); /* an address without block */
	release(leaks, 0x10);
	alloc(leaks, 0x20, 7, 0xa3, 0);
	release(leaks, 0x50);
	alloc(leaks, 0x50, 8, 0xa4, 0);
	put(leaks, (struct record){.type = RECORD_SCAN, .scan = {2, ""}}); /* of another resource */
	finish_and_expect(leaks, &sink,
			  "process 7 filters 1\n"
			  "resource 1 memory\n"
			  "2 +0 malloc 60 size 6 : a2\n"
			  "scan 1 \n"
			  "scan 1 \n"
			  "4 +0 malloc 20 size 7 : a3\n"
			  "6 +0 malloc 50 size 8 : a4\n"
			  "scan 2 \n"
			  "before 30+4\n"
			  "lost 30 0\n");
}

static void prepare_selects_baselines_and_scans_by_resource(void **state)
{
	static const struct baseline_block blocks[] = {{0x10, 1}};
	const struct prepare_options options = {.choose_resources = true, .resource_mask = 2};
	struct sink sink = make_sink();
	struct stage *prepare = prepare_new(&sink.stage, &options);

	put_process(prepare, 1);
	put_resource(prepare, 1, "fd", 0);
	put_resource(prepare, 2, "memory", 0);
	put_baseline(prepare, 1, blocks, 1);
	put_baseline(prepare, 2, blocks, 1);
	put(prepare, (struct record){.type = RECORD_SCAN, .scan = {1, "other"}});
	put(prepare, (struct record){.type = RECORD_SCAN, .scan = {2, "own"}});
	finish_and_expect(prepare, &sink, "process 1 filters 0\nresource 1 memory\nbefore 10+1\nscan 1 own\n");
}

static void reused_ids_count_as_missed_releases(void **state)
{
	struct sink sink = make_sink();
	struct stage *leaks = leaks_new(&sink.stage, LEAK_KINDS_DEFAULT);

	alloc(leaks, 0x20, 2, 0xa2, 0);
	alloc(leaks, 0x20, 4, 0xa3, 0);
	alloc(leaks, 0x20, 6, 0xa3, 0);
	assert_int_equal(leaks_unseen(leaks), 2);
	release(leaks, 0x20);
	alloc(leaks, 0x20, 8, 0xa3, 0);
	assert_int_equal(leaks_unseen(leaks), 2);
	finish_and_expect(leaks, &sink, "5 +0 malloc 20 size 8 : a3\n");
}

static void leaks_are_found_per_resource(void **state)
{
	struct sink sink = make_sink();
	struct stage *leaks = leaks_new(&sink.stage, LEAK_KINDS_DEFAULT);

	put_resource(leaks, 1, "fd", 0);
	put_resource(leaks, 2, "fp", 0);
	put_resource(leaks, 3, "object", RESOURCE_REFCOUNT);
	put_resource(leaks, 4, "calls", RESOURCE_CALL);
	put_call_of(leaks, 1, CALL_ALLOC, 3, 1, 0xa, 0);
	put_call_of(leaks, 2, CALL_ALLOC, 3, 1, 0xb, 0);
	put_call_of(leaks, 1, CALL_RELEASE, 3, 0, 0, 0);
	put_call_of(leaks, 3, CALL_ALLOC, 0x10, 8, 0xc, 0); /* 1 */
	put_call_of(leaks, 3, CALL_ALLOC, 0x10, 8, 0xd, 0); /* 2 */
	put_call_of(leaks, 3, CALL_RELEASE, 0x10, 0, 0, 0); /* 1: live */
	put_call_of(leaks, 3, CALL_ALLOC, 0x20, 8, 0xe, 0);
	put_call_of(leaks, 3, CALL_ALLOC, 0x20, 8, 0xf, 0);
	put_call_of(leaks, 3, CALL_RELEASE, 0x20, 0, 0, 0);
	put_call_of(leaks, 3, CALL_RELEASE, 0x20, 0, 0, 0); /* 0: released */
	put_call_of(leaks, 4, CALL_ALLOC, 1, 1, 0x11, 0);
	put_call_of(leaks, 9, CALL_ALLOC, 5, 6, 0x12, 0); /* never declared */
	finish_and_expect(leaks, &sink,
			  "resource 1 fd\nresource 2 fp\nresource 3 object\nresource 4 calls\n"
			  "2 +2 malloc 3 size 1 : b\n"
			  "4 +3 malloc 10 size 8 : c\n"
			  "12 +9 malloc 5 size 6 : 12\n");
}

static void notes_between_leaks_keep_their_place(void **state)
{
	struct sink sink = make_sink();
	struct stage *leaks = leaks_new(&sink.stage, LEAK_KINDS_DEFAULT);

	put_note(leaks, "before");
	expect_so_far(&sink, "note before\n");
	alloc(leaks, 0x10, 1, 0xa1, 0);
	put_note(leaks, "first");
	put(leaks, (struct record){.type = RECORD_COMMENT, .comment = {"second"}});
	alloc(leaks, 0x20, 2, 0xa2, 0);
	put_note(leaks, "third");
	expect_so_far(&sink, "note before\n");
	release(leaks, 0x10); /* no call of a live block precedes "first" and "second" any more */
	expect_so_far(&sink, "note before\nnote first\ncomment second\n");
	put(leaks, (struct record){.type = RECORD_HEAP}); /* a declaration: at once */
	finish_and_expect(leaks, &sink,
			  "note before\nnote first\ncomment second\nheap\n"
			  "2 +0 malloc 20 size 2 : a2\n"
			  "note third\n");
}

static void replacing_objects_keep_their_place_among_leaks(void **state)
{
	struct sink sink = make_sink();
	struct stage *leaks = leaks_new(&sink.stage, LEAK_KINDS_DEFAULT);

	put_object(leaks, 0x1000, 0x2000, "/a");
	put_build_id(leaks, 0x1000, "aa");
	alloc(leaks, 0x10, 1, 0x1100, 0);
	put_object(leaks, 0x5000, 0x6000, "/c"); /* replaces no object: may be declared earlier */
	put_build_id(leaks, 0x5000, "cc");
	put_object(leaks, 0x1800, 0x2800, "/b");
	put_build_id(leaks, 0x1800, "bb");
	alloc(leaks, 0x20, 2, 0x1900, 0);
	put_object(leaks, 0x1800, 0x2800, "/b"); /* neither this nor /d, at /a's old place, may precede the first /b */
	put_object(leaks, 0x1000, 0x1800, "/d");
	alloc(leaks, 0x30, 2, 0x1100, 0);
	finish_and_expect(leaks, &sink,
			  "object 1000-2000 /a\nbuild-id 1000 aa\n"
			  "object 5000-6000 /c\nbuild-id 5000 cc\n"
			  "1 +0 malloc 10 size 1 : 1100\n"
			  "object 1800-2800 /b\nbuild-id 1800 bb\n"
			  "2 +0 malloc 20 size 2 : 1900\n"
			  "object 1800-2800 /b\nobject 1000-1800 /d\n"
			  "3 +0 malloc 30 size 2 : 1100\n");
}

static void leaks_follow_the_name_of_their_thread(void **state)
{
	struct sink sink = make_sink();
	struct stage *leaks = leaks_new(&sink.stage, LEAK_KINDS_DEFAULT);

	put_thread(leaks, 1, "main");
	alloc(leaks, 0x10, 1, 0xa1, 0);
	put_thread(leaks, 2, "worker");
	alloc(leaks, 0x20, 2, 0xa1, 0);
	put_thread(leaks, 1, "main");
	alloc(leaks, 0x30, 3, 0xa1, 0);
	put_thread(leaks, 1, "renamed");
	alloc(leaks, 0x40, 4, 0xa1, 0);
	release(leaks, 0x20);
	finish_and_expect(leaks, &sink,
			  "thread 1 main\n"
			  "1 +0 malloc 10 size 1 : a1\n"
			  "3 +0 malloc 30 size 3 : a1\n"
			  "thread 1 renamed\n"
			  "4 +0 malloc 40 size 4 : a1\n");
}

static void leaks_keep_all_data_of_a_call(void **state)
{
	struct sink sink = make_sink();
	struct stage *leaks = leaks_new(&sink.stage, LEAK_KINDS_DEFAULT);
	char name[] = "path", value[] = "\"/etc\"", function[] = "open", text[] = "main() at a.c:3";
	const char *texts[] = {text, NULL};
	uint64_t frames[] = {0xa, 0xb};
	struct call_arg args[] = {{name, value}, {"", "2"}};
	const struct record record = {CALL_RECORD(.index = 17, .time_ns = 5, .context = 3, .kind = CALL_ALLOC,
						  .function = function, .id = 0xffffffffffffffff, .size = 1ull << 40,
						  .frames = frames, .frame_texts = texts, .frame_count = 2,
						  .has_frames = true, .end = STACK_CUT, .args = args, .arg_count = 2)};

	put(leaks, record);
	/* The record's memory belongs to its producer, which changes it. */
	name[0] = value[1] = function[0] = text[0] = '#';
	frames[0] = 0;
	finish_and_expect(leaks, &sink,
			  "17 +0 open @3 ffffffffffffffff size 1099511627776 path=\"/etc\" =2 : "
			  "a'main() at a.c:3' b cut\n");
}

static void calls_are_grouped_by_stack(void **state)
{
	struct sink sink = make_sink();
	struct stage *groups = call_groups_new(&sink.stage, GROUPS_DEFAULT);

	put_process(groups, 7);
	alloc(groups, 0x10, 5, 0xa1, 0xb1);
	alloc(groups, 0x20, 5, 0xa2, 0);
	put_thread(groups, 2, "");
	put_note(groups, "at once");
	alloc(groups, 0x30, 7, 0xa1, 0xb1);
	release(groups, 0x10);
	release(groups, 0x20);
	alloc(groups, 0x40, 5, 0xa1, 0); /* the same total as the group of 0xa2, but later */
	finish_and_expect(groups, &sink,
			  "process 7 filters 2\n"
			  "note at once\n"
			  "4 -0 free 10 size 0 no stack shared\n"
			  "5 -0 free 20 size 0 no stack # allocation summary: 2 block(s) with total size 0\n"
			  "2 +0 malloc 20 size 5 : a2 # allocation summary: 1 block(s) with total size 5\n"
			  "6 +0 malloc 40 size 5 : a1 # allocation summary: 1 block(s) with total size 5\n"
			  "1 +0 malloc 10 size 5 : a1 b1 shared\n"
			  "3 +0 malloc 30 size 7 : a1 b1 # allocation summary: 2 block(s) with total size "
			  "12\n");
}

static void check_order(const char *name, const char *expected)
{
	struct sink sink = make_sink();
	enum group_order order = GROUPS_DEFAULT;

	assert_true(group_order_parse(name, &order));
	struct stage *groups = call_groups_new(&sink.stage, order);

	next_index = 0;
	alloc(groups, 0x10, 9, 0xa, 0);
	alloc(groups, 0x20, 1, 0xb, 0);
	alloc(groups, 0x30, 1, 0xb, 0);
	alloc(groups, 0x40, 9, 0xc, 0);
	assert_int_equal(stage_finish(groups), 0);
	char found[8] = "";
	size_t used = 0;

	for (const char *p = buf_str(&sink.text); (p = strstr(p, " : ")); p += 3)
		if (used + 1 < sizeof(found) && (!used || found[used - 1] != p[3]))
			found[used++] = p[3];
	assert_string_equal(found, expected);
	buf_free(&sink.text);
	groups->free(groups);
}

static void groups_are_sorted_in_the_chosen_order(void **state)
{
	enum group_order order = GROUPS_COUNT;

	check_order("size", "acb");
	check_order("size-asc", "bac");
	check_order("count", "bac");
	check_order("count-asc", "acb");
	assert_false(group_order_parse("", &order));
	assert_false(group_order_parse("sizes", &order));
	assert_int_equal(order, GROUPS_COUNT);
}

static void equal_addresses_in_different_objects_are_different_stacks(void **state)
{
	struct sink sink = make_sink();
	struct stage *groups = call_groups_new(&sink.stage, GROUPS_COUNT);

	alloc(groups, 0x5, 1, 0x1100, 0x9000); /* its object is declared only later: the call is in the first group */
	put_object(groups, 0x1000, 0x2000, "/a");
	put_build_id(groups, 0x1000, "aa");
	alloc(groups, 0x10, 1, 0x1100, 0x9000);
	put_object(groups, 0x1000, 0x2000, "/b"); /* dlclose, dlopen */
	alloc(groups, 0x20, 1, 0x1100, 0x9000);
	put_object(groups, 0x1000, 0x2000, "/b"); /* declared again: the same object */
	put_object(groups, 0x3000, 0x4000, "/c"); /* not in these stacks */
	alloc(groups, 0x30, 1, 0x1100, 0x9000);
	put_object(groups, 0x1000, 0x2000, "/d");
	put_object(groups, 0x1000, 0x2000, "/a"); /* the first object again: the same stack as calls 1 and 2 */
	alloc(groups, 0x40, 1, 0x1100, 0x9000);
	put_object(groups, 0x1000, 0x2000, "/d");
	finish_and_expect(groups, &sink,
			  "object 1000-2000 /a\nbuild-id 1000 aa\n"
			  "object 1000-2000 /b\nobject 1000-2000 /b\nobject 3000-4000 /c\n"
			  "object 1000-2000 /d\nobject 1000-2000 /a\nobject 1000-2000 /d\n"
			  "object 1000-2000 /a\n"
			  "1 +0 malloc 5 size 1 : 1100 9000 shared\n"
			  "2 +0 malloc 10 size 1 : 1100 9000 shared\n"
			  "5 +0 malloc 40 size 1 : 1100 9000 # allocation summary: 3 block(s) with "
			  "total size 3\n"
			  "object 1000-2000 /b\n"
			  "3 +0 malloc 20 size 1 : 1100 9000 shared\n"
			  "4 +0 malloc 30 size 1 : 1100 9000 # allocation summary: 2 block(s) with "
			  "total size 2\n");
}

static void reorder_restores_the_order_of_grouped_calls(void **state)
{
	struct sink sink = make_sink();
	struct stage *reorder = reorder_new(&sink.stage);

	put(reorder, (struct record){.type = RECORD_PROCESS, .process = {.filters = FILTER_COMPRESS}});
	put_object(reorder, 0x1000, 0x2000, "/a");
	next_index = 6;
	release(reorder, 0x10);
	next_index = 1;
	alloc(reorder, 0x10, 1, 0x1100, 0);
	next_index = 4;
	alloc(reorder, 0x20, 1, 0x1100, 0);
	put_object(reorder, 0x1000, 0x2000, "/b");
	put_build_id(reorder, 0x1000, "bb");
	next_index = 2;
	alloc(reorder, 0x30, 1, 0x1100, 0);
	put_note(reorder, "note");
	/* The declaration of an object that replaces another one is held back, until the calls whose stacks contain it
	 * are passed on. */
	expect_so_far(&sink, "process 0 filters 2\nobject 1000-2000 /a\nnote note\n");
	sink.text.size = 0;
	finish_and_expect(reorder, &sink,
			  "2 +0 malloc 10 size 1 : 1100\n"
			  "object 1000-2000 /b\nbuild-id 1000 bb\n"
			  "3 +0 malloc 30 size 1 : 1100\n"
			  "object 1000-2000 /a\n"
			  "5 +0 malloc 20 size 1 : 1100\n"
			  "7 -0 free 10 size 0 no stack\n");
}

static void share(struct stage *stage, uint64_t id, uint64_t size)
{
	put(stage, (struct record){CALL_RECORD(.index = ++next_index, .time_ns = TIME_NONE, .kind = CALL_ALLOC,
					       .function = "malloc", .id = id, .size = size, .shares_next = true)});
}

/* Calls without frames get those of the next call that has them, if one follows. */
static void reorder_copies_shared_stacks_to_each_call(void **state)
{
	struct sink sink = make_sink();
	struct stage *reorder = reorder_new(&sink.stage);

	put(reorder, (struct record){.type = RECORD_PROCESS});
	alloc(reorder, 0x10, 1, 0x1100, 0);
	expect_so_far(&sink, "process 0 filters 0\n1 +0 malloc 10 size 1 : 1100\n");
	sink.text.size = 0;
	next_index = 4;
	share(reorder, 0x20, 1);
	share(reorder, 0x30, 1);
	alloc(reorder, 0x40, 1, 0x1200, 0);
	next_index = 1;
	share(reorder, 0x50, 1);
	alloc(reorder, 0x60, 1, 0x1300, 0);
	next_index = 7;
	share(reorder, 0x70, 1);
	release(reorder, 0x10);
	share(reorder, 0x80, 1);
	finish_and_expect(reorder, &sink,
			  "2 +0 malloc 50 size 1 : 1300\n"
			  "3 +0 malloc 60 size 1 : 1300\n"
			  "5 +0 malloc 20 size 1 : 1200\n"
			  "6 +0 malloc 30 size 1 : 1200\n"
			  "7 +0 malloc 40 size 1 : 1200\n"
			  "8 +0 malloc 70 size 1 no stack\n"
			  "9 -0 free 10 size 0 no stack\n"
			  "10 +0 malloc 80 size 1 no stack\n");
}

static void reorder_passes_ungrouped_traces_on_at_once(void **state)
{
	struct sink sink = make_sink();
	struct stage *reorder = reorder_new(&sink.stage);

	put_process(reorder, 1);
	next_index = 6;
	release(reorder, 0x10);
	next_index = 1;
	release(reorder, 0x10);
	expect_so_far(&sink, "process 1 filters 0\n7 -0 free 10 size 0 no stack\n"
			     "2 -0 free 10 size 0 no stack\n");
	sink.text.size = 0;
	finish_and_expect(reorder, &sink, "");
}

static bool layout_wanted;

static bool is_layout_wanted(void *context)
{
	(void)context;
	return layout_wanted;
}

static void put_comment(struct stage *stage, const char *text)
{
	put(stage, (struct record){.type = RECORD_COMMENT, .comment = {text}});
}

static void put_all_kinds(struct stage *stage)
{
	put_process(stage, 7);
	put_object(stage, 0x1000, 0x2000, "/a");
	put_comment(stage, "zero");
	put_resource(stage, 1, "memory", 0);
	put_thread(stage, 1, "main");
	alloc(stage, 0x10, 1, 0x1100, 0);
	put_note(stage, "dropped");
	put_comment(stage, "one");
	put(stage, (struct record){.type = RECORD_CONTEXT, .context = {4, "c"}});
	put_object(stage, 0x1000, 0x2000, "/b");
	release(stage, 0x10);
	put(stage, (struct record){.type = RECORD_MODULE, .module = {.name = "m"}});
	alloc(stage, 0x20, 1, 0x1100, 0);
	put(stage, (struct record){.type = RECORD_HEAP});
	put(stage, (struct record){.type = RECORD_ATTACHMENT, .attachment = {"pages", "file"}});
	put_comment(stage, "three");
}

static void layout_puts_declarations_first(void **state)
{
	struct sink sink = make_sink();
	struct layout_options options = {.is_wanted = is_layout_wanted, .hold_calls = true};
	struct stage *layout = sp_rtrace_order_new(&sink.stage, &options);

	layout_wanted = true;
	put_all_kinds(layout);
	expect_so_far(&sink, "process 7 filters 0\nthread 1 main\nnote dropped\n");
	finish_and_expect(layout, &sink,
			  "process 7 filters 0\nthread 1 main\nnote dropped\n"
			  "attachment pages\nheap\nmodule m\ncontext 4\nresource 1 memory\n"
			  "object 1000-2000 /a\nobject 1000-2000 /b\n"
			  "comment zero\n"
			  "object 1000-2000 /a\n"
			  "1 +0 malloc 10 size 1 : 1100\n"
			  "comment one\n"
			  "2 -0 free 10 size 0 no stack\n"
			  "object 1000-2000 /b\n"
			  "3 +0 malloc 20 size 1 : 1100\n"
			  "comment three\n");
}

static void layout_without_held_calls_streams_from_the_first_call(void **state)
{
	struct sink sink = make_sink();
	struct layout_options options = {.is_wanted = is_layout_wanted};
	struct stage *layout = sp_rtrace_order_new(&sink.stage, &options);

	layout_wanted = true;
	put_process(layout, 7);
	put_object(layout, 0x1000, 0x2000, "/a");
	put_resource(layout, 1, "memory", 0);
	put_comment(layout, "zero");
	alloc(layout, 0x10, 1, 0x1100, 0);
	expect_so_far(&sink, "process 7 filters 0\nresource 1 memory\nobject 1000-2000 /a\n"
			     "comment zero\n1 +0 malloc 10 size 1 : 1100\n");
	put_object(layout, 0x1000, 0x2000, "/b");
	sink.text.size = 0;
	put_comment(layout, "one");
	finish_and_expect(layout, &sink, "comment one\n");
}

static void unwanted_layout_changes_nothing(void **state)
{
	struct sink sink = make_sink(), plain = make_sink();
	struct layout_options options = {.is_wanted = is_layout_wanted, .hold_calls = true};
	struct stage *layout = sp_rtrace_order_new(&sink.stage, &options);

	layout_wanted = false;
	put_all_kinds(layout);
	next_index = 0;
	put_all_kinds(&plain.stage);
	finish_and_expect(layout, &sink, buf_str(&plain.text));
	buf_free(&plain.text);
}

static void prepare_adds_the_range_of_blocks_to_heap_records(void **state)
{
	for (unsigned late = 0; late < 2; late++) {
		struct sink sink = make_sink();
		struct stage *prepare = prepare_new(&sink.stage, &(struct prepare_options){0});
		const struct record heap = {.type = RECORD_HEAP, .heap = {.bottom = 1}};

		next_index = 0;
		if (!late)
			put(prepare, heap); /* waits for the calls */
		put_resource(prepare, 1, "fd", 0);
		put_resource(prepare, 2, "memory", 0);
		put_call_of(prepare, 1, CALL_ALLOC, 3, 1, 0, 0);
		put_call_of(prepare, 2, CALL_ALLOC, 0x20, 1, 0, 0);
		put_call_of(prepare, 2, CALL_ALLOC, 0x10, 1, 0, 0);
		put_call_of(prepare, 2, CALL_RELEASE, 0x99, 1, 0, 0);
		sink.text.size = 0;
		if (late) {
			put(prepare, heap);
			expect_so_far(&sink, "heap 10-20\n");
		}
		finish_and_expect(prepare, &sink, "heap 10-20\n");
	}
}

static void totals_are_counted_per_resource(void **state)
{
	struct sink sink = make_sink();
	struct stage *summary = summary_new(&sink.stage);

	for (uint32_t id = 1; id <= 5; id++) {
		char type[] = {'t', (char)('0' + id), '\0'};

		put_resource(summary, id, type, id == 5 ? RESOURCE_CALL : 0);
	}
	for (uint32_t id = 1; id <= 4; id++)
		for (uint32_t i = 1; i < id; i++)
			put_call_of(summary, id, CALL_ALLOC, i, 10 * id, 0, 0);
	put_call_of(summary, 77, CALL_ALLOC, 1, 3, 0, 0);
	assert_int_equal(summary_count(summary), 7);
	sink.text.size = 0;
	finish_and_expect(summary, &sink,
			  "comment # Resource - t1 (a kind):\n"
			  "comment # 0 t1(s) leaked\n"
			  "comment # Resource - t2 (a kind):\n"
			  "comment # 1 t2(s) leaked with total size of 20 bytes\n"
			  "comment # Resource - t3 (a kind):\n"
			  "comment # 2 t3(s) leaked with total size of 60 bytes\n"
			  "comment # Resource - t4 (a kind):\n"
			  "comment # 3 t4(s) leaked with total size of 120 bytes\n"
			  "comment # Resource - 77 (not declared in the trace):\n"
			  "comment # 1 block(s) leaked with total size of 3 bytes\n");
}

static void stacks_alike_after_trimming_are_merged(void **state)
{
	struct sink sink = make_sink();
	struct stage *groups = call_groups_new(&sink.stage, GROUPS_DEFAULT);
	struct stage *trim = trim_new(groups, 1);
	const struct prepare_options options = {.trim = true, .depth = 1, .remove_args = true};
	struct stage *prepare = prepare_new(trim, &options);
	const uint64_t frames[] = {0xa, 0xd};
	const struct call_arg arg = {"x", "1"};
	struct record cut = {CALL_RECORD(.index = 3, .kind = CALL_ALLOC, .function = "malloc", .frames = frames,
					 .frame_count = 1, .has_frames = true, .args = &arg, .arg_count = 1,
					 .end = STACK_CUT)};

	put(prepare,
	    (struct record){PROCESS_RECORD(.depth = 10, .has_depth = true, .filters = FILTER_COMPRESS | FILTER_LEAKS)});
	alloc(prepare, 0x10, 1, 0xa, 0xb);
	alloc(prepare, 0x20, 1, 0xa, 0xc);
	put(prepare, cut);
	assert_int_equal(stage_finish(prepare), 0);
	expect_so_far(&sink, "process 0 filters 3 depth 1\n"
			     "1 +0 malloc 10 size 1 : a shared\n"
			     "2 +0 malloc 20 size 1 : a shared\n"
			     "3 +0 malloc 0 size 0 : a # allocation summary: 3 block(s) with total size 2\n");
	buf_free(&sink.text);
	prepare->free(prepare);
	trim->free(trim);
	groups->free(groups);
}

static void short_stacks_are_not_trimmed(void **state)
{
	struct sink sink = make_sink();
	const struct prepare_options options = {.trim = true, .depth = 2};
	struct stage *trim = trim_new(&sink.stage, 2), *prepare = prepare_new(trim, &options);
	const uint64_t frames[] = {0xa};

	put(prepare, (struct record){PROCESS_RECORD(.depth = 1, .has_depth = true, .filters = FILTER_COMPRESS)});
	put(prepare, (struct record){CALL_RECORD(.index = 1, .kind = CALL_ALLOC, .function = "f", .frames = frames,
						 .frame_count = 1, .has_frames = true, .end = STACK_CUT)});
	finish_and_expect(prepare, &sink, "process 0 filters 0 depth 1\n1 +0 f 0 size 0 : a cut\n");
	trim->free(trim);
}

static void choose(uint64_t mask, const char *expected)
{
	struct sink sink = make_sink();
	const struct prepare_options options = {.choose_resources = true, .resource_mask = mask};
	struct stage *prepare = prepare_new(&sink.stage, &options);

	next_index = 0;
	put_process(prepare, 1);
	put_resource(prepare, 1, "fd", 0);
	put(prepare, (struct record){.type = RECORD_MODULE, .module = {.name = "m"}});
	put_resource(prepare, 2, "fp", 0);
	put_object(prepare, 1, 2, "/o");
	put_call_of(prepare, 1, CALL_ALLOC, 1, 1, 0, 0);
	put_call_of(prepare, 2, CALL_ALLOC, 2, 1, 0, 0);
	put_call_of(prepare, 3, CALL_ALLOC, 3, 1, 0, 0);
	finish_and_expect(prepare, &sink, expected);
}

static void prepare_keeps_only_chosen_resources(void **state)
{
	choose(2, "process 1 filters 0\nmodule m\nresource 1 fp\nobject 1-2 /o\n"
		  "2 +1 malloc 2 size 1 no stack\n");
	choose(3, "process 1 filters 0\nmodule m\nresource 1 fd\nresource 2 fp\nobject 1-2 /o\n"
		  "1 +1 malloc 1 size 1 no stack\n2 +2 malloc 2 size 1 no stack\n");
	choose(6, "process 1 filters 0\nmodule m\nresource 1 fp\nobject 1-2 /o\n"
		  "2 +1 malloc 2 size 1 no stack\n3 +3 malloc 3 size 1 no stack\n");
	choose(0, "process 1 filters 0\nmodule m\nobject 1-2 /o\n");
}

static void resource_0_means_the_only_resource(void **state)
{
	struct sink sink = make_sink();
	const struct prepare_options options = {.choose_resources = true, .resource_mask = 1};
	struct stage *prepare = prepare_new(&sink.stage, &options);

	put_resource(prepare, 1, "memory", 0);
	alloc(prepare, 1, 2, 0, 0);
	finish_and_expect(prepare, &sink, "resource 1 memory\n1 +1 malloc 1 size 2 no stack\n");
}

static void prepare_keeps_only_the_chosen_process(void **state)
{
	struct sink sink = make_sink();
	const struct prepare_options options = {.pid = 2};
	struct stage *prepare = prepare_new(&sink.stage, &options);

	put_process(prepare, 1);
	alloc(prepare, 1, 1, 0, 0);
	put_process(prepare, 2);
	alloc(prepare, 2, 2, 0, 0);
	put_process(prepare, 3);
	put_note(prepare, "of 3");
	finish_and_expect(prepare, &sink, "process 2 filters 0\n2 +0 malloc 2 size 2 no stack\n");
}

static void select_calls(const struct select_options *options, const char *expected)
{
	struct sink sink = make_sink();
	struct stage *select = select_new(&sink.stage, options);
	const uint64_t frames[] = {0x1100, 0x5010, 0x7000};

	put(select, (struct record){.type = RECORD_CONTEXT, .context = {1, "one"}});
	put(select, (struct record){.type = RECORD_CONTEXT, .context = {2, "two"}});
	put_object(select, 0x1000, 0x2000, "/lib/libpie.so");
	put_object(select, 0x5000, 0x6000, "/bin/fixed");
	for (uint32_t i = 0; i < 4; i++)
		put(select,
		    (struct record){CALL_RECORD(.index = i + 1, .kind = CALL_ALLOC, .function = "f", .context = i,
						.frames = frames, .frame_count = i, .has_frames = true)});
	finish_and_expect(select, &sink, expected);
}

#define OBJECTS  "object 1000-2000 /lib/libpie.so\nobject 5000-6000 /bin/fixed\n"
#define CONTEXTS "context 1\ncontext 2\n"
#define CALL_1   "1 +0 f 0 size 0 :\n"
#define CALL_2   "2 +0 f @1 0 size 0 : 1100\n"
#define CALL_3   "3 +0 f @2 0 size 0 : 1100 5010\n"
#define CALL_4   "4 +0 f @3 0 size 0 : 1100 5010 7000\n"

struct ways {
	struct sink *sinks;
	size_t begun, max;
};

static struct stage *begin_next_sink(void *context)
{
	struct ways *ways = context;

	return ways->begun < ways->max ? &ways->sinks[ways->begun++].stage : NULL;
}

static void put_calls_of_two_processes(struct stage *split)
{
	put_process(split, 7);
	alloc(split, 0x10, 1, 0, 0);
	put_process(split, 8);
	alloc(split, 0x20, 2, 0, 0);
	put_process(split, 7);
	release(split, 0x10);
	put_process(split, 8);
	alloc(split, 0x30, 3, 0, 0);
}

static void split_passes_each_process_to_its_own_stage(void **state)
{
	struct sink sinks[] = {make_sink(), make_sink()};
	struct ways ways = {sinks, .max = 2};
	const struct split_options options = {.begin = begin_next_sink, .context = &ways};
	struct stage *split = split_new(&options);

	put_calls_of_two_processes(split);
	assert_int_equal(stage_finish(split), 0);
	assert_true(sinks[0].finished && sinks[1].finished);
	expect_so_far(&sinks[0], "process 7 filters 0\n1 +0 malloc 10 size 1 no stack\n3 -0 free 10 size 0 no stack\n");
	expect_so_far(&sinks[1],
		      "process 8 filters 0\n2 +0 malloc 20 size 2 no stack\n4 +0 malloc 30 size 3 no stack\n");
	split->free(split);
	for (size_t i = 0; i < ARRAY_SIZE(sinks); i++)
		buf_free(&sinks[i].text);
}

static void split_passes_only_the_chosen_process(void **state)
{
	struct sink sink = make_sink();
	struct ways ways = {&sink, .max = 1};
	const struct split_options options = {.pid = 8, .begin = begin_next_sink, .context = &ways};
	struct stage *split = split_new(&options);

	put_calls_of_two_processes(split);
	finish_and_expect(split, &sink,
			  "process 8 filters 0\n2 +0 malloc 20 size 2 no stack\n4 +0 malloc 30 size 3 no stack\n");
}

static void split_refuses_a_process_without_a_stage(void **state)
{
	struct sink sink = make_sink();
	struct ways ways = {&sink, .max = 1};
	const struct split_options options = {.begin = begin_next_sink, .context = &ways};
	struct stage *split = split_new(&options);
	const struct record other = {.type = RECORD_PROCESS, .process = {.pid = 8, .has_pid = true}};

	put_process(split, 7);
	assert_int_equal(stage_put(split, &other), -ENOTSUP);
	finish_and_expect(split, &sink, "process 7 filters 0\n");
}

static void select_keeps_calls_of_chosen_contexts(void **state)
{
	select_calls(&(struct select_options){.by_context = true, .context_mask = 1},
		     "context 1\n" OBJECTS CALL_2 CALL_4);
	select_calls(&(struct select_options){.by_context = true, .context_mask = 3},
		     CONTEXTS OBJECTS CALL_2 CALL_3 CALL_4);
	select_calls(&(struct select_options){.by_context = true}, OBJECTS CALL_1);
	select_calls(&(struct select_options){0}, CONTEXTS OBJECTS CALL_1 CALL_2 CALL_3 CALL_4);
}

static void select_keeps_calls_from_an_address_range(void **state)
{
	struct call_address address;

	/* The files of the objects do not exist here. So the option's address is an address of the process if it is
	 * inside of the mapped object, else an offset in the object. */
	assert_true(call_address_parse("libpie:100+1", &address));
	select_calls(&(struct select_options){.call_address = &address}, CONTEXTS OBJECTS CALL_2 CALL_3 CALL_4);
	call_address_free(&address);
	assert_true(call_address_parse("libpie:0x101+0x10", &address));
	select_calls(&(struct select_options){.call_address = &address}, CONTEXTS OBJECTS);
	call_address_free(&address);
	assert_true(call_address_parse("fixed:5000+11", &address));
	select_calls(&(struct select_options){.call_address = &address}, CONTEXTS OBJECTS CALL_3 CALL_4);
	call_address_free(&address);
	assert_true(call_address_parse("fixed:5000+10", &address)); /* the end is not included */
	select_calls(&(struct select_options){.call_address = &address}, CONTEXTS OBJECTS);
	call_address_free(&address);

	static const char *const wrong[] = {"",     "x",     "x:",    "x:1",    "x:1+",   "x:+1",
					    ":1+1", "x:1+0", "x:g+1", "x:1+1 ", "x:0x+1", "x:11111111111111111+1"};

	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++)
		assert_false(call_address_parse(wrong[i], &address));
}

static void select_keeps_or_drops_listed_indexes(void **state)
{
	char path[] = "/tmp/functrace-analysis-XXXXXX";
	const int fd = mkstemp(path);
	struct index_set set;
	size_t line;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, "# chosen\n4\n\n 0x2 \n02", 20), 20);
	assert_int_equal(index_set_read(&set, path, &line), 0);
	select_calls(&(struct select_options){.include = &set}, CONTEXTS OBJECTS CALL_2 CALL_4);
	select_calls(&(struct select_options){.exclude = &set}, CONTEXTS OBJECTS CALL_1 CALL_3);
	select_calls(&(struct select_options){.include = &set, .by_context = true, .context_mask = 2},
		     "context 2\n" OBJECTS CALL_4);
	index_set_free(&set);
	assert_int_equal(pwrite(fd, "5\n-1\n", 5, 0), 5);
	assert_int_equal(index_set_read(&set, path, &line), -EINVAL);
	assert_int_equal(line, 2);
	assert_int_equal(ftruncate(fd, 0), 0);
	assert_int_equal(index_set_read(&set, path, &line), 0);
	select_calls(&(struct select_options){.include = &set}, CONTEXTS OBJECTS);
	close(fd);
	unlink(path);
	assert_int_equal(index_set_read(&set, path, &line), -ENOENT);
}

static void output_errors_reach_the_first_stage(void **state)
{
	for (unsigned after = 1; after <= 3; after++) {
		struct sink sink = make_sink();
		struct stage *summary = summary_new(&sink.stage);
		struct stage *groups = call_groups_new(summary, GROUPS_SIZE);
		struct stage *leaks = leaks_new(groups, LEAK_KINDS_DEFAULT);

		sink.fail_after = after;
		put_resource(leaks, 1, "memory", 0);
		alloc(leaks, 1, 1, 0xa, 0);
		alloc(leaks, 2, 1, 0xa, 0);
		assert_int_equal(stage_finish(leaks), -ENOSPC);
		assert_false(sink.finished);
		leaks->free(leaks);
		groups->free(groups);
		summary->free(summary);
		buf_free(&sink.text);
	}
}

static bool fdopen_fails;

/* Replaces the C library's fdopen(). If fdopen_fails is set, fails with ENOMEM after it has closed the descriptor, so
 * that another close() changes errno. */
FILE *fdopen(int fd, const char *mode)
{
	FILE *(*const original)(int, const char *) = (FILE * (*)(int, const char *)) dlsym(RTLD_NEXT, "fdopen");

	if (!fdopen_fails)
		return original(fd, mode);
	close(fd);
	errno = ENOMEM;
	return NULL;
}

static void failed_fdopen_is_reported_with_its_error(void **state)
{
	char path[] = "/tmp/functrace-analysis-XXXXXX";
	const int fd = mkstemp(path), old = dup(STDERR_FILENO);
	const struct mpatrol_outputs_options options = {.hatf_path = "/dev/null", .input = -1};
	struct stage *outputs = mpatrol_outputs_new(&options);
	char text[200] = "";

	assert_true(fd >= 0 && old >= 0);
	assert_int_equal(dup2(fd, STDERR_FILENO), STDERR_FILENO);
	fdopen_fails = true;
	const int error = stage_put(outputs, &(struct record){.type = RECORD_PROCESS, .process = {.pid = 7}});

	fdopen_fails = false;
	assert_int_equal(dup2(old, STDERR_FILENO), STDERR_FILENO);
	assert_int_equal(error, -ENOMEM);
	assert_true(pread(fd, text, sizeof(text) - 1, 0) > 0);
	assert_non_null(strstr(text, "cannot write /dev/null: Cannot allocate memory"));
	outputs->free(outputs);
	close(old);
	close(fd);
	unlink(path);
}

static void equal_stacks_are_kept_once(void **state)
{
	struct stack_pool pool = {0};
	const uint64_t frames[] = {1, 2, 3};
	const char *texts[] = {"a", NULL, "c"};
	struct record_call call = {.frames = frames, .frame_count = 3, .has_frames = true};

	struct stack *first = stack_intern(&pool, &call);

	assert_ptr_equal(stack_intern(&pool, &call), first);
	call.end = STACK_CUT;
	assert_ptr_not_equal(stack_intern(&pool, &call), first);
	call.end = STACK_WHOLE;
	call.frame_count = 2;
	assert_ptr_not_equal(stack_intern(&pool, &call), first);
	call.frame_count = 3;
	call.frame_texts = texts;
	struct stack *named = stack_intern(&pool, &call);

	assert_ptr_not_equal(named, first);
	assert_ptr_equal(stack_intern(&pool, &call), named);
	texts[0] = "b";
	assert_ptr_not_equal(stack_intern(&pool, &call), named);
	call.frame_texts = NULL;
	call.frame_count = 0;
	assert_ptr_equal(stack_intern(&pool, &call), stack_intern(&pool, &call));
	assert_int_equal(pool.count, 6);
	stack_pool_free(&pool);
}

/* Returns call number i of a list, with every kind of value. */
static struct record_call odd_call(unsigned list, unsigned i, char text[static 64], struct call_arg args[2])
{
	snprintf(text, 64, "function %u(%u)", list, i % 7);
	args[0] = (struct call_arg){"name", text};
	args[1] = (struct call_arg){"", ""};
	return (struct record_call){
		.index = (uint64_t)i * 3 + list,
		.time_ns = i % 5   ? (uint64_t)i * 1000000007
			   : i % 2 ? TIME_NONE
				   : 0,
		.resource = i % 11 ? 1 : UINT32_MAX,
		.context = i % 13 ? 0 : UINT32_MAX,
		.kind = (enum call_kind)(1 + i % 3),
		.function = text,
		.id = i % 17 ? 0x7fff00000000 - (uint64_t)i * 16 : UINT64_MAX,
		.size = i % 19 ? i : UINT64_MAX,
		.has_frames = i % 2,
		.args = args,
		.arg_count = i % 23 ? 0 : 2,
	};
}

static void check_list(const struct call_store *store, const struct call_list *calls, unsigned list, unsigned count)
{
	struct call_cursor cursor;
	struct record_call call;
	struct call_arg args[2];
	char text[64];

	call_cursor_begin(&cursor, store, calls);
	for (unsigned i = 0; i < count; i++) {
		const struct record_call want = odd_call(list, i, text, args);

		assert_int_equal(call_cursor_next(&cursor, &call), 1);
		assert_true(cursor.tag == (i % 3 ? i : 0));
		assert_true(call.index == want.index && call.time_ns == want.time_ns);
		assert_true(call.resource == want.resource && call.context == want.context);
		assert_true(call.kind == want.kind && call.has_frames == want.has_frames);
		assert_true(call.id == want.id && call.size == want.size);
		assert_string_equal(call.function, want.function);
		assert_int_equal(call.arg_count, want.arg_count);
		for (uint32_t k = 0; k < call.arg_count; k++) {
			assert_string_equal(call.args[k].name, want.args[k].name);
			assert_string_equal(call.args[k].value, want.args[k].value);
		}
	}
	assert_int_equal(call_cursor_next(&cursor, &call), 0);
	call_cursor_end(&cursor);
}

static void calls_are_read_back_from_the_file(void **state)
{
	enum { LISTS = 5, CALLS = 20000 };
	struct call_store store = {.limit = 64 << 10};
	struct call_list *lists[LISTS];
	struct call_arg args[2];
	char text[64];

	for (unsigned list = 0; list < LISTS; list++)
		lists[list] = call_store_list(&store);
	for (unsigned i = 0; i < CALLS; i++)
		for (unsigned list = 1; list < LISTS; list++) {
			const struct record_call call = odd_call(list, i, text, args);

			/* The first list stays empty, the second short. */
			if (list > 1 || i < 3)
				call_store_add(&store, lists[list], &call, i % 3 ? i : 0);
		}
	assert_true(store.file_size > 500000);
	assert_true(store.in_memory <= 64 << 10);
	assert_int_equal(lists[1]->chunk_count, 0);
	assert_true(lists[2]->chunk_count > 3 && lists[2]->data.size);
	check_list(&store, lists[0], 0, 0);
	check_list(&store, lists[1], 1, 3);
	for (unsigned list = 2; list < LISTS; list++)
		check_list(&store, lists[list], list, CALLS);
	call_store_free(&store);
}

static void calls_stay_in_memory_if_no_file_can_be_made(void **state)
{
	const char *old = getenv("TMPDIR");
	char *kept = old ? xstrdup(old) : NULL;
	struct call_store store = {.limit = 1000};
	struct call_list *list = call_store_list(&store);
	struct call_arg args[2];
	char text[64];

	setenv("TMPDIR", "/no/such/folder", 1);
	for (unsigned i = 0; i < 5000; i++) {
		const struct record_call call = odd_call(1, i, text, args);

		call_store_add(&store, list, &call, i % 3 ? i : 0);
	}
	assert_true(store.fd < 0);
	check_list(&store, list, 1, 5000);
	call_store_free(&store);
	if (kept)
		setenv("TMPDIR", kept, 1);
	else
		unsetenv("TMPDIR");
	free(kept);
}

static void new_objects_replace_overlapped_objects(void **state)
{
	struct object_map map = {0};

	assert_int_equal(object_map_put(&map, &(struct record_object){10, 20, "/a"}), OBJECT_NEW);
	assert_int_equal(object_map_put(&map, &(struct record_object){20, 30, "/b"}), OBJECT_NEW);
	assert_int_equal(object_map_put(&map, &(struct record_object){10, 20, "/a"}), OBJECT_SAME);
	assert_int_equal(object_map_put(&map, &(struct record_object){20, 20, "/x"}), OBJECT_SAME);
	assert_int_equal(object_map_put(&map, &(struct record_object){5, 10, "/0"}), OBJECT_NEW);
	assert_int_equal(map.epoch, 3);
	assert_string_equal(object_map_find(&map, 19)->path, "/a");
	assert_string_equal(object_map_find(&map, 20)->path, "/b");
	assert_null(object_map_find(&map, 30));
	assert_null(object_map_find(&map, UINT64_MAX));
	struct mapped_object *old = object_map_find(&map, 10);

	old->references++;
	assert_int_equal(object_map_put(&map, &(struct record_object){19, 21, "/c"}), OBJECT_REPLACES);
	assert_null(object_map_find(&map, 10));
	assert_null(object_map_find(&map, 25));
	assert_string_equal(object_map_find(&map, 20)->path, "/c");
	assert_false(old->mapped);
	assert_string_equal(old->path, "/a");
	object_map_restore(&map, old);
	assert_ptr_equal(object_map_find(&map, 15), old);
	assert_null(object_map_find(&map, 20));
	mapped_object_release(old);
	object_map_free(&map);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup(name, set_up)
	const struct CMUnitTest tests[] = {
		TEST(unreleased_calls_are_leaks),
		TEST(baseline_blocks_are_leaks_only_if_a_scan_lost_them),
		TEST(lost_blocks_are_leaks_unless_later_records_contradict),
		TEST(prepare_selects_baselines_and_scans_by_resource),
		TEST(reused_ids_count_as_missed_releases),
		TEST(leaks_are_found_per_resource),
		TEST(notes_between_leaks_keep_their_place),
		TEST(replacing_objects_keep_their_place_among_leaks),
		TEST(leaks_follow_the_name_of_their_thread),
		TEST(leaks_keep_all_data_of_a_call),
		TEST(calls_are_grouped_by_stack),
		TEST(groups_are_sorted_in_the_chosen_order),
		TEST(equal_addresses_in_different_objects_are_different_stacks),
		TEST(reorder_restores_the_order_of_grouped_calls),
		TEST(reorder_copies_shared_stacks_to_each_call),
		TEST(reorder_passes_ungrouped_traces_on_at_once),
		TEST(layout_puts_declarations_first),
		TEST(layout_without_held_calls_streams_from_the_first_call),
		TEST(unwanted_layout_changes_nothing),
		TEST(prepare_adds_the_range_of_blocks_to_heap_records),
		TEST(totals_are_counted_per_resource),
		TEST(stacks_alike_after_trimming_are_merged),
		TEST(short_stacks_are_not_trimmed),
		TEST(prepare_keeps_only_chosen_resources),
		TEST(resource_0_means_the_only_resource),
		TEST(prepare_keeps_only_the_chosen_process),
		TEST(split_passes_each_process_to_its_own_stage),
		TEST(split_passes_only_the_chosen_process),
		TEST(split_refuses_a_process_without_a_stage),
		TEST(select_keeps_calls_of_chosen_contexts),
		TEST(select_keeps_calls_from_an_address_range),
		TEST(select_keeps_or_drops_listed_indexes),
		TEST(output_errors_reach_the_first_stage),
		TEST(failed_fdopen_is_reported_with_its_error),
		TEST(equal_stacks_are_kept_once),
		TEST(calls_are_read_back_from_the_file),
		TEST(calls_stay_in_memory_if_no_file_can_be_made),
		TEST(new_objects_replace_overlapped_objects),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

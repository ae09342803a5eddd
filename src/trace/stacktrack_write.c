/* Writes the StackTrack format: a trace's records as checkpoints that were passed. */
#include "config.h"
#include "base/util.h"
#include "trace/stacktrack_write.h"
#include "trace/text.h"

#include <inttypes.h>
#include <stdlib.h>

static void *stacktrack_begin(struct writer *writer)
{
	(void)writer;
	return xcalloc(1, sizeof(struct stacktrack_writer));
}

static void stacktrack_end(struct writer *writer)
{
	struct stacktrack_writer *s = writer->state;

	stacktrack_forget_functions(s);
	free(s->names);
	hash_free(&s->threads);
	hash_free(&s->taken);
	stack_cache_free(&s->stacks);
	stacktrack_cycle_free(&s->cycle);
	buf_free(&s->text);
	free(s);
}

/* What calls refer to. */
static void put_declaration(struct writer *writer, enum stacktrack_value value, uint32_t id)
{
	stacktrack_put_value(writer, value);
	stacktrack_keep_value(writer, value, id);
}

static void put_process(struct writer *writer, const struct record_process *process)
{
	struct stacktrack_writer *s = writer->state;

	if (s->begun)
		return;
	s->begun = true;
	s->swap = process->big_endian;
	s->pid = (uint16_t)process->pid ? (uint16_t)process->pid : 1;
	s->cycle.start_sec = process->start_sec;
	s->cycle.start_usec = process->start_usec;
	s->now = stacktrack_start_ticks(&s->cycle);
	stacktrack_put_prologue(writer);
	struct buf *text = stacktrack_begin_record(writer);

	if (process->has_pid)
		stacktrack_add_number(text, "pid", process->pid);
	stacktrack_add_word(text, "arch", process->arch);
	if (process->pointer_size)
		stacktrack_add_number(text, "pointer", process->pointer_size);
	stacktrack_add_number(text, "usec", process->start_usec);
	if (process->has_depth)
		stacktrack_add_number(text, "depth", process->depth);
	if (process->no_timestamps)
		stacktrack_add_number(text, "notimes", 1);
	if (process->is_attached)
		stacktrack_add_number(text, "attached", 1);
	if (process->filters)
		stacktrack_add_number(text, "filters", process->filters);
	stacktrack_add_word(text, "start", process->start_text);
	stacktrack_add_word(text, "name", process->name);
	stacktrack_add_word(text, "origin", process->origin);
	put_declaration(writer, STACKTRACK_OF_PROCESS, 0);
}

static uint16_t thread_handle(struct stacktrack_writer *s, uint32_t tid)
{
	const uint64_t *known = hash_get(&s->threads, tid);
	uint16_t handle = (uint16_t)tid;

	if (known)
		return (uint16_t)*known;
	/* More threads than there are numbers share the last ones; their records tell them apart. */
	if (s->taken.count < UINT16_MAX)
		while (!handle || !hash_set(&s->taken, handle, 1))
			handle++;
	hash_set(&s->threads, tid, handle);
	return handle;
}

static void put_thread(struct writer *writer, const struct record_thread *thread)
{
	struct stacktrack_writer *s = writer->state;
	struct buf *text = stacktrack_begin_record(writer);

	s->tid = thread_handle(s, thread->tid);
	stacktrack_add_number(text, "tid", thread->tid);
	if (thread->name && *thread->name)
		stacktrack_add_word(text, "name", thread->name);
	stacktrack_put_value(writer, STACKTRACK_OF_THREAD);
	stacktrack_keep_thread(writer);
}

static void put_heap(struct writer *writer, const struct record_heap *heap)
{
	struct buf *text = stacktrack_begin_record(writer);

	buf_printf(text, "bottom=0x%" PRIx64 " top=0x%" PRIx64 " lowest=0x%" PRIx64 " highest=0x%" PRIx64, heap->bottom,
		   heap->top, heap->lowest, heap->highest);
	for (size_t i = 0; i < ARRAY_SIZE(heap->info); i++)
		buf_printf(text, " info=%" PRIu64, heap->info[i]);
	stacktrack_put_value(writer, STACKTRACK_OF_HEAP);
}

static void put_text(struct writer *writer, enum stacktrack_value value, const char *first, const char *second)
{
	struct buf *text = stacktrack_begin_record(writer);

	stacktrack_add_word(text, "text", first ? first : "");
	if (second)
		stacktrack_add_word(text, "path", second);
	stacktrack_put_value(writer, value);
}

static void put_census(struct writer *writer, const struct record_census *census)
{
	for (uint32_t i = 0; i < census->count; i++) {
		struct buf *const text = stacktrack_begin_record(writer);

		buf_printf(text, "from=0x%" PRIx64 " size=%" PRIu64 " id=%" PRIu32, census->blocks[i].id,
			   census->blocks[i].size, census->resource);
		stacktrack_put_value(writer, STACKTRACK_OF_BEFORE);
	}
}

static void put_other(struct writer *writer, const struct record *record)
{
	struct buf *text;

	switch (record->type) {
	case RECORD_PROCESS:
		put_process(writer, &record->process);
		break;
	case RECORD_MODULE:
		text = stacktrack_begin_record(writer);
		stacktrack_add_number(text, "id", record->module.id);
		stacktrack_add_number(text, "major", record->module.version_major);
		stacktrack_add_number(text, "minor", record->module.version_minor);
		stacktrack_add_word(text, "name", record->module.name);
		put_declaration(writer, STACKTRACK_OF_MODULE, record->module.id);
		break;
	case RECORD_RESOURCE:
		text = stacktrack_begin_record(writer);
		stacktrack_add_number(text, "id", record->resource.id);
		stacktrack_add_number(text, "flags", record->resource.flags);
		stacktrack_add_word(text, "type", record->resource.type);
		stacktrack_add_word(text, "text", record->resource.desc);
		put_declaration(writer, STACKTRACK_OF_RESOURCE, record->resource.id);
		break;
	case RECORD_CONTEXT:
		text = stacktrack_begin_record(writer);
		stacktrack_add_number(text, "id", record->context.id);
		stacktrack_add_word(text, "name", record->context.name);
		put_declaration(writer, STACKTRACK_OF_CONTEXT, record->context.id);
		break;
	case RECORD_OBJECT:
		stacktrack_put_object(writer, &record->object);
		break;
	case RECORD_BUILD_ID:
		stacktrack_put_build_id(writer, &record->build_id);
		break;
	case RECORD_THREAD:
		put_thread(writer, &record->thread);
		break;
	case RECORD_NOTE:
		put_text(writer, STACKTRACK_OF_NOTE, record->note.text, NULL);
		break;
	case RECORD_HEAP:
		put_heap(writer, &record->heap);
		break;
	case RECORD_ATTACHMENT:
		put_text(writer, STACKTRACK_OF_ATTACHMENT, record->attachment.name,
			 record->attachment.path ? record->attachment.path : "");
		break;
	case RECORD_COMMENT:
		put_text(writer, STACKTRACK_OF_COMMENT, record->comment.text, NULL);
		break;
	case RECORD_SCAN:
		text = stacktrack_begin_record(writer);
		stacktrack_add_number(text, "id", record->scan.resource);
		stacktrack_add_word(text, "text", record->scan.reason ? record->scan.reason : "");
		stacktrack_put_value(writer, STACKTRACK_OF_SCAN);
		break;
	case RECORD_LOST:
		text = stacktrack_begin_record(writer);
		stacktrack_add_number(text, "flags", record->lost.kind);
		buf_printf(text, " from=0x%" PRIx64 " id=%" PRIu32, record->lost.id, record->lost.resource);
		stacktrack_put_value(writer, STACKTRACK_OF_LOST);
		break;
	case RECORD_CENSUS:
		put_census(writer, &record->census);
		break;
	case RECORD_RESIDENT:
		text = stacktrack_begin_record(writer);
		stacktrack_add_number(text, "now", record->resident.now);
		stacktrack_add_number(text, "peak", record->resident.peak);
		stacktrack_put_value(writer, STACKTRACK_OF_RESIDENT);
		break;
	case RECORD_AREA:
		text = stacktrack_begin_record(writer);
		buf_printf(text, "from=0x%" PRIx64 " size=%" PRIu64, record->area.from, record->area.size);
		if (record->area.is_internal)
			stacktrack_add_number(text, "internal", 1);
		stacktrack_put_value(writer, STACKTRACK_OF_AREA);
		break;
	case RECORD_CALL:
		break;
	}
}

static void stacktrack_put(struct writer *writer, const struct record *record)
{
	struct stacktrack_writer *s = writer->state;

	if (!s->begun && record->type != RECORD_PROCESS)
		return;
	stacktrack_next_cycle(writer);
	const size_t before = writer->out.size;

	if (record->type == RECORD_CALL)
		stacktrack_put_call(writer, &record->call);
	else
		put_other(writer, record);
	if (record->type != RECORD_PROCESS)
		s->cycle.entries += (writer->out.size - before) / STACKTRACK_ENTRY;
}

const struct writer_ops stacktrack_writer_ops = {
	.begin = stacktrack_begin,
	.put = stacktrack_put,
	.end = stacktrack_end,
};

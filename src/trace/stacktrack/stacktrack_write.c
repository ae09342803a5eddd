/* Writes the StackTrack format. Each record becomes one or more hits of scopes, except an object, which becomes FLOC
 * and FPROPERTY. */
#include "config.h"
#include "base/util.h"
#include "trace/stacktrack/stacktrack_write.h"

#include <inttypes.h>
#include <stdlib.h>

static void stacktrack_write_end(struct writer *writer)
{
	struct stacktrack_writer *s = writer->state;

	stacktrack_forget_functions(s);
	free(s->names);
	hash_free(&s->threads);
	hash_free(&s->taken);
	stack_cache_free(&s->stacks);
	stacktrack_cycle_free(&s->cycle);
	buf_free(&s->text);
}

/* Appends a record that later records refer to, and stores it for the beginning of later cycles. */
static void put_declaration(struct writer *writer, enum stacktrack_value value, uint32_t id)
{
	stacktrack_put_value(writer, value);
	stacktrack_keep_value(writer, value, id);
}

static void stacktrack_write_put_process(struct writer *writer, const struct record_process *process)
{
	struct stacktrack_writer *s = writer->state;

	if (writer->has_process)
		return;
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
	/* If there are more threads than 16-bit numbers, some threads share a number; thread records still distinguish
	 * them. */
	if (s->taken.count < UINT16_MAX)
		while (!handle || !hash_set(&s->taken, handle, 1))
			handle++;
	hash_set(&s->threads, tid, handle);
	return handle;
}

static void stacktrack_write_put_thread(struct writer *writer, const struct record_thread *thread)
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

static void stacktrack_write_put_heap(struct writer *writer, const struct record_heap *heap)
{
	struct buf *text = stacktrack_begin_record(writer);

	buf_printf(text, "bottom=0x%" PRIx64 " top=0x%" PRIx64 " lowest=0x%" PRIx64 " highest=0x%" PRIx64, heap->bottom,
		   heap->top, heap->lowest, heap->highest);
	for (size_t i = 0; i < ARRAY_SIZE(heap->info); i++)
		buf_printf(text, " info=%" PRIu64, heap->info[i]);
	stacktrack_put_value(writer, STACKTRACK_OF_HEAP);
}

static void stacktrack_write_put_text(struct writer *writer, enum stacktrack_value value, const char *first,
				      const char *second)
{
	struct buf *text = stacktrack_begin_record(writer);

	stacktrack_add_word(text, "text", first ? first : "");
	if (second)
		stacktrack_add_word(text, "path", second);
	stacktrack_put_value(writer, value);
}

static void stacktrack_write_put_note(struct writer *writer, const struct record_note *note)
{
	stacktrack_write_put_text(writer, STACKTRACK_OF_NOTE, note->text, NULL);
}

static void stacktrack_write_put_attachment(struct writer *writer, const struct record_attachment *attachment)
{
	stacktrack_write_put_text(writer, STACKTRACK_OF_ATTACHMENT, attachment->name,
				  attachment->path ? attachment->path : "");
}

static void stacktrack_write_put_comment(struct writer *writer, const struct record_comment *comment)
{
	stacktrack_write_put_text(writer, STACKTRACK_OF_COMMENT, comment->text, NULL);
}

static void stacktrack_write_put_module(struct writer *writer, const struct record_module *module)
{
	struct buf *const text = stacktrack_begin_record(writer);

	stacktrack_add_number(text, "id", module->id);
	stacktrack_add_number(text, "major", module->version_major);
	stacktrack_add_number(text, "minor", module->version_minor);
	stacktrack_add_word(text, "name", module->name);
	put_declaration(writer, STACKTRACK_OF_MODULE, module->id);
}

static void stacktrack_write_put_resource(struct writer *writer, const struct record_resource *resource)
{
	struct buf *const text = stacktrack_begin_record(writer);

	stacktrack_add_number(text, "id", resource->id);
	stacktrack_add_number(text, "flags", resource->flags);
	stacktrack_add_word(text, "type", resource->type);
	stacktrack_add_word(text, "text", resource->desc);
	put_declaration(writer, STACKTRACK_OF_RESOURCE, resource->id);
}

static void stacktrack_write_put_context(struct writer *writer, const struct record_context *context)
{
	struct buf *const text = stacktrack_begin_record(writer);

	stacktrack_add_number(text, "id", context->id);
	stacktrack_add_word(text, "name", context->name);
	put_declaration(writer, STACKTRACK_OF_CONTEXT, context->id);
}

static void stacktrack_write_put_scan(struct writer *writer, const struct record_scan *scan)
{
	struct buf *const text = stacktrack_begin_record(writer);

	stacktrack_add_number(text, "id", scan->resource);
	stacktrack_add_word(text, "text", scan->reason ? scan->reason : "");
	stacktrack_put_value(writer, STACKTRACK_OF_SCAN);
}

static void stacktrack_write_put_lost(struct writer *writer, const struct record_lost *lost)
{
	struct buf *const text = stacktrack_begin_record(writer);

	stacktrack_add_number(text, "flags", lost->kind);
	buf_printf(text, " from=0x%" PRIx64 " id=%" PRIu32, lost->id, lost->resource);
	stacktrack_put_value(writer, STACKTRACK_OF_LOST);
}

static void stacktrack_write_put_resident(struct writer *writer, const struct record_resident *resident)
{
	struct buf *const text = stacktrack_begin_record(writer);

	stacktrack_add_number(text, "now", resident->now);
	stacktrack_add_number(text, "peak", resident->peak);
	stacktrack_put_value(writer, STACKTRACK_OF_RESIDENT);
}

static void stacktrack_write_put_area(struct writer *writer, const struct record_area *area)
{
	struct buf *const text = stacktrack_begin_record(writer);

	buf_printf(text, "from=0x%" PRIx64 " size=%" PRIu64, area->from, area->size);
	if (area->is_internal)
		stacktrack_add_number(text, "internal", 1);
	stacktrack_put_value(writer, STACKTRACK_OF_AREA);
}

static void stacktrack_write_put_baseline(struct writer *writer, const struct record_baseline *baseline)
{
	for (uint32_t i = 0; i < baseline->count; i++) {
		struct buf *const text = stacktrack_begin_record(writer);

		buf_printf(text, "from=0x%" PRIx64 " size=%" PRIu64 " id=%" PRIu32, baseline->blocks[i].id,
			   baseline->blocks[i].size, baseline->resource);
		stacktrack_put_value(writer, STACKTRACK_OF_BEFORE);
	}
}

static void stacktrack_put(struct writer *writer, const struct record *record)
{
	struct stacktrack_writer *s = writer->state;

	stacktrack_next_cycle(writer);
	const size_t before = writer->out.size;

	writer_put_record(writer, record);
	if (record->type != RECORD_PROCESS)
		s->cycle.entries += (writer->out.size - before) / STACKTRACK_ENTRY;
}

const struct writer_ops stacktrack_writer_ops = {
	.state_size = sizeof(struct stacktrack_writer),
	.put = {.process = stacktrack_write_put_process,
		.module = stacktrack_write_put_module,
		.resource = stacktrack_write_put_resource,
		.context = stacktrack_write_put_context,
		.object = stacktrack_put_object,
		.build_id = stacktrack_put_build_id,
		.thread = stacktrack_write_put_thread,
		.call = stacktrack_put_call,
		.note = stacktrack_write_put_note,
		.heap = stacktrack_write_put_heap,
		.attachment = stacktrack_write_put_attachment,
		.comment = stacktrack_write_put_comment,
		.area = stacktrack_write_put_area,
		.scan = stacktrack_write_put_scan,
		.lost = stacktrack_write_put_lost,
		.baseline = stacktrack_write_put_baseline,
		.resident = stacktrack_write_put_resident},
	.needs_process = true,
	.around = stacktrack_put,
	.end = stacktrack_write_end,
};

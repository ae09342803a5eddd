/* Writes the text format: the header, the declarations and the other lines. text_write_call.c writes the calls. */
#include "config.h"
#include "trace/text/text_write.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void text_write_begin(struct writer *writer)
{
	struct text_writer *s = writer->state;

	s->compat = writer->options.compat;
}

static void text_write_end(struct writer *writer)
{
	struct text_writer *s = writer->state;

	for (size_t i = 0; i < s->type_count; i++)
		free(s->types[i].name);
	free(s->types);
}

/* Appends one field of the header. In 1.4 a comma separates fields; in compat ", " follows each field. */
static void put_field(struct writer *writer, bool first, const char *key, const char *value)
{
	const struct text_writer *s = writer->state;

	if (!first && !s->compat)
		buf_add_char(&writer->out, ',');
	buf_add_str(&writer->out, key);
	buf_add_char(&writer->out, '=');
	text_put_escaped(&writer->out, value, ",");
	if (s->compat)
		buf_add_str(&writer->out, ", ");
}

/* Appends the start time: in 1.4 in UTC, like the times of calls; in compat as local time, which the sp-rtrace tools
 * expect. A start time that was read from a text trace of the same dialect is copied unchanged. */
static void put_start(struct writer *writer, const struct record_process *process)
{
	const bool compat = writer->options.compat;
	const time_t start = (time_t)process->start_sec;
	char text[80];
	struct tm tm;

	if (process->start_text && (!process->start_sec || compat == (process->version_major >= TEXT_COMPAT_MAJOR))) {
		put_field(writer, false, "timestamp", process->start_text);
		return;
	}
	if (!process->start_sec || !(compat ? localtime_r(&start, &tm) : gmtime_r(&start, &tm)))
		return;
	if (compat)
		snprintf(text, sizeof(text), "%ld.%d.%d %02d:%02d:%02d", tm.tm_year + 1900L, tm.tm_mon + 1, tm.tm_mday,
			 tm.tm_hour, tm.tm_min, tm.tm_sec);
	else
		snprintf(text, sizeof(text), "%04ld-%02d-%02d %02d:%02d:%02d +0000", tm.tm_year + 1900L, tm.tm_mon + 1,
			 tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec);
	put_field(writer, false, "timestamp", text);
}

/* Sets text to the names of the set bits, separated by '|'. Returns false if no bit is set. */
static bool text_write_join_names(char *text, const char *const *names, size_t count, unsigned bits)
{
	*text = '\0';
	for (size_t i = 0; i < count; i++)
		if (bits >> i & 1) {
			strcat(text, *text ? "|" : "");
			strcat(text, names[i]);
		}
	return *text;
}

static void text_write_put_process(struct writer *writer, const struct record_process *process)
{
	const struct text_writer *s = writer->state;
	unsigned filters = process->filters;
	char text[64];

	if (writer->options.namer)
		filters |= FILTER_RESOLVE;
	put_field(writer, true, "version", s->compat ? "2.0" : "1.4");
	if (process->arch)
		put_field(writer, false, "arch", process->arch);
	put_start(writer, process);
	if (process->name)
		put_field(writer, false, "process", process->name);
	if (process->has_pid) {
		snprintf(text, sizeof(text), "%" PRIu32, process->pid);
		put_field(writer, false, "pid", text);
	}
	if (text_write_join_names(text, text_filters, TEXT_FILTERS, filters))
		put_field(writer, false, "filter", text);
	if (process->has_depth) {
		snprintf(text, sizeof(text), "%" PRIu32, process->depth);
		put_field(writer, false, "backtrace depth", text);
	}
	if (process->origin)
		put_field(writer, false, "origin", process->origin);
	if (process->no_timestamps && !s->compat)
		put_field(writer, false, "timestamps", "no");
	if (process->is_attached && !s->compat)
		put_field(writer, false, "attached", "yes");
	buf_add_char(&writer->out, '\n');
}

static void text_write_put_module(struct writer *writer, const struct record_module *module)
{
	struct buf *const out = &writer->out;

	buf_printf(out, TEXT_MODULE_LINE "[%" PRIx32 "] ", module->id);
	text_put_escaped(out, module->name ? module->name : "", "");
	buf_printf(out, " (%u.%u)\n", module->version_major, module->version_minor);
}

static void remember_type(struct text_writer *s, const struct record_resource *resource)
{
	for (size_t i = 0; i < s->type_count; i++)
		if (s->types[i].id == resource->id)
			return;
	if (s->type_count >= TEXT_TYPES_MAX)
		return;
	ARRAY_GROW(s->types, s->type_capacity, s->type_count);
	s->types[s->type_count++] = (struct text_type){
		.id = resource->id, .flags = resource->flags, .name = xstrdup(resource->type ? resource->type : "")};
}

static void text_write_put_resource(struct writer *writer, const struct record_resource *resource)
{
	struct text_writer *s = writer->state;
	struct buf *out = &writer->out;
	char flags[64];

	/* In compat, ids are masks of 32 bits. */
	if (s->compat && (!resource->id || resource->id > 32)) {
		writer->cut_count++;
		return;
	}
	remember_type(s, resource);
	buf_printf(out, "<%" PRIx32 "> : ", s->compat ? 1u << (resource->id - 1) : resource->id);
	text_put_escaped(out, resource->type ? resource->type : "", "");
	buf_add_str(out, " (");
	text_put_escaped(out, resource->desc ? resource->desc : "", "");
	buf_add_char(out, ')');
	if (text_write_join_names(flags, text_flags, s->compat ? 1 : TEXT_FLAGS, resource->flags))
		buf_printf(out, " [%s]", flags);
	buf_add_char(out, '\n');
}

static void text_write_put_object(struct writer *writer, const struct record_object *object)
{
	buf_add_str(&writer->out, ": ");
	/* The sp-rtrace tools reject blanks in a path, so they are escaped. */
	text_put_escaped(&writer->out, object->path ? object->path : "", writer->options.compat ? " " : "");
	buf_printf(&writer->out, " => 0x%" PRIx64 "-0x%" PRIx64 "\n", object->from, object->to);
}

/* Appends a build-id, in both dialects, because readers of other programs take the line for a comment. A malformed
 * build-id is left out, because our reader would reject it. */
static void text_write_put_build_id(struct writer *writer, const struct record_build_id *build_id)
{
	struct buf *const out = &writer->out;

	if (!build_id->hex || !text_is_build_id(build_id->hex))
		return;
	buf_printf(out, TEXT_BUILD_LINE "0x%" PRIx64 " %s\n", build_id->from, build_id->hex);
}

/* Appends the text as a single line. Bytes that are not plain become escapes, apart from tabs. Readers keep a comment
 * as it is, so no backslash is escaped: a comment that is read and written again does not change. */
static void text_write_put_comment(struct writer *writer, const struct record_comment *comment)
{
	struct buf *out = &writer->out;

	for (const char *c = comment->text ? comment->text : ""; *c;) {
		/* The sp-rtrace tools print a comment with printf, so '%' is doubled in compat. */
		if (*c == '%' && writer->options.compat)
			buf_add_char(out, '%');
		c = text_put_character(out, c, "\t");
	}
	buf_add_char(out, '\n');
}

static void text_write_put_heap(struct writer *writer, const struct record_heap *heap)
{
	const struct text_writer *s = writer->state;
	const uint64_t addresses[] = {heap->bottom, heap->top, heap->lowest ? heap->lowest : s->lowest,
				      heap->highest ? heap->highest : s->highest};
	struct buf *out = &writer->out;

	buf_add_str(out, TEXT_HEAP_LINE "\n");
	for (size_t i = 0; i < TEXT_HEAP_LINES; i++) {
		buf_printf(out, "##   %s ", text_heap_lines[i]);
		if (i < ARRAY_SIZE(addresses))
			buf_printf(out, "0x%" PRIx64 "\n", addresses[i]);
		else
			buf_printf(out, "%" PRIu64 "\n", heap->info[i - ARRAY_SIZE(addresses)]);
	}
}

static void text_write_put_named(struct buf *out, const char *name, const char *text)
{
	text_put_escaped(out, name ? name : "", "");
	buf_add_str(out, " : ");
	text_put_escaped(out, text ? text : "", "");
	buf_add_char(out, '\n');
}

static void text_write_put_thread(struct writer *writer, const struct record_thread *thread)
{
	struct buf *const out = &writer->out;

	buf_printf(out, TEXT_THREAD_LINE "%" PRIu32, thread->tid);
	if (thread->name && *thread->name) {
		buf_add_char(out, ' ');
		text_put_escaped(out, thread->name, "");
	}
	buf_add_char(out, '\n');
}

/* Appends `## scan <1>` or `## scan <1> reason` */
static void text_write_put_scan(struct writer *writer, const struct record_scan *scan)
{
	struct buf *const out = &writer->out;

	buf_printf(out, TEXT_SCAN_LINE "<%" PRIx32 ">", scan->resource);
	if (scan->reason && *scan->reason) {
		buf_add_char(out, ' ');
		text_put_escaped(out, scan->reason, "");
	}
	buf_add_char(out, '\n');
}

static void text_write_put_context(struct writer *writer, const struct record_context *context)
{
	buf_printf(&writer->out, "@ %" PRIx32, context->id);
	text_write_put_named(&writer->out, "", context->name);
}

static void text_write_put_attachment(struct writer *writer, const struct record_attachment *attachment)
{
	buf_add_str(&writer->out, "& ");
	text_write_put_named(&writer->out, attachment->name, attachment->path);
}

static void text_write_put_note(struct writer *writer, const struct record_note *note)
{
	buf_add_str(&writer->out, "## ");
	text_put_escaped(&writer->out, note->text ? note->text : "", "");
	buf_add_char(&writer->out, '\n');
}

static void text_write_put_lost(struct writer *writer, const struct record_lost *lost)
{
	buf_printf(&writer->out, TEXT_LOST_LINE "<%" PRIx32 "> 0x%" PRIx64 " %s\n", lost->resource, lost->id,
		   text_lost_kinds[lost->kind]);
}

/* Appends `## before <1> 0x602010 24`, one line for each block */
static void text_write_put_baseline(struct writer *writer, const struct record_baseline *baseline)
{
	for (uint32_t i = 0; i < baseline->count; i++)
		buf_printf(&writer->out, TEXT_BEFORE_LINE "<%" PRIx32 "> 0x%" PRIx64 " %" PRIu64 "\n",
			   baseline->resource, baseline->blocks[i].id, baseline->blocks[i].size);
}

static void text_write_put_resident(struct writer *writer, const struct record_resident *resident)
{
	buf_printf(&writer->out, TEXT_RESIDENT_LINE "%" PRIu64 " %" PRIu64 "\n", resident->now, resident->peak);
}

const struct writer_ops text_writer_ops = {
	.state_size = sizeof(struct text_writer),
	.begin = text_write_begin,
	.put = {.process = text_write_put_process,
		.module = text_write_put_module,
		.resource = text_write_put_resource,
		.context = text_write_put_context,
		.object = text_write_put_object,
		.build_id = text_write_put_build_id,
		.thread = text_write_put_thread,
		.call = text_put_call,
		.note = text_write_put_note,
		.heap = text_write_put_heap,
		.attachment = text_write_put_attachment,
		.comment = text_write_put_comment,
		.scan = text_write_put_scan,
		.lost = text_write_put_lost,
		.baseline = text_write_put_baseline,
		.resident = text_write_put_resident},
	.not_in_compat = 1u << RECORD_THREAD | 1u << RECORD_NOTE | 1u << RECORD_SCAN | 1u << RECORD_LOST |
			 1u << RECORD_BASELINE | 1u << RECORD_RESIDENT,
	.end = text_write_end,
};

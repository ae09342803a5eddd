/* Writes the rtrace binary format: the handshake and the declarations. */
#include "config.h"
#include "trace/rtrace/rtrace_write.h"

#include <stdlib.h>

static void *rtrace_write_begin(struct writer *writer)
{
	struct rtrace_state *s = xcalloc(1, sizeof(*s));

	s->compat = writer->options.compat;
	s->data_max = s->compat ? RTRACE_COMPAT_DATA_MAX : RTRACE_DATA_MAX;
	return s;
}

static void rtrace_write_end(struct writer *writer)
{
	free(writer->state);
}

/* Maximum length of a machine's name, in bytes. The length is limited because the size of the handshake is stored in
 * one byte. No machine has a longer name. */
#define ARCH_MAX 128

static void put_handshake(struct writer *writer, const struct record_process *process)
{
	const struct rtrace_state *s = writer->state;
	const char *arch = process->arch ? process->arch : "";
	const size_t length = strnlen(arch, ARCH_MAX);
	const size_t whole = align_up(2 + 3 + length + 2, 4);
	unsigned char *p = buf_room(&writer->out, whole);

	writer->cut_count += arch[length] != '\0';
	memset(p, 0, whole);
	p[0] = RTRACE_MAGIC;
	p[1] = (unsigned char)(whole - 2);
	p[2] = s->compat ? RTRACE_COMPAT_MAJOR : 1;
	p[3] = s->compat ? 0 : 4;
	p[4] = (unsigned char)length;
	memcpy(p + 5, arch, length);
	p[5 + length] = process->big_endian;
	p[6 + length] = s->wide ? 8 : 4;
	writer->out.size += whole;
}

static void rtrace_write_put_process(struct writer *writer, const struct record_process *process)
{
	struct rtrace_state *s = writer->state;
	const size_t length = text_length(process->name);

	if (writer->has_process)
		return;
	s->wide = record_process_is_wide(process);
	s->swap = process->big_endian != host_is_big_endian();
	/* sp-rtrace writes types as dwords, so on big-endian machines their letters are in reverse order. */
	s->reverse_types = s->compat && process->big_endian;
	put_handshake(writer, process);

	unsigned char *p = packet_begin(writer, 16 + string_size(length));

	p = put_dword(s, p, process->pid);
	p = put_dword(s, p, (uint32_t)process->start_sec);
	p = put_dword(s, p, process->start_usec);
	p = put_dword(s, p, process->depth);
	p = put_string(writer, p, process->name, length, s->data_max - 16);
	packet_end(writer, RTRACE_PINF, p);
	if (process->no_timestamps && !s->compat)
		packet_end(writer, RTRACE_NTIM, packet_begin(writer, 0));
	if (process->is_attached && !s->compat)
		packet_end(writer, RTRACE_ATCH, packet_begin(writer, 0));
}

static void rtrace_write_put_module(struct writer *writer, const struct record_module *module)
{
	const struct rtrace_state *s = writer->state;
	const size_t length = text_length(module->name);
	unsigned char *p = packet_begin(writer, 8 + string_size(length));

	p = put_dword(s, p, module->id);
	p = put_dword(s, p, (uint32_t)module->version_major << 16 | module->version_minor);
	p = put_string(writer, p, module->name, length, s->data_max - 8);
	packet_end(writer, RTRACE_MINF, p);
}

static void rtrace_write_put_resource(struct writer *writer, const struct record_resource *resource)
{
	struct rtrace_state *s = writer->state;
	const size_t type = text_length(resource->type), desc = text_length(resource->desc);

	if (!resource_fits(s, resource->id)) {
		writer->cut_count++;
		return;
	}
	const uint64_t bit = resource->id < 64 ? UINT64_C(1) << resource->id : 0;

	if (!(s->declared & bit) && !s->resource_count++)
		s->first_resource = resource->id;
	s->declared |= bit;
	unsigned char *p = packet_begin(writer, 8 + string_size(type) + string_size(desc));
	unsigned char *const data = p;

	p = put_dword(s, p, resource->id);
	p = put_dword(s, p, resource->flags & (s->compat ? RESOURCE_REFCOUNT : RESOURCE_REFCOUNT | RESOURCE_CALL));
	p = put_string(writer, p, resource->type, type, s->data_max - 8 - 4);
	p = put_string(writer, p, resource->desc, desc, s->data_max - (size_t)(p - data));
	packet_end(writer, RTRACE_RESR, p);
}

static void rtrace_write_put_context(struct writer *writer, const struct record_context *context)
{
	const struct rtrace_state *s = writer->state;
	const size_t length = text_length(context->name);
	unsigned char *p = packet_begin(writer, 4 + string_size(length));

	p = put_dword(s, p, context->id);
	p = put_string(writer, p, context->name, length, s->data_max - 4);
	packet_end(writer, RTRACE_CTXR, p);
}

static void rtrace_write_put_object(struct writer *writer, const struct record_object *object)
{
	const struct rtrace_state *s = writer->state;
	const size_t length = text_length(object->path);
	unsigned char *p = packet_begin(writer, 16 + string_size(length));

	p = put_pointer(writer, p, object->from);
	p = put_pointer(writer, p, object->to);
	p = put_string(writer, p, object->path, length, s->data_max - 16);
	packet_end(writer, RTRACE_MMAP, p);
}

static void rtrace_write_put_build_id(struct writer *writer, const struct record_build_id *build_id)
{
	const struct rtrace_state *s = writer->state;
	const size_t length = text_length(build_id->hex);
	unsigned char *p = packet_begin(writer, 8 + string_size(length));

	p = put_pointer(writer, p, build_id->from);
	p = put_string(writer, p, build_id->hex, length, s->data_max - 8);
	packet_end(writer, RTRACE_BLID, p);
}

static void rtrace_write_put_thread(struct writer *writer, const struct record_thread *thread)
{
	const struct rtrace_state *s = writer->state;
	const size_t length = text_length(thread->name);
	unsigned char *p = packet_begin(writer, 4 + string_size(length));

	p = put_dword(s, p, thread->tid);
	p = put_string(writer, p, thread->name, length, s->data_max - 4);
	packet_end(writer, RTRACE_THRD, p);
}

static void rtrace_write_put_note(struct writer *writer, const struct record_note *note)
{
	const struct rtrace_state *s = writer->state;
	const size_t length = text_length(note->text);
	unsigned char *p = packet_begin(writer, string_size(length));

	p = put_string(writer, p, note->text, length, s->data_max);
	packet_end(writer, RTRACE_NOTE, p);
}

static void rtrace_write_put_scan(struct writer *writer, const struct record_scan *scan)
{
	const struct rtrace_state *s = writer->state;
	const size_t length = text_length(scan->reason);
	unsigned char *p = packet_begin(writer, 4 + string_size(length));

	p = put_dword(s, p, scan->resource);
	p = put_string(writer, p, scan->reason, length, s->data_max - 4);
	packet_end(writer, RTRACE_SCAN, p);
}

static void rtrace_write_put_lost(struct writer *writer, const struct record_lost *lost)
{
	const struct rtrace_state *s = writer->state;
	unsigned char *p = packet_begin(writer, 16);

	p = put_dword(s, p, lost->resource);
	p = put_dword(s, p, lost->kind);
	p = put_pointer(writer, p, lost->id);
	packet_end(writer, RTRACE_LOST, p);
}

#define BASELINE_BLOCKS 1024 /* number of blocks in one packet; keeps the writer's buffer small */

static void rtrace_write_put_baseline(struct writer *writer, const struct record_baseline *baseline)
{
	const struct rtrace_state *s = writer->state;

	for (uint32_t at = 0; at < baseline->count;) {
		const uint32_t left = baseline->count - at, count = left < BASELINE_BLOCKS ? left : BASELINE_BLOCKS;
		unsigned char *p = packet_begin(writer, 8 + 16 * (size_t)count);

		p = put_dword(s, p, baseline->resource);
		p = put_dword(s, p, count);
		for (const uint32_t end = at + count; at < end; at++) {
			p = put_pointer(writer, p, baseline->blocks[at].id);
			p = put_pointer(writer, p, baseline->blocks[at].size);
		}
		packet_end(writer, RTRACE_CENS, p);
	}
}

static void rtrace_write_put_resident(struct writer *writer, const struct record_resident *resident)
{
	unsigned char *p = packet_begin(writer, 16);

	p = put_pointer(writer, p, resident->now);
	p = put_pointer(writer, p, resident->peak);
	packet_end(writer, RTRACE_RESI, p);
}

static void rtrace_write_put_heap(struct writer *writer, const struct record_heap *heap)
{
	const struct rtrace_state *s = writer->state;
	unsigned char *p = packet_begin(writer, 16 + 40);

	p = put_pointer(writer, p, heap->bottom);
	p = put_pointer(writer, p, heap->top);
	for (size_t i = 0; i < ARRAY_SIZE(heap->info); i++) {
		const bool fits = heap->info[i] <= UINT32_MAX;

		p = put_dword(s, p, fits ? (uint32_t)heap->info[i] : UINT32_MAX);
		writer->cut_count += !fits;
	}
	packet_end(writer, RTRACE_HINF, p);
}

static void rtrace_write_put_attachment(struct writer *writer, const struct record_attachment *attachment)
{
	const struct rtrace_state *s = writer->state;
	const size_t name = text_length(attachment->name), path = text_length(attachment->path);
	unsigned char *p = packet_begin(writer, string_size(name) + string_size(path));
	unsigned char *const data = p;

	p = put_string(writer, p, attachment->name, name, s->data_max - 4);
	p = put_string(writer, p, attachment->path, path, s->data_max - (size_t)(p - data));
	packet_end(writer, RTRACE_FILE, p);
}

const struct writer_ops rtrace_writer_ops = {
	.begin = rtrace_write_begin,
	.put = {.process = rtrace_write_put_process,
		.module = rtrace_write_put_module,
		.resource = rtrace_write_put_resource,
		.context = rtrace_write_put_context,
		.object = rtrace_write_put_object,
		.build_id = rtrace_write_put_build_id,
		.thread = rtrace_write_put_thread,
		.call = rtrace_put_call,
		.note = rtrace_write_put_note,
		.heap = rtrace_write_put_heap,
		.attachment = rtrace_write_put_attachment,
		.scan = rtrace_write_put_scan,
		.lost = rtrace_write_put_lost,
		.baseline = rtrace_write_put_baseline,
		.resident = rtrace_write_put_resident},
	.not_in_compat = 1u << RECORD_BUILD_ID | 1u << RECORD_THREAD | 1u << RECORD_NOTE | 1u << RECORD_SCAN |
			 1u << RECORD_LOST | 1u << RECORD_BASELINE | 1u << RECORD_RESIDENT,
	.needs_process = true,
	.end = rtrace_write_end,
};

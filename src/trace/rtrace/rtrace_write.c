/* Writes the rtrace binary format: the handshake and the declarations. */
#include "config.h"
#include "trace/rtrace/rtrace_write.h"

#include <stdarg.h>

static void rtrace_write_begin(struct writer *writer)
{
	struct rtrace_state *s = writer->state;

	s->compat = writer->options.compat;
	s->data_max = s->compat ? RTRACE_COMPAT_DATA_MAX : RTRACE_DATA_MAX;
}

/* Puts a packet. fields: a letter for each member: 'd' a dword (uint32_t), 'p' a pointer (uint64_t), 's' a text (const
 * char *). A text that the packet has no room for is cut. A pointer counts as 8 bytes, so texts are cut at the same
 * place for all widths of a pointer. */
static void rtrace_write_put_fields(struct writer *writer, enum rtrace_type type, const char *fields, ...)
{
	const struct rtrace_state *s = writer->state;
	unsigned char *p = packet_begin(writer, s->data_max), *end;
	size_t room = s->data_max;
	const char *text;
	va_list args;

	va_start(args, fields);
	for (; *fields; fields++, p = end) {
		if (*fields == 'd') {
			end = put_dword(s, p, va_arg(args, uint32_t));
			room -= 4;
		} else if (*fields == 'p') {
			end = put_pointer(writer, p, va_arg(args, uint64_t));
			room -= 8;
		} else {
			text = va_arg(args, const char *);
			/* An empty text takes 4 bytes, so leave room for the next text. */
			end = put_string(writer, p, text, text_length(text), fields[1] ? room - 4 : room);
			room -= (size_t)(end - p);
		}
	}
	va_end(args);
	packet_end(writer, type, p);
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

	if (writer->has_process)
		return;
	s->wide = record_process_is_wide(process);
	s->swap = process->big_endian != host_is_big_endian();
	/* sp-rtrace writes types as dwords, so on big-endian machines their letters are in reverse order. */
	s->reverse_types = s->compat && process->big_endian;
	put_handshake(writer, process);
	rtrace_write_put_fields(writer, RTRACE_PINF, "dddds", process->pid, (uint32_t)process->start_sec,
				process->start_usec, process->depth, process->name);
	if (process->no_timestamps && !s->compat)
		rtrace_write_put_fields(writer, RTRACE_NTIM, "");
	if (process->is_attached && !s->compat)
		rtrace_write_put_fields(writer, RTRACE_ATCH, "");
}

static void rtrace_write_put_module(struct writer *writer, const struct record_module *module)
{
	const uint32_t version = (uint32_t)module->version_major << 16 | module->version_minor;

	rtrace_write_put_fields(writer, RTRACE_MINF, "dds", module->id, version, module->name);
}

static void rtrace_write_put_resource(struct writer *writer, const struct record_resource *resource)
{
	struct rtrace_state *s = writer->state;
	const uint32_t flags = s->compat ? RESOURCE_REFCOUNT : RESOURCE_REFCOUNT | RESOURCE_CALL;

	if (!resource_fits(s, resource->id)) {
		writer->cut_count++;
		return;
	}
	const uint64_t bit = resource->id < 64 ? UINT64_C(1) << resource->id : 0;

	if (!(s->declared & bit) && !s->resource_count++)
		s->first_resource = resource->id;
	s->declared |= bit;
	rtrace_write_put_fields(writer, RTRACE_RESR, "ddss", resource->id, resource->flags & flags, resource->type,
				resource->desc);
}

static void rtrace_write_put_context(struct writer *writer, const struct record_context *context)
{
	rtrace_write_put_fields(writer, RTRACE_CTXR, "ds", context->id, context->name);
}

static void rtrace_write_put_object(struct writer *writer, const struct record_object *object)
{
	rtrace_write_put_fields(writer, RTRACE_MMAP, "pps", object->from, object->to, object->path);
}

static void rtrace_write_put_build_id(struct writer *writer, const struct record_build_id *build_id)
{
	rtrace_write_put_fields(writer, RTRACE_BLID, "ps", build_id->from, build_id->hex);
}

static void rtrace_write_put_thread(struct writer *writer, const struct record_thread *thread)
{
	rtrace_write_put_fields(writer, RTRACE_THRD, "ds", thread->tid, thread->name);
}

static void rtrace_write_put_note(struct writer *writer, const struct record_note *note)
{
	rtrace_write_put_fields(writer, RTRACE_NOTE, "s", note->text);
}

static void rtrace_write_put_scan(struct writer *writer, const struct record_scan *scan)
{
	rtrace_write_put_fields(writer, RTRACE_SCAN, "ds", scan->resource, scan->reason);
}

static void rtrace_write_put_lost(struct writer *writer, const struct record_lost *lost)
{
	rtrace_write_put_fields(writer, RTRACE_LOST, "ddp", lost->resource, (uint32_t)lost->kind, lost->id);
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
	rtrace_write_put_fields(writer, RTRACE_RESI, "pp", resident->now, resident->peak);
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
	rtrace_write_put_fields(writer, RTRACE_FILE, "ss", attachment->name, attachment->path);
}

const struct writer_ops rtrace_writer_ops = {
	.state_size = sizeof(struct rtrace_state),
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
};

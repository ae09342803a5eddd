/* Writes the rtrace binary format.  Each packet is built in place at the end of the writer's
 * buffer: the room for it is taken first, then a cursor runs through. */
#include "config.h"
#include "trace/rtrace.h"
#include "trace/writer_state.h"

#include <stdlib.h>
#include <string.h>

struct rtrace_state {
	bool begun, compat;
	bool swap; /* the target's byte order is not the host's */
	bool wide; /* pointers of 8 bytes */
	bool reverse_types;
	uint32_t data_max;
	uint32_t resource_count, first_resource;
	uint64_t declared; /* bit N: resource N */
};

static void *rtrace_begin(struct writer *writer)
{
	struct rtrace_state *s = xcalloc(1, sizeof(*s));

	s->compat = writer->options.compat;
	s->data_max = s->compat ? RTRACE_COMPAT_DATA_MAX : RTRACE_DATA_MAX;
	return s;
}

static void rtrace_end(struct writer *writer)
{
	free(writer->state);
}

static inline unsigned char *put_word(const struct rtrace_state *s, unsigned char *p, uint16_t value)
{
	if (s->swap)
		value = __builtin_bswap16(value);
	memcpy(p, &value, 2);
	return p + 2;
}

static inline unsigned char *put_dword(const struct rtrace_state *s, unsigned char *p, uint32_t value)
{
	if (s->swap)
		value = __builtin_bswap32(value);
	memcpy(p, &value, 4);
	return p + 4;
}

static inline unsigned char *put_pointer(struct writer *writer, unsigned char *p, uint64_t value)
{
	const struct rtrace_state *s = writer->state;

	if (!s->wide) {
		writer->lost_count += value > UINT32_MAX;
		return put_dword(s, p, (uint32_t)value);
	}
	if (s->swap)
		value = __builtin_bswap64(value);
	memcpy(p, &value, 8);
	return p + 8;
}

/* Writes the head of the packet whose data lie from head + RTRACE_HEAD to `end`. */
static inline unsigned char *put_head(const struct rtrace_state *s, unsigned char *head, uint32_t type,
				      unsigned char *end)
{
	if (s->reverse_types)
		type = __builtin_bswap32(type);
	for (unsigned i = 0; i < 4; i++)
		head[i] = (unsigned char)(type >> 8 * i);
	put_dword(s, head + 4, (uint32_t)(end - head) - RTRACE_HEAD);
	return end;
}

/* A string of at most `room` bytes in all, a multiple of 4; what is longer is cut, ends in "..."
 * and is counted. `length` is the text's; text may be NULL. */
static inline unsigned char *put_string(struct writer *writer, unsigned char *p, const char *text, size_t length,
					size_t room)
{
	const struct rtrace_state *s = writer->state;
	const size_t max = room - 2 < RTRACE_TEXT_MAX ? room - 2 : RTRACE_TEXT_MAX;
	const bool cut = length > max;

	if (cut)
		length = max;
	const size_t whole = align_up(2 + length, 4);

	/* The last word first: what the text does not cover of it is the padding. */
	memset(p + whole - 4, 0, 4);
	put_word(s, p, (uint16_t)(s->compat && text ? whole - 2 : length));
	if (length)
		memcpy(p + 2, text, length);
	if (cut) {
		const size_t mark = length < 3 ? length : 3;

		memcpy(p + 2 + length - mark, "...", mark);
		writer->cut_count++;
	}
	return p + whole;
}

static size_t text_length(const char *text)
{
	return text ? strlen(text) : 0;
}

/* The size of a string in the buffer, at most. */
static size_t string_size(size_t length)
{
	return 2 + (length < RTRACE_TEXT_MAX ? length : RTRACE_TEXT_MAX) + 3;
}

/* Starts a packet that will have at most `size` bytes of data. */
static inline unsigned char *packet_begin(struct writer *writer, size_t size)
{
	return buf_room(&writer->out, RTRACE_HEAD + size) + RTRACE_HEAD;
}

static inline void packet_end(struct writer *writer, uint32_t type, unsigned char *end)
{
	put_head(writer->state, writer->out.data + writer->out.size, type, end);
	writer->out.size = (size_t)(end - writer->out.data);
}

/* The handshake's size is one byte; no machine has such a name. */
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

static bool is_wide(const struct record_process *process)
{
	if (process->pointer_size)
		return process->pointer_size == 8;
	/* Text does not tell. Machines are named after their width, mostly. */
	return !process->arch || strstr(process->arch, "64") || strstr(process->arch, "s390x") ||
	       strstr(process->arch, "alpha");
}

static void put_process(struct writer *writer, const struct record_process *process)
{
	struct rtrace_state *s = writer->state;
	const size_t length = text_length(process->name);

	if (s->begun)
		return;
	s->begun = true;
	s->wide = is_wide(process);
	s->swap = process->big_endian != host_is_big_endian();
	/* sp-rtrace stores types as dwords made for little-endian machines. */
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
}

static void put_module(struct writer *writer, const struct record_module *module)
{
	const struct rtrace_state *s = writer->state;
	const size_t length = text_length(module->name);
	unsigned char *p = packet_begin(writer, 8 + string_size(length));

	p = put_dword(s, p, module->id);
	p = put_dword(s, p, (uint32_t)module->version_major << 16 | module->version_minor);
	p = put_string(writer, p, module->name, length, s->data_max - 8);
	packet_end(writer, RTRACE_MINF, p);
}

/* The sp-rtrace tools have room for 32 resources. */
static bool resource_fits(const struct rtrace_state *s, uint32_t id)
{
	return !s->compat || id <= 32;
}

static void put_resource(struct writer *writer, const struct record_resource *resource)
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
	p = put_dword(s, p, resource->flags & (s->compat ? RESOURCE_REFCOUNT : 3));
	p = put_string(writer, p, resource->type, type, s->data_max - 8 - 4);
	p = put_string(writer, p, resource->desc, desc, s->data_max - (size_t)(p - data));
	packet_end(writer, RTRACE_RESR, p);
}

static void put_context(struct writer *writer, const struct record_context *context)
{
	const struct rtrace_state *s = writer->state;
	const size_t length = text_length(context->name);
	unsigned char *p = packet_begin(writer, 4 + string_size(length));

	p = put_dword(s, p, context->id);
	p = put_string(writer, p, context->name, length, s->data_max - 4);
	packet_end(writer, RTRACE_CTXR, p);
}

static void put_object(struct writer *writer, const struct record_object *object)
{
	const struct rtrace_state *s = writer->state;
	const size_t length = text_length(object->path);
	unsigned char *p = packet_begin(writer, 16 + string_size(length));

	p = put_pointer(writer, p, object->from);
	p = put_pointer(writer, p, object->to);
	p = put_string(writer, p, object->path, length, s->data_max - 16);
	packet_end(writer, RTRACE_MMAP, p);
}

static void put_build_id(struct writer *writer, const struct record_build_id *build_id)
{
	const struct rtrace_state *s = writer->state;
	const size_t length = text_length(build_id->hex);
	unsigned char *p = packet_begin(writer, 8 + string_size(length));

	p = put_pointer(writer, p, build_id->from);
	p = put_string(writer, p, build_id->hex, length, s->data_max - 8);
	packet_end(writer, RTRACE_BLID, p);
}

static void put_thread(struct writer *writer, const struct record_thread *thread)
{
	const struct rtrace_state *s = writer->state;
	const size_t length = text_length(thread->name);
	unsigned char *p = packet_begin(writer, 4 + string_size(length));

	p = put_dword(s, p, thread->tid);
	p = put_string(writer, p, thread->name, length, s->data_max - 4);
	packet_end(writer, RTRACE_THRD, p);
}

static void put_note(struct writer *writer, const struct record_note *note)
{
	const struct rtrace_state *s = writer->state;
	const size_t length = text_length(note->text);
	unsigned char *p = packet_begin(writer, string_size(length));

	p = put_string(writer, p, note->text, length, s->data_max);
	packet_end(writer, RTRACE_NOTE, p);
}

static void put_heap(struct writer *writer, const struct record_heap *heap)
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

static void put_attachment(struct writer *writer, const struct record_attachment *attachment)
{
	const struct rtrace_state *s = writer->state;
	const size_t name = text_length(attachment->name), path = text_length(attachment->path);
	unsigned char *p = packet_begin(writer, string_size(name) + string_size(path));
	unsigned char *const data = p;

	p = put_string(writer, p, attachment->name, name, s->data_max - 4);
	p = put_string(writer, p, attachment->path, path, s->data_max - (size_t)(p - data));
	packet_end(writer, RTRACE_FILE, p);
}

static void put_frames(struct writer *writer, const struct record_call *call)
{
	const struct rtrace_state *s = writer->state;
	const size_t pointer = s->wide ? 8 : 4;
	size_t max = (s->data_max - 4) / pointer, count = call->has_frames ? call->frame_count : 0;
	bool marked = call->has_frames && call->end && !s->compat;

	if (count + marked > max) {
		marked = !s->compat;
		count = max - marked;
		writer->cut_count++;
	}
	unsigned char *p = packet_begin(writer, 4 + (count + 1) * pointer);

	p = put_dword(s, p, (uint32_t)(count + marked));
	if (s->wide && !s->swap && count) {
		memcpy(p, call->frames, count * pointer);
		p += count * pointer;
	} else {
		for (size_t i = 0; i < count; i++)
			p = put_pointer(writer, p, call->frames[i]);
	}
	if (marked)
		p = put_pointer(writer, p, 0);
	packet_end(writer, RTRACE_BTRC, p);
}

/* One argument, if it fits into what is left of the packet: its value is cut first. */
static unsigned char *put_arg(struct writer *writer, unsigned char *p, const char *name, const char *value, size_t left)
{
	const size_t name_length = text_length(name), value_length = text_length(value);
	const size_t name_size = align_up(2 + name_length, 4);

	if (name_length > RTRACE_TEXT_MAX || name_size + 16 > left) {
		writer->cut_count++;
		return p;
	}
	p = put_string(writer, p, name ? name : "", name_length, left);
	return put_string(writer, p, value ? value : "", value_length, left - name_size);
}

static void put_args(struct writer *writer, const struct record_call *call, bool with_size)
{
	const struct rtrace_state *s = writer->state;
	unsigned char *p = packet_begin(writer, s->data_max);
	unsigned char *const data = p;
	uint32_t count = 0;

	p += 4;
	if (with_size) {
		char digits[24];
		char *d = digits + sizeof(digits) - 1;

		*d = '\0';
		for (uint64_t n = call->size; n; n /= 10)
			*--d = (char)('0' + n % 10);
		p = put_arg(writer, p, RTRACE_SIZE_ARG, d, s->data_max - 4);
		count++;
	}
	for (uint32_t i = 0; i < call->arg_count; i++) {
		unsigned char *const after =
			put_arg(writer, p, call->args[i].name, call->args[i].value, s->data_max - (size_t)(p - data));

		count += after != p;
		p = after;
	}
	put_dword(s, data, count);
	packet_end(writer, RTRACE_ARGS, p);
}

/* Milliseconds of the day; 0 says that there is no time, so that midnight is a millisecond late. */
static uint32_t call_time(const struct record_call *call)
{
	if (call->time_ns == TIME_NONE)
		return 0;
	const uint32_t ms = (uint32_t)(call->time_ns / 1000000 % RTRACE_DAY_MS);

	return ms ? ms : 1;
}

static uint32_t call_resource(const struct rtrace_state *s, const struct record_call *call)
{
	if (s->resource_count == 1)
		return s->compat ? s->first_resource : 0;
	return resource_fits(s, call->resource) ? call->resource : 0;
}

/* What the milliseconds of the next call leave out. */
static void put_microseconds(struct writer *writer, const struct record_call *call)
{
	const uint32_t us = call->time_ns == TIME_NONE ? 0 : (uint32_t)(call->time_ns / 1000 % 1000);

	if (us)
		packet_end(writer, RTRACE_USEC, put_dword(writer->state, packet_begin(writer, 4), us));
}

static void put_call_packet(struct writer *writer, const struct record_call *call, uint32_t size)
{
	const struct rtrace_state *s = writer->state;
	const size_t length = text_length(call->function);
	const uint32_t resource = call_resource(s, call), ms = call_time(call);
	const size_t room = s->data_max - 28;
	unsigned char *p = packet_begin(writer, 28 + string_size(length));

	if (!s->compat) {
		p = put_dword(s, p, ms);
		p = put_dword(s, p, resource);
		p = put_dword(s, p, call->context);
		p = put_dword(s, p, call->kind);
		p = put_string(writer, p, call->function, length, room);
		p = put_pointer(writer, p, call->id);
		p = put_dword(s, p, size);
	} else {
		p = put_dword(s, p, resource);
		p = put_dword(s, p, call->context);
		p = put_dword(s, p, ms);
		p = put_dword(s, p, call->kind == CALL_RELEASE ? CALL_RELEASE : CALL_ALLOC);
		p = put_string(writer, p, call->function, length, room);
		p = put_dword(s, p, size);
		p = put_pointer(writer, p, call->id);
	}
	packet_end(writer, RTRACE_CALL, p);
}

static void put_call(struct writer *writer, const struct record_call *call)
{
	const bool compat = ((const struct rtrace_state *)writer->state)->compat;
	/* In 1.4 the greatest dword itself says that the size is among the arguments. */
	const bool more = call->size >= RTRACE_SIZE_MORE;
	const bool has_args = call->arg_count || (more && !compat);

	if (!compat)
		put_microseconds(writer, call);
	put_call_packet(writer, call, more ? RTRACE_SIZE_MORE : (uint32_t)call->size);
	if (compat) {
		writer->cut_count += call->size > UINT32_MAX;
		if (has_args)
			put_args(writer, call, false);
		put_frames(writer, call);
		return;
	}
	if (call->has_frames)
		put_frames(writer, call);
	if (has_args)
		put_args(writer, call, more);
}

static void rtrace_put(struct writer *writer, const struct record *record)
{
	const struct rtrace_state *s = writer->state;

	if (!s->begun && record->type != RECORD_PROCESS)
		return;
	switch (record->type) {
	case RECORD_PROCESS:
		put_process(writer, &record->process);
		break;
	case RECORD_MODULE:
		put_module(writer, &record->module);
		break;
	case RECORD_RESOURCE:
		put_resource(writer, &record->resource);
		break;
	case RECORD_CONTEXT:
		put_context(writer, &record->context);
		break;
	case RECORD_OBJECT:
		put_object(writer, &record->object);
		break;
	case RECORD_BUILD_ID:
		if (!s->compat)
			put_build_id(writer, &record->build_id);
		break;
	case RECORD_THREAD:
		if (!s->compat)
			put_thread(writer, &record->thread);
		break;
	case RECORD_NOTE:
		if (!s->compat)
			put_note(writer, &record->note);
		break;
	case RECORD_CALL:
		put_call(writer, &record->call);
		break;
	case RECORD_HEAP:
		put_heap(writer, &record->heap);
		break;
	case RECORD_ATTACHMENT:
		put_attachment(writer, &record->attachment);
		break;
	case RECORD_COMMENT: /* only text has a place for it */
		break;
	}
}

const struct writer_ops rtrace_writer_ops = {
	.begin = rtrace_begin,
	.put = rtrace_put,
	.end = rtrace_end,
};

/* Parses the packets of the rtrace binary format. Packets may be damaged, so each member is parsed only if the rest of
 * the packet has room for it. */
#include "config.h"
#include "trace/rtrace/rtrace_read.h"
#include "base/time_units.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

static inline uint32_t take_dword(const struct rtrace_reader *s, struct packet *packet)
{
	packet->p += 4;
	return get_dword(s, packet->p - 4);
}

static inline uint64_t take_pointer(const struct rtrace_reader *s, struct packet *packet)
{
	uint64_t value;

	if (!s->wide)
		return take_dword(s, packet);
	memcpy(&value, packet->p, 8);
	packet->p += 8;
	return s->swap ? __builtin_bswap64(value) : value;
}

static inline size_t packet_bytes_left(const struct packet *packet)
{
	return (size_t)(packet->end - packet->p);
}

static inline size_t pointer_size(const struct rtrace_reader *s)
{
	return s->wide ? 8 : 4;
}

static int report_packet_damage(struct reader *reader, const struct packet *packet, const char *what)
{
	const uint32_t t = packet->type;

	return reader_damage(reader, 0, "a %c%c%c%c packet of %u bytes %s", (char)t, (char)(t >> 8), (char)(t >> 16),
			     (char)(t >> 24), packet->size, what);
}

/* Appends a copy of the packet's next string to `text`. `text` has room for all strings of the packet, because a string
 * takes more bytes in the packet than in `text`. Returns the copy; NULL if the string exceeds the packet. The padding
 * is skipped, whether the writer has included it in the string's length or not. */
static const char *rtrace_packet_take_string(const struct rtrace_reader *s, struct packet *packet, struct buf *text)
{
	uint16_t length;

	if (packet_bytes_left(packet) < 2)
		return NULL;
	memcpy(&length, packet->p, 2);
	if (s->swap)
		length = __builtin_bswap16(length);
	if (packet_bytes_left(packet) - 2 < length)
		return NULL;
	const size_t whole = align_up(2 + (size_t)length, 4);
	const size_t shown = strnlen((const char *)packet->p + 2, length);
	char *const copy = (char *)text->data + text->size;

	memcpy(copy, packet->p + 2, shown);
	copy[shown] = '\0';
	text->size += shown + 1;
	packet->p += whole < packet_bytes_left(packet) ? whole : packet_bytes_left(packet);
	return copy;
}

/* Empties `text` and reserves room for all strings of the packet. */
static void rtrace_packet_text_begin(struct buf *text, const struct packet *packet)
{
	text->size = 0;
	buf_room(text, packet->size + 1);
}

#define TOO_SHORT  "is too short for what it holds"
#define BAD_STRING "has a string that goes beyond its end"

int rtrace_take_process(struct reader *reader, struct packet *packet, struct record_process *process)
{
	struct rtrace_reader *s = reader->state;

	/* Versions before 1.2 have no depth. */
	process->has_depth = s->major >= RTRACE_COMPAT_MAJOR || s->minor >= 2;
	if (packet_bytes_left(packet) < (process->has_depth ? 16 : 12))
		return report_packet_damage(reader, packet, TOO_SHORT);
	process->pid = take_dword(s, packet);
	process->has_pid = process->pid != 0;
	process->start_sec = take_dword(s, packet);
	process->start_usec = take_dword(s, packet);
	if (process->has_depth)
		s->depth = process->depth = take_dword(s, packet);
	rtrace_packet_text_begin(&s->text, packet);
	process->name = rtrace_packet_take_string(s, packet, &s->text);
	if (!process->name)
		return report_packet_damage(reader, packet, BAD_STRING);
	if (!s->compat && process->start_sec)
		s->clock = (struct day_clock){.known = true,
					      .last = (uint64_t)process->start_sec % SECONDS_PER_DAY * NS_PER_SECOND};
	/* The name must stay valid while read_origin() parses the next packet. */
	char *const name = (char *)buf_room(&s->call_text, packet->size + 1);

	process->name = *process->name ? strcpy(name, process->name) : NULL;
	if (process->arch)
		process->arch = (const char *)s->call_text.data;
	return 1;
}

/* Parses the next members of the packet. fields: a letter for each: 'd' a dword (to a uint32_t), 'p' a pointer (to a
 * uint64_t), 's' a string (to a const char *). Strings come after all numbers. Returns 1, or a negative errno as
 * rtrace_take_record() does; then the remaining members are unchanged. */
static int rtrace_packet_take_fields(struct reader *reader, struct packet *packet, const char *fields, ...)
{
	struct rtrace_reader *s = reader->state;
	const char *text = "";
	size_t size = 0;
	va_list args;

	for (const char *field = fields; *field && *field != 's'; field++)
		size += *field == 'd' ? 4 : pointer_size(s);
	if (packet_bytes_left(packet) < size)
		return report_packet_damage(reader, packet, TOO_SHORT);
	va_start(args, fields);
	for (; *fields && text; fields++) {
		if (*fields == 'd')
			*va_arg(args, uint32_t *) = take_dword(s, packet);
		else if (*fields == 'p')
			*va_arg(args, uint64_t *) = take_pointer(s, packet);
		else
			*va_arg(args, const char **) = text = rtrace_packet_take_string(s, packet, &s->text);
	}
	va_end(args);
	return text ? 1 : report_packet_damage(reader, packet, BAD_STRING);
}

static int rtrace_packet_take_module(struct reader *reader, struct packet *packet, struct record *record)
{
	struct record_module *const module = &record->module;
	uint32_t version = 0;
	const int status = rtrace_packet_take_fields(reader, packet, "dds", &module->id, &version, &module->name);

	record->type = RECORD_MODULE;
	module->version_major = (uint16_t)(version >> 16);
	module->version_minor = (uint16_t)version;
	return status;
}

static int rtrace_packet_take_resource(struct reader *reader, struct packet *packet, struct record *record)
{
	struct rtrace_reader *s = reader->state;
	struct record_resource *resource = &record->resource;
	/* Versions before 1.3 have no flags. */
	const bool has_flags = s->major >= RTRACE_COMPAT_MAJOR || s->minor >= 3;

	record->type = RECORD_RESOURCE;
	*resource = (struct record_resource){.desc = ""};
	int status = has_flags ? rtrace_packet_take_fields(reader, packet, "dds", &resource->id, &resource->flags,
							   &resource->type)
			       : rtrace_packet_take_fields(reader, packet, "ds", &resource->id, &resource->type);

	if (status == 1 && packet_bytes_left(packet))
		status = rtrace_packet_take_fields(reader, packet, "s", &resource->desc);
	if (status != 1)
		return status;
	const uint64_t bit = resource->id < 64 ? UINT64_C(1) << resource->id : 0;

	if (!(s->declared & bit) && s->resource_count < UINT32_MAX && !s->resource_count++)
		s->first_resource = resource->id;
	s->declared |= bit;
	return 1;
}

static int rtrace_packet_take_lost(struct reader *reader, struct packet *packet, struct record *record)
{
	struct record_lost *const lost = &record->lost;
	uint32_t kind;
	const int status = rtrace_packet_take_fields(reader, packet, "ddp", &lost->resource, &kind, &lost->id);

	if (status != 1)
		return status;
	if (kind >= LOST_KINDS)
		return report_packet_damage(reader, packet, "has no known class");
	record->type = RECORD_LOST;
	lost->kind = (enum lost_kind)kind;
	return 1;
}

static int take_baseline(struct reader *reader, struct packet *packet, struct record *record)
{
	struct rtrace_reader *s = reader->state;

	if (packet_bytes_left(packet) < 8)
		return report_packet_damage(reader, packet, TOO_SHORT);
	const uint32_t resource = take_dword(s, packet), count = take_dword(s, packet);

	if (count > packet_bytes_left(packet) / (2 * pointer_size(s)))
		return report_packet_damage(reader, packet, TOO_SHORT);
	while (s->baseline_capacity < count)
		ARRAY_GROW(s->baseline, s->baseline_capacity, s->baseline_capacity);
	for (uint32_t i = 0; i < count; i++) {
		s->baseline[i].id = take_pointer(s, packet);
		s->baseline[i].size = take_pointer(s, packet);
	}
	record->type = RECORD_BASELINE;
	record->baseline = (struct record_baseline){resource, s->baseline, count};
	return 1;
}

static int rtrace_packet_take_heap(struct reader *reader, struct packet *packet, struct record *record)
{
	struct rtrace_reader *s = reader->state;
	const size_t figures = 4 * ARRAY_SIZE(record->heap.info);

	record->type = RECORD_HEAP;
	record->heap = (struct record_heap){0};
	if (s->wide && packet->size == 8 + figures) {
		/* sp-rtrace's writer stores the two addresses as dwords, even if pointers have 8 bytes. */
		record->heap.bottom = take_dword(s, packet);
		record->heap.top = take_dword(s, packet);
	} else {
		if (packet_bytes_left(packet) < 2 * pointer_size(s) + figures)
			return report_packet_damage(reader, packet, TOO_SHORT);
		record->heap.bottom = take_pointer(s, packet);
		record->heap.top = take_pointer(s, packet);
	}
	for (size_t i = 0; i < ARRAY_SIZE(record->heap.info); i++)
		record->heap.info[i] = take_dword(s, packet);
	return 1;
}

int rtrace_take_record(struct reader *reader, struct packet *packet, struct record *record)
{
	struct rtrace_reader *s = reader->state;

	rtrace_packet_text_begin(&s->text, packet);
	switch (packet->type) {
	case RTRACE_MINF:
		return rtrace_packet_take_module(reader, packet, record);
	case RTRACE_RESR:
		return rtrace_packet_take_resource(reader, packet, record);
	case RTRACE_MMAP:
		record->type = RECORD_OBJECT;
		return rtrace_packet_take_fields(reader, packet, "pps", &record->object.from, &record->object.to,
						 &record->object.path);
	case RTRACE_BLID:
		record->type = RECORD_BUILD_ID;
		return rtrace_packet_take_fields(reader, packet, "ps", &record->build_id.from, &record->build_id.hex);
	case RTRACE_CTXR:
		record->type = RECORD_CONTEXT;
		return rtrace_packet_take_fields(reader, packet, "ds", &record->context.id, &record->context.name);
	case RTRACE_THRD:
		record->type = RECORD_THREAD;
		return rtrace_packet_take_fields(reader, packet, "ds", &record->thread.tid, &record->thread.name);
	case RTRACE_NOTE:
		record->type = RECORD_NOTE;
		return rtrace_packet_take_fields(reader, packet, "s", &record->note.text);
	case RTRACE_SCAN:
		record->type = RECORD_SCAN;
		return rtrace_packet_take_fields(reader, packet, "ds", &record->scan.resource, &record->scan.reason);
	case RTRACE_LOST:
		return rtrace_packet_take_lost(reader, packet, record);
	case RTRACE_CENS:
		return take_baseline(reader, packet, record);
	case RTRACE_RESI:
		record->type = RECORD_RESIDENT;
		return rtrace_packet_take_fields(reader, packet, "pp", &record->resident.now, &record->resident.peak);
	case RTRACE_FILE:
		record->type = RECORD_ATTACHMENT;
		return rtrace_packet_take_fields(reader, packet, "ss", &record->attachment.name,
						 &record->attachment.path);
	case RTRACE_HINF:
		return rtrace_packet_take_heap(reader, packet, record);
	}
	return report_packet_damage(reader, packet, "is of no known type");
}

int rtrace_take_microseconds(struct reader *reader, struct packet *packet)
{
	struct rtrace_reader *s = reader->state;

	if (packet_bytes_left(packet) < 4)
		return report_packet_damage(reader, packet, TOO_SHORT);
	s->microseconds = take_dword(s, packet);
	if (s->microseconds < 1000)
		return 2;
	reader_complain(reader, "a USEC packet at byte %" PRIu64 " has %u microseconds of a millisecond",
			reader_offset(reader), s->microseconds);
	s->microseconds = 0;
	return 2;
}

int rtrace_take_call(struct reader *reader, struct packet *packet)
{
	struct rtrace_reader *s = reader->state;
	struct record_call *call = &s->call;

	if (packet_bytes_left(packet) < 16)
		return report_packet_damage(reader, packet, TOO_SHORT);
	const uint32_t first = take_dword(s, packet), second = take_dword(s, packet);
	const uint32_t third = take_dword(s, packet), kind = take_dword(s, packet);
	const uint32_t ms = s->compat ? third : first;
	const uint64_t us = ms * UINT64_C(1000) + s->microseconds;

	if (kind < CALL_RELEASE || kind > CALL_COPY)
		return report_packet_damage(reader, packet, "is neither an allocation nor a release");
	*call = (struct record_call){
		.index = ++s->next_index,
		.time_ns = ms ? day_clock_time(&s->clock, us * 1000) : TIME_NONE,
		.resource = s->compat ? first : second,
		.context = s->compat ? second : third,
		.kind = kind,
	};
	if (!call->resource && s->resource_count == 1)
		call->resource = s->first_resource;
	s->microseconds = 0;
	s->has_args = false;
	rtrace_packet_text_begin(&s->call_text, packet);
	call->function = rtrace_packet_take_string(s, packet, &s->call_text);
	if (!call->function)
		return report_packet_damage(reader, packet, BAD_STRING);
	if (packet_bytes_left(packet) < 4 + pointer_size(s))
		return report_packet_damage(reader, packet, TOO_SHORT);
	if (s->compat) {
		call->size = take_dword(s, packet);
		call->id = take_pointer(s, packet);
	} else {
		call->id = take_pointer(s, packet);
		call->size = take_dword(s, packet);
	}
	return 2;
}

int rtrace_take_frames(struct reader *reader, struct packet *packet)
{
	struct rtrace_reader *s = reader->state;
	struct record_call *call = &s->call;

	if (packet_bytes_left(packet) < 4)
		return report_packet_damage(reader, packet, TOO_SHORT);
	const uint32_t count = take_dword(s, packet);

	if (count > packet_bytes_left(packet) / pointer_size(s))
		return reader_damage(reader, 0, "a BTRC packet of %u bytes says that it has %u frames", packet->size,
				     count);
	if (count < packet_bytes_left(packet) / pointer_size(s))
		reader_complain(reader,
				"a BTRC packet at byte %" PRIu64 " has %u frames, but %u bytes are too many for them",
				reader_offset(reader), count, packet->size);
	if (count > s->frame_capacity) {
		s->frames = xreallocarray(s->frames, count, sizeof(*s->frames));
		s->frame_capacity = count;
	}
	if (s->wide && !s->swap && count)
		memcpy(s->frames, packet->p, count * sizeof(*s->frames));
	else
		for (uint32_t i = 0; i < count; i++)
			s->frames[i] = take_pointer(s, packet);
	call->has_frames = true;
	call->frames = s->frames;
	call->frame_count = count;
	if (count && !s->frames[count - 1] && !s->compat) {
		call->frame_count--;
		call->end = stack_end_marked(call->frame_count, s->depth);
	}
	return 2;
}

/* Sets the call's size from the argument RTRACE_SIZE_ARG, if the size did not fit in the CALL packet. Returns false for
 * any other argument. */
static bool take_size_arg(struct record_call *call, const struct call_arg *arg)
{
	uint64_t size;

	if (call->size != RTRACE_SIZE_MORE || strcmp(arg->name, RTRACE_SIZE_ARG) ||
	    !parse_number(arg->value, UINT64_MAX, &size) || size < RTRACE_SIZE_MORE)
		return false;
	call->size = size;
	return true;
}

int rtrace_take_args(struct reader *reader, struct packet *packet)
{
	struct rtrace_reader *s = reader->state;
	struct record_call *call = &s->call;
	uint32_t used = 0;

	if (packet_bytes_left(packet) < 4)
		return report_packet_damage(reader, packet, TOO_SHORT);
	const uint32_t count = take_dword(s, packet);

	/* A name and a value have at least four bytes each. */
	if (count > packet_bytes_left(packet) / 8)
		return reader_damage(reader, 0, "an ARGS packet of %u bytes says that it has %u arguments",
				     packet->size, count);
	rtrace_packet_text_begin(&s->arg_text, packet);
	for (uint32_t i = 0; i < count; i++) {
		struct call_arg arg = {.name = rtrace_packet_take_string(s, packet, &s->arg_text)};

		if (arg.name)
			arg.value = rtrace_packet_take_string(s, packet, &s->arg_text);
		if (!arg.value)
			return report_packet_damage(reader, packet, BAD_STRING);
		if (!s->compat && take_size_arg(call, &arg))
			continue;
		ARRAY_GROW(s->args, s->arg_capacity, used);
		s->args[used++] = arg;
	}
	if (packet_bytes_left(packet))
		reader_complain(reader,
				"an ARGS packet at byte %" PRIu64
				" has %u arguments, but %u bytes are too many for them",
				reader_offset(reader), count, packet->size);
	s->has_args = true;
	call->args = s->args;
	call->arg_count = used;
	return 2;
}

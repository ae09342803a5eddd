/* Writes the packets of a call in the rtrace binary format. */
#include "config.h"
#include "trace/digits.h"
#include "trace/rtrace/rtrace_write.h"
#include "base/time_units.h"

static void rtrace_write_call_put_frames(struct writer *writer, const struct record_call *call)
{
	const struct rtrace_state *s = writer->state;
	const size_t pointer = s->wide ? 8 : 4;
	size_t max = (s->data_max - 4) / pointer, count = call->has_frames ? call->frame_count : 0;
	bool marked = call->has_frames && call->end && !s->compat;

	for (size_t i = 0; call->frame_texts && i < count; i++)
		writer->omissions.count[OMITTED_FRAME_NAME] += call->frame_texts[i] != NULL;
	/* Addresses 0 at the end are left out, because a last address 0 is the mark of an incomplete stack. */
	while (count && !s->compat && !call->frames[count - 1])
		count--;

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

/* Puts an argument if its name fits in the packet. A value for which the rest of the packet has no room is cut. left:
 * free bytes of the packet. Returns the address after the argument, or `p` if nothing was put. */
static unsigned char *rtrace_write_call_put_arg(struct writer *writer, unsigned char *p, const char *name,
						const char *value, size_t left)
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

static void rtrace_write_call_put_args(struct writer *writer, const struct record_call *call, bool with_size)
{
	const struct rtrace_state *s = writer->state;
	unsigned char *p = packet_begin(writer, s->data_max);
	unsigned char *const data = p;
	uint32_t count = 0;

	p += 4;
	if (with_size) {
		char digits[NUMBER_ROOM + 1];

		*put_decimal(digits, call->size) = '\0';
		p = rtrace_write_call_put_arg(writer, p, RTRACE_SIZE_ARG, digits, s->data_max - 4);
		count++;
	}
	for (uint32_t i = 0; i < call->arg_count; i++) {
		unsigned char *const after = rtrace_write_call_put_arg(
			writer, p, call->args[i].name, call->args[i].value, s->data_max - (size_t)(p - data));

		count += after != p;
		p = after;
	}
	put_dword(s, data, count);
	packet_end(writer, RTRACE_ARGS, p);
}

/* Returns the time of the call in milliseconds of the day. Midnight becomes 1, because 0 means that the call has no
 * time. */
static uint32_t call_time(const struct record_call *call)
{
	if (call->time_ns == TIME_NONE)
		return 0;
	const uint32_t ms = (uint32_t)(call->time_ns % NS_PER_DAY / 1000000);

	return ms ? ms : 1;
}

static uint32_t call_resource(const struct rtrace_state *s, const struct record_call *call)
{
	if (s->resource_count == 1)
		return s->compat ? s->first_resource : 0;
	return resource_fits(s, call->resource) ? call->resource : 0;
}

/* Puts the microseconds within the millisecond of the call, for which the CALL packet has no place. */
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

void rtrace_put_call(struct writer *writer, const struct record_call *call)
{
	const bool compat = ((const struct rtrace_state *)writer->state)->compat;
	/* In 1.4 the size 0xffffffff means that the size is in an argument, so a call with exactly this size has the
	 * argument, too. */
	const bool more = call->size >= RTRACE_SIZE_MORE;
	const bool has_args = call->arg_count || (more && !compat);

	if (!compat)
		put_microseconds(writer, call);
	put_call_packet(writer, call, more ? RTRACE_SIZE_MORE : (uint32_t)call->size);
	if (compat) {
		writer->cut_count += call->size > UINT32_MAX;
		if (has_args)
			rtrace_write_call_put_args(writer, call, false);
		rtrace_write_call_put_frames(writer, call);
		return;
	}
	if (call->has_frames)
		rtrace_write_call_put_frames(writer, call);
	if (has_args)
		rtrace_write_call_put_args(writer, call, more);
}

#include "config.h"
#include "trace/stacktrack/stacktrack_layout.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

const char *const stacktrack_value_names[STACKTRACK_VALUE_COUNT] = {
#define VALUE(name, text) text,
	STACKTRACK_VALUES(VALUE)
#undef VALUE
};

#define MEMBER(name, type, desc, kind, size, at)                                                                       \
	{                                                                                                              \
		name, type, desc, STACKTRACK_##kind, size, at                                                          \
	}
#define WHEN(name, at, desc)  MEMBER(name, "hitime_t", desc, TIME, 8, at)
#define TICKS(name, at, desc) MEMBER(name, "hitime_t", desc, DIVISOR, 8, at)
#define SCOPE(name, at, desc) MEMBER(name, "scopex_t", desc, UNSIGNED, 2, at)
#define TID(name, at, desc)   MEMBER(name, "st_tid_t", desc, HEX, 2, at)
#define PID(name, at, desc)   MEMBER(name, "st_pid_t", desc, HEX, 2, at)
#define COUNT(name, at, desc) MEMBER(name, "wcount_t", desc, UNSIGNED, 2, at)
#define INT16(name, at, desc) MEMBER(name, "int16", desc, SIGNED, 2, at)
#define UNS16(name, at, desc) MEMBER(name, "uns16", desc, HEX, 2, at)
#define UNS32(name, at, desc) MEMBER(name, "uns32", desc, UNSIGNED, 4, at)
#define CHAR(name, at, desc)  MEMBER(name, "char", desc, UNSIGNED, 1, at)
#define CTIME(name, at, desc) MEMBER(name, "sctime_t", desc, SIGNED, 8, at)

/* A row of stacktrack_layouts[]. The members come last. */
#define LAYOUT(type, name, followedby, desc, size, count, ...)                                                         \
	[STACKTRACK_##type] = {#type, name, followedby, desc, size, count, {__VA_ARGS__}}

const struct stacktrack_layout stacktrack_layouts[STACKTRACK_TYPES + 1] = {
	LAYOUT(HIT, "hit", "~", "ev_hit captures basic entry/exit/step data", 16, 3,
	       WHEN("when", 0, "when the hit occured"), SCOPE("scopeIndex", 8, "where the hit occured"),
	       TID("tid", 10, "thread in which the hit occured")),
	LAYOUT(FLOC, "fileloc", "filename", "File Location data", 6, 3, INT16("filenum", 0, "file index"),
	       COUNT("writeCount", 2, "write count"), INT16("properties", 4, "number of properties")),
	LAYOUT(FPROPERTY, "fproperty", "prop=value", "file properties", 6, 3, INT16("filenum", 0, "file index"),
	       COUNT("writeCount", 2, "write count"), INT16("propertynum", 4, "property index")),
	LAYOUT(SLOC, "sourceloc", "~", "source location", 10, 5, SCOPE("scopeIndex", 0, "scope index"),
	       INT16("style", 2, "scope style"), INT16("linenum", 4, "line number"),
	       COUNT("writeCount", 6, "write count"), INT16("filenum", 8, "file number")),
	LAYOUT(PROLOGUE, "prologue", "~", "Prologue data", 12, 5, UNS32("_12345678", 0, "magic identifier"),
	       UNS32("version", 4, "stacktrack format version"), CHAR("info_len", 8, "length of _info field"),
	       CHAR("entry_size", 9, "size of entry"), CHAR("payload_offset", 10, "offset of payload in entry")),
	LAYOUT(PROCINFO, "procinfo", "~", "Process data", 4, 2, PID("pid", 0, "proccess ID"),
	       COUNT("writeCount", 2, "write count")),
	LAYOUT(TIMEINFO, "timeinfo", "~", "Time info (start time) data", 16, 2,
	       WHEN("start_hires", 0, "start time in raw hi-res form"), CTIME("start", 8, "start time in CTIME form")),
	LAYOUT(TIMETYPE, "timetype", "~", "time conversion data", 16, 2, TICKS("tdiv", 0, "time divisor"),
	       UNS16("timetype", 8, "time type")),
	[STACKTRACK_TYPES] = {"INFO", "info", "~", "text of the entry before", 16, 0, {{0}}},
};

void stacktrack_format_settle(struct stacktrack_format *format)
{
	const size_t size = format->layouts[STACKTRACK_PROCINFO].members[STACKTRACK_PROCINFO_PID].size;

	format->process_size = size;
	format->process_at = size > 2 ? size : 2;
	format->sequence_at = (format->process_at + size + 3) / 4 * 4;
	memset(format->types, STACKTRACK_TYPES, sizeof(format->types));
	for (unsigned i = 0; i < STACKTRACK_TYPES; i++)
		format->types[format->indexes[i]] = (unsigned char)i;
}

void stacktrack_format_init(struct stacktrack_format *format)
{
	*format = (struct stacktrack_format){.version = STACKTRACK_VERSION,
					     .entry_size = STACKTRACK_ENTRY,
					     .payload_at = STACKTRACK_PAYLOAD,
					     .payload_size = STACKTRACK_ENTRY - STACKTRACK_PAYLOAD,
					     .info_size = STACKTRACK_INFO,
					     .type_mask = STACKTRACK_TYPE_MASK,
					     .is_info = STACKTRACK_IS_INFO,
					     .has_info = STACKTRACK_HAS_INFO,
					     .info_end = STACKTRACK_INFO_END};
	for (unsigned i = 0; i < STACKTRACK_TYPES; i++)
		format->indexes[i] = i;
	memcpy(format->layouts, stacktrack_layouts, sizeof(format->layouts));
	stacktrack_format_settle(format);
}

size_t stacktrack_prologue_size(const struct stacktrack_format *format)
{
	const struct stacktrack_layout *const layout = &format->layouts[STACKTRACK_PROLOGUE];
	size_t size = 0;

	for (unsigned i = 0; i < layout->member_count; i++)
		if (size < layout->members[i].offset + layout->members[i].size)
			size = layout->members[i].offset + layout->members[i].size;
	return format->payload_at + size;
}

static uint64_t of_prologue(const struct stacktrack_format *format, const unsigned char *data, bool swap, unsigned i)
{
	return stacktrack_member(format, &format->layouts[STACKTRACK_PROLOGUE].members[i], data, swap);
}

bool stacktrack_is_prologue(const struct stacktrack_format *format, const unsigned char *data, bool *swap)
{
	for (int order = 0; order < 2; order++) {
		*swap = order;
		if (of_prologue(format, data, *swap, STACKTRACK_PROLOGUE_MAGIC) == STACKTRACK_MAGIC)
			return stacktrack_type(format, (unsigned)stacktrack_number(data, 2, *swap)) ==
			       STACKTRACK_PROLOGUE;
	}
	return false;
}

bool stacktrack_format_begin(struct stacktrack_format *format, const unsigned char *data, bool swap, size_t *at,
			     char *error, size_t size)
{
	const uint64_t info_size = of_prologue(format, data, swap, STACKTRACK_PROLOGUE_INFO);
	const uint64_t entry_size = of_prologue(format, data, swap, STACKTRACK_PROLOGUE_ENTRY);
	const uint64_t payload_at = of_prologue(format, data, swap, STACKTRACK_PROLOGUE_PAYLOAD);
	const uint64_t version = of_prologue(format, data, swap, STACKTRACK_PROLOGUE_VERSION);
	const struct stacktrack_member *const members = format->layouts[STACKTRACK_PROLOGUE].members;

	*at = format->payload_at + members[STACKTRACK_PROLOGUE_INFO].offset;
	if (format->is_described && (entry_size != format->entry_size || payload_at != format->payload_at)) {
		snprintf(error, size,
			 "entries have %" PRIu64 " bytes, their payload at byte %" PRIu64
			 "; by the description they have %zu bytes, and their payload is at byte %zu",
			 entry_size, payload_at, format->entry_size, format->payload_at);
		return false;
	}
	if (payload_at != format->payload_at || entry_size > STACKTRACK_ENTRY_MAX ||
	    entry_size < payload_at + format->payload_size || !info_size || info_size > entry_size - payload_at) {
		snprintf(error, size,
			 "entries of %" PRIu64 " bytes with %" PRIu64 " of text at byte %" PRIu64 " are unknown",
			 entry_size, info_size, payload_at);
		return false;
	}
	*at = format->payload_at + members[STACKTRACK_PROLOGUE_VERSION].offset;
	if (version != format->version) {
		snprintf(error, size, "the format's version is %" PRIx64 "; the only known version is %x", version,
			 format->version);
		return false;
	}
	format->entry_size = (size_t)entry_size;
	format->info_size = (size_t)info_size;
	return true;
}

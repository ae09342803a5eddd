/* The functions that a trace format defines, and its entry in the table of encoding_table.c.
 *
 * A new format needs one or two files, which define its ops and are named in local.mk, and one line in the table.
 * Private to trace/. */
#ifndef FT_TRACE_ENCODING_OPS_H
#define FT_TRACE_ENCODING_OPS_H

#include "trace/encoding.h"
#include "trace/event.h"

struct buf;
struct dump_options;
struct writer;
struct reader;

/* The types of records: row(TYPE, member of struct record). */
#define RECORD_TYPES(row)                                                                                              \
	row(PROCESS, process) row(MODULE, module) row(RESOURCE, resource) row(CONTEXT, context) row(OBJECT, object)    \
		row(BUILD_ID, build_id) row(THREAD, thread) row(CALL, call) row(NOTE, note) row(HEAP, heap)            \
			row(ATTACHMENT, attachment) row(COMMENT, comment) row(AREA, area) row(SCAN, scan)              \
				row(LOST, lost) row(BASELINE, baseline) row(RESIDENT, resident)                        \
					row(ESTIMATE, estimate) row(INTERVAL, interval)

struct writer_ops {
	/* Size of the format's own state, which is in writer->state, and is cleared at first. */
	size_t state_size;
	/* Initialises the state. NULL if it needs no more than to be cleared. */
	void (*begin)(struct writer *writer);
	/* One function for each type of record, named as the record's member in struct record. The function appends the
	 * whole record to writer->out, or nothing. It is NULL if the format has no place for such records; the writer
	 * then counts them as omitted. */
	struct record_puts {
#define DECLARE_PUT(type, member) void (*member)(struct writer * writer, const struct record_##member *member);
		RECORD_TYPES(DECLARE_PUT)
#undef DECLARE_PUT
	} put;
	/* Types of records for which the second dialect has no place, as bits 1 << enum record_type. */
	uint32_t not_in_compat;
	/* The writer drops records before the first process record. */
	bool needs_process;
	/* Called for each record instead of writer_put_record(), which this function may call. NULL if the format needs
	 * nothing besides writer_put_record(). */
	void (*around)(struct writer *writer, const struct record *record);
	/* Appends records that `put` has not appended yet, because a later record could change or precede them. NULL if
	 * `put` always appends at once. */
	void (*settle)(struct writer *writer);
	/* Appends the end mark of a trace; NULL if the format has no such mark. */
	void (*finish)(struct writer *writer);
	/* Frees what the state owns; NULL if it owns nothing. */
	void (*end)(struct writer *writer);
	/* Returns the text for the map file (encoding_write_map()), valid until the next call. NULL if the format has
	 * no map file. */
	const char *(*map)(void);
};

struct reader_ops {
	/* Returns true if `data`, the first bytes of the input, can begin a trace of this format. size: READER_DETECT,
	 * or the size of the input if that is smaller. */
	bool (*detect)(const unsigned char *data, size_t size);
	size_t state_size; /* as in struct writer_ops, for reader->state */
	void (*begin)(struct reader *reader);
	/* Implements reader_next(). Before it returns an error, it describes the error in reader->message. */
	int (*next)(struct reader *reader, struct record *record);
	/* Implements reader_dump(); NULL if the format cannot be dumped. */
	int (*dump)(struct reader *reader, const struct dump_options *options, struct buf *out);
	/* Implements reader_is_compat(); NULL if the format has only one dialect. */
	bool (*is_compat)(const struct reader *reader);
	void (*end)(struct reader *reader);
};

struct encoding {
	const char *name, *suffix;
	const struct writer_ops *writer; /* NULL if the format can only be read */
	const struct reader_ops *reader; /* NULL if the format can only be written */
	/* enum encoding_ability bits; encoding_can() derives ENCODING_READ, _WRITE and _DUMP from the ops */
	unsigned abilities;
	/* the second dialect, for the sp-rtrace 2.0 tools; NULL if the format has only one */
	const struct encoding *compat;
	bool is_compat; /* this encoding is a second dialect */
};

extern const struct encoding encodings[];
extern const size_t encoding_count;
/* Returns the encoding whose traces begin with these bytes, or NULL. */
const struct encoding *encoding_detect(const unsigned char *data, size_t size);

#endif

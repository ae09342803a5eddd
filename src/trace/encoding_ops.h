/* The functions that a trace format defines, and its row in the table of encodings.c.
 *
 * A new format is one file (or two) that defines its ops, named in local.mk, and one row. Private to trace/. */
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
				row(LOST, lost) row(BASELINE, baseline) row(RESIDENT, resident)

struct writer_ops {
	/* Returns the format's own state, which is kept in writer->state; `end` frees it. */
	void *(*begin)(struct writer *writer);
	/* For each type of record, by the name of its member: appends the record's bytes to writer->out, all or none of
	 * them. NULL if the format has no place for such records, which are counted then. */
	struct record_puts {
#define DECLARE_PUT(type, member) void (*member)(struct writer * writer, const struct record_##member *member);
		RECORD_TYPES(DECLARE_PUT)
#undef DECLARE_PUT
	} put;
	/* Bits, by enum record_type: records for which the sp-rtrace dialect has no place. */
	uint32_t not_in_compat;
	/* Records before the first process are dropped. */
	bool needs_process;
	/* Called for each record instead of writer_put_record(), which it calls itself; NULL if it would do nothing
	 * else. */
	void (*around)(struct writer *writer, const struct record *record);
	/* Appends what `put` has held back, because later records could have changed it or come before it; NULL if
	 * `put` holds nothing back. */
	void (*settle)(struct writer *writer);
	/* Appends the format's end of a trace; NULL if it has none. */
	void (*finish)(struct writer *writer);
	void (*end)(struct writer *writer);
	/* Returns the text of the file beside a trace (encoding_write_map()), valid until the next call; NULL if there
	 * is none. */
	const char *(*map)(void);
};

struct reader_ops {
	/* Returns whether a trace of this format begins with `data`, the first bytes of the input. They are at most
	 * READER_DETECT, fewer only if the input has no more. */
	bool (*detect)(const unsigned char *data, size_t size);
	void *(*begin)(struct reader *reader);
	/* Does what reader_next() promises. Describes an error as the reader's error before it returns it. */
	int (*next)(struct reader *reader, struct record *record);
	/* Does what reader_dump() promises; NULL if nothing can be shown. */
	int (*dump)(struct reader *reader, const struct dump_options *options, struct buf *out);
	/* NULL if the format has only one dialect. */
	bool (*is_compat)(const struct reader *reader);
	void (*end)(struct reader *reader);
};

struct encoding {
	const char *name, *suffix;
	const struct writer_ops *writer; /* NULL if the format can only be read */
	const struct reader_ops *reader; /* NULL if the format can only be written */
	/* enum encoding_ability bits; those of reading and writing follow from the ops. */
	unsigned abilities;
	const struct encoding *compat; /* its second dialect, that of the sp-rtrace 2.0 tools; NULL if none */
	bool is_compat;                /* this is such a dialect, and its writers write it */
};

extern const struct encoding encodings[];
extern const size_t encoding_count;
/* Returns the encoding whose traces begin with these bytes, or NULL. */
const struct encoding *encoding_detect(const unsigned char *data, size_t size);

#endif

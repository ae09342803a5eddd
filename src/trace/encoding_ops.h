/* What a trace format defines: its functions, and its row in the table of encodings.c.
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
	/* The format's own state, kept in writer->state; `end` frees it. */
	void *(*begin)(struct writer *writer);
	/* For each type, by the name of its member: appends such a record's bytes to writer->out, all of it or nothing.
	 * NULL: the format has no place for it, which is counted. */
	struct record_puts {
#define DECLARE_PUT(type, member) void (*member)(struct writer * writer, const struct record_##member *member);
		RECORD_TYPES(DECLARE_PUT)
#undef DECLARE_PUT
	} put;
	/* Bits, by enum record_type: what the sp-rtrace dialect has no place for. */
	uint32_t not_in_compat;
	/* What comes before the first process has no place. */
	bool needs_process;
	/* Called for each record in the place of writer_put_record(), which it calls; NULL: nothing else is done. */
	void (*around)(struct writer *writer, const struct record *record);
	/* Appends what `put` has held back, for more that would have come before it; NULL if it never does. */
	void (*settle)(struct writer *writer);
	/* Appends what the format wants at the end of a trace; NULL if nothing. */
	void (*finish)(struct writer *writer);
	void (*end)(struct writer *writer);
	/* The text of the file beside a trace (encoding_write_map()), valid until the next call; NULL: there is
	 * none. */
	const char *(*map)(void);
};

struct reader_ops {
	/* Whether a trace of this format begins so. `data` are the first bytes of the input,
	 * at most READER_DETECT, fewer only if the input has no more. */
	bool (*detect)(const unsigned char *data, size_t size);
	void *(*begin)(struct reader *reader);
	/* Does what reader_next() promises; an error has been described with reader_damage(). */
	int (*next)(struct reader *reader, struct record *record);
	/* Does what reader_dump() promises; NULL: nothing can be shown. */
	int (*dump)(struct reader *reader, const struct dump_options *options, struct buf *out);
	/* NULL where there is one dialect only. */
	bool (*is_compat)(const struct reader *reader);
	void (*end)(struct reader *reader);
};

struct encoding {
	const char *name, *suffix;
	const struct writer_ops *writer; /* NULL: the format is only read */
	const struct reader_ops *reader; /* NULL: the format is only written */
	/* enum encoding_ability bits; those of reading and writing follow from the ops. */
	unsigned abilities;
	const struct encoding *compat; /* its second dialect, that of the sp-rtrace 2.0 tools; NULL none */
	bool is_compat;                /* it is such a dialect: its writers write that */
};

extern const struct encoding encodings[];
extern const size_t encoding_count;
/* The encoding whose traces begin with these bytes, or NULL. */
const struct encoding *encoding_detect(const unsigned char *data, size_t size);

#endif

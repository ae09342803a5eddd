/* The table of trace formats. An input is read with the first format in the table whose reader recognises it. */
#include "config.h"
#include "base/util.h"
#include "trace/encoding_ops.h"

/* A line of the table is a format: its name, the suffix of its files, and its abilities besides reading and writing.
 * Formats in BOTH can be read and written, those in WRITTEN only written, those in READ only read. A format's ops are
 * NAME_writer_ops and NAME_reader_ops. */
#define ENCODINGS(BOTH, WRITTEN, READ)                                                                                 \
	BOTH(rtrace, ".rtrace",                                                                                        \
	     ENCODING_BINARY | ENCODING_STREAM | ENCODING_COMPAT | ENCODING_SCANS | ENCODING_RESIDENT)                 \
	BOTH(text, ".rtrace.txt",                                                                                      \
	     ENCODING_STREAM | ENCODING_NAMES | ENCODING_COMPAT | ENCODING_COMPAT_LAYOUT | ENCODING_COMMENT |          \
		     ENCODING_SCANS | ENCODING_RESIDENT)                                                               \
	BOTH(mpatrol, ".mpatrol", ENCODING_BINARY | ENCODING_STREAM | ENCODING_NAMES | ENCODING_AREAS)                 \
	BOTH(stacktrack, ".tlg",                                                                                       \
	     ENCODING_BINARY | ENCODING_STREAM | ENCODING_AREAS | ENCODING_CYCLES | ENCODING_SCANS |                   \
		     ENCODING_RESIDENT)                                                                                \
	BOTH(swap, ".swap", ENCODING_BINARY | ENCODING_STREAM | ENCODING_PROCESS)                                      \
	READ(rows, ".jsonl", ENCODING_ESTIMATES | ENCODING_SEVERAL_PROCESSES)

#define DECLARE_WRITER(name, suffix, abilities) extern const struct writer_ops name##_writer_ops;
#define DECLARE_READER(name, suffix, abilities) extern const struct reader_ops name##_reader_ops;
#define DECLARE_BOTH(name, suffix, abilities)                                                                          \
	DECLARE_WRITER(name, suffix, abilities) DECLARE_READER(name, suffix, abilities)
ENCODINGS(DECLARE_BOTH, DECLARE_WRITER, DECLARE_READER)

#define DIALECT(name, suffix, writer, reader, abilities)                                                               \
	static const struct encoding name##_compat = {#name, suffix, writer, reader, abilities, .is_compat = true};
#define BOTH(name, suffix, abilities)    DIALECT(name, suffix, &name##_writer_ops, &name##_reader_ops, abilities)
#define WRITTEN(name, suffix, abilities) DIALECT(name, suffix, &name##_writer_ops, NULL, abilities)
#define READ(name, suffix, abilities)    DIALECT(name, suffix, NULL, &name##_reader_ops, abilities)
ENCODINGS(BOTH, WRITTEN, READ)
#undef DIALECT

#define DIALECT(name, suffix, writer, reader, abilities)                                                               \
	{#name, suffix, writer, reader, abilities, (abilities)&ENCODING_COMPAT ? &name##_compat : NULL, false},
const struct encoding encodings[] = {ENCODINGS(BOTH, WRITTEN, READ)};

const size_t encoding_count = ARRAY_SIZE(encodings);

/* Reads a trace of any encoding and dialect, as a stream of records in bounded memory. */
#ifndef FT_TRACE_READER_H
#define FT_TRACE_READER_H

#include "trace/encoding.h"
#include "trace/event.h"

#include <signal.h>

struct buf;
struct reader;
struct stacktrack_format;

struct reader_options {
	const struct encoding *encoding; /* NULL: recognised by the first bytes */
	bool follow;                     /* at the end of a growing file wait for more */
	/* ... until a signal's handler sets this; NULL: without end. */
	const volatile sig_atomic_t *stop;
	/* Gets a clause about each thing that was read, but looks damaged ("line 7 looks like a damaged
	 * frame"; NULL: they are only counted), or that is no damage but should be known. */
	void (*complain)(void *context, const char *clause);
	void *complain_context;
	/* The text of the file that lies beside the trace (encoding_write_map()), the caller's; NULL none. */
	const char *map;
	/* How a StackTrack trace's entries are laid out, the caller's; NULL: as functrace writes them. */
	const struct stacktrack_format *layout;
};

/* A reader of fd (read from its current position, closed by reader_close), which may be a pipe. .gz
 * and .zst input is unpacked. NULL with a full sentence in error[size] when it is no trace. */
struct reader *reader_new(int fd, const struct reader_options *options, char *error, size_t size);

/* The next record. 1; 0 at the end; -EBADMSG where the input is damaged or cut off (everything before
 * has been given out); another negative errno when reading failed. reader_error() says it in a
 * sentence with the offset. */
int reader_next(struct reader *reader, struct record *record);
const char *reader_error(const struct reader *reader);

/* What a format's messages do not say of themselves. */
struct dump_options {
	uint32_t cpus, devices; /* how many of them a message about all of them has; cpus 0: it is shown as bytes */
};

/* Instead of reader_next(), from the beginning on: appends the next message to `out` as text, each of its fields by
 * name. As reader_next(); -ENOTSUP: the format of this trace lacks ENCODING_DUMP. */
int reader_dump(struct reader *reader, const struct dump_options *options, struct buf *out);

/* The dialect is that of the sp-rtrace 2.0 tools. Known after the first record. */
bool reader_is_compat(const struct reader *reader);

/* Packets of unknown types that were skipped. */
uint64_t reader_skipped(const struct reader *reader);

/* The format of what is read. */
const struct encoding *reader_encoding(const struct reader *reader);
/* Things that look damaged so far. The trace is not sound if there is one, whatever reader_next() returns. */
uint64_t reader_complaints(const struct reader *reader);

/* Bytes of input taken so far (of the unpacked stream). */
uint64_t reader_offset(const struct reader *reader);

void reader_close(struct reader *reader);

#endif

/* Functions for the tests of trace/: traces in memory, records as lines of text. */
#ifndef FT_TESTS_TRACE_UTIL_H
#define FT_TESTS_TRACE_UTIL_H

#include "base/buf.h"
#include "trace/reader.h"
#include "trace/writer.h"

/* Returns a descriptor of a file in memory with these bytes; its position is the beginning. The caller closes it. */
int memory_file(const void *data, size_t size);

/* Appends the content of the file to `out`. */
void read_all(int fd, struct buf *out);

/* Writes the records in that encoding and appends the trace to `out`; returns the number of truncated values. */
uint64_t write_trace(const char *encoding, const struct writer_options *options, const struct record *records,
		     size_t count, struct buf *out);

/* Appends one line with every field of the record. */
void dump_record(struct buf *out, const struct record *record);

/* Reads a trace and appends lines to `out`: a line for each record, and a last line with the status and the error. */
void dump_trace(const void *data, size_t size, struct buf *out);

/* Reads a trace and writes it again in that encoding; returns the reader's last status. */
int convert_trace(const void *data, size_t size, const char *encoding, bool compat, struct buf *out);

/* Fail the test unless the text is in the dump of a trace. The trace has the records and the packet, whose bytes are
 * hexadecimal, or, in the format text, a resource of memory and the line. */
void assert_packet_is_read(const struct record *records, size_t count, const char *packet, const char *text);
void assert_line_is_read(const char *line, const char *text);

/* Appends the bytes that are written as hexadecimal digits and blanks. */
void unhex(const char *hex, struct buf *out);

/* Fail the test and print both values unless they are equal. */
void assert_bytes(const char *what, const struct buf *got, const struct buf *expected);
void assert_text(struct buf *got, const char *expected);

#endif

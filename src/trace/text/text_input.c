/* Reads the lines of a text trace, which may end in LF or CR LF. */
#include "config.h"
#include "trace/text/text_read.h"

#include <inttypes.h>
#include <string.h>

/* Replaces CR LF by LF in the bytes from text_at(reader, from) to the end of the buffer. If several CRs precede a LF,
 * all of them are removed, so that converting the trace again does not change it. */
static void fold_line_ends(struct reader *reader, size_t from)
{
	char *const end = (char *)reader->data + reader->end;
	char *p = memchr(text_at(reader, from), '\r', reader_available(reader) - from), *to = p;

	if (!p)
		return;
	while (p < end) {
		const char *const run = p;

		while (p < end && *p == '\r')
			p++;
		if (p == end || *p != '\n') {
			memmove(to, run, (size_t)(p - run));
			to += p - run;
		}
		if (p < end)
			*to++ = *p++;
	}
	*to = '\0';
	reader->end -= (size_t)(end - to);
}

/* Ends the input at the first NUL byte between text_at(reader, from) and the end of the buffer. A NUL is damage: the
 * lines before it can be read, and the rest is ignored. */
static void check_nul(struct reader *reader, size_t from)
{
	struct text_reader *s = reader->state;
	const size_t available = reader_available(reader);
	const char *nul = available > from ? memchr(text_at(reader, from), '\0', available - from) : NULL;

	if (!nul)
		return;
	s->has_nul = true;
	s->nul_offset = reader_offset(reader) + (size_t)(nul - text_at(reader, 0));
	reader->end = reader->start + (size_t)(nul - text_at(reader, 0));
	reader->ended = true;
}

/* Reads more bytes while the buffer ends in CR. Otherwise a LF that is read later would move to the place of the CR,
 * and callers would miss it, because they have searched that place for a LF already. */
static void fill_line_end(struct reader *reader)
{
	while (reader_available(reader) && reader->data[reader->end - 1] == '\r' && !reader->ended)
		reader_fill(reader, reader_available(reader) + 1);
}

void text_begin_lines(struct reader *reader)
{
	fill_line_end(reader);
	check_nul(reader, 0);
	fold_line_ends(reader, 0);
}

size_t text_fill_slow(struct reader *reader, size_t want)
{
	size_t had = reader_available(reader);

	while (had < want && !reader->ended) {
		reader_fill(reader, want);
		fill_line_end(reader);
		check_nul(reader, had);
		fold_line_ends(reader, had ? had - 1 : 0);
		had = reader_available(reader);
	}
	return had;
}

void text_complain(struct reader *reader, uint64_t line)
{
	struct text_reader *s = reader->state;

	if (s->damage)
		reader_complain(reader, "line %" PRIu64 " %s", line, s->damage);
	s->damage = NULL;
}

/* Returns the status of an input that ends at data + start + from, or within the line that begins there. */
static int end_of_lines(struct reader *reader, size_t from)
{
	const struct text_reader *s = reader->state;

	if (s->has_nul)
		return reader_damage(reader, (size_t)(s->nul_offset - reader_offset(reader)),
				     "a NUL byte, which no text has");
	if (from == reader_available(reader))
		return reader_end(reader);
	reader->start += from;
	const int status = reader_cut_off(reader, "a line");

	reader->start -= from;
	return status;
}

int text_line(struct reader *reader, size_t from, size_t *length)
{
	size_t scanned = 0;

	for (;;) {
		const size_t available = reader_available(reader);

		if (available > from + scanned) {
			const char *line = text_at(reader, from);
			const char *end = memchr(line + scanned, '\n', available - from - scanned);

			if (end) {
				*length = (size_t)(end - line);
				return 1;
			}
			scanned = available - from;
		}
		if (scanned > TEXT_LINE_MAX)
			return reader_damage(reader, from, "a line is longer than %u bytes", TEXT_LINE_MAX);
		if (from > TEXT_GROUP_MAX)
			return reader_damage(reader, 0,
					     "more than %u bytes of calls share one stack, or have no stack; "
					     "give the trace as it was before -c grouped it",
					     TEXT_GROUP_MAX);
		if (text_fill(reader, available + 1) <= available)
			return end_of_lines(reader, from);
	}
}

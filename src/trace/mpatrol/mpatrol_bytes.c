/* Parses the elements of which records of the mpatrol format consist: bytes, numbers, names. */
#include "config.h"
#include "base/leb128.h"
#include "trace/mpatrol/mpatrol_read.h"

#include <stdlib.h>

int mpatrol_take_byte(struct reader *reader)
{
	struct mpatrol_reader *s = reader->state;

	if (reader_fill(reader, s->at + 1) <= s->at)
		return -1;
	return reader->data[reader->start + s->at++];
}

int mpatrol_cut_off(struct reader *reader)
{
	char within[] = "an X record";

	within[3] = (char)reader->data[reader->start];
	if (!reader_available(reader))
		return reader_cut_off(reader, "a record");
	return reader_cut_off(reader, within);
}

int mpatrol_take_number(struct reader *reader, uint64_t *value)
{
	const struct mpatrol_reader *s = reader->state;

	*value = 0;
	for (unsigned shift = 0;; shift += 7) {
		const int byte = mpatrol_take_byte(reader);

		if (byte < 0)
			return mpatrol_cut_off(reader);
		if (shift >= 7 * LEB128_MAX || (shift == 63 && byte & 0x7e))
			return reader_damage(reader, s->at - 1, "a number has more than 64 bits");
		*value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return 1;
	}
}

static int take_definition(struct reader *reader, char **slot)
{
	struct mpatrol_reader *s = reader->state;
	const size_t begin = s->at;
	int byte;

	while ((byte = mpatrol_take_byte(reader)) > 0)
		if (s->at - begin > MPATROL_NAME_READ)
			return reader_damage(reader, begin, "a name has more than %d bytes", MPATROL_NAME_READ);
	if (byte < 0)
		return mpatrol_cut_off(reader);
	free(*slot);
	*slot = xstrdup((const char *)reader->data + reader->start + begin);
	return 1;
}

/* Parses a name: the number of an element of `slots` that contains it, or such a number and a new name for the element.
 * *name is NULL if the record has no name, or the element is empty. */
static int take_name(struct reader *reader, char **slots, const char **name)
{
	const int byte = mpatrol_take_byte(reader);
	int status = 1;

	*name = NULL;
	if (byte < 0)
		return mpatrol_cut_off(reader);
	if (!byte)
		return 1;
	if (byte & 0x80)
		status = take_definition(reader, &slots[byte & 0x7f]);
	*name = slots[byte & 0x7f];
	return status;
}

int mpatrol_take_source(struct reader *reader, struct mpatrol_source *source)
{
	struct mpatrol_reader *s = reader->state;
	int status;

	*source = (struct mpatrol_source){0};
	if (!s->has_source)
		return 1;
	if ((status = mpatrol_take_number(reader, &source->thread)) != 1 ||
	    (status = take_name(reader, s->functions, &source->function)) != 1 ||
	    (status = take_name(reader, s->files, &source->file)) != 1)
		return status;
	return mpatrol_take_number(reader, &source->line);
}

/* The reader of rows in a build without libjansson: rows are recognised, and refused with the reason. */
#include "config.h"

#ifndef HAVE_JANSSON
#include "trace/reader_state.h"

static bool rows_missing_detect(const unsigned char *data, size_t size)
{
	return size && *data == '{';
}

static int rows_missing_next(struct reader *reader, struct record *record)
{
	(void)record;
	return reader_damage(reader, 0,
			     "these are rows, and this functrace was built without libjansson, which reads them");
}

const struct reader_ops rows_reader_ops = {.detect = rows_missing_detect, .next = rows_missing_next};
#endif

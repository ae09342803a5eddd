/* The state of the text writer.  Private to trace/. */
#ifndef FT_TRACE_TEXT_TEXT_WRITE_H
#define FT_TRACE_TEXT_TEXT_WRITE_H

#include "trace/text/text_format.h"
#include "trace/writer_state.h"

struct text_type {
	uint32_t id, flags;
	char *name;
};

struct text_writer {
	bool compat;
	struct text_type *types;
	size_t type_count, type_capacity;
	/* lowest and highest id of memory blocks so far, for the heap lines; 0 before the first block */
	uint64_t lowest, highest;
};

/* Appends the lines of a call: the call itself, its arguments, its frames, and the blank line at its end. */
void text_put_call(struct writer *writer, const struct record_call *call);

#endif

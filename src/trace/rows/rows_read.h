/* What the files of the reader of rows share. */
#ifndef FT_TRACE_ROWS_ROWS_READ_H
#define FT_TRACE_ROWS_ROWS_READ_H

#include "base/buf.h"
#include "base/hash.h"
#include "trace/event.h"

#include <jansson.h>

/* A line, with the columns that row_line.h describes. Figures that are missing or null are NAN, texts NULL (but the
 * host is ""), times and the pid 0. The texts belong to `json`. */
struct rows_line {
	json_t *json; /* the line's object, which rows_line_free() frees */
	bool is_interval;
	const char *host, *program, *kind, *way, *verdict;
	uint64_t pid;
	/* in ns since the Epoch */
	uint64_t process_start, watch_begin, interval_begin, interval_end;
	double allocated_rate, call_rate, live, live_low, live_high, blocks, growth, growth_low, growth_high, lost;
	double windows, looks, share, heap_blocks, unattributed, calls_seen, calls_unseen;
	double cost_budget, cost_target, cost_own, cost_pause;
};

/* Parses a line without its newline. Returns false with a clause about the damage in error[size]. */
bool rows_line_parse(struct rows_line *line, const char *text, size_t length, char *error, size_t size);
void rows_line_free(struct rows_line *line);

#define ROWS_OBJECT_BITS 40 /* an object has 2^40 addresses */

/* An object of a process. */
struct rows_object {
	char *path, *build_id;
	uint64_t from; /* the address that the reader has given to it */
};

struct rows_objects {
	struct rows_object *items;
	size_t count, capacity;
	struct hash by_name; /* hash of path and build-id, or a number after it -> 1 + index */
};

void rows_objects_free(struct rows_objects *objects);

/* The stack of a line, as in struct record_call. */
struct rows_stack {
	uint64_t *frames;
	const char **texts;
	size_t *text_at; /* offsets in `text` */
	size_t count, capacity;
	struct buf text;
};

/* Makes the stack of a line. Its objects that are new in the process are added to `objects`, from *added on. Returns
 * false with a clause about the damage in error[size]. */
bool rows_stack_make(struct rows_stack *stack, const struct rows_line *line, struct rows_objects *objects, char *error,
		     size_t size);
void rows_stack_free(struct rows_stack *stack);

#endif

/* Lists of calls that may become larger than memory should: encoded tightly, and beyond some
 * megabytes kept in an unlinked temporary file.  Each list is read back once, in the order of its
 * calls. */
#ifndef FT_ANALYSIS_LEAKS_CALL_STORE_H
#define FT_ANALYSIS_LEAKS_CALL_STORE_H

#include "analysis/intern.h"
#include "base/buf.h"

struct call_chunk {
	uint64_t offset;
	size_t size;
};

/* The numbers of the call before: those of a call are stored as differences from them. */
struct call_base {
	uint64_t index, time_ns, id;
};

struct call_list {
	struct call_list *next;    /* of the store */
	struct buf data;           /* what is not in the file */
	struct call_chunk *chunks; /* pieces, so that they can be read back one by one */
	size_t chunk_count, chunk_capacity;
	size_t written; /* so many pieces are in the file; the others' offsets are in `data` */
	size_t piece;   /* where in `data` the next one begins */
	struct call_base last;
};

struct call_store {
	struct call_list *lists;
	struct intern_pool texts;
	struct hash function_numbers; /* text in the pool -> number */
	const char **functions;
	size_t function_count, function_capacity, last_function;
	size_t in_memory, limit; /* bytes; 0: the default limit */
	bool file_tried;
	int fd; /* of the file; negative if it could not be made */
	uint64_t file_size;
};

/* Adds an empty list, which the store owns. */
struct call_list *call_store_list(struct call_store *store);
/* Appends a call, but for its frames, with a number of the caller's. */
void call_store_add(struct call_store *store, struct call_list *list, const struct record_call *call, uint64_t tag);
void call_store_free(struct call_store *store);

struct call_cursor {
	const struct call_store *store;
	const struct call_list *list;
	size_t chunk;
	struct buf bytes; /* of the chunk */
	bool failed;      /* the file could not be read */
	const unsigned char *p, *end;
	struct call_base last;
	uint64_t tag; /* of the call */
	struct call_arg *args;
	size_t arg_capacity;
};

/* Reads a list of the store from its first call on. The cursor is the caller's, until call_cursor_end(). */
void call_cursor_begin(struct call_cursor *cursor, const struct call_store *store, const struct call_list *list);
/* 1 with the next call, without frames, whose pointers hold until the next one; 0 at the end; a
 * negative errno when the temporary file cannot be read. */
int call_cursor_next(struct call_cursor *cursor, struct record_call *call);
void call_cursor_end(struct call_cursor *cursor);

#endif

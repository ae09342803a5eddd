/* Stores lists of calls that may become larger than memory should: in a compact encoding, and beyond some megabytes in
 * an unlinked temporary file. Each list is read back once, in the order of its calls. */
#ifndef FT_ANALYSIS_LEAKS_CALL_STORE_H
#define FT_ANALYSIS_LEAKS_CALL_STORE_H

#include "analysis/intern.h"
#include "base/buf.h"

struct call_chunk {
	uint64_t offset;
	size_t size;
};

/* The numbers of the previous call. A call is stored with the differences from them. */
struct call_base {
	uint64_t index, time_ns, id;
};

struct call_list {
	struct call_list *next;    /* of the store */
	struct buf data;           /* bytes that are not in the file */
	struct call_chunk *chunks; /* pieces that can be read back one by one */
	size_t chunk_count, chunk_capacity;
	size_t written; /* pieces in the file; offsets of the others are in `data` */
	size_t piece;   /* offset in `data` where the next piece begins */
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
/* Appends a call, without its frames, and a number of the caller's. */
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
	uint64_t tag; /* of the call that was read last */
	struct call_arg *args;
	size_t arg_capacity;
};

/* Begins to read a list of the store at its first call. The caller ends this with call_cursor_end(). */
void call_cursor_begin(struct call_cursor *cursor, const struct call_store *store, const struct call_list *list);
/* Reads the next call, without frames. Returns 1; the call's pointers are valid until the next call is read. Returns 0
 * at the end, or a negative errno if the temporary file cannot be read. */
int call_cursor_next(struct call_cursor *cursor, struct record_call *call);
void call_cursor_end(struct call_cursor *cursor);

#endif

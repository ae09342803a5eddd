/* Stores lists of calls that may be too large for memory. The calls are encoded compactly; beyond some megabytes they
 * are in an unlinked temporary file. Each list is read back once, in order. */
#ifndef FT_ANALYSIS_LEAKS_CALL_STORE_H
#define FT_ANALYSIS_LEAKS_CALL_STORE_H

#include "analysis/intern.h"
#include "base/buf.h"

struct call_chunk {
	uint64_t offset;
	size_t size;
};

/* The index, time and id of the previous call of a list. A call is stored with only its differences from these. */
struct call_base {
	uint64_t index, time_ns, id;
};

struct call_list {
	struct call_list *next;    /* next list of the store */
	struct buf data;           /* encoded calls that are not in the file */
	struct call_chunk *chunks; /* pieces of the list; each is read back as a whole */
	size_t chunk_count, chunk_capacity;
	/* number of pieces in the file; the offsets of the other pieces are relative to `data` */
	size_t written;
	size_t piece; /* offset in `data` where the next piece begins */
	struct call_base last;
};

struct call_store {
	struct call_list *lists;
	struct intern_pool texts;
	struct hash function_numbers; /* name of a function, in `texts` -> its index in `functions` */
	const char **functions;
	size_t function_count, function_capacity, last_function;
	struct stack **stacks; /* the index of a stack is its number - 1 */
	size_t stack_count, stack_capacity;
	size_t in_memory, limit; /* in_memory: bytes in memory. limit: their limit; 0 for the default */
	bool file_tried;
	int fd; /* descriptor of the temporary file; negative if it could not be created */
	uint64_t file_size;
};

/* Returns a new, empty list, which the store owns. */
struct call_list *call_store_list(struct call_store *store);
/* Appends a call, without its frames. tag: a number that is stored with it. */
void call_store_add(struct call_store *store, struct call_list *list, const struct record_call *call, uint64_t tag);
/* Returns the number of a stack, for use as the tag of calls; 0 for NULL. Stores the number in stack->user. The caller
 * owns the stack. */
uint32_t call_store_stack(struct call_store *store, struct stack *stack);
/* Returns a new number for a stack. If the caller does not have the stack yet, it passes NULL and stores the stack in
 * store->stacks[number - 1] later. If it never stores one, the calls with this number as their tag are read without
 * frames. */
uint32_t call_store_add_stack(struct call_store *store, struct stack *stack);
void call_store_free(struct call_store *store);

struct call_cursor {
	const struct call_store *store;
	const struct call_list *list;
	size_t chunk;
	struct buf bytes; /* the current piece */
	const unsigned char *p, *end;
	struct call_base last;
	uint64_t tag; /* tag of the last call that was read */
	struct call_arg *args;
	size_t arg_capacity;
};

/* Begins reading a list of the store at its first call. The caller has to call call_cursor_end(). */
void call_cursor_begin(struct call_cursor *cursor, const struct call_store *store, const struct call_list *list);
/* Reads the next call, without frames. Returns 1; the call's pointers are valid until the next call is read. Returns 0
 * at the end, or a negative errno, after a message, if the temporary file cannot be read. */
int call_cursor_next(struct call_cursor *cursor, struct record_call *call);
/* Passes the call that was read to a stage, with the frames of the stack whose number is the call's tag. First passes
 * the declarations of the stack's objects again, as stack_put_objects() does; `objects` is the object map of the
 * stack's pool. Returns what stage_put() returns. */
int call_cursor_put(const struct call_cursor *cursor, const struct record_call *call, struct object_map *objects,
		    struct stage *next);
void call_cursor_end(struct call_cursor *cursor);

#endif

/* One address space: the data that unwind.c, the walk by rows and the walk by libunwind share. */
#ifndef FT_UNWIND_UNWINDER_H
#define FT_UNWIND_UNWINDER_H

#include "base/util.h"
#include "unwind/unwind_object.h"

struct unwind_mapping {
	uint64_t start, end, bias;
	struct unwind_object *object;
};

/* Caches the row for a frame's pc. */
struct row_cache_entry {
	uint64_t key;          /* cache_key() */
	const struct row *row; /* NULL: empty */
};

/* The ranges of executable memory; read only when they are needed. */
struct executable {
	struct cfi_range *ranges;
	size_t count, capacity;
	uint64_t made_start, made_end; /* the span of executable memory that belongs to no object */
};

#define ROW_CACHE_SIZE 2048

struct fallback;
struct libdw;

struct unwinder {
	pid_t pid;
	const struct arch *arch;
	enum unwind_method method;
	struct unwind_mapping *items; /* sorted by start */
	size_t count, capacity;
	struct row_cache_entry *cache; /* ROW_CACHE_SIZE entries, allocated on first use */
	struct executable executable;
	struct fallback *fallback;  /* libunwind's state, allocated on first use */
	struct libdw *libdw;        /* libdw's state, likewise */
	uint64_t fallbacks;         /* number of walks that the rows left to the libraries */
	struct stack_memory memory; /* of the current walk */
	uint64_t stopped_at;        /* the pc of its snapshot, with the bits of code_state */
};

/* The mapping that contains an address, or NULL. */
static inline const struct unwind_mapping *unwinder_find(const struct unwinder *unwinder, uint64_t address)
{
	const size_t low = COUNT_UP_TO(unwinder->items, unwinder->count, .end, address);

	return low < unwinder->count && unwinder->items[low].start <= address ? &unwinder->items[low] : NULL;
}

#define KEY_RETURN (1ull << 63) /* no user address has this bit */

static inline uint64_t cache_key(uint64_t pc, bool exact)
{
	return exact ? pc & ~KEY_RETURN : pc | KEY_RETURN;
}

static inline struct row_cache_entry *unwinder_cached(struct unwinder *unwinder, uint64_t pc, bool exact)
{
	return &unwinder->cache[((pc ^ pc >> 11) + exact) % ROW_CACHE_SIZE];
}

/* In frame.c. The second function is for code that a signal has interrupted, with the bits of code_state. NULL: the
 * pc is in no object. */
const struct row *unwinder_frame_row_slow(struct unwinder *unwinder, uint64_t pc, bool exact);
const struct row *unwinder_interrupted_row(struct unwinder *unwinder, uint64_t pc, uint64_t sp);

/* Returns the rule by which a frame's caller is found. exact: the pc is no return address. NULL: the information of
 * its object cannot be read. Kind ROW_NOT_CODE: there is no such frame, because nothing can return to that pc. */
static inline const struct row *unwinder_frame_row(struct unwinder *unwinder, uint64_t pc, bool exact)
{
	const struct row_cache_entry *entry = unwinder_cached(unwinder, pc, exact);

	if (entry->key == cache_key(pc, exact) && entry->row)
		return entry->row;
	return unwinder_frame_row_slow(unwinder, pc, exact);
}

/* True if a frame's pc, for which there is no rule, is where its thread began. exact: it is no return address. */
bool unwinder_find_start(struct unwinder *unwinder, uint64_t pc, bool exact);

/* In code_rows.c: the rule for a pc of an object that has no table for it. The pc is after a call, or a signal has
 * interrupted it at that sp. The kind is ROW_NONE if the code does not show a rule. */
const struct row *code_row_of_object(struct unwinder *unwinder, const struct unwind_mapping *mapped, uint64_t pc);
const struct row *code_row_of_interrupted(struct unwinder *unwinder, const struct unwind_mapping *mapped, uint64_t pc,
					  uint64_t sp);

/* Returns the code address for a return address from the stack or a register. */
static inline uint64_t return_address_plain(const struct arch *arch, uint64_t address)
{
	return __builtin_expect(arch->strip != NULL, 0) ? arch->strip(address) : address;
}

/* Checks that sp grows: the stack grows down, so each caller's sp is above its callee's. Only a signal frame, or one
 * that restores sp from memory, may lead to another stack, a limited number of times. */
struct walk_progress {
	uint64_t sp;
	unsigned switches;
};

#define STACK_SWITCHES_MAX 16

static inline bool progress_to(struct walk_progress *progress, uint64_t sp, bool may_switch, bool first)
{
	if (sp <= progress->sp && !(first && sp == progress->sp) &&
	    !(may_switch && progress->switches++ < STACK_SWITCHES_MAX))
		return false;
	progress->sp = sp;
	return true;
}

/* How a walk ended. */
enum walk_end {
	WALK_COMPLETE, /* at the outermost frame, at max, or at until_cfa */
	WALK_CUT,
	WALK_OTHER, /* rows only: reached a rule that rows cannot hold */
};

struct walk_request {
	const struct stack_snapshot *snapshot;
	struct unwind_frame *frames;
	size_t max; /* at least 1 */
	uint64_t until_cfa;
	bool exact;   /* the snapshot's pc is not a return address */
	size_t count; /* the number of frames found */
	/* gets the registers of the last frame's caller, if the walk by rows came so far; NULL: not wanted */
	struct frame_registers *registers;
};

/* Walks by libunwind, or by libdw if libunwind does not know the processor. If that is not possible, or finds fewer
 * frames than the request already has, the request's result stays and the walk counts as cut. */
enum walk_end fallback_walk(struct unwinder *unwinder, struct walk_request *request);
void fallback_free(struct fallback *fallback);
/* Drops cached data because objects have changed. */
void fallback_flush(struct fallback *fallback);

/* In libdw_walk.c. Returns WALK_OTHER if libdw cannot walk. */
enum walk_end libdw_walk(struct unwinder *unwinder, struct walk_request *request);
void libdw_free(struct libdw *libdw);

/* Walks by rows. */
enum walk_end rows_walk(struct unwinder *unwinder, struct walk_request *request);

#endif

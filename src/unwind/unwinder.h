/* One address space: what unwind.c, the rows' walk and libunwind's walk share. */
#ifndef FT_UNWIND_UNWINDER_H
#define FT_UNWIND_UNWINDER_H

#include "base/util.h"
#include "unwind/object.h"

struct unwind_mapping {
	uint64_t start, end, bias;
	struct unwind_object *object;
};

/* A frame's pc -> its row. */
struct row_cache_entry {
	uint64_t key;          /* cache_key() */
	const struct row *row; /* NULL: empty */
};

/* Where there is executable memory, as far as it had to be asked for. */
struct executable {
	struct cfi_range *ranges;
	size_t count, capacity;
	uint64_t made_start, made_end; /* the span of what is no object's */
};

#define ROW_CACHE_SIZE 2048

struct fallback;
struct libdw;

struct unwinder {
	pid_t pid;
	const struct arch *arch;
	enum unwind_method method;
	struct unwind_mapping *items; /* by ascending start */
	size_t count, capacity;
	struct row_cache_entry *cache; /* ROW_CACHE_SIZE, made on first use */
	struct executable executable;
	struct fallback *fallback;  /* libunwind's state, made on first use */
	struct libdw *libdw;        /* libdw's */
	uint64_t fallbacks;         /* walks that the rows left to them */
	struct stack_memory memory; /* of the walk that is going on */
	uint64_t stopped_at;        /* its snapshot's pc, with the bits of code_state */
};

/* The object that holds an address, or NULL. */
static inline const struct unwind_mapping *unwinder_find(const struct unwinder *unwinder, uint64_t address)
{
	const size_t low = COUNT_UP_TO(unwinder->items, unwinder->count, .end, address);

	return low < unwinder->count && unwinder->items[low].start <= address ? &unwinder->items[low] : NULL;
}

#define KEY_RETURN (1ull << 63) /* no user address has that bit */

static inline uint64_t cache_key(uint64_t pc, bool exact)
{
	return exact ? pc & ~KEY_RETURN : pc | KEY_RETURN;
}

static inline struct row_cache_entry *unwinder_cached(struct unwinder *unwinder, uint64_t pc, bool exact)
{
	return &unwinder->cache[((pc ^ pc >> 11) + exact) % ROW_CACHE_SIZE];
}

/* frame.c; the second: of code that a signal has interrupted, with the bits of code_state. NULL: it is no object's. */
const struct row *unwinder_frame_row_slow(struct unwinder *unwinder, uint64_t pc, bool exact);
const struct row *unwinder_interrupted_row(struct unwinder *unwinder, uint64_t pc, uint64_t sp);

/* The rule by which a frame's caller is found. exact: the pc is no return address. NULL: its object's information
 * cannot be read. Of kind ROW_NOT_CODE: there is no such frame, for nothing can return to that pc. */
static inline const struct row *unwinder_frame_row(struct unwinder *unwinder, uint64_t pc, bool exact)
{
	const struct row_cache_entry *entry = unwinder_cached(unwinder, pc, exact);

	if (entry->key == cache_key(pc, exact) && entry->row)
		return entry->row;
	return unwinder_frame_row_slow(unwinder, pc, exact);
}

/* Finds out whether a frame's pc, for which there is no rule, is where its thread began. exact: not a return
 * address. */
bool unwinder_find_start(struct unwinder *unwinder, uint64_t pc, bool exact);

/* code_rows.c: the rule for a pc of an object that has no table for it, behind a call or, with that sp, where a signal
 * has interrupted it; ROW_NONE if the code does not show one. */
const struct row *code_row_of_object(struct unwinder *unwinder, const struct unwind_mapping *mapped, uint64_t pc);
const struct row *code_row_of_interrupted(struct unwinder *unwinder, const struct unwind_mapping *mapped, uint64_t pc,
					  uint64_t sp);

/* Where a return address from the stack or a register leads to. */
static inline uint64_t return_address_plain(const struct arch *arch, uint64_t address)
{
	return __builtin_expect(arch->strip != NULL, 0) ? arch->strip(address) : address;
}

/* The stack grows down: each caller's sp is above its callee's. Only a signal frame, or one that
 * restores sp from memory, may lead to another stack, a bounded number of times. */
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
	WALK_OTHER, /* rows only: a rule that rows cannot hold */
};

struct walk_request {
	const struct stack_snapshot *snapshot;
	struct unwind_frame *frames;
	size_t max; /* at least 1 */
	uint64_t until_cfa;
	bool exact;                        /* the snapshot's pc is not a return address */
	size_t count;                      /* the result */
	struct frame_registers *registers; /* of the last frame's caller, if the walk by rows has come so far; NULL: not
					      wanted */
};

/* The walk by libunwind, or by libdw where that knows nothing of the processor. Where it cannot be, or finds less than
 * the request's result already has, that result stays, and the walk is cut. */
enum walk_end fallback_walk(struct unwinder *unwinder, struct walk_request *request);
void fallback_free(struct fallback *fallback);
/* Objects have changed. */
void fallback_flush(struct fallback *fallback);

/* libdw_walk.c. WALK_OTHER: it cannot. */
enum walk_end libdw_walk(struct unwinder *unwinder, struct walk_request *request);
void libdw_free(struct libdw *libdw);

/* The walk by rows. */
enum walk_end rows_walk(struct unwinder *unwinder, struct walk_request *request);

#endif

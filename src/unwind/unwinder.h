/* An unwinder's data for one address space, which unwind.c, the walk by rows and the walks by libraries share. */
#ifndef FT_UNWIND_UNWINDER_H
#define FT_UNWIND_UNWINDER_H

#include "base/util.h"
#include "unwind/unwind_object.h"

struct unwind_mapping {
	uint64_t start, end, bias;
	struct unwind_object *object;
};

/* An entry of the cache of rows, for one frame's pc. */
struct row_cache_entry {
	uint64_t key;          /* the result of cache_key() for the pc */
	const struct row *row; /* NULL if the entry is empty */
};

/* The ranges of executable memory. The ranges are read from /proc/PID/maps only when they are needed. */
struct executable {
	struct cfi_range *ranges;
	size_t count, capacity;
	uint64_t made_start, made_end; /* range of code that belongs to no object: generated at run time */
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
	struct row_cache_entry *cache; /* ROW_CACHE_SIZE entries */
	struct executable executable;
	struct fallback *fallback;  /* state of libunwind, allocated on first use */
	struct libdw *libdw;        /* state of libdw, allocated on first use */
	uint64_t fallbacks;         /* number of walks left to a library because rows cannot contain a rule */
	struct stack_memory memory; /* memory of the current walk */
	uint64_t stopped_at;        /* the pc of the current snapshot, with the bits of code_state */
};

/* Returns the mapping that contains an address, or NULL. */
static inline const struct unwind_mapping *unwinder_find(const struct unwinder *unwinder, uint64_t address)
{
	const size_t low = COUNT_UP_TO(unwinder->items, unwinder->count, .end, address);

	return low < unwinder->count && unwinder->items[low].start <= address ? &unwinder->items[low] : NULL;
}

#define KEY_RETURN (1ull << 63) /* marks return addresses in keys; no user address has this bit */

static inline uint64_t cache_key(uint64_t pc, bool exact)
{
	return exact ? pc & ~KEY_RETURN : pc | KEY_RETURN;
}

static inline struct row_cache_entry *unwinder_cached(struct unwinder *unwinder, uint64_t pc, bool exact)
{
	return &unwinder->cache[((pc ^ pc >> 11) + exact) % ROW_CACHE_SIZE];
}

/* In frame.c. unwinder_frame_row_slow() does the work of unwinder_frame_row() for a row that is not cached.
 * unwinder_interrupted_row() returns the row for code that a signal has interrupted; `pc` includes the bits of
 * code_state. It returns NULL if no object contains the pc, or if the object's information cannot be read. */
const struct row *unwinder_frame_row_slow(struct unwinder *unwinder, uint64_t pc, bool exact);
const struct row *unwinder_interrupted_row(struct unwinder *unwinder, uint64_t pc, uint64_t sp);

/* Returns the rule by which a frame's caller is found. exact: true if the pc is no return address. Returns NULL if
 * the object's information cannot be read. Kind ROW_NOT_CODE: the pc is no frame, because no call returns to it. */
static inline const struct row *unwinder_frame_row(struct unwinder *unwinder, uint64_t pc, bool exact)
{
	const struct row_cache_entry *entry = unwinder_cached(unwinder, pc, exact);

	if (entry->key == cache_key(pc, exact) && entry->row)
		return entry->row;
	return unwinder_frame_row_slow(unwinder, pc, exact);
}

/* Returns true if a frame's pc, for which there is no rule, is in the code where the frame's thread began. exact: the
 * pc is no return address. */
bool unwinder_find_start(struct unwinder *unwinder, uint64_t pc, bool exact);

/* In code_rows.c: return the rule for a pc of an object that has no table for it. The pc of code_row_of_object()
 * follows a call; the pc of code_row_of_interrupted() was interrupted by a signal, with this sp. The kind is ROW_NONE
 * if the code does not show a rule. */
const struct row *code_row_of_object(struct unwinder *unwinder, const struct unwind_mapping *mapped, uint64_t pc);
const struct row *code_row_of_interrupted(struct unwinder *unwinder, const struct unwind_mapping *mapped, uint64_t pc,
					  uint64_t sp);

/* Returns the code address of a return address from the stack or a register: some processors put other bits into it. */
static inline uint64_t return_address_plain(const struct arch *arch, uint64_t address)
{
	return __builtin_expect(arch->unwind.strip != NULL, 0) ? arch->unwind.strip(address) : address;
}

/* Checks that each caller's sp is above its callee's, because the stack grows down. Only a signal frame, or a frame
 * with a row of kind ROW_RULES, may switch to another stack, at most STACK_SWITCHES_MAX times in a walk. */
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
	WALK_COMPLETE, /* the walk reached the outermost frame, max or until_cfa */
	WALK_CUT,
	WALK_OTHER, /* the walk reached a rule that rows cannot contain, or the library cannot walk this stack */
};

struct walk_request {
	const struct stack_snapshot *snapshot;
	struct unwind_frame *frames;
	size_t max; /* maximum number of frames, at least 1 */
	uint64_t until_cfa;
	bool exact;   /* true if the snapshot's pc is not a return address */
	size_t count; /* number of frames found */
	/* gets the registers of the last frame's caller if the walk by rows reaches it; NULL: not wanted */
	struct frame_registers *registers;
};

/* Walks by libunwind, or by libdw if libunwind does not support the processor. If neither can walk, or if the walk
 * is cut with fewer frames than the request already has, the request keeps its frames and WALK_CUT is returned. */
enum walk_end fallback_walk(struct unwinder *unwinder, struct walk_request *request);
void fallback_free(struct fallback *fallback);
/* Drops libunwind's cached data because objects have changed. */
void fallback_flush(struct fallback *fallback);

/* Walks by libdw; in libdw_walk.c. Returns WALK_OTHER if libdw cannot walk this stack. */
enum walk_end libdw_walk(struct unwinder *unwinder, struct walk_request *request);
void libdw_free(struct libdw *libdw);

/* Walks by rows. */
enum walk_end rows_walk(struct unwinder *unwinder, struct walk_request *request);

#endif

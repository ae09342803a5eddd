#include "config.h"
#include "record/released_blocks.h"
#include "record/run.h"

#include <stdlib.h>
#include <string.h>

/* ---- Live blocks ----
 *
 *	63..56 maker | 55 older | 54 large | 53..32 size, 31..0 event
 *	                                       | 53..0 size                  if it is large
 */

#define MAKER_SHIFT 56
#define OLDER       (1ull << 55)
#define LARGE       (1ull << 54)
#define SIZE_SHIFT  32
#define SIZE_SMALL  (1ull << 22) /* smallest size of a large block */

uint64_t block_pack(const struct live_block *block)
{
	const uint64_t event = block->event > UINT32_MAX ? 0 : block->event;
	uint64_t packed = (uint64_t)block->maker << MAKER_SHIFT | (block->is_older ? OLDER : 0);

	if (block->size < SIZE_SMALL)
		packed |= block->size << SIZE_SHIFT | event;
	else
		packed |= LARGE | (block->size < BLOCK_SIZE_MAX ? block->size : BLOCK_SIZE_MAX);
	return packed;
}

struct live_block block_unpack(uint64_t packed)
{
	struct live_block block = {.maker = (unsigned)(packed >> MAKER_SHIFT), .is_older = packed & OLDER};

	if (packed & LARGE) {
		block.size = packed & BLOCK_SIZE_MAX;
	} else {
		block.size = (packed & (LARGE - 1)) >> SIZE_SHIFT;
		block.event = packed & UINT32_MAX;
	}
	return block;
}

uint64_t block_older(uint64_t packed)
{
	return packed | OLDER;
}

/* ---- Functions: a program calls only a few different ones ---- */

#define FUNCTIONS_MAX 255

struct function_name {
	char *shown;
	const char *family;
};

/* A cache: the last function that was passed to function_number(), so that the next call for that function need not
 * compare names. */
struct asked_function {
	const struct traced *function; /* NULL before the first call */
	const char *shown, *family;    /* name and family of the function at that time; they may change */
	unsigned number;
};

struct function_names {
	unsigned count;
	struct asked_function last[2]; /* [1] for releases, [0] for other functions */
	struct function_name items[FUNCTIONS_MAX + 1];
};

static unsigned find_number(struct function_names *names, const char *shown, const char *family)
{
	for (unsigned i = 1; i <= names->count; i++)
		if (names->items[i].family == family && !strcmp(names->items[i].shown, shown))
			return i;
	if (names->count == FUNCTIONS_MAX)
		return 0;
	names->items[++names->count] = (struct function_name){xstrdup(shown), family};
	return names->count;
}

/* Looks up the number of a function, and stores it in the cache. Not inlined, because function_number() is called for
 * every event and rarely calls this function. */
__attribute__((noinline)) static unsigned ask_number(struct run *run, const struct traced *function, bool is_release)
{
	const char *const family = traced_family(function);

	if (!run->functions)
		run->functions = xcalloc(1, sizeof(*run->functions));
	const unsigned number = find_number(run->functions, function->shown, family);

	run->functions->last[is_release] = (struct asked_function){function, function->shown, family, number};
	return number;
}

unsigned function_number(struct run *run, const struct traced *function)
{
	const char *const family = traced_family(function);
	const bool is_release = function->function->role == ROLE_RELEASE;
	const struct asked_function *const last = run->functions ? &run->functions->last[is_release] : NULL;

	if (last && last->function == function && last->shown == function->shown && last->family == family)
		return last->number;
	return ask_number(run, function, is_release);
}

void functions_forget_last(struct run *run)
{
	if (run->functions)
		memset(run->functions->last, 0, sizeof(run->functions->last));
}

const char *function_shown(const struct run *run, unsigned number)
{
	return run->functions->items[number].shown;
}

const char *function_family(const struct run *run, unsigned number)
{
	return run->functions->items[number].family;
}

void functions_free(struct run *run)
{
	for (unsigned i = 1; run->functions && i <= run->functions->count; i++)
		free(run->functions->items[i].shown);
	free(run->functions);
	run->functions = NULL;
}

/* ---- Releases ----
 *
 * A hash table without chains: each id has one place, which it shares with other ids. An allocation of the id does not
 * clear the place, because a live id is never looked up, and its next release overwrites the place. */

#define RELEASES 4096 /* a power of two */

static struct release *released_blocks_place_of(const struct live_set *live, uint64_t id)
{
	return &live->releases[hash_mix(id) & (RELEASES - 1)];
}

void releases_keep(struct live_set *live, const struct release *release)
{
	if (!live->releases)
		live->releases = xcalloc(RELEASES, sizeof(*live->releases));
	*released_blocks_place_of(live, release->id) = *release;
}

const struct release *releases_find(const struct live_set *live, uint64_t id)
{
	const struct release *const place = live->releases ? released_blocks_place_of(live, id) : NULL;

	return place && place->event && place->id == id ? place : NULL;
}

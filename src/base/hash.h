/* A map from 64-bit keys to 64-bit values: open addressing with
 * linear probing and backward-shift deletion, so it never degrades by deletions
 * and its memory is proportional to the largest number of entries held. */
#ifndef FT_BASE_HASH_H
#define FT_BASE_HASH_H

#include "base/util.h"

struct hash_entry {
	uint64_t key, value;
	bool used;
};

struct hash {
	struct hash_entry *entries;
	size_t capacity; /* 0 or a power of two */
	size_t count;
};

void hash_free(struct hash *h);

/* Makes `to`, which is empty, the same. */
void hash_copy(const struct hash *from, struct hash *to);

/* An empty map with room for that many keys, whose memory is there: adding so many takes the same time for each. */
struct hash hash_with_room(size_t count);

/* Moves what h has into that room, if it is more than h has; the room is empty and freed then. */
void hash_move(struct hash *h, struct hash *room);

/* The value's place, or NULL. Valid until the next set or remove. */
uint64_t *hash_get(const struct hash *h, uint64_t key);

/* Sets the value, adding the key if it is new; true if it was new. */
bool hash_set(struct hash *h, uint64_t key, uint64_t value);

/* The value's place; a new key's value is 0. Valid until the next set or remove. */
uint64_t *hash_place(struct hash *h, uint64_t key);

/* Removes the key; false if it was not there. *value (may be NULL) gets what it had. */
bool hash_remove(struct hash *h, uint64_t key, uint64_t *value);

/* Iteration: for (size_t i = 0; (e = hash_next(h, &i));) ... No change of the map meanwhile. */
struct hash_entry *hash_next(const struct hash *h, size_t *position);

/* The keys from `start` to below `end`, for a caller that then removes them; the caller frees the array. NULL of
 * none. */
uint64_t *hash_keys_between(const struct hash *h, uint64_t start, uint64_t end, size_t *count);

/* For values that are pointers. */
static inline void *hash_get_ptr(const struct hash *h, uint64_t key)
{
	const uint64_t *value = hash_get(h, key);

	return value ? (void *)(uintptr_t)*value : NULL;
}

static inline bool hash_set_ptr(struct hash *h, uint64_t key, void *value)
{
	return hash_set(h, key, (uintptr_t)value);
}

static inline uint64_t hash_mix(uint64_t x)
{
	x ^= x >> 32;
	x *= 0xd6e8feb86659fd93u;
	x ^= x >> 32;
	return x;
}

/* A hash of bytes, for string keys: the caller compares the strings. */
uint64_t hash_bytes(const void *data, size_t size);

/* A number that no input can foresee: hashed keys are mixed with it, so that no file can be made
 * to hit one slot of a table with all its records. */
uint64_t random_seed(void);

#endif

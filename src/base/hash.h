/* A map from 64-bit keys to 64-bit values. Uses open addressing with linear probing and backward-shift deletion, so
 * that deletions never slow it down. Its memory is proportional to the largest number of entries that it has held. */
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

/* Copies `from` into `to`, which has to be empty. */
void hash_copy(const struct hash *from, struct hash *to);

/* Returns an empty map whose memory for `count` keys is already resident, so that adding them causes no page faults. */
struct hash hash_with_room(size_t count);

/* If the empty map `room` is larger than h, moves h's entries into room's memory, and gives this memory to h.
 * Afterwards `room` is empty and owns no memory. */
void hash_move(struct hash *h, struct hash *room);

/* Returns the address of the key's value, or NULL. The address is valid until the next set or remove. */
uint64_t *hash_get(const struct hash *h, uint64_t key);

/* Sets the value, and adds the key if it is new. Returns true if it was new. */
bool hash_set(struct hash *h, uint64_t key, uint64_t value);

/* Returns the address of the key's value; a new key is added with value 0. The address is valid until the next set or
 * remove. */
uint64_t *hash_place(struct hash *h, uint64_t key);

/* Removes the key, and sets *value to its value unless `value` is NULL. Returns false if the key was not present. */
bool hash_remove(struct hash *h, uint64_t key, uint64_t *value);

/* Frees the values, which are pointers, and the map. */
void hash_free_all(struct hash *h);

/* Iterates over the entries: for (size_t i = 0; (e = hash_next(h, &i));). The map must not change meanwhile. */
struct hash_entry *hash_next(const struct hash *h, size_t *position);

/* Returns an array of the keys from `start` to below `end`. The caller may remove keys while it iterates over this
 * array, and frees it. Returns NULL if there are no such keys. */
uint64_t *hash_keys_between(const struct hash *h, uint64_t start, uint64_t end, size_t *count);

/* Returns the key's value as a pointer; NULL if the key is not present. */
static inline void *hash_get_ptr(const struct hash *h, uint64_t key)
{
	const uint64_t *value = hash_get(h, key);

	return value ? (void *)(uintptr_t)*value : NULL;
}

/* Does the same as hash_next() for a map of pointers, none of which is NULL. Returns the pointer. */
static inline void *hash_next_ptr(const struct hash *h, size_t *position)
{
	const struct hash_entry *entry = hash_next(h, position);

	return entry ? (void *)(uintptr_t)entry->value : NULL;
}

/* Iterates over the pointers in a map, none of which is NULL. The map must not change meanwhile. */
#define HASH_EACH_PTR(type, each, h)                                                                                   \
	for (size_t each##_at = 0; each##_at != SIZE_MAX; each##_at = SIZE_MAX)                                        \
		for (type * each; (each = hash_next_ptr((h), &each##_at));)

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

/* Returns a hash of the bytes, to use as the key of a string. Different strings may have the same hash, so the caller
 * compares the strings. */
uint64_t hash_bytes(const void *data, size_t size);

/* Returns a random number. Tables mix it into the keys that they hash. Otherwise an attacker could make a file with
 * records whose keys all hash to the same entry of a table, and the table would be slow. */
uint64_t random_seed(void);

#endif

/* A hash table of 64-bit keys and values: see hash.h. */
#include "config.h"
#include "base/hash.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#define CAPACITY_MIN 16

void hash_free(struct hash *h)
{
	free(h->entries);
	*h = (struct hash){0};
}

void hash_copy(const struct hash *from, struct hash *to)
{
	*to = *from;
	if (!from->capacity)
		return;
	to->entries = xreallocarray(NULL, from->capacity, sizeof(*to->entries));
	memcpy(to->entries, from->entries, from->capacity * sizeof(*to->entries));
}

static size_t hash_find(const struct hash *h, uint64_t key)
{
	size_t i = hash_mix(key) & (h->capacity - 1);

	while (h->entries[i].used && h->entries[i].key != key)
		i = (i + 1) & (h->capacity - 1);
	return i;
}

uint64_t *hash_get(const struct hash *h, uint64_t key)
{
	if (!h->count)
		return NULL;
	struct hash_entry *entry = &h->entries[hash_find(h, key)];

	return entry->used ? &entry->value : NULL;
}

static void hash_grow(struct hash *h)
{
	const struct hash old = *h;

	h->capacity = old.capacity ? old.capacity * 2 : CAPACITY_MIN;
	h->entries = xcalloc(h->capacity, sizeof(*h->entries));
	for (size_t i = 0; i < old.capacity; i++)
		if (old.entries[i].used)
			h->entries[hash_find(h, old.entries[i].key)] = old.entries[i];
	free(old.entries);
}

struct hash hash_with_room(size_t count)
{
	struct hash h = {.capacity = CAPACITY_MIN};

	while (count > h.capacity / 4 * 3)
		h.capacity *= 2;
	/* Does not use calloc(), because the kernel would then provide the pages only when keys are added. */
	h.entries = xreallocarray(NULL, h.capacity, sizeof(*h.entries));
	memset(h.entries, 0, h.capacity * sizeof(*h.entries));
	return h;
}

void hash_move(struct hash *h, struct hash *room)
{
	if (room->capacity > h->capacity) {
		const struct hash old = *h;

		for (size_t i = 0; i < old.capacity; i++)
			if (old.entries[i].used)
				room->entries[hash_find(room, old.entries[i].key)] = old.entries[i];
		*h = (struct hash){room->entries, room->capacity, old.count};
		*room = (struct hash){old.entries, old.capacity, 0};
	}
	hash_free(room);
}

/* Returns the key's entry. Adds an entry if the key is new. */
static inline struct hash_entry *entry_of(struct hash *h, uint64_t key, bool *is_new)
{
	if ((h->count + 1) * 4 > h->capacity * 3)
		hash_grow(h);
	struct hash_entry *entry = &h->entries[hash_find(h, key)];

	*is_new = !entry->used;
	h->count += *is_new;
	if (*is_new)
		*entry = (struct hash_entry){.key = key, .used = true};
	return entry;
}

bool hash_set(struct hash *h, uint64_t key, uint64_t value)
{
	bool is_new;

	entry_of(h, key, &is_new)->value = value;
	return is_new;
}

uint64_t *hash_place(struct hash *h, uint64_t key)
{
	bool is_new;

	return &entry_of(h, key, &is_new)->value;
}

bool hash_remove(struct hash *h, uint64_t key, uint64_t *value)
{
	if (!h->count)
		return false;
	const size_t mask = h->capacity - 1;
	size_t hole = hash_find(h, key);

	if (!h->entries[hole].used)
		return false;
	if (value)
		*value = h->entries[hole].value;
	for (size_t i = (hole + 1) & mask; h->entries[i].used; i = (i + 1) & mask) {
		const size_t home = hash_mix(h->entries[i].key) & mask;

		/* A search for this entry would end at the hole, so the entry moves into the hole. */
		if (((i - home) & mask) >= ((i - hole) & mask)) {
			h->entries[hole] = h->entries[i];
			hole = i;
		}
	}
	h->entries[hole].used = false;
	h->count--;
	return true;
}

struct hash_entry *hash_next(const struct hash *h, size_t *position)
{
	while (*position < h->capacity) {
		struct hash_entry *entry = &h->entries[(*position)++];

		if (entry->used)
			return entry;
	}
	return NULL;
}

void hash_free_all(struct hash *h)
{
	HASH_EACH_PTR(void, value, h)
		free(value);
	hash_free(h);
}

static inline uint64_t hash_load_word(const unsigned char *bytes)
{
	uint64_t word;

	memcpy(&word, bytes, sizeof(word));
	return word;
}

static inline uint64_t add_word(uint64_t h, uint64_t word)
{
	h = (h ^ word) * 0x9fb21c651e98df25u;
	return h ^ h >> 29;
}

uint64_t hash_bytes(const void *data, size_t size)
{
	const unsigned char *bytes = data;
	uint64_t h = 0xcbf29ce484222325u ^ size;

	/* Uses four independent chains, because a CPU can do four multiplications at a time if none depends on the
	 * result of another. */
	if (size >= 64) {
		uint64_t lanes[4] = {h, h + 1, h + 2, h + 3};

		for (; size >= 32; bytes += 32, size -= 32)
			for (unsigned i = 0; i < 4; i++)
				lanes[i] = add_word(lanes[i], hash_load_word(bytes + 8 * i));
		h = add_word(add_word(add_word(lanes[0], lanes[1]), lanes[2]), lanes[3]);
	}
	for (; size >= 8; bytes += 8, size -= 8)
		h = add_word(h, hash_load_word(bytes));
	while (size--)
		h = (h ^ *bytes++) * 0x100000001b3u;
	return hash_mix(h);
}

uint64_t *hash_keys_between(const struct hash *h, uint64_t start, uint64_t end, size_t *count)
{
	const struct hash_entry *entry;
	uint64_t *keys = NULL;
	size_t capacity = 0;

	*count = 0;
	for (size_t i = 0; (entry = hash_next(h, &i));)
		if (entry->key >= start && entry->key < end) {
			ARRAY_GROW(keys, capacity, *count);
			keys[(*count)++] = entry->key;
		}
	return keys;
}

uint64_t random_seed(void)
{
	uint64_t seed;

	if (getrandom(&seed, sizeof(seed), GRND_NONBLOCK) != sizeof(seed))
		seed = clock_ns(CLOCK_REALTIME);
	return seed;
}

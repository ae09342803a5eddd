#include "config.h"
#include "trace/stack_cache.h"
#include "base/hash.h"

#include <stdlib.h>
#include <string.h>

static struct cached_stack *stack_cache_slot_of(const struct stack_cache *cache)
{
	return &cache->slots[cache->hash % STACK_CACHE_SLOTS];
}

const struct cached_stack *stack_cache_find(struct stack_cache *cache, const void *key, size_t size)
{
	cache->is_kept = size && size <= STACK_CACHE_KEY_MAX;
	if (!cache->is_kept)
		return NULL;
	if (!cache->slots)
		cache->slots = xcalloc(STACK_CACHE_SLOTS, sizeof(*cache->slots));
	cache->hash = hash_bytes(key, size);
	const struct cached_stack *slot = stack_cache_slot_of(cache);

	if (!slot->is_used || slot->hash != cache->hash || slot->key.size != size ||
	    memcmp(slot->key.data, key, size) != 0)
		return NULL;
	return slot;
}

void stack_cache_keep(struct stack_cache *cache, const void *key, size_t size, const void *value, size_t value_size,
		      enum stack_end end)
{
	if (!cache->is_kept)
		return;
	struct cached_stack *slot = stack_cache_slot_of(cache);

	slot->is_used = true;
	slot->hash = cache->hash;
	slot->end = end;
	slot->key.size = slot->value.size = 0;
	buf_add(&slot->key, key, size);
	buf_add(&slot->value, value, value_size);
}

int stack_cache_place(const struct stack_cache *cache)
{
	return cache->is_kept ? (int)(cache->hash % STACK_CACHE_SLOTS) : -1;
}

void stack_cache_free(struct stack_cache *cache)
{
	for (size_t i = 0; cache->slots && i < STACK_CACHE_SLOTS; i++) {
		buf_free(&cache->slots[i].key);
		buf_free(&cache->slots[i].value);
	}
	free(cache->slots);
}

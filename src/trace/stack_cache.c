#include "config.h"
#include "trace/stack_cache.h"
#include "base/hash.h"

#include <stdlib.h>
#include <string.h>

static struct cached_stack *slot_of(const struct stack_cache *cache, uint64_t hash)
{
	return &cache->slots[hash % STACK_CACHE_SLOTS];
}

const struct cached_stack *stack_cache_find(const struct stack_cache *cache, const char *text, size_t size)
{
	if (!cache->slots || size > STACK_CACHE_TEXT_MAX)
		return NULL;
	const uint64_t hash = hash_bytes(text, size);
	const struct cached_stack *slot = slot_of(cache, hash);

	return slot->text && slot->hash == hash && slot->size == size && !memcmp(slot->text, text, size) ? slot : NULL;
}

void stack_cache_keep(struct stack_cache *cache, const char *text, size_t size, const struct record_call *call)
{
	if (size > STACK_CACHE_TEXT_MAX || call->frame_texts)
		return;
	if (!cache->slots)
		cache->slots = xcalloc(STACK_CACHE_SLOTS, sizeof(*cache->slots));
	const uint64_t hash = hash_bytes(text, size);
	struct cached_stack *slot = slot_of(cache, hash);

	free(slot->text);
	free(slot->frames);
	*slot = (struct cached_stack){
		.hash = hash, .text = xmalloc(size + 1), .size = size, .count = call->frame_count, .end = call->end};
	memcpy(slot->text, text, size);
	slot->frames = xreallocarray(NULL, call->frame_count + 1, sizeof(*slot->frames));
	if (call->frame_count)
		memcpy(slot->frames, call->frames, call->frame_count * sizeof(*slot->frames));
}

void stack_cache_free(struct stack_cache *cache)
{
	for (size_t i = 0; cache->slots && i < STACK_CACHE_SLOTS; i++) {
		free(cache->slots[i].text);
		free(cache->slots[i].frames);
	}
	free(cache->slots);
}

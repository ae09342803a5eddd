#include "config.h"
#include "symbols/names/name_file.h"

#include <stdlib.h>
#include <string.h>

#define BLOCK_SIZE 65536

struct string_block {
	struct string_block *next;
	size_t used, size;
	char bytes[];
};

const char *string_keep(struct string_pool *pool, const char *string)
{
	const size_t length = strlen(string);
	const uint64_t hash = hash_bytes(string, length);
	const char *known = hash_get_ptr(&pool->by_hash, hash);
	struct string_block *block = pool->blocks;

	if (known && !strcmp(known, string))
		return known;
	if (!block || block->size - block->used <= length) {
		const size_t size = length + 1 > BLOCK_SIZE ? length + 1 : BLOCK_SIZE;

		block = xmalloc(sizeof(*block) + size);
		*block = (struct string_block){.next = pool->blocks, .size = size};
		pool->blocks = block;
	}
	char *copy = block->bytes + block->used;

	memcpy(copy, string, length + 1);
	block->used += length + 1;
	hash_set_ptr(&pool->by_hash, hash, copy);
	return copy;
}

void string_pool_free(struct string_pool *pool)
{
	while (pool->blocks) {
		struct string_block *block = pool->blocks;

		pool->blocks = block->next;
		free(block);
	}
	hash_free(&pool->by_hash);
}

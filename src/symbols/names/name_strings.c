#include "config.h"
#include "symbols/names/name_file.h"

#include <string.h>

const char *string_keep(struct string_pool *pool, const char *string)
{
	const size_t length = strlen(string);
	const uint64_t hash = hash_bytes(string, length);
	const char *known = hash_get_ptr(&pool->by_hash, hash);
	size_t bytes = 0; /* size of the blocks; not needed */

	if (known && !strcmp(known, string))
		return known;
	char *copy = elf_name_copy(&pool->blocks, string, length, &bytes);

	hash_set_ptr(&pool->by_hash, hash, copy);
	return copy;
}

void string_pool_free(struct string_pool *pool)
{
	elf_names_free(&pool->blocks);
	hash_free(&pool->by_hash);
}

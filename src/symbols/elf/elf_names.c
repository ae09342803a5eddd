/* Copies names into large blocks of memory, because a file may have millions of names. */
#include "config.h"
#include "symbols/elf/elf_file.h"

#include <stdlib.h>
#include <string.h>

#define BLOCK_SIZE 65536

struct elf_name_block {
	struct elf_name_block *next;
	size_t used, size;
	char bytes[];
};

char *elf_name_copy(struct elf_name_block **blocks, const char *name, size_t length, size_t *bytes)
{
	struct elf_name_block *block = *blocks;

	if (!block || block->size - block->used <= length) {
		const size_t size = length + 1 > BLOCK_SIZE ? length + 1 : BLOCK_SIZE;

		block = xmalloc(sizeof(*block) + size);
		*block = (struct elf_name_block){.next = *blocks, .size = size};
		*blocks = block;
		*bytes += sizeof(*block) + size;
	}
	char *copy = block->bytes + block->used;

	memcpy(copy, name, length);
	copy[length] = '\0';
	block->used += length + 1;
	return copy;
}

void elf_names_free(struct elf_name_block **blocks)
{
	while (*blocks) {
		struct elf_name_block *block = *blocks;

		*blocks = block->next;
		free(block);
	}
}

const char *elf_keep_name(struct elf_file *file, const char *name, size_t length)
{
	return elf_name_copy(&file->table.names, name, length, &file->cached.bytes);
}

/* An allocator whose functions have a prefix, as jemalloc's may have. A library and a plugin of it each have a copy of
 * the allocator: acme_lib_malloc and acme_plugin_malloc, and so on. prefixed.conf describes the functions once, for all
 * prefixes.
 *
 *     cc -g -o prefixed prefixed.c
 *     functrace -e ./prefixed.conf -o prefixed.rtrace ./prefixed
 *     functrace-postproc -l -c -r prefixed.rtrace
 *
 * The program never releases 2 blocks of 100 bytes from read_settings, and 1 block of 700 bytes from load_plugin.
 */
#include <stdio.h>
#include <string.h>

static _Alignas(16) char heap[1 << 16];
static size_t used;

/* Returns a new block. The size of the block is stored before it. */
static void *take(size_t size)
{
	char *const block = heap + used + 16;

	if (size > sizeof(heap) - used - 64)
		return NULL;
	memcpy(block - 16, &size, sizeof(size));
	used += 32 + size - size % 16;
	return block;
}

/* Defines the functions of the allocator with this prefix. */
#define ALLOCATOR(prefix)                                                                                              \
	void *prefix##malloc(size_t size);                                                                             \
	void *prefix##calloc(size_t count, size_t size);                                                               \
	void *prefix##realloc(void *block, size_t size);                                                               \
	void prefix##free(void *block);                                                                                \
	void *prefix##malloc(size_t size)                                                                              \
	{                                                                                                              \
		return take(size);                                                                                     \
	}                                                                                                              \
	void *prefix##calloc(size_t count, size_t size)                                                                \
	{                                                                                                              \
		void *const block = prefix##malloc(count * size);                                                      \
                                                                                                                       \
		return block ? memset(block, 0, count * size) : NULL;                                                  \
	}                                                                                                              \
	void *prefix##realloc(void *block, size_t size)                                                                \
	{                                                                                                              \
		size_t old = 0;                                                                                        \
		void *const grown = take(size);                                                                        \
                                                                                                                       \
		if (block)                                                                                             \
			memcpy(&old, (char *)block - 16, sizeof(old));                                                 \
		if (grown && block)                                                                                    \
			memcpy(grown, block, old < size ? old : size);                                                 \
		return grown;                                                                                          \
	}                                                                                                              \
	void prefix##free(void *block)                                                                                 \
	{                                                                                                              \
		if (block)                                                                                             \
			memset(block, 0xee, 1);                                                                        \
	}

ALLOCATOR(acme_lib_)
ALLOCATOR(acme_plugin_)

static void read_settings(const char *path)
{
	char *const text = acme_lib_malloc(100);

	snprintf(text, 100, "settings of %s", path);
	if (strchr(path, '~'))
		return; /* 1: the text is not released */
	puts(text);
	acme_lib_free(text);
}

static void load_plugin(void)
{
	int *table = acme_plugin_calloc(25, sizeof(int));

	table[24] = 1;
	table = acme_plugin_realloc(table, 700);
	printf("the plugin has %d table\n", table[24]);
	/* 2: the table is not released */
}

int main(void)
{
	read_settings("/etc/acme");
	read_settings("~/.acme");
	read_settings("~/.config/acme");
	load_plugin();
	return 0;
}

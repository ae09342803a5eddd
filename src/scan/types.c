#include "config.h"
#include "scan/types.h"
#include "base/hash.h"
#include "symbols/data_names.h"

#include <stdlib.h>
#include <string.h>

#define VTABLE      "vtable for "
#define TYPES_MAX   65536 /* the rest is unknown */
#define WORDS_KNOWN (1 << 20)

struct range {
	uint64_t start, end;
};

struct scan_types {
	struct data_names *names;
	struct range *ranges; /* of the image's mappings of files, by address */
	size_t range_count, range_capacity;
	struct hash by_word; /* the word, mixed with its place -> type */
	char **types;        /* 0: unknown */
	size_t count, capacity;
};

struct scan_types *scan_types_new(struct data_names *names)
{
	struct scan_types *types = xcalloc(1, sizeof(*types));

	types->names = names;
	ARRAY_GROW(types->types, types->capacity, types->count);
	types->types[types->count++] = NULL;
	return types;
}

void scan_types_rename(struct scan_types *types, struct data_names *names)
{
	types->names = names;
	hash_free(&types->by_word);
	types->by_word = (struct hash){0};
}

void scan_types_free(struct scan_types *types)
{
	if (!types)
		return;
	for (size_t i = 0; i < types->count; i++)
		free(types->types[i]);
	free(types->types);
	free(types->ranges);
	hash_free(&types->by_word);
	free(types);
}

void scan_types_begin(struct scan_types *types, const struct heap_image *image)
{
	types->range_count = 0;
	for (size_t i = 0; i < image->n_mappings; i++) {
		const struct heap_mapping *m = &image->mappings[i];

		if (m->path[0] != '/')
			continue;
		ARRAY_GROW(types->ranges, types->range_capacity, types->range_count);
		types->ranges[types->range_count++] = (struct range){m->start, m->end};
	}
}

bool scan_word(const struct heap_image *image, uint64_t address, uint64_t *word)
{
	uint32_t narrow;
	size_t size = 0;
	const void *bytes = image->bytes(image, address, &size);

	if (!bytes || size < image->word_size)
		return false;
	if (image->word_size == sizeof(narrow)) {
		memcpy(&narrow, bytes, sizeof(narrow));
		*word = narrow;
	} else {
		memcpy(word, bytes, sizeof(*word));
	}
	return true;
}

static size_t add_type(struct scan_types *types, char *name)
{
	for (size_t i = 1; i < types->count; i++)
		if (!strcmp(types->types[i], name)) {
			free(name);
			return i;
		}
	if (types->count == TYPES_MAX) {
		free(name);
		return TYPE_UNKNOWN;
	}
	ARRAY_GROW(types->types, types->capacity, types->count);
	types->types[types->count] = name;
	return types->count++;
}

static size_t type_of_word(struct scan_types *types, uint64_t word, bool is_first)
{
	struct data_name name;

	if (!data_names_find(types->names, word, &name) || !name.symbol)
		return TYPE_UNKNOWN;
	if (!strncmp(name.symbol, VTABLE, sizeof(VTABLE) - 1))
		return add_type(types, xstrdup(name.symbol + sizeof(VTABLE) - 1));
	if (name.offset || (!is_first && name.is_function))
		return TYPE_UNKNOWN;
	return add_type(types, xasprintf("%s%s", is_first ? "-> " : "", name.symbol));
}

/* Most words of blocks are numbers, or point to other blocks. */
static bool is_in_file(const struct scan_types *types, uint64_t word)
{
	const size_t i = COUNT_UP_TO(types->ranges, types->range_count, .start, word);

	return i && word < types->ranges[i - 1].end;
}

size_t scan_type_of(struct scan_types *types, const struct heap_image *image, uint64_t address, uint64_t size)
{
	static const unsigned places[] = {0, 1, 3};
	uint64_t word;

	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		const uint64_t at = places[i] * image->word_size;

		if (at + image->word_size > size || !scan_word(image, address + at, &word) || !is_in_file(types, word))
			continue;
		const uint64_t key = word << 1 | (i == 0);
		const uint64_t *known = hash_get(&types->by_word, key);
		const size_t type = known ? (size_t)*known : type_of_word(types, word, i == 0);

		if (!known && types->by_word.count < WORDS_KNOWN)
			hash_set(&types->by_word, key, type);
		if (type)
			return type;
	}
	return TYPE_UNKNOWN;
}

const char *scan_type_name(const struct scan_types *types, size_t type)
{
	return types->types[type];
}

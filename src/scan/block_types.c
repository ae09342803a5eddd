#include "config.h"
#include "scan/block_types.h"
#include "base/hash.h"
#include "heap/image_read.h"
#include "symbols/names/data_names.h"

#include <stdlib.h>
#include <string.h>

#define VTABLE      "vtable for "
#define TYPEINFO    "typeinfo for "
#define TYPES_MAX   65536 /* maximum number of types; all further types are unknown */
#define WORDS_KNOWN (1 << 20)

struct block_types_range {
	uint64_t start, end;
};

struct scan_types {
	struct data_names *names;
	struct block_types_range *ranges; /* ranges of the image's mappings of files, by address */
	size_t range_count, range_capacity;
	uint64_t words_most; /* number of words in writable memory; no Python object has more references */
	struct hash by_word; /* pointer, combined with python.type (C++: 0) -> number of the type to which it leads */
	struct hash by_name; /* hash of a name -> number of its type; 0: there were TYPES_MAX types already */
	char **types;        /* names of the types; types[0] is TYPE_UNKNOWN */
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
	hash_free(&types->by_name);
	free(types);
}

void scan_types_begin(struct scan_types *types, const struct heap_image *image)
{
	types->range_count = 0;
	types->words_most = 0;
	for (size_t i = 0; i < image->n_mappings; i++) {
		const struct heap_mapping *m = &image->mappings[i];

		if (m->writable)
			types->words_most =
				add_saturated(types->words_most, (m->end - m->start) / image->arch->pointer_size);
		if (m->path[0] != '/')
			continue;
		ARRAY_GROW(types->ranges, types->range_capacity, types->range_count);
		types->ranges[types->range_count++] = (struct block_types_range){m->start, m->end};
	}
}

/* Reads the word at an address of the image. Returns false if the image does not contain it. */
static bool scan_word(const struct heap_image *image, uint64_t address, uint64_t *word)
{
	struct words words = {.image = image, .width = image->arch->pointer_size};

	return word_at(&words, address, word);
}

static size_t block_types_add_type(struct scan_types *types, char *name)
{
	uint64_t *const place = hash_place(&types->by_name, hash_bytes(name, strlen(name)));

	if (*place && !strcmp(types->types[*place], name)) {
		free(name);
		return *place;
	}
	if (types->count == TYPES_MAX) {
		free(name);
		return TYPE_UNKNOWN;
	}
	ARRAY_GROW(types->types, types->capacity, types->count);
	types->types[types->count] = name;
	*place = types->count;
	return types->count++;
}

/* Returns true if the word points into a mapped file. This check is fast, and excludes most words of blocks: they are
 * numbers, or point to other blocks. */
static bool block_types_is_in_file(const struct scan_types *types, uint64_t word)
{
	const size_t i = COUNT_UP_TO(types->ranges, types->range_count, .start, word);

	return i && word < types->ranges[i - 1].end;
}

/* ---- C++ ---- */

static bool is_info_of(struct scan_types *types, uint64_t address, const char *class)
{
	struct data_name name;

	/* If the typeinfo has no name, it cannot contradict the class. With -fno-rtti its address is 0. */
	if (!address || !data_names_find(types->names, address, &name) || !name.symbol)
		return true;
	return !name.offset && !strncmp(name.symbol, TYPEINFO, sizeof(TYPEINFO) - 1) &&
	       !strcmp(name.symbol + sizeof(TYPEINFO) - 1, class);
}

/* word: an address in the vtable of `class`, at `offset`. Returns true if whole objects of the class point to it
 * (Itanium C++ ABI, 2.5.2). The two words before it are the offset from the pointer to the object, 0 for whole objects,
 * and the address of the class's typeinfo. Also returns true if the image does not contain these words. */
static bool is_place_of_objects(struct scan_types *types, const struct heap_image *image, uint64_t word,
				uint64_t offset, const char *class)
{
	const unsigned w = image->arch->pointer_size;
	uint64_t to_object, info;

	if (offset < 2 * w || offset % w)
		return false;
	if (!scan_word(image, word - 2 * w, &to_object) || !scan_word(image, word - w, &info))
		return true;
	return !to_object && is_info_of(types, info, class);
}

static size_t type_of_first(struct scan_types *types, const struct heap_image *image, uint64_t word)
{
	struct data_name name;

	if (!data_names_find(types->names, word, &name) || !name.symbol)
		return TYPE_UNKNOWN;
	if (!strncmp(name.symbol, VTABLE, sizeof(VTABLE) - 1)) {
		char *const class = xstrdup(name.symbol + sizeof(VTABLE) - 1);

		if (is_place_of_objects(types, image, word, name.offset, class))
			return block_types_add_type(types, class);
		free(class);
		return TYPE_UNKNOWN;
	}
	return name.offset ? TYPE_UNKNOWN : block_types_add_type(types, xasprintf("-> %s", name.symbol));
}

/* ---- Python ---- */

/* Offsets in words: of a Python object in its block, and of the type in the object. */
struct python {
	unsigned begin, type;
};

static const struct python pythons[] = {
	{0, 1}, /* an object begins with its reference count (word 0) and a pointer to its type (word 1) */
	{2, 1}, /* the same, after two words of the garbage collector */
	{0, 3}, /* without a global lock: {thread, flags and own references, shared references, type} */
};

#define METATYPES_MAX 4

/* Returns true if a Python type is at the address: the pointers to its type, to the type of this type, and so on lead
 * to `type`, which points to itself. */
static bool block_types_is_type(const struct heap_image *image, const struct python *form, uint64_t address)
{
	uint64_t type;

	for (unsigned i = 0; i < METATYPES_MAX; i++, address = type) {
		if (!scan_word(image, address + form->type * image->arch->pointer_size, &type))
			return false;
		if (type == address)
			return true;
	}
	return false;
}

static size_t type_of_python(struct scan_types *types, const struct heap_image *image, const struct python *form,
			     uint64_t word)
{
	struct data_name name;

	if (!data_names_find(types->names, word, &name) || !name.symbol || name.offset || name.is_function ||
	    !block_types_is_type(image, form, word))
		return TYPE_UNKNOWN;
	return block_types_add_type(types, xstrdup(name.symbol));
}

/* Returns true if the object's number of references is possible: at least one, and not more than there are words that
 * could refer to the object. The number of an immortal object is larger: from Python 3.12 on it has bit 29 or 30 set.
 * From 3.14 on the highest 16 of 64 bits are flags. */
static bool has_references(const struct scan_types *types, const struct heap_image *image, const struct python *form,
			   uint64_t object)
{
	const unsigned w = image->arch->pointer_size;
	const uint64_t immortal = 3ull << 29;
	uint64_t own, shared = 0;

	if (!scan_word(image, object + (form->type == 3 ? w : 0), &own))
		return false;
	if (form->type == 3) {
		if (w != 8 || !scan_word(image, object + 2 * w, &shared))
			return false;
		own >>= 32;
		shared >>= 2;
	}
	own &= (1ull << 48) - 1;
	const uint64_t sum = add_saturated(own, shared);

	return sum && (sum <= types->words_most || (own <= UINT32_MAX && (own & immortal)));
}

/* Returns true if malloc may have returned `size` bytes for a request of `wanted` bytes. */
static bool block_types_fits(uint64_t wanted, uint64_t size)
{
	const uint64_t unused = size / 4 > 32 ? size / 4 : 32;

	return wanted <= size && size - wanted <= unused;
}

/* Returns true if `size`, the bytes of the block from the object on, fits the type's tp_basicsize and tp_itemsize,
 * which follow its ob_size and tp_name. An object with items contains their number after the pointer to its type. (An
 * int has its number of digits there, negative for a negative value, and from Python 3.12 on shifted left by 3.) */
static bool block_types_has_size(const struct heap_image *image, const struct python *form, uint64_t object,
				 uint64_t type, uint64_t size)
{
	const unsigned w = image->arch->pointer_size;
	const uint64_t bits = 8 * w - 1;
	uint64_t basic, item, count;

	if (!scan_word(image, type + (form->type + 3) * w, &basic) ||
	    !scan_word(image, type + (form->type + 4) * w, &item) || basic > size || item > size)
		return false;
	if (!item)
		return block_types_fits(basic, size);
	if (!scan_word(image, object + (form->type + 1) * w, &count))
		return false;
	const uint64_t items = count >> bits ? (w == 8 ? -count : (uint32_t)-count) : count;

	return (items <= size && block_types_fits(basic + items * item, size)) ||
	       (count >> 3 <= size && block_types_fits(basic + (count >> 3) * item, size));
}

/* ---- C++ and Python ---- */

/* Returns the type to which a word of an object points. form NULL: the word is the first one of a C++ object, its
 * vtable pointer; otherwise it is the type pointer of a Python object. */
static size_t type_of_word(struct scan_types *types, const struct heap_image *image, uint64_t word,
			   const struct python *form)
{
	const uint64_t key = word << 2 | (form ? form->type : 0);
	const uint64_t *known = hash_get(&types->by_word, key);

	if (known)
		return (size_t)*known;
	const size_t type = form ? type_of_python(types, image, form, word) : type_of_first(types, image, word);

	if (types->by_word.count < WORDS_KNOWN)
		hash_set(&types->by_word, key, type);
	return type;
}

size_t scan_type_of(struct scan_types *types, const struct heap_image *image, uint64_t address, uint64_t size)
{
	const unsigned w = image->arch->pointer_size;
	uint64_t word;
	size_t type = TYPE_UNKNOWN;

	if (size >= w && scan_word(image, address, &word) && block_types_is_in_file(types, word))
		type = type_of_word(types, image, word, NULL);
	for (size_t i = 0; i < ARRAY_SIZE(pythons) && !type; i++) {
		const struct python *const form = &pythons[i];
		const unsigned begin = form->begin * w, place = begin + form->type * w;

		if (place + w > size || !scan_word(image, address + place, &word) ||
		    !block_types_is_in_file(types, word))
			continue;
		type = type_of_word(types, image, word, form);
		if (type && !(has_references(types, image, form, address + begin) &&
			      block_types_has_size(image, form, address + begin, word, size - begin)))
			type = TYPE_UNKNOWN;
	}
	return type;
}

const char *scan_type_name(const struct scan_types *types, size_t type)
{
	return types->types[type];
}

/* Reads words of a memory image. */
#ifndef FT_HEAP_IMAGE_READ_H
#define FT_HEAP_IMAGE_READ_H

#include "base/util.h"
#include "heap/image.h"

#include <string.h>

/* A reader of an image, which caches the last piece that it read. All members except `image` and `width` are 0 at
 * first. */
struct words {
	const struct heap_image *image;
	unsigned width;       /* bytes of a word of the program: 4 or 8 */
	uint64_t start, size; /* range of the cached piece */
	const unsigned char *bytes;
};

/* Returns the word of `width` bytes (4 or 8) at `bytes`. */
static inline uint64_t load_word(const unsigned char *bytes, unsigned width)
{
	uint32_t half;
	uint64_t word;

	if (width == sizeof(half)) {
		memcpy(&half, bytes, sizeof(half));
		return half;
	}
	memcpy(&word, bytes, sizeof(word));
	return word;
}

/* Returns the bytes at an address, or NULL if the image does not have `count` contiguous bytes there. */
static inline const unsigned char *bytes_at(struct words *words, uint64_t address, unsigned count)
{
	if (address - words->start >= words->size || words->size - (address - words->start) < count) {
		size_t size = 0;
		const void *bytes = words->image->bytes(words->image, address, &size);

		if (!bytes || size < count)
			return NULL;
		words->start = address;
		words->size = size;
		words->bytes = bytes;
	}
	return words->bytes + (address - words->start);
}

/* Returns the address of the first page after a hole of `size` bytes (0: unknown) at `address`. From there on the
 * image may have bytes again. */
static inline uint64_t hole_end(uint64_t address, size_t size)
{
	const uint64_t last = address + (size ? size - 1 : 0), page = last / 4096 + 1;

	return last >= address && page <= UINT64_MAX / 4096 ? page * 4096 : UINT64_MAX;
}

/* Returns the address of the first page after the hole at `address`, a range that the image does not contain. */
static inline uint64_t hole_next_page(const struct heap_image *image, uint64_t address)
{
	size_t size = 0;

	return hole_end(address, image->bytes(image, address, &size) ? 0 : size);
}

/* A run of consecutive words of an image. */
struct word_run {
	uint64_t at;
	const unsigned char *bytes;
	size_t size; /* in bytes, a multiple of the width */
};

/* Finds the next run of words from *at on, and sets *at to the end of the run. Returns false if no run begins before
 * `end`. *at and `end` may be any numbers: the image checks them. */
static inline bool next_word_run(const struct heap_image *image, unsigned width, uint64_t *at, uint64_t end,
				 struct word_run *run)
{
	while (*at < end) {
		size_t size = 0;
		const unsigned char *const bytes = image->bytes(image, *at, &size);

		if (!bytes) {
			*at = hole_end(*at, size);
			continue;
		}
		size = size < end - *at ? size : (size_t)(end - *at);
		*run = (struct word_run){.at = *at, .bytes = bytes, .size = size / width * width};
		/* If the last bytes of the run are not a whole word, this word is skipped. */
		*at = run->size == size ? *at + size : align_up(*at + size, width);
		if (run->size)
			return true;
	}
	return false;
}

/* Reads the word at an address. Returns false if the image does not contain all of its bytes. */
static inline bool word_at(struct words *words, uint64_t address, uint64_t *word)
{
	const unsigned char *bytes = bytes_at(words, address, words->width);

	if (bytes)
		*word = load_word(bytes, words->width);
	return bytes;
}

/* Returns the `size` bytes (1 to 8) at an address as a number, or 0 if the image does not contain all of them. */
static inline uint64_t number_or_0(struct words *words, uint64_t address, unsigned size)
{
	const unsigned char *bytes = bytes_at(words, address, size);
	uint64_t number = 0;

	if (bytes)
		memcpy(&number, bytes, size);
	return number;
}

/* Does the same as number_or_0() for 4 bytes. */
static inline uint32_t int_or_0(struct words *words, uint64_t address)
{
	return (uint32_t)number_or_0(words, address, sizeof(uint32_t));
}

/* Returns the word at an address, or 0 if the image does not contain it, because an untouched page contains zeros. */
static inline uint64_t word_or_0(struct words *words, uint64_t address)
{
	uint64_t word;

	return word_at(words, address, &word) ? word : 0;
}

/* A walk along a linked list of the image, in which the program may have destroyed a link. All members are 0 at
 * first. */
struct list_walk {
	uint64_t kept;  /* an entry of the list, with which the later ones are compared */
	uint64_t steps; /* number of entries after `kept` */
	uint64_t limit; /* value of `steps` at which another entry is kept */
};

/* Takes the next entry of a walk. Returns true if the list has led back to an earlier entry, so that it has no end.
 * This is Brent's algorithm: a walk ends after a few times as many steps as the list has different entries. */
static inline bool list_leads_back(struct list_walk *walk, uint64_t entry)
{
	if (walk->limit && entry == walk->kept)
		return true;
	if (walk->steps++ == walk->limit)
		*walk = (struct list_walk){.kept = entry, .limit = 2 * walk->limit + 1};
	return false;
}

#endif

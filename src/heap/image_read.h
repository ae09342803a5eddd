/* The words of a memory image. */
#ifndef FT_HEAP_IMAGE_READ_H
#define FT_HEAP_IMAGE_READ_H

#include "base/util.h"
#include "heap/image.h"

#include <string.h>

/* Remembers the piece of the image that was read last; zero but for the image and the width at first. */
struct words {
	const struct heap_image *image;
	unsigned width;       /* of the program's words, 4 or 8 bytes */
	uint64_t start, size; /* of the piece */
	const unsigned char *bytes;
};

/* A word of the program's own width, 4 or 8 bytes. */
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

/* The bytes at an address; NULL: not so many of them are held. */
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

/* Behind a hole of so many bytes, or of an unknown number (0): where something is held again, or may be. */
static inline uint64_t hole_end(uint64_t address, size_t size)
{
	const uint64_t last = address + (size ? size - 1 : 0), page = last / 4096 + 1;

	return last >= address && page <= UINT64_MAX / 4096 ? page * 4096 : UINT64_MAX;
}

/* Behind an address that is not held. The next page at least. */
static inline uint64_t behind_hole(const struct heap_image *image, uint64_t address)
{
	size_t size = 0;

	return hole_end(address, image->bytes(image, address, &size) ? 0 : size);
}

/* Words behind each other that are held. */
struct word_run {
	uint64_t at;
	const unsigned char *bytes;
	size_t size; /* in bytes, whole words */
};

/* The next run from *at on, which is moved behind it; false: none begins before `end`. Of *at and `end` only the image
 * knows whether they are addresses. */
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
		/* A word that only begins here is not held as a whole. */
		*at = run->size == size ? *at + size : align_up(*at + size, width);
		if (run->size)
			return true;
	}
	return false;
}

/* The word at an address; false: not all of it is held. */
static inline bool word_at(struct words *words, uint64_t address, uint64_t *word)
{
	const unsigned char *bytes = bytes_at(words, address, words->width);

	if (bytes)
		*word = load_word(bytes, words->width);
	return bytes;
}

/* The int at an address; 0 where it is not held. */
static inline uint32_t int_or_0(struct words *words, uint64_t address)
{
	const unsigned char *bytes = bytes_at(words, address, sizeof(uint32_t));

	return bytes ? (uint32_t)load_word(bytes, sizeof(uint32_t)) : 0;
}

/* 0 where it is not held: what an untouched page has. */
static inline uint64_t word_or_0(struct words *words, uint64_t address)
{
	uint64_t word;

	return word_at(words, address, &word) ? word : 0;
}

#endif

/* The words of a memory image. */
#ifndef FT_HEAP_WORDS_H
#define FT_HEAP_WORDS_H

#include "heap/image.h"

#include <string.h>

/* Remembers the piece of the image that was read last; zero but for the image at first. */
struct words {
	const struct heap_image *image;
	uint64_t start, size; /* of the piece */
	const unsigned char *bytes;
};

/* The word of 8 bytes at an address; false: not all of it is held. */
static inline bool word_at(struct words *words, uint64_t address, uint64_t *word)
{
	if (address - words->start >= words->size || words->size - (address - words->start) < sizeof(*word)) {
		size_t size = 0;
		const void *bytes = words->image->bytes(words->image, address, &size);

		if (!bytes || size < sizeof(*word))
			return false;
		words->start = address;
		words->size = size;
		words->bytes = bytes;
	}
	memcpy(word, words->bytes + (address - words->start), sizeof(*word));
	return true;
}

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

/* 0 where it is not held: what an untouched page has. */
static inline uint64_t word_or_0(struct words *words, uint64_t address)
{
	uint64_t word;

	return word_at(words, address, &word) ? word : 0;
}

#endif

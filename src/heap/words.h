/* The words of a memory image. */
#ifndef FT_HEAP_WORDS_H
#define FT_HEAP_WORDS_H

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

/* Chooses the mmapped chunks from the places that look like their headers. Any memory can look like a header. But
 * hardly any pointer leads to the first byte after such memory. So a place is taken for a header if a pointer leads to
 * the byte after it. */
#include "config.h"
#include "heap/glibc/glibc.h"
#include "base/util.h"

#include <stdlib.h>

#define UNKNOWN_MAX 16 /* maximum number of candidates without a pointer; all combinations of these are tried */

struct choice {
	const struct region *found;
	size_t count;
	bool *is_pointed;
	unsigned header;
};

static void mmapped_pick_note(struct choice *choice, uint64_t word)
{
	const size_t up_to = COUNT_UP_TO(choice->found, choice->count, .start, word - choice->header);

	if (up_to && choice->found[up_to - 1].start == word - choice->header)
		choice->is_pointed[up_to - 1] = true;
}

/* Finds out for each candidate whether a word of the image points to its block. */
static void note_pointers(const struct heap_image *image, struct choice *choice)
{
	const uint64_t lowest = choice->found[0].start + choice->header;
	const uint64_t span = choice->found[choice->count - 1].start - choice->found[0].start;
	const struct arch *const arch = image->arch;
	const unsigned width = arch->pointer_size;
	struct word_run run;

	for (size_t i = 0; i < image->n_mappings; i++) {
		const struct heap_mapping *m = &image->mappings[i];

		for (uint64_t at = m->start; m->writable && next_word_run(image, width, &at, m->end, &run);)
			for (size_t k = 0; k < run.size; k += width) {
				const uint64_t word = arch_data_address(arch, load_word(run.bytes + k, width));

				if (word - lowest <= span)
					mmapped_pick_note(choice, word);
			}
	}
}

static bool regions_overlap(const struct region *a, const struct region *b)
{
	return a->start < b->end && b->start < a->end;
}

/* Moves to the front the candidates to which pointers were found, but no candidate that overlaps one moved before. The
 * others keep their order. Returns how many candidates were moved. */
static size_t take_pointed(struct region *found, size_t count, const bool *is_pointed)
{
	struct region *const others = xcalloc(count, sizeof(*others));
	size_t sure = 0, other = 0;

	for (size_t i = 0; i < count; i++)
		if (is_pointed[i] && !(sure && regions_overlap(&found[sure - 1], &found[i])))
			found[sure++] = found[i];
		else
			others[other++] = found[i];
	memcpy(&found[sure], others, other * sizeof(*found));
	free(others);
	return sure;
}

/* Finds the candidates that overlap none of the first `sure` ones, and moves them to found[sure] and the places after
 * it. Returns how many were moved. Stops when more than UNKNOWN_MAX were moved. */
static size_t take_unknown(struct region *found, size_t count, size_t sure)
{
	size_t unknown = 0, k = 0;

	for (size_t i = sure; i < count && unknown <= UNKNOWN_MAX; i++) {
		while (k < sure && found[k].end <= found[i].start)
			k++;
		if (k < sure && regions_overlap(&found[k], &found[i]))
			continue;
		const struct region region = found[i];

		found[i] = found[sure + unknown];
		found[sure + unknown++] = region;
	}
	return unknown;
}

static bool is_choice(const struct region *unknown, uint32_t chosen, size_t count, uint64_t bytes)
{
	const struct region *before = NULL;
	uint64_t sum = 0;

	if ((size_t)__builtin_popcount(chosen) != count)
		return false;
	for (size_t i = 0; chosen >> i; i++)
		if (chosen >> i & 1) {
			if (before && regions_overlap(before, &unknown[i]))
				return false;
			before = &unknown[i];
			sum += before->end - before->begin;
		}
	return sum == bytes;
}

/* Finds the combination of `count` of the `most` candidates that do not overlap and have `bytes` bytes in all. Sets
 * *chosen to a bit mask of these candidates. Returns false if there is no such combination, or more than one. */
static bool mmapped_pick_choose(const struct region *unknown, size_t most, size_t count, uint64_t bytes,
				uint32_t *chosen)
{
	unsigned choices = 0;

	for (uint32_t i = 0; i < 1u << most && choices < 2; i++)
		if (is_choice(unknown, i, count, bytes)) {
			*chosen = i;
			choices++;
		}
	return choices == 1;
}

size_t mmapped_pick(struct heap *heap, struct region *found, size_t found_count, uint64_t count, uint64_t bytes)
{
	struct choice choice = {.found = found, .count = found_count, .header = header_size(heap->layout)};
	uint32_t chosen;

	if (!found_count || count > found_count)
		return 0;
	regions_sort(found, found_count);
	choice.is_pointed = xcalloc(found_count, sizeof(*choice.is_pointed));
	note_pointers(heap->image, &choice);
	size_t sure = take_pointed(found, found_count, choice.is_pointed);

	free(choice.is_pointed);
	for (size_t i = 0; i < sure; i++)
		bytes -= found[i].end - found[i].begin;
	const size_t unknown = take_unknown(found, found_count, sure);

	if (sure > count)
		return 0;
	if (unknown > UNKNOWN_MAX)
		return sure == count && !bytes ? sure : 0;
	if (!mmapped_pick_choose(&found[sure], unknown, count - sure, bytes, &chosen))
		return 0;
	for (size_t i = sure; chosen; chosen >>= 1, i++)
		if (chosen & 1)
			found[sure++] = found[i];
	return sure;
}

#include "config.h"
#include "record/string_pool.h"
#include "record/run.h"
#include "base/hash.h"
#include "base/util.h"

#include <stdlib.h>
#include <string.h>

/* maximum number of strings, because a program may create any number of them */
#define TEXTS_MAX (1u << 16)

struct texts {
	char **items;
	size_t count, capacity;
	struct hash numbers; /* hash of a string -> its number */
};

uint64_t interned_number(struct run *run, const char *text)
{
	if (!run->texts)
		run->texts = xcalloc(1, sizeof(*run->texts));
	struct texts *texts = run->texts;
	uint64_t hash = hash_bytes(text, strlen(text));

	for (const uint64_t *number; (number = hash_get(&texts->numbers, hash)); hash++)
		if (!strcmp(texts->items[*number - 1], text))
			return *number;
	if (texts->count == TEXTS_MAX)
		return 0;
	ARRAY_GROW(texts->items, texts->capacity, texts->count);
	texts->items[texts->count++] = xstrdup(text);
	hash_set(&texts->numbers, hash, texts->count);
	return texts->count;
}

const char *interned_text(const struct run *run, uint64_t number)
{
	return run->texts && number && number <= run->texts->count ? run->texts->items[number - 1] : NULL;
}

void interned_free(struct run *run)
{
	struct texts *texts = run->texts;

	if (!texts)
		return;
	for (size_t i = 0; i < texts->count; i++)
		free(texts->items[i]);
	free(texts->items);
	hash_free(&texts->numbers);
	free(texts);
	run->texts = NULL;
}

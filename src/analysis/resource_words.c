#include "config.h"
#include "analysis/resource_words.h"
#include "modules/known.h"

#include <inttypes.h>
#include <string.h>

static const struct resource *known_resource(const struct resource_state *resource)
{
	return resource && resource->declared ? module_resource(resource->type) : NULL;
}

/* Returns true if the name of a type can be used as a word in a sentence. */
static bool is_word(const char *type)
{
	return *type && !type[strspn(type, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")];
}

void words_count(struct buf *b, const struct resource_state *resource, uint64_t count)
{
	const struct resource *const kind = known_resource(resource);
	const bool has_word = resource && resource->declared && is_word(resource->type);
	const char *const noun = kind ? kind->noun : has_word ? resource->type : "block";

	buf_printf(b, "%" PRIu64 " %s(s)", count, resource && resource->flags & RESOURCE_CALL ? "call" : noun);
}

const char *words_left(const struct resource_state *resource)
{
	const struct resource *const kind = known_resource(resource);

	return kind && kind->left ? kind->left : "leaked";
}

bool words_have_size(const struct resource_state *resource, uint64_t size)
{
	const struct resource *const kind = known_resource(resource);
	const bool is_memory = !resource || !resource->declared || is_heap_type(resource->type);

	return kind ? kind->unit != NULL : is_memory || size;
}

void words_not_shown(struct buf *out, const struct resource_state *resource, const struct tally *sum, const char *words)
{
	if (!sum->calls)
		return;
	words_count(out, resource, sum->calls);
	buf_printf(out, " %s", words);
	if (words_have_size(resource, sum->bytes))
		buf_printf(out, " with total size of %" PRIu64 " bytes", sum->bytes);
	buf_add_str(out, ": not shown\n");
}

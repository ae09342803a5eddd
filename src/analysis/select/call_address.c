#include "config.h"
#include "analysis/select/call_address.h"
#include "analysis/stage.h"
#include "symbols/objects/mapped_object.h"

#include <stdlib.h>
#include <string.h>

/* Maximum number of matching objects. Further ones are ignored. */
enum { RANGES_MAX = 4096 };

static bool call_address_parse_start(const char *text, size_t length, uint64_t *value)
{
	char *digits = xstrndup(text, length);
	const bool good = parse_number_hex(digits, UINT64_MAX, value);

	free(digits);
	return good;
}

bool call_address_parse(const char *text, struct call_address *address)
{
	const char *colon = strrchr(text, ':');
	const char *plus = colon ? strchr(colon, '+') : NULL;

	if (!plus || colon == text ||
	    !call_address_parse_start(colon + 1, (size_t)(plus - colon - 1), &address->start) ||
	    !parse_number_hex(plus + 1, UINT64_MAX, &address->size) || !address->size)
		return false;
	address->object = xstrndup(text, (size_t)(colon - text));
	return true;
}

void call_address_free(struct call_address *address)
{
	free(address->object);
	*address = (struct call_address){0};
}

static void forget_overlapped(struct call_ranges *ranges, const struct record_object *object)
{
	size_t kept = 0;

	for (size_t i = 0; i < ranges->count; i++) {
		const struct address_range *range = &ranges->items[i];

		if (range->to <= object->from || range->from >= object->to)
			ranges->items[kept++] = *range;
	}
	ranges->count = kept;
}

bool call_ranges_want(const struct call_ranges *ranges, const struct record_object *object)
{
	return object->from < object->to && strstr(string_or_empty(object->path), ranges->address->object);
}

void call_ranges_take(struct call_ranges *ranges, const struct record_object *object)
{
	const struct call_address *address = ranges->address;
	uint64_t origin;

	if (object->from >= object->to)
		return;
	forget_overlapped(ranges, object);
	if (!call_ranges_want(ranges, object) || ranges->count == RANGES_MAX)
		return;
	char *path = xasprintf("%s%s", string_or_empty(ranges->sysroot), string_or_empty(object->path));

	/* If the ELF file cannot be read, the option's START is taken as an address of the process if it is inside the
	 * mapped object, otherwise as an offset from the object's beginning. */
	if (!elf_origin_read(path, &origin))
		origin = address->start >= object->from && address->start < object->to ? object->from : 0;
	free(path);
	struct address_range range = {
		.from = object->from, .to = object->to, .start = address->start - origin + object->from};

	range.end = add_saturated(range.start, address->size);
	ARRAY_GROW(ranges->items, ranges->capacity, ranges->count);
	ranges->items[ranges->count++] = range;
}

bool call_ranges_cross(const struct call_ranges *ranges, const struct record_call *call)
{
	for (uint32_t i = 0; i < call->frame_count; i++)
		for (size_t k = 0; k < ranges->count; k++)
			if (call->frames[i] >= ranges->items[k].start && call->frames[i] < ranges->items[k].end)
				return true;
	return false;
}

void call_ranges_free(struct call_ranges *ranges)
{
	free(ranges->items);
	ranges->items = NULL;
}

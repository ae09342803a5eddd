/* Assigns numbers to the strings, frames and stacks of the page. */
#include "config.h"
#include "base/json.h"
#include "profile/frame_origin.h"
#include "report/html/page_parts.h"
#include "report/pretty.h"
#include "report/shorten.h"

#include <inttypes.h>

/* The largest integer up to which JavaScript represents all integers exactly. */
#define EXACT_MAX ((1ull << 53) - 1)

void page_add_text(struct buf *out, const char *text)
{
	struct buf room = {0};
	const size_t at = out->size;

	if (strlen(text) <= PAGE_TEXT_MAX) {
		json_add_string(out, text);
	} else {
		/* Most of a very long text would be left out, so only its beginning is copied. */
		buf_add(&room, text, strnlen(text, 10 * PAGE_TEXT_MAX));
		shorten_name(&room, 0, room.size, room.size - PAGE_TEXT_MAX);
		json_add_string(out, buf_str(&room));
		room.size = 0;
	}
	if (!memchr(out->data + at, '<', out->size - at))
		goto done;
	buf_add(&room, out->data + at, out->size - at);
	out->size = at;
	for (size_t i = 0; i < room.size; i++)
		if (room.data[i] == '<')
			buf_add_str(out, "\\u003c");
		else
			buf_add_char(out, (char)room.data[i]);
done:
	buf_free(&room);
}

/* Returns the largest number of bytes that page_add_text() can append. */
static size_t page_text_cost(const char *text)
{
	size_t cost = 3; /* quotation marks and a comma */

	for (const unsigned char *at = (const unsigned char *)text; *at && cost < 6 * PAGE_TEXT_MAX; at++)
		cost += *at < ' ' || *at == '<' || *at == 0x7f ? 6 : *at < 0x80 && *at != '"' && *at != '\\' ? 1 : 3;
	return cost;
}

void page_add_number(struct buf *out, uint64_t number)
{
	buf_printf(out, number > EXACT_MAX ? "\"%" PRIu64 "\"" : "%" PRIu64, number);
}

void page_add_next(struct buf *out, uint64_t number)
{
	buf_add_char(out, ',');
	page_add_number(out, number);
}

static size_t string_add(struct page_stacks *stacks, const char *text)
{
	buf_add_char(&stacks->names, ',');
	page_add_text(&stacks->names, text);
	return stacks->name_count++;
}

size_t page_name_add(struct page_stacks *stacks, const char *name)
{
	uint64_t *place = hash_place(&stacks->name_of, (uintptr_t)name);

	if (!*place)
		*place = string_add(stacks, name);
	return *place;
}

static size_t path_add(struct page_stacks *stacks, const char *path)
{
	if (!path)
		return 0;
	uint64_t *place = hash_place(&stacks->path_of, (uintptr_t)path);

	if (!*place)
		*place = string_add(stacks, path);
	return *place;
}

/* Adds the name of a frame. All frames of a named function share one string. */
static size_t frame_name_add(struct page_stacks *stacks, const struct profile_frame *frame)
{
	uint64_t *place = frame->function ? hash_place(&stacks->name_of, (uintptr_t)frame->function) : NULL;

	if (place && *place)
		return *place;
	stacks->room.size = 0;
	pretty_frame_name(&stacks->room, frame);
	const size_t number = string_add(stacks, buf_str(&stacks->room));

	if (place)
		*place = number;
	return number;
}

static size_t source_add(struct page_stacks *stacks, const struct profile_frame *frame)
{
	if (!frame->file || !source_line(&stacks->sources, frame->file, frame->line, &stacks->room))
		return 0;
	const size_t cost = page_text_cost(buf_str(&stacks->room));

	if (cost > stacks->sources_left)
		return 0;
	stacks->sources_left -= cost;
	return string_add(stacks, buf_str(&stacks->room));
}

static size_t frame_add(struct page_stacks *stacks, const struct profile_frame *frame)
{
	uint64_t *place = hash_place(&stacks->frame_of, frame->number + 1);

	if (*place)
		return *place - 1;
	const size_t name = frame_name_add(stacks, frame), module = path_add(stacks, frame->module);
	const size_t file = path_add(stacks, frame->file), source = source_add(stacks, frame);
	const unsigned flags = (frame->inlined ? PAGE_FRAME_INLINED : 0) | (frame->function ? 0 : PAGE_FRAME_UNNAMED) |
			       (profile_function_is_standard(frame->function) ? PAGE_FRAME_STANDARD : 0);

	buf_printf(&stacks->frames, "%s%zu,%zu,%zu,%u,%u,%zu", stacks->frame_count ? "," : "", name, module, file,
		   frame->line, flags, source);
	*place = ++stacks->frame_count;
	return *place - 1;
}

/* Returns the key of a node in the hash table node_of: the numbers of the caller and of the frame, combined. Each
 * number is below 2^32, because the data of the page has at most PAGE_MAX bytes. */
static uint64_t page_stacks_node_key(size_t caller, size_t frame)
{
	return ((uint64_t)caller << 32 | (uint32_t)frame) + 1;
}

size_t page_node_add(struct page_stacks *stacks, const struct profile_group *group)
{
	size_t node = 0;

	for (uint32_t i = report_frame_count(group); i-- > 0;) {
		const size_t frame = frame_add(stacks, group->frames[i]);
		uint64_t *place = hash_place(&stacks->node_of, page_stacks_node_key(node, frame));

		if (!*place) {
			buf_printf(&stacks->nodes, "%s%zu,%zu", stacks->node_count ? "," : "", node, frame);
			*place = ++stacks->node_count;
		}
		node = *place;
	}
	return node;
}

static uint64_t page_stacks_number_of(const struct hash *hash, uint64_t key)
{
	const uint64_t *found = hash_get(hash, key);

	return found ? *found : 0;
}

static size_t string_cost(const struct hash *known, const char *text)
{
	return text && !hash_get(known, (uintptr_t)text) ? page_text_cost(text) : 0;
}

size_t page_node_find(const struct page_stacks *stacks, const struct profile_group *group, size_t *cost)
{
	enum { NODE_COST = 20, FRAME_COST = 50 };
	size_t node = 0;
	bool is_there = true;

	*cost = string_cost(&stacks->name_of, group->function);
	for (uint32_t i = report_frame_count(group); i-- > 0;) {
		const struct profile_frame *frame = group->frames[i];
		const uint64_t number = page_stacks_number_of(&stacks->frame_of, frame->number + 1);
		const uint64_t next = is_there && number ? page_stacks_number_of(&stacks->node_of,
										 page_stacks_node_key(node, number - 1))
							 : 0;

		is_there = next;
		if (next)
			node = next;
		else
			*cost += NODE_COST;
		if (!number)
			*cost += FRAME_COST + string_cost(&stacks->name_of, frame->function) +
				 string_cost(&stacks->path_of, frame->module) +
				 string_cost(&stacks->path_of, frame->file);
	}
	return node;
}

size_t page_stacks_size(const struct page_stacks *stacks)
{
	return stacks->names.size + stacks->frames.size + stacks->nodes.size;
}

void page_stacks_begin(struct page_stacks *stacks, const char *sysroot, size_t sources)
{
	*stacks = (struct page_stacks){.sources = {.sysroot = sysroot}, .sources_left = sources, .name_count = 1};
	buf_add_str(&stacks->names, "\"\"");
}

void page_stacks_free(struct page_stacks *stacks)
{
	sources_free(&stacks->sources);
	buf_free(&stacks->names);
	buf_free(&stacks->frames);
	buf_free(&stacks->nodes);
	buf_free(&stacks->room);
	hash_free(&stacks->name_of);
	hash_free(&stacks->path_of);
	hash_free(&stacks->frame_of);
	hash_free(&stacks->node_of);
}

#include "config.h"
#include "tracer/watching_stacks.h"
#include "symbols/names/names.h"
#include "base/hash.h"
#include "base/util.h"

#include <stdlib.h>
#include <string.h>

/* Each file gets a range of made-up addresses of its own, at which `names` knows it. */
#define RANGE_BITS 40
#define NO_OBJECT  UINT32_MAX

/* If there are more stacks, all others are one without frames. Each takes up to some kilobytes. */
#define STACKS_MAX 10000

/* A program that loads ever new files has no more of them; its other code is like code without a file. */
#define OBJECTS_MAX 1000

struct watching_object {
	char *path, *build_id; /* build_id: NULL: none */
	uint64_t size;
};

struct watching_place {
	uint32_t object; /* NO_OBJECT: the code is in no file, and offset is its address */
	uint64_t offset;
};

struct watching_stack {
	struct watching_place *places;
	struct watch_frame *frames; /* NULL: not asked for yet */
	uint32_t place_count, frame_count;
	uint64_t id, calls, bytes;
};

struct watching_stacks {
	struct names *names;
	struct watching_object *objects;
	size_t object_count, object_capacity;
	struct watching_stack *stacks;
	size_t count, capacity;
	struct hash by_addresses; /* hash of the addresses -> number + 1, of the newest stack with it */
	struct hash by_id;        /* id -> number + 1 */
	char **texts;             /* of the frames */
	size_t text_count, text_capacity;
};

struct watching_stacks *watching_stacks_new(void)
{
	struct watching_stacks *const s = xcalloc(1, sizeof(*s));

	s->names = names_new(&(struct names_options){.holds_files = true});
	return s;
}

void watching_stacks_free(struct watching_stacks *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->count; i++) {
		free(s->stacks[i].places);
		free(s->stacks[i].frames);
	}
	for (size_t i = 0; i < s->object_count; i++) {
		free(s->objects[i].path);
		free(s->objects[i].build_id);
	}
	for (size_t i = 0; i < s->text_count; i++)
		free(s->texts[i]);
	free(s->texts);
	free(s->stacks);
	free(s->objects);
	hash_free(&s->by_addresses);
	hash_free(&s->by_id);
	names_free(s->names);
	free(s);
}

static bool is_this_object(const struct watching_object *known, const struct object *object, const char *build_id)
{
	return !strcmp(known->path, object->path) && known->size == object->lookup_end - object->base &&
	       !strcmp(known->build_id ? known->build_id : "", build_id ? build_id : "");
}

/* open_path: a path that is tried before `path`; NULL: none. */
static uint32_t add_watching_object(struct watching_stacks *s, const char *path, const char *build_id, uint64_t size,
				    const char *open_path)
{
	const uint64_t from = (uint64_t)(s->object_count + 1) << RANGE_BITS;

	ARRAY_GROW(s->objects, s->object_capacity, s->object_count);
	s->objects[s->object_count] = (struct watching_object){
		.path = xstrdup(path), .build_id = build_id ? xstrdup(build_id) : NULL, .size = size};
	names_add_object(s->names, &(struct record_object){from, from + size, path}, open_path);
	if (build_id)
		names_add_build_id(s->names, &(struct record_build_id){from, build_id});
	return (uint32_t)s->object_count++;
}

static uint32_t object_number(struct watching_stacks *s, const struct object *object)
{
	const char *const hex = elf_file_build_id(object->file);
	const char *const build_id = hex && *hex ? hex : NULL;

	for (size_t i = 0; i < s->object_count; i++)
		if (is_this_object(&s->objects[i], object, build_id))
			return (uint32_t)i;
	ARRAY_GROW(s->objects, s->object_capacity, s->object_count);
	s->objects[s->object_count] = (struct watching_object){.path = xstrdup(object->path),
							       .build_id = build_id ? xstrdup(build_id) : NULL,
							       .size = object->lookup_end - object->base};
	const uint64_t from = (uint64_t)(s->object_count + 1) << RANGE_BITS;

	names_add_object(s->names, &(struct record_object){from, from + s->objects[s->object_count].size, object->path},
			 object->open_path);
	if (build_id)
		names_add_build_id(s->names, &(struct record_build_id){from, build_id});
	return (uint32_t)s->object_count++;
}

static uint64_t hash_byte(uint64_t hash, unsigned char byte)
{
	return (hash ^ byte) * 0x100000001b3;
}

static uint64_t hash_number(uint64_t hash, uint64_t value)
{
	/* FNV-1a, a byte at a time */
	for (unsigned i = 0; i < 8; i++)
		hash = hash_byte(hash, (unsigned char)(value >> (8 * i)));
	return hash;
}

static uint64_t hash_text(uint64_t hash, const char *text)
{
	for (; *text; text++)
		hash = hash_byte(hash, (unsigned char)*text);
	return hash;
}

#define HASH_BEGIN 0xcbf29ce484222325

static uint64_t id_of(const struct watching_stacks *s, const struct watching_place *places, size_t count)
{
	uint64_t id = HASH_BEGIN;

	for (size_t i = 0; i < count; i++) {
		const struct watching_object *const object =
			places[i].object == NO_OBJECT ? NULL : &s->objects[places[i].object];
		const char *const slash = object ? strrchr(object->path, '/') : NULL;
		const char *const name = !object            ? ""
					 : object->build_id ? object->build_id
					 : slash            ? slash + 1
							    : object->path;

		/* As row_stack_id() of src/export, which computes the ids of the stacks in traces. */
		if (i && places[i].object == places[i - 1].object && places[i].offset == places[i - 1].offset)
			continue;
		id = hash_number(hash_byte(hash_text(id, name), 0), places[i].offset);
	}
	return id;
}

static uint32_t stack_by_places(struct watching_stacks *s, const struct object_list *objects,
				const struct unwind_frame *frames, size_t count)
{
	struct watching_place *const places = xreallocarray(NULL, count + 1, sizeof(*places));

	for (size_t i = 0; i < count; i++) {
		const struct object *const object = objects_find(objects, frames[i].pc);

		places[i].object = object ? object_number(s, object) : NO_OBJECT;
		places[i].offset = frames[i].pc - (places[i].object != NO_OBJECT ? object->base : 0);
	}
	const uint64_t id = id_of(s, places, count);
	uint64_t *const place = hash_place(&s->by_id, id);

	if (*place) {
		free(places);
		return (uint32_t)*place - 1;
	}
	ARRAY_GROW(s->stacks, s->capacity, s->count);
	s->stacks[s->count++] = (struct watching_stack){.places = places, .place_count = (uint32_t)count, .id = id};
	*place = s->count;
	return (uint32_t)s->count - 1;
}

uint32_t watching_stack(struct watching_stacks *s, const struct object_list *objects, const struct event *e)
{
	uint64_t hash = HASH_BEGIN;

	for (size_t i = 0; i < e->frame_count; i++)
		hash = hash_number(hash, e->frames[i].pc);
	uint64_t *const known = hash_place(&s->by_addresses, hash);

	if (!*known)
		*known = (uint64_t)stack_by_places(s, objects, e->frames, s->count < STACKS_MAX ? e->frame_count : 0) +
			 1;
	struct watching_stack *const stack = &s->stacks[*known - 1];

	stack->calls++;
	stack->bytes += e->size;
	return (uint32_t)(*known - 1);
}

void watching_stacks_moved(struct watching_stacks *s)
{
	hash_free(&s->by_addresses);
	s->by_addresses = (struct hash){0};
}

static const char *keep_text(struct watching_stacks *s, const char *text)
{
	if (!text)
		return NULL;
	ARRAY_GROW(s->texts, s->text_capacity, s->text_count);
	s->texts[s->text_count] = xstrdup(text);
	return s->texts[s->text_count++];
}

static void keep_frame(struct watching_stack *stack, size_t *capacity, const struct watch_frame *frame)
{
	size_t count = stack->frame_count;

	ARRAY_GROW(stack->frames, *capacity, count);
	stack->frames[stack->frame_count++] = *frame;
}

static void find_frames(struct watching_stacks *s, struct watching_stack *stack)
{
	const struct frame_name *lines;
	size_t capacity = 0;

	for (uint32_t i = 0; i < stack->place_count; i++) {
		const struct watching_place place = stack->places[i];
		const struct watching_object *const object =
			place.object == NO_OBJECT ? NULL : &s->objects[place.object];
		struct watch_frame frame = {.object = object ? object->path : NULL,
					    .build_id = object ? object->build_id : NULL,
					    .offset = place.offset};
		const uint64_t address = ((uint64_t)(place.object + 1) << RANGE_BITS) + place.offset;
		const size_t count = object ? names_lookup(s->names, address, &lines) : 0;

		for (size_t j = 0; j < count; j++) {
			frame.function = keep_text(s, lines[j].function);
			frame.file = keep_text(s, lines[j].file);
			frame.line = lines[j].line;
			keep_frame(stack, &capacity, &frame);
		}
		if (!count)
			keep_frame(stack, &capacity, &frame);
	}
}

void watching_stack_row(struct watching_stacks *s, uint32_t number, struct watch_row *row)
{
	struct watching_stack *const stack = &s->stacks[number];

	if (!stack->frames)
		find_frames(s, stack);
	row->id = stack->id;
	row->frames = stack->frames;
	row->frame_count = stack->frame_count;
	row->allocated = (double)stack->bytes;
	row->calls = (double)stack->calls;
}

/* ---- The table as bytes ---- */

uint32_t watching_stacks_count(const struct watching_stacks *s)
{
	return (uint32_t)s->count;
}

static void save_number(struct buf *out, uint64_t number)
{
	buf_add(out, &number, sizeof(number));
}

static void save_text(struct buf *out, const char *text)
{
	save_number(out, strlen(text) + 1);
	buf_add(out, text, strlen(text) + 1);
}

void watching_stacks_save(const struct watching_stacks *s, struct buf *out)
{
	save_number(out, s->object_count);
	for (size_t i = 0; i < s->object_count; i++) {
		save_text(out, s->objects[i].path);
		save_text(out, s->objects[i].build_id ? s->objects[i].build_id : "");
		save_number(out, s->objects[i].size);
	}
	save_number(out, s->count);
	for (size_t i = 0; i < s->count; i++) {
		const struct watching_stack *const stack = &s->stacks[i];

		save_number(out, stack->calls);
		save_number(out, stack->bytes);
		save_number(out, stack->place_count);
		for (uint32_t j = 0; j < stack->place_count; j++) {
			save_number(out, stack->places[j].object);
			save_number(out, stack->places[j].offset);
		}
	}
}

/* The rest of the bytes. When they do not suffice, is_short is set, and numbers are 0 and texts empty. */
struct saved_bytes {
	const unsigned char *at;
	size_t left;
	bool is_short;
};

static uint64_t load_number(struct saved_bytes *from)
{
	uint64_t number = 0;

	if (from->left < sizeof(number)) {
		from->is_short = true;
		return 0;
	}
	memcpy(&number, from->at, sizeof(number));
	from->at += sizeof(number);
	from->left -= sizeof(number);
	return number;
}

static const char *load_text(struct saved_bytes *from)
{
	const uint64_t size = load_number(from);
	const char *const text = (const char *)from->at;

	if (!size || size > from->left || text[size - 1]) {
		from->is_short = true;
		return "";
	}
	from->at += size;
	from->left -= (size_t)size;
	return text;
}

static void load_stack(struct watching_stacks *s, struct saved_bytes *from)
{
	struct watching_stack stack = {.calls = load_number(from)};

	stack.bytes = load_number(from);
	const uint64_t count = load_number(from);

	if (count > MAX_FRAMES)
		from->is_short = true;
	if (from->is_short)
		return;
	stack.places = xreallocarray(NULL, (size_t)count + 1, sizeof(*stack.places));
	stack.place_count = (uint32_t)count;
	for (uint32_t i = 0; i < stack.place_count; i++) {
		stack.places[i].object = (uint32_t)load_number(from);
		stack.places[i].offset = load_number(from);
		if (stack.places[i].object != NO_OBJECT && stack.places[i].object >= s->object_count)
			from->is_short = true;
	}
	if (!from->is_short)
		stack.id = id_of(s, stack.places, stack.place_count);
	ARRAY_GROW(s->stacks, s->capacity, s->count);
	s->stacks[s->count++] = stack;
	hash_set(&s->by_id, stack.id, s->count);
}

struct watching_stacks *watching_stacks_load(const unsigned char **bytes, size_t *left)
{
	struct watching_stacks *const s = watching_stacks_new();
	struct saved_bytes from = {*bytes, *left, false};

	for (uint64_t count = load_number(&from); count && !from.is_short; count--) {
		const char *const path = load_text(&from), *const build_id = load_text(&from);
		const uint64_t size = load_number(&from);

		if (size >> RANGE_BITS)
			from.is_short = true;
		if (!from.is_short)
			add_watching_object(s, path, *build_id ? build_id : NULL, size, NULL);
	}
	for (uint64_t count = load_number(&from); count && !from.is_short; count--)
		load_stack(s, &from);
	if (from.is_short) {
		watching_stacks_free(s);
		return NULL;
	}
	*bytes = from.at;
	*left = from.left;
	return s;
}

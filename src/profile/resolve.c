#include "config.h"
#include "profile/resolve.h"
#include "profile/profile_fill.h"
#include "trace/frame_text.h"

#include <stdlib.h>
#include <string.h>

bool account_map_stack(struct account *account, struct names *names, const struct stack *stack, uint32_t frames)
{
	bool changed = false;

	if (stack->epoch == account->objects.epoch || !stack->objects)
		return false;
	for (uint32_t i = 0; i < stack->count && i < frames; i++) {
		struct mapped_object *object = stack->objects[i];

		if (!object || mapped_object_same(object, object_map_find(&account->objects, stack->frames[i] - 1)))
			continue;
		object_map_restore(&account->objects, object);
		changed = true;
		if (!names)
			continue;
		names_add_object(names, &(struct record_object){object->from, object->to, object->path}, NULL);
		if (object->build_id)
			names_add_build_id(names, &(struct record_build_id){object->from, object->build_id});
	}
	return changed;
}

static void resolve_add_line(struct resolver *resolver, const struct profile_frame *frame)
{
	ARRAY_GROW(resolver->lines, resolver->line_capacity, resolver->line_count);
	resolver->lines[resolver->line_count++] = profile_frame_intern(resolver->profile, frame);
}

static struct profile_frame frame_at(uint64_t address, const struct mapped_object *object)
{
	struct profile_frame frame = {.address = address};

	if (object) {
		frame.module = object->path;
		frame.offset = address - 1 - object->from;
		frame.build_id = object->build_id;
	}
	return frame;
}

/* Splits "FILE:LINE" into the frame's file and line. */
static void resolve_take_place(struct profile_frame *frame, char *place)
{
	char *colon = strrchr(place, ':');

	if (!colon)
		return;
	*colon = '\0';
	frame->file = place;
	frame->line = (unsigned)strtoul(colon + 1, NULL, 10);
}

static void add_text_line(struct resolver *resolver, uint64_t address, const struct mapped_object *object,
			  const char *text, size_t length, bool inlined)
{
	const struct frame_text_parts parts = frame_text_parts(text, length);
	struct profile_frame frame = frame_at(address, object);
	char *line = xstrndup(text, length);

	frame.inlined = inlined;
	if (frame_text_worth(line) == FRAME_UNKNOWN) {
		resolve_add_line(resolver, &frame);
		free(line);
		return;
	}
	if (parts.module)
		frame.module = line + parts.module;
	else if (parts.name_end + strlen(" at ") < length)
		resolve_take_place(&frame, line + parts.name_end + strlen(" at "));
	line[parts.name_end] = '\0';
	if (line[parts.name_begin])
		frame.function = line + parts.name_begin;
	resolve_add_line(resolver, &frame);
	free(line);
}

/* Adds the frames in the trace's text for an address. Each frame is one line, inlined functions first; all lines but
 * the first begin with a tab and the address. */
static void resolve_add_text(struct resolver *resolver, uint64_t address, const struct mapped_object *object,
			     const char *text)
{
	for (;;) {
		const size_t length = strcspn(text, "\n");

		add_text_line(resolver, address, object, text, length, text[length] != '\0');
		if (!text[length])
			return;
		text += length + 1;
		text += strcspn(text, " \n");
	}
}

static void resolve_add_names(struct resolver *resolver, uint64_t address, const struct mapped_object *object,
			      const struct frame_name *names, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct profile_frame frame = frame_at(address, object);

		frame.function = names[i].function;
		frame.file = names[i].file;
		frame.line = names[i].line;
		frame.inlined = i + 1 < count;
		if (names[i].module)
			frame.module = names[i].module;
		resolve_add_line(resolver, &frame);
	}
}

/* Returns the index in resolver->lines of the names of frame i; adds them if they are new. */
static size_t resolve_frame(struct resolver *resolver, const struct stack *stack, uint32_t i)
{
	const uint64_t address = stack->frames[i];
	const char *text = stack->texts ? stack->texts[i] : NULL;
	/* Interned texts that are equal have the same address. */
	const uint64_t key = text ? hash_mix((uintptr_t)text) ^ address : address;
	const uint64_t *known = hash_get(&resolver->known, key);
	const struct mapped_object *object = stack->objects ? stack->objects[i] : NULL;
	const size_t first = resolver->line_count;
	const struct frame_name *names;

	if (known)
		return *known - 1;
	const size_t count =
		frame_lookup(resolver->names ? names_lookup : NULL, resolver->names, address, text, &names);

	if (count) {
		resolve_add_names(resolver, address, object, names, count);
	} else if (text) {
		resolve_add_text(resolver, address, object, text);
	} else {
		const struct profile_frame frame = frame_at(address, object);

		resolve_add_line(resolver, &frame);
	}
	hash_set(&resolver->known, key, first + 1);
	return first;
}

void resolver_forget(struct resolver *resolver)
{
	hash_free(&resolver->known);
	resolver->line_count = 0;
}

void resolve_stack(struct resolver *resolver, const struct stack *stack)
{
	if (account_map_stack(resolver->account, resolver->names, stack, stack->count))
		resolver_forget(resolver);
	resolver->frame_count = 0;
	for (uint32_t i = 0; i < stack->count; i++) {
		size_t line = resolve_frame(resolver, stack, i);

		do {
			ARRAY_GROW(resolver->frames, resolver->frame_capacity, resolver->frame_count);
			resolver->frames[resolver->frame_count++] = resolver->lines[line];
		} while (resolver->lines[line++]->inlined);
	}
}

void resolver_free(struct resolver *resolver)
{
	hash_free(&resolver->known);
	free(resolver->lines);
	free(resolver->frames);
}

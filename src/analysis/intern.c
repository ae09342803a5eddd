#include "config.h"
#include "analysis/intern.h"

#include <stdlib.h>
#include <string.h>

struct interned_string {
	struct interned_string *chain;
	char text[];
};

const char *string_intern(struct intern_pool *pool, const char *text)
{
	if (!text)
		return NULL;
	const size_t length = strlen(text);
	const uint64_t key = hash_bytes(text, length);
	struct interned_string *first = hash_get_ptr(&pool->by_hash, key);

	for (struct interned_string *s = first; s; s = s->chain)
		if (!strcmp(s->text, text))
			return s->text;
	struct interned_string *s = xmalloc(sizeof(*s) + length + 1);

	s->chain = first;
	memcpy(s->text, text, length + 1);
	hash_set_ptr(&pool->by_hash, key, s);
	return s->text;
}

void intern_pool_free(struct intern_pool *pool)
{
	struct hash_entry *entry;

	for (size_t i = 0; (entry = hash_next(&pool->by_hash, &i));) {
		struct interned_string *s = (void *)(uintptr_t)entry->value;

		while (s) {
			struct interned_string *next = s->chain;

			free(s);
			s = next;
		}
	}
	hash_free(&pool->by_hash);
}

static uint64_t hash_frames(const struct stack_pool *pool, const struct record_call *call)
{
	uint64_t h = pool->seed + call->frame_count * 4 + call->end;

	for (uint32_t i = 0; i < call->frame_count; i++)
		h = hash_mix(h + call->frames[i]) * 0x9fb21c651e98df25u;
	return h;
}

static struct mapped_object *frame_object(const struct stack_pool *pool, uint64_t frame)
{
	/* A return address may be the end of its object, after the last instruction. */
	return frame ? object_map_find(pool->objects, frame - 1) : NULL;
}

static void intern_set_object(struct mapped_object **place, struct mapped_object *object)
{
	if (*place == object)
		return;
	if (*place)
		mapped_object_release(*place);
	*place = object;
	if (object)
		object->references++;
}

/* Returns true if the objects at the stack's frames are still the same. A frame without an object gets the object that
 * is mapped there now, because some tracers declare an object after the first stack that goes through it. */
static bool confirm_objects(const struct stack_pool *pool, struct stack *stack)
{
	if (!pool->objects || stack->epoch == pool->objects->epoch)
		return true;
	for (uint32_t i = 0; i < stack->count; i++)
		if (stack->objects[i] && !mapped_object_same(stack->objects[i], frame_object(pool, stack->frames[i])))
			return false;
	for (uint32_t i = 0; i < stack->count; i++)
		intern_set_object(&stack->objects[i], frame_object(pool, stack->frames[i]));
	stack->epoch = pool->objects->epoch;
	return true;
}

static bool same_text(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

static bool same_texts(const struct stack *stack, const struct record_call *call)
{
	if (!stack->texts && !call->frame_texts)
		return true;
	for (uint32_t i = 0; i < stack->count; i++)
		if (!same_text(stack->texts ? stack->texts[i] : NULL, call->frame_texts ? call->frame_texts[i] : NULL))
			return false;
	return true;
}

static void copy_texts(struct stack_pool *pool, struct stack *stack, const char *const *texts)
{
	stack->texts = xcalloc(stack->count, sizeof(*stack->texts));
	for (uint32_t i = 0; i < stack->count; i++)
		stack->texts[i] = string_intern(&pool->texts, texts[i]);
}

static struct stack *stack_new(struct stack_pool *pool, const struct record_call *call)
{
	const size_t bytes = call->frame_count * sizeof(call->frames[0]);
	struct stack *stack = xmalloc(sizeof(*stack) + bytes);

	*stack = (struct stack){.count = call->frame_count, .end = call->end};
	if (bytes)
		memcpy(stack->frames, call->frames, bytes);
	if (call->frame_texts && call->frame_count)
		copy_texts(pool, stack, call->frame_texts);
	if (pool->objects) {
		stack->objects = xcalloc(stack->count, sizeof(struct mapped_object *));
		stack->epoch = UINT64_MAX;
		confirm_objects(pool, stack);
	}
	return stack;
}

struct stack *stack_intern(struct stack_pool *pool, const struct record_call *call)
{
	if (!pool->seed)
		pool->seed = random_seed() | 1;
	const uint64_t key = hash_frames(pool, call);
	struct stack *first = hash_get_ptr(&pool->by_hash, key);
	const size_t bytes = call->frame_count * sizeof(call->frames[0]);

	for (struct stack *s = first; s; s = s->chain)
		if (s->count == call->frame_count && s->end == call->end &&
		    (!bytes || !memcmp(s->frames, call->frames, bytes)) && same_texts(s, call) &&
		    confirm_objects(pool, s))
			return s;
	struct stack *stack = stack_new(pool, call);

	stack->chain = first;
	hash_set_ptr(&pool->by_hash, key, stack);
	pool->count++;
	return stack;
}

static void stack_free(struct stack *stack)
{
	if (stack->objects)
		for (uint32_t i = 0; i < stack->count; i++)
			if (stack->objects[i])
				mapped_object_release(stack->objects[i]);
	free(stack->objects);
	free(stack->texts);
	free(stack);
}

void stack_pool_free(struct stack_pool *pool)
{
	struct hash_entry *entry;

	for (size_t i = 0; (entry = hash_next(&pool->by_hash, &i));) {
		struct stack *stack = (void *)(uintptr_t)entry->value;

		while (stack) {
			struct stack *next = stack->chain;

			stack_free(stack);
			stack = next;
		}
	}
	hash_free(&pool->by_hash);
	intern_pool_free(&pool->texts);
}

void stack_to_call(const struct stack *stack, struct record_call *call)
{
	call->has_frames = true;
	call->frames = stack->frames;
	call->frame_texts = stack->texts;
	call->frame_count = stack->count;
	call->end = stack->end;
}

int stack_put_objects(const struct stack *stack, struct object_map *map, struct stage *next)
{
	int error = 0;

	/* No object was mapped or replaced since the last comparison. */
	if (stack->epoch == map->epoch)
		return 0;
	for (uint32_t i = 0; i < stack->count && !error; i++) {
		struct mapped_object *object = stack->objects[i];

		if (!object || mapped_object_same(object, object_map_find(map, stack->frames[i] - 1)))
			continue;
		object_map_restore(map, object);
		error = mapped_object_put(object, next);
	}
	return error;
}

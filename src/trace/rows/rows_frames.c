/* Makes the stacks of rows. A row has names and offsets in objects, and a record of a call has addresses: each object
 * gets an address of its own, at which no other object can be. */
#include "config.h"
#include "trace/rows/rows_read.h"
#include "trace/frame_text.h"
#include "base/util.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FRAMES_MAX 4096

/* The columns of a stack. */
enum { COLUMN_FUNCTIONS, COLUMN_FILES, COLUMN_LINES, COLUMN_OBJECTS, COLUMN_BUILD_IDS, COLUMN_OFFSETS, COLUMNS };

struct rows_columns {
	json_t *arrays[COLUMNS];
	size_t count; /* number of frames */
};

/* A frame of a row. Texts are NULL if they are unknown. */
struct rows_frame {
	const char *function, *file, *object, *build_id;
	uint64_t line, offset;
};

static bool rows_columns_take(struct rows_columns *columns, const struct rows_line *line, char *error, size_t size)
{
	static const char *const names[COLUMNS] = {
		[COLUMN_FUNCTIONS] = "functions", [COLUMN_FILES] = "files",         [COLUMN_LINES] = "lines",
		[COLUMN_OBJECTS] = "objects",     [COLUMN_BUILD_IDS] = "build_ids", [COLUMN_OFFSETS] = "offsets"};
	bool is_first = true;

	columns->count = 0;
	for (size_t i = 0; i < COLUMNS; i++) {
		json_t *const array = json_object_get(line->json, names[i]);

		columns->arrays[i] = NULL;
		if (!array || json_is_null(array))
			continue;
		const size_t count = json_array_size(array);

		if (!json_is_array(array) || count > FRAMES_MAX || (!is_first && count != columns->count)) {
			snprintf(error, size, "the column %s is no array as long as the others, of %u frames or fewer",
				 names[i], FRAMES_MAX);
			return false;
		}
		columns->arrays[i] = array;
		columns->count = count;
		is_first = false;
	}
	return true;
}

static const char *frame_column_text(const struct rows_columns *columns, unsigned column, size_t i)
{
	const char *const text = json_string_value(json_array_get(columns->arrays[column], i));

	/* Databases without null in arrays have an empty text. */
	return text && *text ? text : NULL;
}

static uint64_t frame_column_number(const struct rows_columns *columns, unsigned column, size_t i)
{
	const json_t *const value = json_array_get(columns->arrays[column], i);
	const char *const text = json_string_value(value);
	uint64_t number = 0;

	if (text)
		return parse_number(text, UINT64_MAX, &number) ? number : 0;
	return json_is_integer(value) && json_integer_value(value) > 0 ? (uint64_t)json_integer_value(value) : 0;
}

static struct rows_frame rows_frame_at(const struct rows_columns *columns, size_t i)
{
	return (struct rows_frame){
		.function = frame_column_text(columns, COLUMN_FUNCTIONS, i),
		.file = frame_column_text(columns, COLUMN_FILES, i),
		.object = frame_column_text(columns, COLUMN_OBJECTS, i),
		.build_id = frame_column_text(columns, COLUMN_BUILD_IDS, i),
		.line = frame_column_number(columns, COLUMN_LINES, i),
		.offset = frame_column_number(columns, COLUMN_OFFSETS, i),
	};
}

static bool is_same_text(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

/* Returns true if the frame is a function into which the frame before it is inlined. */
static bool rows_frame_encloses(const struct rows_frame *frame, const struct rows_frame *before)
{
	return frame->offset && frame->offset == before->offset && is_same_text(frame->object, before->object) &&
	       is_same_text(frame->build_id, before->build_id);
}

/* Returns the address of the frame's object. An object without a build-id gets none: a file of this name on this
 * machine may be another one, with other functions at these offsets. */
static uint64_t rows_object_of(struct rows_objects *objects, const struct rows_frame *frame)
{
	if (!frame->object || !frame->build_id || frame->offset >> ROWS_OBJECT_BITS)
		return 0;
	uint64_t key = hash_mix(hash_bytes(frame->object, strlen(frame->object))) ^
		       hash_bytes(frame->build_id, strlen(frame->build_id));

	for (;; key++) {
		uint64_t *const place = hash_place(&objects->by_name, key);
		const struct rows_object *const known = *place ? &objects->items[*place - 1] : NULL;

		if (known && !strcmp(known->path, frame->object) && !strcmp(known->build_id, frame->build_id))
			return known->from;
		if (known)
			continue;
		ARRAY_GROW(objects->items, objects->capacity, objects->count);
		struct rows_object *const object = &objects->items[objects->count];

		*place = ++objects->count;
		*object = (struct rows_object){
			.path = xstrdup(frame->object),
			.build_id = xstrdup(frame->build_id),
			.from = (uint64_t)objects->count << ROWS_OBJECT_BITS,
		};
		return object->from;
	}
}

/* Appends the frame's text in one line, without newlines from names. */
static void rows_add_frame_text(struct buf *out, const struct rows_frame *frame)
{
	const size_t begin = out->size;

	buf_printf(out, " in %s", frame->function ? frame->function : "??");
	if (frame->file && frame->line)
		buf_printf(out, " at %s:%" PRIu64, frame->file, frame->line);
	else if (frame->object)
		buf_printf(out, " from %s", frame->object);
	for (size_t i = begin; i < out->size; i++)
		if (out->data[i] == '\n')
			out->data[i] = ' ';
}

static void rows_stack_add(struct rows_stack *stack, uint64_t address)
{
	if (stack->count == stack->capacity) {
		stack->capacity = stack->capacity ? 2 * stack->capacity : 64;
		stack->frames = xreallocarray(stack->frames, stack->capacity, sizeof(*stack->frames));
		stack->texts = xreallocarray(stack->texts, stack->capacity, sizeof(*stack->texts));
		stack->text_at = xreallocarray(stack->text_at, stack->capacity, sizeof(*stack->text_at));
	}
	stack->text_at[stack->count] = stack->text.size;
	stack->frames[stack->count++] = address;
}

bool rows_stack_make(struct rows_stack *stack, const struct rows_line *line, struct rows_objects *objects, char *error,
		     size_t size)
{
	struct rows_columns columns;
	struct rows_frame before = {0};

	stack->count = stack->text.size = 0;
	if (!rows_columns_take(&columns, line, error, size))
		return false;
	for (size_t i = 0; i < columns.count; i++) {
		const struct rows_frame frame = rows_frame_at(&columns, i);
		const uint64_t from = rows_object_of(objects, &frame);

		if (i && rows_frame_encloses(&frame, &before)) {
			stack->text.data[stack->text.size - 1] = '\n'; /* instead of the NUL */
			buf_printf(&stack->text, "\t0x%" PRIx64, from + frame.offset);
		} else {
			rows_stack_add(stack, from + frame.offset);
		}
		rows_add_frame_text(&stack->text, &frame);
		buf_add_char(&stack->text, '\0');
		before = frame;
	}
	for (size_t i = 0; i < stack->count; i++)
		stack->texts[i] = (const char *)stack->text.data + stack->text_at[i];
	return true;
}

void rows_stack_free(struct rows_stack *stack)
{
	free(stack->frames);
	free(stack->texts);
	free(stack->text_at);
	buf_free(&stack->text);
}

void rows_objects_free(struct rows_objects *objects)
{
	for (size_t i = 0; i < objects->count; i++) {
		free(objects->items[i].path);
		free(objects->items[i].build_id);
	}
	free(objects->items);
	hash_free(&objects->by_name);
}

#include "config.h"
#include "analysis/leaks.h"
#include "analysis/held.h"
#include "analysis/resources.h"

#include <stdlib.h>
#include <string.h>

/* A record that keeps its place between live calls. */
struct mark {
	struct mark *next;
	uint64_t sequence;
	enum record_type type;
	uint64_t from, to;
	char text[];
};

struct leaks {
	struct stage stage;
	struct resources resources;
	struct hold hold;
	struct object_map objects;
	bool object_held;       /* the last object became a mark, so its build-id does too */
	size_t objects_waiting; /* marks that are objects */
	struct held_call *first, *last;
	struct mark *marks, **marks_end;
	uint64_t sequence, unseen;
};

static int put_mark(struct leaks *leaks, const struct mark *mark)
{
	struct record record = {.type = mark->type};

	switch (mark->type) {
	case RECORD_OBJECT:
		leaks->objects_waiting--;
		record.object = (struct record_object){mark->from, mark->to, mark->text};
		break;
	case RECORD_BUILD_ID:
		record.build_id = (struct record_build_id){mark->from, mark->text};
		break;
	case RECORD_NOTE:
		record.note.text = mark->text;
		break;
	case RECORD_SCAN:
		record.scan = (struct record_scan){(uint32_t)mark->to, mark->text};
		break;
	case RECORD_LOST:
		record.lost =
			(struct record_lost){(uint32_t)(mark->to >> 8), mark->from, (enum lost_kind)(mark->to & 0xff)};
		break;
	default:
		record.comment.text = mark->text;
	}
	return stage_put(leaks->stage.next, &record);
}

/* Gives out the marks that no live call precedes any more. */
static int put_marks_before(struct leaks *leaks, const struct held_call *call)
{
	int error = 0;

	while (leaks->marks && (!call || leaks->marks->sequence < call->sequence)) {
		struct mark *mark = leaks->marks;

		if (!error)
			error = put_mark(leaks, mark);
		leaks->marks = mark->next;
		if (!leaks->marks)
			leaks->marks_end = &leaks->marks;
		free(mark);
	}
	return error;
}

static int add_mark(struct leaks *leaks, enum record_type type, const char *text, uint64_t from, uint64_t to)
{
	const size_t size = strlen(string_or_empty(text)) + 1;
	struct mark *mark = xmalloc(sizeof(*mark) + size);

	*mark = (struct mark){.sequence = leaks->sequence++, .type = type, .from = from, .to = to};
	memcpy(mark->text, string_or_empty(text), size);
	leaks->objects_waiting += type == RECORD_OBJECT;
	*leaks->marks_end = mark;
	leaks->marks_end = &mark->next;
	return put_marks_before(leaks, leaks->first);
}

static void append(struct leaks *leaks, struct held_call *call)
{
	call->sequence = leaks->sequence++;
	call->previous = leaks->last;
	call->next = NULL;
	if (leaks->last)
		leaks->last->next = call;
	else
		leaks->first = call;
	leaks->last = call;
}

static int drop(struct leaks *leaks, struct held_call *call)
{
	const bool was_first = call == leaks->first;

	if (call->previous)
		call->previous->next = call->next;
	else
		leaks->first = call->next;
	if (call->next)
		call->next->previous = call->previous;
	else
		leaks->last = call->previous;
	hold_release(&leaks->hold, call);
	return was_first ? put_marks_before(leaks, leaks->first) : 0;
}

static int put_call(struct leaks *leaks, const struct record_call *call)
{
	struct resource_state *resource = resources_of(&leaks->resources, call->resource);
	const bool counted = resource->flags & RESOURCE_REFCOUNT;

	if (resource->flags & RESOURCE_CALL)
		return 0;
	if (call->kind == CALL_ALLOC) {
		struct held_call *const old = resource_live_get(resource, call->id);

		if (old && counted) {
			old->references += old->references != UINT32_MAX;
			return 0;
		}
		struct held_call *held = hold_call(&leaks->hold, call);

		append(leaks, held);
		resource_live_set(resource, call->id, held);
		leaks->unseen += old != NULL;
		return old ? drop(leaks, old) : 0;
	} else if (call->kind == CALL_RELEASE) {
		struct held_call *old = counted ? resource_live_get(resource, call->id) : NULL;

		if (old && --old->references)
			return 0;
		old = resource_live_remove(resource, call->id);
		return old ? drop(leaks, old) : 0;
	}
	return 0;
}

static int put(struct stage *stage, const struct record *record)
{
	struct leaks *leaks = (struct leaks *)stage;

	switch (record->type) {
	case RECORD_CALL:
		return put_call(leaks, &record->call);
	case RECORD_THREAD:
		hold_thread(&leaks->hold, &record->thread);
		return 0;
	case RECORD_NOTE:
		return add_mark(leaks, RECORD_NOTE, record->note.text, 0, 0);
	case RECORD_SCAN:
		return add_mark(leaks, RECORD_SCAN, record->scan.reason, 0, record->scan.resource);
	case RECORD_LOST:
		return add_mark(leaks, RECORD_LOST, NULL, record->lost.id,
				(uint64_t)record->lost.resource << 8 | record->lost.kind);
	case RECORD_COMMENT:
		return add_mark(leaks, RECORD_COMMENT, record->comment.text, 0, 0);
	case RECORD_OBJECT:
		/* Nor may one overtake another: what follows has not seen that yet. */
		leaks->object_held =
			object_map_put(&leaks->objects, &record->object) == OBJECT_REPLACES || leaks->objects_waiting;
		if (leaks->object_held)
			return add_mark(leaks, RECORD_OBJECT, record->object.path, record->object.from,
					record->object.to);
		break;
	case RECORD_BUILD_ID:
		if (leaks->object_held)
			return add_mark(leaks, RECORD_BUILD_ID, record->build_id.hex, record->build_id.from, 0);
		break;
	case RECORD_RESOURCE:
		resources_declare(&leaks->resources, &record->resource);
		break;
	case RECORD_PROCESS: {
		struct record changed = *record;

		changed.process.filters |= FILTER_LEAKS;
		return stage_put(stage->next, &changed);
	}
	default:
		break;
	}
	return stage_put(stage->next, record);
}

static int finish(struct stage *stage)
{
	struct leaks *leaks = (struct leaks *)stage;
	int error = 0;

	for (const struct held_call *call = leaks->first; call && !error; call = call->next) {
		error = put_marks_before(leaks, call);
		if (!error)
			error = hold_put(&leaks->hold, call, stage->next);
	}
	if (!error)
		error = put_marks_before(leaks, NULL);
	return error ? error : stage_finish_next(stage);
}

static void leaks_free(struct stage *stage)
{
	struct leaks *leaks = (struct leaks *)stage;

	while (leaks->marks) {
		struct mark *next = leaks->marks->next;

		free(leaks->marks);
		leaks->marks = next;
	}
	resources_free(&leaks->resources);
	hold_free(&leaks->hold);
	object_map_free(&leaks->objects);
	free(leaks);
}

uint64_t leaks_unseen(const struct stage *stage)
{
	return ((const struct leaks *)stage)->unseen;
}

struct stage *leaks_new(struct stage *next)
{
	struct leaks *leaks = xmalloc(sizeof(*leaks));

	*leaks = (struct leaks){.stage = {.put = put, .finish = finish, .free = leaks_free, .next = next}};
	leaks->marks_end = &leaks->marks;
	return &leaks->stage;
}

/* Begins the write cycles of a StackTrack trace. Each cycle begins with all data that are needed to read the trace from
 * there on. */
#include "config.h"
#include "base/util.h"
#include "trace/stacktrack/stacktrack_write.h"
#include "trace/escape.h"
#include "base/time_units.h"

#include <inttypes.h>
#include <stdlib.h>

#define FILES_MAX INT16_MAX
#define TIMETYPE  0x20 /* value in the sample of the format's document, which does not explain it */

uint64_t stacktrack_start_ticks(const struct stacktrack_cycle *cycle)
{
	return (uint64_t)(cycle->start_sec % SECONDS_PER_DAY) * STACKTRACK_TICKS + cycle->start_usec * UINT64_C(1000);
}

void stacktrack_put_prologue(struct writer *writer)
{
	const struct stacktrack_writer *s = writer->state;
	const struct stacktrack_cycle *const cycle = &s->cycle;
	struct stacktrack_out entry = stacktrack_out_begin(s, STACKTRACK_PROLOGUE);

	stacktrack_put_member(&entry, 0, STACKTRACK_MAGIC, 4);
	stacktrack_put_member(&entry, 4, STACKTRACK_VERSION, 4);
	stacktrack_put_member(&entry, 8, STACKTRACK_INFO, 1);
	stacktrack_put_member(&entry, 9, STACKTRACK_ENTRY, 1);
	stacktrack_put_member(&entry, 10, STACKTRACK_PAYLOAD, 1);
	stacktrack_put_entry(writer, &entry, NULL, 0);
	entry = stacktrack_out_begin(s, STACKTRACK_PROCINFO);
	stacktrack_put_member(&entry, 0, s->pid, 2);
	stacktrack_put_member(&entry, 2, cycle->number, 2);
	stacktrack_put_entry(writer, &entry, NULL, 0);
	entry = stacktrack_out_begin(s, STACKTRACK_TIMETYPE);
	stacktrack_put_member(&entry, 0, STACKTRACK_TICKS, 8);
	stacktrack_put_member(&entry, 8, TIMETYPE, 2);
	stacktrack_put_entry(writer, &entry, NULL, 0);
	entry = stacktrack_out_begin(s, STACKTRACK_TIMEINFO);
	stacktrack_put_member(&entry, 0, stacktrack_start_ticks(cycle), 8);
	stacktrack_put_member(&entry, 8, (uint64_t)cycle->start_sec, 8);
	stacktrack_put_entry(writer, &entry, NULL, 0);
}

/* Appends FLOC or FPROPERTY for the newest file. The last member is the number of properties in FLOC, and the index of
 * the property in FPROPERTY. An object has one property, so both are 1. */
static void put_file(struct writer *writer, enum stacktrack_type type)
{
	const struct stacktrack_writer *s = writer->state;
	struct stacktrack_out entry = stacktrack_out_begin(s, type);

	stacktrack_put_member(&entry, 0, s->last_file, 2);
	stacktrack_put_member(&entry, 2, s->cycle.number, 2);
	stacktrack_put_member(&entry, 4, 1, 2);
	stacktrack_put_entry(writer, &entry, (const char *)s->text.data, s->text.size);
}

static bool has_cycles(const struct writer *writer)
{
	return writer->options.cycle_size;
}

static void post_object(struct writer *writer, const struct record_object *object)
{
	struct stacktrack_writer *s = writer->state;
	struct buf *text = &s->text;

	text->size = 0;
	s->last_file = s->last_file < FILES_MAX ? s->last_file + 1 : 1;
	text_put_escaped(text, object->path ? object->path : "", "");
	put_file(writer, STACKTRACK_FLOC);
	text->size = 0;
	buf_printf(text, "map=0x%" PRIx64 "-0x%" PRIx64, object->from, object->to);
	put_file(writer, STACKTRACK_FPROPERTY);
}

static void post_build_id(struct writer *writer, uint64_t from, const char *hex)
{
	struct stacktrack_writer *s = writer->state;

	s->text.size = 0;
	buf_printf(&s->text, "from=0x%" PRIx64, from);
	stacktrack_add_word(&s->text, "hex", hex);
	stacktrack_put_value(writer, STACKTRACK_OF_BUILD_ID);
}

void stacktrack_put_object(struct writer *writer, const struct record_object *object)
{
	struct stacktrack_writer *s = writer->state;

	stacktrack_begin_record(writer);
	post_object(writer, object);
	if (has_cycles(writer))
		mapped_objects_add(&s->cycle.objects, object);
}

void stacktrack_put_build_id(struct writer *writer, const struct record_build_id *build_id)
{
	struct stacktrack_writer *s = writer->state;

	stacktrack_begin_record(writer);
	post_build_id(writer, build_id->from, build_id->hex);
	if (has_cycles(writer))
		mapped_objects_name(&s->cycle.objects, build_id);
}

/* Replaces the text of the posting by a copy of `text`. */
static void stacktrack_cycle_keep_text(struct stacktrack_posting *posting, const struct buf *text)
{
	free(posting->text);
	posting->text = xmalloc(text->size + 1);
	memcpy(posting->text, text->data, text->size);
	posting->length = text->size;
}

void stacktrack_keep_value(struct writer *writer, enum stacktrack_value value, uint32_t id)
{
	struct stacktrack_writer *s = writer->state;
	struct stacktrack_cycle *const cycle = &s->cycle;
	const uint64_t key = (uint64_t)value << 32 | id;
	const uint64_t *known = hash_get(&cycle->places, key);

	if (!has_cycles(writer))
		return;
	if (!known) {
		ARRAY_GROW(cycle->postings, cycle->capacity, cycle->count);
		cycle->postings[cycle->count] = (struct stacktrack_posting){.value = value};
		hash_set(&cycle->places, key, cycle->count);
	}
	stacktrack_cycle_keep_text(&cycle->postings[known ? *known : cycle->count++], &s->text);
}

void stacktrack_keep_thread(struct writer *writer)
{
	struct stacktrack_writer *s = writer->state;

	if (!has_cycles(writer))
		return;
	s->cycle.thread.value = STACKTRACK_OF_THREAD;
	stacktrack_cycle_keep_text(&s->cycle.thread, &s->text);
}

static void post_again(struct writer *writer, const struct stacktrack_posting *posting)
{
	struct stacktrack_writer *s = writer->state;

	s->text.size = 0;
	buf_add(&s->text, posting->text, posting->length);
	stacktrack_put_value(writer, posting->value);
}

void stacktrack_next_cycle(struct writer *writer)
{
	struct stacktrack_writer *s = writer->state;
	struct stacktrack_cycle *const cycle = &s->cycle;
	const uint32_t sequence = s->sequence;

	if (!has_cycles(writer) || cycle->entries < writer->options.cycle_size)
		return;
	cycle->entries = 0;
	cycle->number++;
	s->cycles++;
	memset(s->posted, 0, sizeof(s->posted));
	stacktrack_forget_functions(s);
	s->last_file = 0;
	/* Repeated entries have the sequence number 0, so that readers skip them if they have read the earlier
	 * cycles. */
	s->sequence = 0;
	stacktrack_put_prologue(writer);
	for (size_t i = 0; i < cycle->count; i++)
		post_again(writer, &cycle->postings[i]);
	for (size_t i = 0; i < cycle->objects.count; i++) {
		const struct mapped_objects_item *const item = &cycle->objects.items[i];

		post_object(writer, &item->object);
		if (item->build_id)
			post_build_id(writer, item->object.from, item->build_id);
	}
	if (cycle->thread.text)
		post_again(writer, &cycle->thread);
	s->sequence = sequence;
}

void stacktrack_cycle_free(struct stacktrack_cycle *cycle)
{
	for (size_t i = 0; i < cycle->count; i++)
		free(cycle->postings[i].text);
	free(cycle->postings);
	free(cycle->thread.text);
	hash_free(&cycle->places);
	mapped_objects_free(&cycle->objects);
}

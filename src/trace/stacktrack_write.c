/* Writes the StackTrack format: a trace's records as checkpoints that were passed. */
#include "config.h"
#include "base/hash.h"
#include "base/util.h"
#include "trace/digits.h"
#include "trace/stacktrack.h"
#include "trace/text.h"
#include "trace/writer_state.h"

#include <endian.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define DAY_SECONDS    86400
#define SCOPES_MAX     65535
#define FILES_MAX      INT16_MAX
#define FIRST_FUNCTION (STACKTRACK_VALUE_COUNT + 1)

struct stacktrack_writer {
	bool begun, swap;
	uint16_t pid, tid;
	uint32_t sequence;
	uint16_t last_file;
	struct hash functions; /* hash of a name -> its scope */
	char **names;          /* of these, by scope - FIRST_FUNCTION */
	size_t name_count, name_capacity;
	bool posted[STACKTRACK_VALUE_COUNT];
	struct hash threads; /* tid -> what stands for it in 16 bits */
	struct hash taken;
	struct buf text; /* of the record that is written */
};

static void *stacktrack_begin(struct writer *writer)
{
	(void)writer;
	return xcalloc(1, sizeof(struct stacktrack_writer));
}

static void forget_functions(struct stacktrack_writer *s)
{
	for (size_t i = 0; i < s->name_count; i++)
		free(s->names[i]);
	s->name_count = 0;
	hash_free(&s->functions);
}

static void stacktrack_end(struct writer *writer)
{
	struct stacktrack_writer *s = writer->state;

	forget_functions(s);
	free(s->names);
	hash_free(&s->threads);
	hash_free(&s->taken);
	buf_free(&s->text);
	free(s);
}

/* ---- Entries ---- */

struct entry {
	unsigned char bytes[STACKTRACK_ENTRY];
	bool swap;
};

/* size: 1 to 8 */
static inline void put_number(struct entry *entry, size_t at, uint64_t value, size_t size)
{
	const uint64_t bytes = htole64(entry->swap ? __builtin_bswap64(value << (64 - 8 * size)) : value);

	memcpy(entry->bytes + at, &bytes, size);
}

static inline struct entry make_entry(const struct stacktrack_writer *s, unsigned flags, uint32_t sequence)
{
	struct entry entry = {.swap = s->swap};

	put_number(&entry, 0, flags, 2);
	put_number(&entry, 2, s->pid, 2);
	put_number(&entry, 4, sequence, 4);
	return entry;
}

static inline void put_payload(struct entry *entry, size_t at, uint64_t value, size_t size)
{
	put_number(entry, STACKTRACK_PAYLOAD + at, value, size);
}

static void put_entry(struct writer *writer, const struct entry *entry)
{
	buf_add(&writer->out, entry->bytes, sizeof(entry->bytes));
}

/* What is too long for one entry goes on in the next. */
static void put_info(struct writer *writer, uint32_t sequence, const char *text, size_t length)
{
	const struct stacktrack_writer *s = writer->state;

	const struct entry first = make_entry(s, STACKTRACK_IS_INFO, sequence);
	struct entry last = make_entry(s, STACKTRACK_IS_INFO | STACKTRACK_INFO_END, sequence);

	if (!length)
		return;
	while (length > STACKTRACK_INFO) {
		buf_add(&writer->out, first.bytes, STACKTRACK_PAYLOAD);
		buf_add(&writer->out, text, STACKTRACK_INFO);
		text += STACKTRACK_INFO;
		length -= STACKTRACK_INFO;
	}
	memcpy(last.bytes + STACKTRACK_PAYLOAD, text, length);
	put_entry(writer, &last);
}

static unsigned with_info(unsigned type, size_t length)
{
	return type | (length ? STACKTRACK_HAS_INFO : 0);
}

static void post_scope(struct writer *writer, uint32_t scope, unsigned style, const char *name)
{
	const struct stacktrack_writer *s = writer->state;
	const size_t length = strlen(name);
	struct entry entry = make_entry(s, with_info(STACKTRACK_SLOC, length), s->sequence);

	put_payload(&entry, 0, scope, 2);
	put_payload(&entry, 2, style, 2);
	put_entry(writer, &entry);
	put_info(writer, s->sequence, name, length);
}

/* A hit whose text is s->text. */
static void put_hit(struct writer *writer, uint32_t scope, uint64_t when)
{
	struct stacktrack_writer *s = writer->state;
	struct entry entry = make_entry(s, with_info(STACKTRACK_HIT, s->text.size), s->sequence);

	put_payload(&entry, 0, when, 8);
	put_payload(&entry, 8, scope, 2);
	put_payload(&entry, 10, s->tid, 2);
	put_entry(writer, &entry);
	put_info(writer, s->sequence, (const char *)s->text.data, s->text.size);
}

static void put_value(struct writer *writer, enum stacktrack_value value)
{
	struct stacktrack_writer *s = writer->state;

	if (!s->posted[value])
		post_scope(writer, (uint32_t)value + 1, STACKTRACK_VALUE, stacktrack_value_names[value]);
	s->posted[value] = true;
	put_hit(writer, (uint32_t)value + 1, 0);
}

/* Each record has a sequence number of its own; 0 is the prologue's. */
static struct buf *begin_record(struct writer *writer)
{
	struct stacktrack_writer *s = writer->state;

	if (!++s->sequence)
		s->sequence++;
	s->text.size = 0;
	return &s->text;
}

/* ---- Records ---- */

static void add_word(struct buf *text, const char *key, const char *value)
{
	if (!value)
		return;
	if (text->size)
		buf_add_char(text, ' ');
	buf_add_str(text, key);
	buf_add_char(text, '=');
	text_put_escaped(text, value, " ");
}

static void add_number(struct buf *text, const char *key, uint64_t value)
{
	char digits[NUMBER_ROOM];

	if (text->size)
		buf_add_char(text, ' ');
	buf_add_str(text, key);
	buf_add_char(text, '=');
	buf_add(text, digits, (size_t)(put_decimal(digits, value) - digits));
}

static void add_address(struct buf *text, const char *before, uint64_t value)
{
	const size_t length = strlen(before);
	char *p = (char *)buf_room(text, length + NUMBER_ROOM);

	memcpy(p, before, length);
	text->size += (size_t)(put_0x(p + length, value) - p);
}

static void put_prologue(struct writer *writer, const struct record_process *process)
{
	const struct stacktrack_writer *s = writer->state;
	struct entry entry = make_entry(s, STACKTRACK_PROLOGUE, 0);

	put_payload(&entry, 0, STACKTRACK_MAGIC, 4);
	put_payload(&entry, 4, STACKTRACK_VERSION, 4);
	put_payload(&entry, 8, STACKTRACK_INFO, 1);
	put_payload(&entry, 9, STACKTRACK_ENTRY, 1);
	put_payload(&entry, 10, STACKTRACK_PAYLOAD, 1);
	put_entry(writer, &entry);
	entry = make_entry(s, STACKTRACK_PROCINFO, 0);
	put_payload(&entry, 0, s->pid, 2);
	put_entry(writer, &entry);
	entry = make_entry(s, STACKTRACK_TIMETYPE, 0);
	put_payload(&entry, 0, STACKTRACK_TICKS, 8);
	put_payload(&entry, 8, 0x20, 2);
	put_entry(writer, &entry);
	entry = make_entry(s, STACKTRACK_TIMEINFO, 0);
	put_payload(&entry, 0,
		    (uint64_t)(process->start_sec % DAY_SECONDS) * STACKTRACK_TICKS +
			    process->start_usec * UINT64_C(1000),
		    8);
	put_payload(&entry, 8, (uint64_t)process->start_sec, 8);
	put_entry(writer, &entry);
}

static void put_process(struct writer *writer, const struct record_process *process)
{
	struct stacktrack_writer *s = writer->state;

	if (s->begun)
		return;
	s->begun = true;
	s->swap = process->big_endian;
	s->pid = (uint16_t)process->pid ? (uint16_t)process->pid : 1;
	put_prologue(writer, process);
	struct buf *text = begin_record(writer);

	if (process->has_pid)
		add_number(text, "pid", process->pid);
	add_word(text, "arch", process->arch);
	if (process->pointer_size)
		add_number(text, "pointer", process->pointer_size);
	add_number(text, "usec", process->start_usec);
	if (process->has_depth)
		add_number(text, "depth", process->depth);
	if (process->no_timestamps)
		add_number(text, "notimes", 1);
	if (process->filters)
		add_number(text, "filters", process->filters);
	add_word(text, "start", process->start_text);
	add_word(text, "name", process->name);
	add_word(text, "origin", process->origin);
	put_value(writer, STACKTRACK_OF_PROCESS);
}

/* The path is the file's name, where it lies its property; its build-id comes as another one. */
static void put_property(struct writer *writer, const struct buf *text)
{
	const struct stacktrack_writer *s = writer->state;
	struct entry entry = make_entry(s, with_info(STACKTRACK_FPROPERTY, text->size), s->sequence);

	put_payload(&entry, 0, s->last_file, 2);
	put_payload(&entry, 4, 1, 2);
	put_entry(writer, &entry);
	put_info(writer, s->sequence, (const char *)text->data, text->size);
}

static void put_object(struct writer *writer, const struct record_object *object)
{
	struct stacktrack_writer *s = writer->state;
	struct buf *text = begin_record(writer);

	s->last_file = s->last_file < FILES_MAX ? s->last_file + 1 : 1;
	text_put_escaped(text, object->path ? object->path : "", "");
	struct entry entry = make_entry(s, with_info(STACKTRACK_FLOC, text->size), s->sequence);

	put_payload(&entry, 0, s->last_file, 2);
	put_payload(&entry, 4, 1, 2);
	put_entry(writer, &entry);
	put_info(writer, s->sequence, (const char *)text->data, text->size);
	text->size = 0;
	buf_printf(text, "map=0x%" PRIx64 "-0x%" PRIx64, object->from, object->to);
	put_property(writer, text);
}

static uint16_t thread_handle(struct stacktrack_writer *s, uint32_t tid)
{
	const uint64_t *known = hash_get(&s->threads, tid);
	uint16_t handle = (uint16_t)tid;

	if (known)
		return (uint16_t)*known;
	/* More threads than there are numbers share the last ones; their records tell them apart. */
	if (s->taken.count < UINT16_MAX)
		while (!handle || !hash_set(&s->taken, handle, 1))
			handle++;
	hash_set(&s->threads, tid, handle);
	return handle;
}

static void put_thread(struct writer *writer, const struct record_thread *thread)
{
	struct stacktrack_writer *s = writer->state;
	struct buf *text = begin_record(writer);

	s->tid = thread_handle(s, thread->tid);
	add_number(text, "tid", thread->tid);
	if (thread->name && *thread->name)
		add_word(text, "name", thread->name);
	put_value(writer, STACKTRACK_OF_THREAD);
}

static void put_heap(struct writer *writer, const struct record_heap *heap)
{
	struct buf *text = begin_record(writer);

	buf_printf(text, "bottom=0x%" PRIx64 " top=0x%" PRIx64 " lowest=0x%" PRIx64 " highest=0x%" PRIx64, heap->bottom,
		   heap->top, heap->lowest, heap->highest);
	for (size_t i = 0; i < ARRAY_SIZE(heap->info); i++)
		buf_printf(text, " info=%" PRIu64, heap->info[i]);
	put_value(writer, STACKTRACK_OF_HEAP);
}

/* ---- Calls ---- */

static uint32_t function_scope(struct writer *writer, const char *name)
{
	struct stacktrack_writer *s = writer->state;
	const uint64_t key = hash_bytes(name, strlen(name));
	const uint64_t *known = hash_get(&s->functions, key);

	if (known && !strcmp(s->names[*known - FIRST_FUNCTION], name))
		return (uint32_t)*known;
	/* All are posted again when there is no number left. */
	if (s->name_count > SCOPES_MAX - FIRST_FUNCTION)
		forget_functions(s);
	const uint32_t scope = FIRST_FUNCTION + (uint32_t)s->name_count;

	ARRAY_GROW(s->names, s->name_capacity, s->name_count);
	s->names[s->name_count++] = xstrdup(name);
	hash_set(&s->functions, key, scope);
	post_scope(writer, scope, STACKTRACK_SCOPE, name);
	return scope;
}

static void put_frames(struct writer *writer, const struct record_call *call)
{
	static const char *const ends[] = {"", " end=cut", " end=lost"};
	struct stacktrack_writer *s = writer->state;

	s->text.size = 0;
	add_number(&s->text, "frames", call->frame_count);
	buf_add_str(&s->text, ends[call->end]);
	for (uint32_t i = 0; i < call->frame_count; i++) {
		add_address(&s->text, " ", call->frames[i]);
		if (!call->frame_texts || !call->frame_texts[i])
			continue;
		buf_add_char(&s->text, '=');
		text_put_escaped(&s->text, call->frame_texts[i], " ");
	}
	put_value(writer, STACKTRACK_OF_BACKTRACE);
}

static void put_args(struct writer *writer, const struct record_call *call)
{
	struct stacktrack_writer *s = writer->state;

	s->text.size = 0;
	for (uint32_t i = 0; i < call->arg_count; i++) {
		if (i)
			buf_add_char(&s->text, ' ');
		text_put_escaped(&s->text, call->args[i].name ? call->args[i].name : "", " =");
		buf_add_char(&s->text, '=');
		text_put_escaped(&s->text, call->args[i].value ? call->args[i].value : "", " ");
	}
	put_value(writer, STACKTRACK_OF_ARGS);
}

static void put_call(struct writer *writer, const struct record_call *call)
{
	static const char *const kinds[] = {
		[CALL_RELEASE] = "release=", [CALL_ALLOC] = "alloc=", [CALL_COPY] = "copy="};
	struct buf *text = begin_record(writer);
	const bool has_time = call->time_ns != TIME_NONE;

	add_address(text, kinds[call->kind], call->id);
	if (call->size)
		add_number(text, "size", call->size);
	if (call->resource)
		add_number(text, "resource", call->resource);
	if (call->context)
		add_address(text, " context=", call->context);
	if (!has_time)
		add_number(text, "notime", 1);
	if (call->shares_next)
		add_number(text, "shared", 1);
	put_hit(writer, function_scope(writer, call->function ? call->function : ""), has_time ? call->time_ns : 0);
	if (call->arg_count)
		put_args(writer, call);
	if (call->has_frames)
		put_frames(writer, call);
	writer->omissions.count[OMITTED_COMMENT] += call->summary != NULL;
}

/* ---- The rest ---- */

static void put_text(struct writer *writer, enum stacktrack_value value, const char *first, const char *second)
{
	struct buf *text = begin_record(writer);

	add_word(text, "text", first ? first : "");
	if (second)
		add_word(text, "path", second);
	put_value(writer, value);
}

static void put_other(struct writer *writer, const struct record *record)
{
	struct buf *text;

	switch (record->type) {
	case RECORD_PROCESS:
		put_process(writer, &record->process);
		break;
	case RECORD_MODULE:
		text = begin_record(writer);
		add_number(text, "id", record->module.id);
		add_number(text, "major", record->module.version_major);
		add_number(text, "minor", record->module.version_minor);
		add_word(text, "name", record->module.name);
		put_value(writer, STACKTRACK_OF_MODULE);
		break;
	case RECORD_RESOURCE:
		text = begin_record(writer);
		add_number(text, "id", record->resource.id);
		add_number(text, "flags", record->resource.flags);
		add_word(text, "type", record->resource.type);
		add_word(text, "text", record->resource.desc);
		put_value(writer, STACKTRACK_OF_RESOURCE);
		break;
	case RECORD_CONTEXT:
		text = begin_record(writer);
		add_number(text, "id", record->context.id);
		add_word(text, "name", record->context.name);
		put_value(writer, STACKTRACK_OF_CONTEXT);
		break;
	case RECORD_OBJECT:
		put_object(writer, &record->object);
		break;
	case RECORD_BUILD_ID:
		text = begin_record(writer);
		buf_printf(text, "from=0x%" PRIx64, record->build_id.from);
		add_word(text, "hex", record->build_id.hex);
		put_value(writer, STACKTRACK_OF_BUILD_ID);
		break;
	case RECORD_THREAD:
		put_thread(writer, &record->thread);
		break;
	case RECORD_NOTE:
		put_text(writer, STACKTRACK_OF_NOTE, record->note.text, NULL);
		break;
	case RECORD_HEAP:
		put_heap(writer, &record->heap);
		break;
	case RECORD_ATTACHMENT:
		put_text(writer, STACKTRACK_OF_ATTACHMENT, record->attachment.name,
			 record->attachment.path ? record->attachment.path : "");
		break;
	case RECORD_COMMENT:
		put_text(writer, STACKTRACK_OF_COMMENT, record->comment.text, NULL);
		break;
	case RECORD_AREA:
		text = begin_record(writer);
		buf_printf(text, "from=0x%" PRIx64 " size=%" PRIu64, record->area.from, record->area.size);
		if (record->area.is_internal)
			add_number(text, "internal", 1);
		put_value(writer, STACKTRACK_OF_AREA);
		break;
	case RECORD_CALL:
		break;
	}
}

static void stacktrack_put(struct writer *writer, const struct record *record)
{
	const struct stacktrack_writer *s = writer->state;

	if (!s->begun && record->type != RECORD_PROCESS)
		return;
	if (record->type == RECORD_CALL)
		put_call(writer, &record->call);
	else
		put_other(writer, record);
}

const struct writer_ops stacktrack_writer_ops = {
	.begin = stacktrack_begin,
	.put = stacktrack_put,
	.end = stacktrack_end,
};

/* Reads the sequence of SWAP messages, and converts messages about processes, objects, threads and notes. */
#include "config.h"
#include "trace/swap/swap_read.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static bool swap_detect(const unsigned char *data, size_t size)
{
	return size >= SWAP_HEAD && swap_is_head(data);
}

/* Parses the map file: lines "ID NAME"; the id may be an address. */
static void swap_read_map(struct swap_reader *s, const char *map)
{
	s->map_text = xstrdup(map ? map : "");
	for (char *line = s->map_text, *next; *line; line = next) {
		next = line + strcspn(line, "\n");
		if (*next)
			*next++ = '\0';
		char *end;
		const uint64_t number = strtoull(line, &end, 0);

		if (end != line && *end == ' ' && end[1])
			hash_set_ptr(&s->map, number, end + 1);
	}
}

static void swap_reader_begin(struct reader *reader)
{
	struct swap_reader *s = reader->state;

	swap_read_map(s, reader->map);
	/* types[0] is always memory, because most traces contain it. */
	s->types[s->type_count++].type = xstrdup("memory");
}

static void free_strings(struct swap_reader *s)
{
	while (s->string_count)
		free(s->strings[--s->string_count]);
}

static void free_fields(struct swap_fields *fields)
{
	free(fields->items);
	free(fields->args);
}

static void swap_reader_end(struct reader *reader)
{
	struct swap_reader *s = reader->state;

	HASH_EACH_PTR(struct swap_process, process, &s->processes)
		swap_process_free(process);
	hash_free_all(&s->names);
	for (size_t i = 0; i < s->type_count; i++)
		free(s->types[i].type);
	free_strings(s);
	free_fields(&s->fields);
	free_fields(&s->exit);
	hash_free(&s->processes);
	hash_free(&s->map);
	free(s->map_text);
	free(s->strings);
	free(s->records);
	free(s->frames);
	stack_cache_free(&s->stacks);
	free(s->args);
}

/* ---- Fields ---- */

static void swap_read_collect(void *context, const struct swap_value *value)
{
	struct swap_fields *fields = context;
	const enum swap_slot slot = value->field->slot;

	if (value->is_item || !slot)
		return;
	fields->numbers[slot] = value->number;
	if (value->field->type == SWAP_STRING)
		fields->texts[slot] = value->text;
	if (slot == SLOT_START)
		fields->start_ns = value->nanoseconds;
	if (slot == SLOT_RETURN)
		fields->returned = value->arg;
	if (slot != SLOT_ITEM_PATH)
		return;
	ARRAY_GROW(fields->items, fields->item_capacity, fields->item_count);
	fields->items[fields->item_count++] =
		(struct swap_item){fields->numbers[SLOT_ITEM_LOW], fields->numbers[SLOT_ITEM_HIGH], value->text};
}

static int take_fields(struct reader *reader, size_t ahead, const struct swap_message *message,
		       struct swap_fields *fields)
{
	memset(fields, 0, offsetof(struct swap_fields, items));
	fields->item_count = fields->arg_count = 0;
	fields->returned = (struct swap_arg){.type = 'n'};
	const char *bad = swap_take_fields(message, swap_read_collect, fields);

	if (bad)
		return reader_damage(reader, ahead,
				     "a message %s of %u bytes has no room for its %s, or that field "
				     "is invalid",
				     message->format->name, message->length, bad);
	return 1;
}

/* ---- Threads, contexts, notes ---- */

static void name_thread(struct swap_reader *s, uint32_t tid, const char *name)
{
	uint64_t *const place = hash_place(&s->names, tid);

	free((void *)(uintptr_t)*place);
	*place = (uintptr_t)xstrdup(name);
	if (s->current && s->current->tid == tid)
		s->current->has_thread = false;
}

static void swap_read_take_thread(struct swap_reader *s, const struct swap_message *message,
				  const struct swap_fields *fields)
{
	const char *const name = fields->texts[SLOT_TEXT];
	const bool is_own = swap_is_own(fields);

	if (is_own || *name)
		name_thread(s, (uint32_t)fields->numbers[SLOT_TID], name);
	if (is_own)
		swap_push_thread(s, (uint32_t)fields->numbers[SLOT_TID]);
	else
		swap_take_call(s, message, fields, NULL);
}

static void swap_read_take_mark(struct swap_reader *s, const struct swap_fields *fields)
{
	const char *const name = fields->texts[SLOT_TEXT];

	if (swap_is_own(fields)) {
		swap_push(s, &(struct record){.type = RECORD_CONTEXT,
					      .context = {(uint32_t)fields->numbers[SLOT_HANDLE], name}});
		return;
	}
	char *const text = xasprintf("mark %s", name);

	swap_push_note(s, swap_keep(s, text));
	free(text);
}

static void take_lsan(struct swap_reader *s, const struct swap_fields *fields)
{
	char *const text = xasprintf("LeakSanitizer, status %" PRIu64 ": %s", fields->numbers[SLOT_KIND],
				     fields->texts[SLOT_TEXT]);

	swap_push_note(s, swap_keep(s, text));
	free(text);
}

/* ---- Messages ---- */

/* Returns true if a message other than MSG_PROCESS_INFO becomes records. */
static bool has_record(const struct swap_message *message)
{
	switch (message->id) {
	case SWAP_ERROR:
	case SWAP_FUNCTION_ENTRY:
	case SWAP_SYSCALL_ENTRY:
	case SWAP_PROCESS_MAP:
	case SWAP_PROCESS_UNMAP:
	case SWAP_PROCESS_COMM:
	case SWAP_LSAN:
		return true;
	}
	return message->id >= SWAP_PROBE_FIRST && message->id <= SWAP_PROBE_LAST;
}

/* Queues the records of a message. second: the fields of the next message, if that belongs to this message; else
 * NULL. */
static void take_message(struct swap_reader *s, const struct swap_message *message, const struct swap_fields *second)
{
	const struct swap_fields *fields = &s->fields;

	if (message->id == SWAP_PROCESS_INFO) {
		swap_take_process_info(s, message, fields, second);
		return;
	}
	if (!has_record(message)) {
		s->left_out += message->id != SWAP_TERMINATE;
		return;
	}
	const bool has_pid = message->id != SWAP_ERROR;

	swap_select_process(s,
			    has_pid      ? (uint32_t)fields->numbers[SLOT_PID]
			    : s->current ? s->current->pid
					 : 0,
			    message);
	switch (message->id) {
	case SWAP_ERROR:
		swap_push_note(s, fields->texts[SLOT_TEXT]);
		break;
	case SWAP_PROCESS_MAP:
		swap_push_object(s, fields->numbers[SLOT_LOW], fields->numbers[SLOT_HIGH], fields->texts[SLOT_PATH]);
		break;
	case SWAP_PROCESS_UNMAP:
		swap_take_unmap(s, fields);
		break;
	case SWAP_PROCESS_COMM:
		name_thread(s, s->current->pid, fields->texts[SLOT_TEXT]);
		break;
	case SWAP_LSAN:
		take_lsan(s, fields);
		break;
	case SWAP_PROBE_THREAD:
		swap_read_take_thread(s, message, fields);
		break;
	case SWAP_PROBE_CUSTOM:
		swap_read_take_mark(s, fields);
		break;
	default:
		swap_take_call(s, message, fields, second);
		break;
	}
}

/* Returns the id of the message that may follow a message with this id and belong to it; 0 if there is no such
 * message. */
static uint32_t id_of_second(uint32_t id)
{
	return id == SWAP_FUNCTION_ENTRY  ? SWAP_FUNCTION_EXIT
	       : id == SWAP_SYSCALL_ENTRY ? SWAP_SYSCALL_EXIT
	       : id == SWAP_PROCESS_INFO  ? SWAP_PROCESS_STATUS_INFO
					  : 0;
}

/* Returns true if the second message, whose fields are in s->exit, belongs to the first. */
static bool is_second(const struct swap_reader *s)
{
	const uint64_t *first = s->fields.numbers, *second = s->exit.numbers;

	return first[SLOT_PID] == second[SLOT_PID] && first[SLOT_TID] == second[SLOT_TID] &&
	       first[SLOT_PC] == second[SLOT_PC];
}

/* Reports missing messages if the sequence number is greater than expected. A number that is 0 or smaller than expected
 * is not reported, because such messages are not numbered in order. */
static void check_sequence(struct reader *reader, uint32_t sequence)
{
	struct swap_reader *s = reader->state;
	const uint32_t gap = sequence - s->sequence;

	if (s->has_sequence && sequence && gap && gap < UINT32_MAX / 2)
		reader_complain(reader, "%u message%s missing before the one with the number %u", gap,
				gap == 1 ? " is" : "s are", sequence);
	s->has_sequence = true;
	s->sequence = sequence + 1;
}

/* Queues the records, if any, that the message becomes. If the message after it belongs to it (is_second()), parses
 * both together. Returns 1 or a negative errno. */
static int take_next(struct reader *reader, struct swap_message *message)
{
	struct swap_reader *s = reader->state;
	const uint64_t whole = SWAP_HEAD + (uint64_t)message->length;
	const uint32_t second_id = id_of_second(message->id);
	struct swap_message second = {0};
	bool has_second = false;

	if (second_id) {
		reader->may_pause = true;
		has_second = swap_peek(reader, whole, &second) == 1 && second.id == second_id &&
			     !swap_walk(&second, NULL, NULL, NULL, &(size_t){0});
		reader->may_pause = false;
		/* swap_peek() may have moved the buffer. */
		message->payload = reader->data + reader->start + SWAP_HEAD;
	}
	const int status = take_fields(reader, 0, message, &s->fields);

	if (status < 0)
		return status;
	has_second = has_second && take_fields(reader, whole, &second, &s->exit) == 1 && is_second(s);
	check_sequence(reader, message->sequence);
	if (has_second)
		check_sequence(reader, second.sequence);
	s->consumed = whole + (has_second ? SWAP_HEAD + (uint64_t)second.length : 0);
	take_message(s, message, has_second ? &s->exit : NULL);
	return 1;
}

/* At the end of the trace: queues a note with the number of messages that became no records. Returns 1, or 0 if there
 * is nothing to note. */
static int swap_note_left_out(struct swap_reader *s)
{
	char number[32];

	if (!s->left_out || !s->current)
		return 0;
	char *const text = xasprintf("%s message%s not in the trace, because no record can express them",
				     number_grouped(s->left_out, number), s->left_out == 1 ? " is" : "s are");

	s->left_out = 0;
	swap_push_note(s, swap_keep(s, text));
	free(text);
	return 1;
}

static int next_message(struct reader *reader)
{
	struct swap_reader *s = reader->state;
	struct swap_message message;
	int status;

	reader_skip(reader, s->consumed);
	s->consumed = 0;
	s->record_count = s->next_record = 0;
	free_strings(s);
	status = swap_peek(reader, 0, &message);
	if (!status)
		return swap_note_left_out(s);
	if (status < 0)
		return status;
	if (message.format)
		return take_next(reader, &message);
	check_sequence(reader, message.sequence);
	reader->skipped++;
	return swap_pass(reader, &message);
}

static int swap_next(struct reader *reader, struct record *record)
{
	struct swap_reader *s = reader->state;

	while (s->next_record == s->record_count) {
		if (s->stopped)
			return s->status;
		const int status = next_message(reader);

		if (status <= 0) {
			s->stopped = true;
			s->status = status;
		}
	}
	*record = s->records[s->next_record++];
	return 1;
}

const struct reader_ops swap_reader_ops = {
	.detect = swap_detect,
	.state_size = sizeof(struct swap_reader),
	.begin = swap_reader_begin,
	.next = swap_next,
	.dump = swap_dump,
	.end = swap_reader_end,
};

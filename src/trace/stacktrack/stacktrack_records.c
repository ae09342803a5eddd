/* Converts the entries of a StackTrack trace to records. */
#include "config.h"
#include "trace/stacktrack/stacktrack_read.h"
#include "trace/stacktrack/stacktrack_words.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Queues a process record if none of this process was queued yet, or if the last records belong to another process. */
static void tell_process(struct stacktrack_reader *s, struct stacktrack_process *process)
{
	if (process->is_reported && s->current == process)
		return;
	process->is_reported = true;
	s->current = process;
	stacktrack_enqueue(s, RECORD_PROCESS)->process = (struct record_process){.version_major = 1,
										 .big_endian = s->swap,
										 .pid = process->pid,
										 .has_pid = true,
										 .start_sec = (int64_t)process->start,
										 .origin = "StackTrack"};
}

bool stacktrack_give_call(struct stacktrack_reader *s, struct stacktrack_process *process)
{
	if (!process->has_call)
		return false;
	process->has_call = false;
	tell_process(s, process);
	stacktrack_enqueue(s, RECORD_CALL)->call = process->call;
	return true;
}

static void stacktrack_records_take_process(struct stacktrack_reader *s, struct stacktrack_process *process)
{
	struct record_process p = {
		.version_major = 1, .version_minor = 4, .big_endian = s->swap, .start_sec = (int64_t)process->start};
	char *at = (char *)process->entry.text.data;
	struct word word;

	while (next_word(&at, &word)) {
		if (word_is(&word, "pid")) {
			p.pid = (uint32_t)word_number(&word);
			p.has_pid = true;
		} else if (word_is(&word, "arch")) {
			p.arch = word.value;
		} else if (word_is(&word, "pointer")) {
			p.pointer_size = word_number(&word) == 4 ? 4 : 8;
		} else if (word_is(&word, "usec")) {
			p.start_usec = (uint32_t)(word_number(&word) % 1000000);
		} else if (word_is(&word, "depth")) {
			p.depth = (uint32_t)word_number(&word);
			p.has_depth = true;
		} else if (word_is(&word, "notimes")) {
			p.no_timestamps = true;
		} else if (word_is(&word, "attached")) {
			p.is_attached = true;
		} else if (word_is(&word, "filters")) {
			p.filters = (unsigned)word_number(&word) & 7;
		} else if (word_is(&word, "start")) {
			p.start_text = word.value;
		} else if (word_is(&word, "name")) {
			p.name = word.value;
		} else if (word_is(&word, "origin")) {
			p.origin = word.value;
		}
	}
	if (process->is_reported)
		return;
	process->is_reported = true;
	process->pid = p.has_pid ? p.pid : process->pid;
	s->current = process;
	stacktrack_enqueue(s, RECORD_PROCESS)->process = p;
}

static void stacktrack_records_take_heap(struct stacktrack_reader *s, char *at)
{
	struct record_heap *heap = &stacktrack_enqueue(s, RECORD_HEAP)->heap;
	struct word word;
	size_t info = 0;

	while (next_word(&at, &word)) {
		const uint64_t value = word_number(&word);

		if (word_is(&word, "bottom"))
			heap->bottom = value;
		else if (word_is(&word, "top"))
			heap->top = value;
		else if (word_is(&word, "lowest"))
			heap->lowest = value;
		else if (word_is(&word, "highest"))
			heap->highest = value;
		else if (word_is(&word, "info") && info < ARRAY_SIZE(heap->info))
			heap->info[info++] = value;
	}
}

/* The values of all words that occur in records other than calls, processes and heaps. */
struct stacktrack_records_words {
	uint64_t id, flags, major, minor, from, size, now, peak;
	const char *name, *text, *type, *path, *hex;
	bool internal;
};

static struct stacktrack_records_words stacktrack_records_take_words(char *at)
{
	struct stacktrack_records_words w = {.name = "", .text = "", .type = "", .path = "", .hex = ""};
	struct word word;

	while (next_word(&at, &word)) {
		const struct {
			const char *key;
			uint64_t *number;
			const char **text;
		} places[] = {{"id", &w.id, NULL},       {"tid", &w.id, NULL},      {"flags", &w.flags, NULL},
			      {"major", &w.major, NULL}, {"minor", &w.minor, NULL}, {"from", &w.from, NULL},
			      {"size", &w.size, NULL},   {"name", NULL, &w.name},   {"text", NULL, &w.text},
			      {"now", &w.now, NULL},     {"peak", &w.peak, NULL},   {"type", NULL, &w.type},
			      {"path", NULL, &w.path},   {"hex", NULL, &w.hex}};

		w.internal |= word_is(&word, "internal");
		for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
			if (!is_key(&word, places[i].key, strlen(places[i].key)))
				continue;
			if (places[i].number)
				*places[i].number = word_number(&word);
			else
				*places[i].text = word.value;
		}
	}
	return w;
}

static void take_small(struct stacktrack_reader *s, enum stacktrack_value value,
		       const struct stacktrack_records_words *w)
{
	switch (value) {
	case STACKTRACK_OF_MODULE:
		stacktrack_enqueue(s, RECORD_MODULE)->module =
			(struct record_module){(uint32_t)w->id, (uint16_t)w->major, (uint16_t)w->minor, w->name};
		break;
	case STACKTRACK_OF_RESOURCE:
		stacktrack_enqueue(s, RECORD_RESOURCE)->resource =
			(struct record_resource){(uint32_t)w->id, (uint32_t)w->flags & 3, w->type, w->text};
		break;
	case STACKTRACK_OF_CONTEXT:
		stacktrack_enqueue(s, RECORD_CONTEXT)->context = (struct record_context){(uint32_t)w->id, w->name};
		break;
	case STACKTRACK_OF_BUILD_ID:
		stacktrack_enqueue(s, RECORD_BUILD_ID)->build_id = (struct record_build_id){w->from, w->hex};
		break;
	case STACKTRACK_OF_THREAD:
		stacktrack_enqueue(s, RECORD_THREAD)->thread = (struct record_thread){(uint32_t)w->id, w->name};
		break;
	case STACKTRACK_OF_NOTE:
		stacktrack_enqueue(s, RECORD_NOTE)->note.text = w->text;
		break;
	case STACKTRACK_OF_COMMENT:
		stacktrack_enqueue(s, RECORD_COMMENT)->comment.text = w->text;
		break;
	case STACKTRACK_OF_ATTACHMENT:
		stacktrack_enqueue(s, RECORD_ATTACHMENT)->attachment = (struct record_attachment){w->text, w->path};
		break;
	case STACKTRACK_OF_SCAN:
		stacktrack_enqueue(s, RECORD_SCAN)->scan = (struct record_scan){(uint32_t)w->id, w->text};
		break;
	case STACKTRACK_OF_LOST:
		stacktrack_enqueue(s, RECORD_LOST)->lost = (struct record_lost){
			(uint32_t)w->id, w->from, w->flags < LOST_KINDS ? (enum lost_kind)w->flags : LOST_POSSIBLY};
		break;
	case STACKTRACK_OF_BEFORE:
		s->baseline = (struct baseline_block){w->from, w->size};
		stacktrack_enqueue(s, RECORD_BASELINE)->baseline =
			(struct record_baseline){(uint32_t)w->id, &s->baseline, 1};
		break;
	case STACKTRACK_OF_RESIDENT:
		stacktrack_enqueue(s, RECORD_RESIDENT)->resident = (struct record_resident){w->now, w->peak};
		break;
	case STACKTRACK_OF_AREA:
		stacktrack_enqueue(s, RECORD_AREA)->area = (struct record_area){w->from, w->size, w->internal};
		break;
	default:
		break;
	}
}

static void take_foreign_value(struct stacktrack_reader *s, struct stacktrack_process *process, const char *name)
{
	s->note.size = 0;
	buf_printf(&s->note, "%s = %s", name, buf_str(&process->entry.text));
	stacktrack_enqueue(s, RECORD_NOTE)->note.text = buf_str(&s->note);
}

static int take_hit(struct reader *reader, struct stacktrack_process *process)
{
	struct stacktrack_reader *s = reader->state;
	const uint64_t number = process->entry.members[STACKTRACK_HIT_SCOPE];
	const struct stacktrack_scope *scope = hash_get_ptr(&process->scopes, number);

	buf_str(&process->entry.text);
	if (scope && scope->value == STACKTRACK_OF_BACKTRACE && process->has_call &&
	    process->call_sequence == process->entry.sequence) {
		return stacktrack_take_backtrace(reader, process);
	}
	if (scope && scope->value == STACKTRACK_OF_ARGS && process->has_call &&
	    process->call_sequence == process->entry.sequence) {
		stacktrack_take_args(process);
		return 1;
	}
	stacktrack_give_call(s, process);
	if (!scope) {
		reader_complain(reader,
				"the hit at byte %" PRIu64 " is of scope %" PRIu64 ", whose SLOC entry is missing",
				reader_offset(reader), number);
		return 1;
	}
	if (scope->value == STACKTRACK_OF_PROCESS) {
		stacktrack_records_take_process(s, process);
		return 1;
	}
	tell_process(s, process);
	if (scope->value == STACKTRACK_OF_HEAP) {
		stacktrack_records_take_heap(s, (char *)process->entry.text.data);
	} else if (!scope->is_value) {
		stacktrack_take_call(reader, process, scope->name);
	} else if (scope->value == STACKTRACK_OF_CALL) {
		take_foreign_value(s, process, scope->name);
	} else {
		const struct stacktrack_records_words w =
			stacktrack_records_take_words((char *)process->entry.text.data);

		take_small(s, scope->value, &w);
	}
	return 1;
}

static int take_scope(struct reader *reader, struct stacktrack_process *process)
{
	const uint64_t *const members = process->entry.members;
	const uint64_t number = members[STACKTRACK_SLOC_SCOPE];
	struct stacktrack_scope *scope = hash_get_ptr(&process->scopes, number);
	const size_t released = scope ? STACKTRACK_KEPT_EACH + strlen(scope->name) : 0;

	if (!scope) {
		scope = xcalloc(1, sizeof(*scope));
		hash_set_ptr(&process->scopes, number, scope);
	}
	free(scope->name);
	*scope = (struct stacktrack_scope){.name = xstrdup(buf_str(&process->entry.text)),
					   .is_value = members[STACKTRACK_SLOC_STYLE] == STACKTRACK_VALUE,
					   .value = STACKTRACK_OF_CALL};
	for (size_t i = 0; scope->is_value && i < STACKTRACK_VALUE_COUNT; i++)
		if (!strcmp(scope->name, stacktrack_value_names[i]))
			scope->value = (enum stacktrack_value)i;
	return stacktrack_keep(reader, STACKTRACK_KEPT_EACH + strlen(scope->name), released);
}

static int take_file(struct reader *reader, struct stacktrack_process *process)
{
	const uint64_t number = process->entry.members[STACKTRACK_FILE_NUMBER];
	char *known = hash_get_ptr(&process->files, number);
	char *path = text_unescape(xstrdup(buf_str(&process->entry.text)), "");
	const size_t released = known ? STACKTRACK_KEPT_EACH + strlen(known) : 0;

	free(known);
	hash_set_ptr(&process->files, number, path);
	return stacktrack_keep(reader, STACKTRACK_KEPT_EACH + strlen(path), released);
}

/* Parses the property "map=0xFROM-0xTO" of a file, and queues an object record with these addresses. */
static void take_property(struct stacktrack_reader *s, struct stacktrack_process *process)
{
	const char *path = hash_get_ptr(&process->files, process->entry.members[STACKTRACK_FILE_NUMBER]);
	char *at = (char *)(uintptr_t)buf_str(&process->entry.text);
	uint64_t from, to;

	if (!path || strncmp(at, "map=", 4) != 0)
		return;
	char *end = strchr(at += 4, '-');

	if (!end)
		return;
	*end++ = '\0';
	if (!parse_number(at, UINT64_MAX, &from) || !parse_number(end, UINT64_MAX, &to))
		return;
	tell_process(s, process);
	stacktrack_enqueue(s, RECORD_OBJECT)->object = (struct record_object){from, to, path};
}

int stacktrack_take(struct reader *reader, struct stacktrack_process *process)
{
	struct stacktrack_reader *s = reader->state;
	const bool is_known = process->begins_again && !process->entry.sequence;

	switch (process->entry.type) {
	case STACKTRACK_HIT:
		return is_known ? 1 : take_hit(reader, process);
	case STACKTRACK_FLOC:
		stacktrack_give_call(s, process);
		return take_file(reader, process);
	case STACKTRACK_FPROPERTY:
		stacktrack_give_call(s, process);
		if (!is_known)
			take_property(s, process);
		break;
	case STACKTRACK_SLOC:
		if (process->has_call && process->call_sequence != process->entry.sequence)
			stacktrack_give_call(s, process);
		return take_scope(reader, process);
	case STACKTRACK_PROCINFO:
		process->begins_again = process->has_begun;
		process->cycles++;
		process->has_begun = true;
		break;
	case STACKTRACK_TIMETYPE:
		process->ticks = process->entry.members[STACKTRACK_TIMETYPE_DIVISOR];
		break;
	case STACKTRACK_TIMEINFO:
		process->start_ticks = process->entry.members[STACKTRACK_TIMEINFO_TICKS];
		process->start = process->entry.members[STACKTRACK_TIMEINFO_START];
		break;
	default:
		break;
	}
	return 1;
}

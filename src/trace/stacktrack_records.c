/* What the entries of a StackTrack trace say, as records. */
#include "config.h"
#include "trace/digits.h"
#include "trace/stacktrack_read.h"
#include "trace/stacktrack_words.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static struct record *enqueue(struct stacktrack_reader *s, enum record_type type)
{
	struct record *record = &s->queue[s->queued++];

	*record = (struct record){.type = type};
	return record;
}

/* The record that begins each process, or, of one that has begun, says that what follows is its own. */
static void tell_process(struct stacktrack_reader *s, struct stacktrack_process *process)
{
	if (process->is_told && s->current == process)
		return;
	process->is_told = true;
	s->current = process;
	enqueue(s, RECORD_PROCESS)->process = (struct record_process){.version_major = 1,
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
	enqueue(s, RECORD_CALL)->call = process->call;
	return true;
}

static void take_process(struct stacktrack_reader *s, struct stacktrack_process *process)
{
	struct record_process p = {
		.version_major = 1, .version_minor = 4, .big_endian = s->swap, .start_sec = (int64_t)process->start};
	char *at = (char *)process->entry.text.data;
	struct word word;

	while (next_word(&at, &word)) {
		if (is(&word, "pid")) {
			p.pid = (uint32_t)word_number(&word);
			p.has_pid = true;
		} else if (is(&word, "arch")) {
			p.arch = word.value;
		} else if (is(&word, "pointer")) {
			p.pointer_size = word_number(&word) == 4 ? 4 : 8;
		} else if (is(&word, "usec")) {
			p.start_usec = (uint32_t)(word_number(&word) % 1000000);
		} else if (is(&word, "depth")) {
			p.depth = (uint32_t)word_number(&word);
			p.has_depth = true;
		} else if (is(&word, "notimes")) {
			p.no_timestamps = true;
		} else if (is(&word, "filters")) {
			p.filters = (unsigned)word_number(&word) & 7;
		} else if (is(&word, "start")) {
			p.start_text = word.value;
		} else if (is(&word, "name")) {
			p.name = word.value;
		} else if (is(&word, "origin")) {
			p.origin = word.value;
		}
	}
	if (process->is_told)
		return;
	process->is_told = true;
	process->pid = p.has_pid ? p.pid : process->pid;
	s->current = process;
	enqueue(s, RECORD_PROCESS)->process = p;
}

/* The next address of a stack, and what follows it (NULL: nothing). Most are words of nothing but an address. */
static bool next_frame(char **at, uint64_t *address, const char **text, enum stack_end *end)
{
	struct word word;

	for (;;) {
		const char *const behind = **at == '0' && (*at)[1] == 'x' ? take_hexadecimal(*at + 2, address) : NULL;

		*text = NULL;
		if (behind && (!*behind || *behind == ' ')) {
			*at += behind - *at + (*behind == ' ');
			return true;
		}
		if (!next_word(at, &word))
			return false;
		if (is(&word, "end"))
			*end = !strcmp(word.value, "cut") ? STACK_CUT : STACK_LOST;
		if (strncmp(word.key, "0x", 2) != 0 || !parse_number(word.key, UINT64_MAX, address))
			continue;
		*text = *word.value ? word.value : NULL;
		return true;
	}
}

/* The frames of a text, into process->frames; their number. */
static uint32_t parse_frames(struct stacktrack_process *process, bool *named)
{
	const struct buf *text_of_all = &process->entry.text;
	uint32_t count = 0;
	uint64_t address;
	const char *text;

	process->frames_text.size = 0;
	buf_add(&process->frames_text, text_of_all->data, text_of_all->size + 1);
	for (char *at = (char *)process->frames_text.data; next_frame(&at, &address, &text, &process->call.end);) {
		ARRAY_GROW(process->frames, process->frame_capacity, count);
		ARRAY_GROW(process->texts, process->text_capacity, count);
		process->texts[count] = text;
		*named |= text != NULL;
		process->frames[count++] = address;
	}
	return count;
}

static void copy_frames(struct stacktrack_process *process, const struct cached_stack *stack)
{
	uint32_t count;
	const uint64_t *const frames = stack_cache_frames(stack, &count);

	if (process->frame_capacity < count) {
		process->frames = xreallocarray(process->frames, count, sizeof(*process->frames));
		process->frame_capacity = count;
	}
	if (count)
		memcpy(process->frames, frames, count * sizeof(*frames));
	process->call.frame_count = count;
	process->call.end = stack->end;
}

static void take_backtrace(struct stacktrack_reader *s, struct stacktrack_process *process)
{
	const char *const text = (const char *)process->entry.text.data;
	const size_t size = process->entry.text.size;
	struct record_call *call = &process->call;
	const struct cached_stack *const known = stack_cache_find(&s->stacks, text, size);
	bool named = false;

	call->has_frames = true;
	if (known) {
		copy_frames(process, known);
	} else {
		call->end = STACK_WHOLE;
		call->frame_count = parse_frames(process, &named);
	}
	call->frames = process->frames;
	call->frame_texts = named ? process->texts : NULL;
	if (!known && !named)
		stack_cache_keep(&s->stacks, text, size, call->frames, call->frame_count * sizeof(*call->frames),
				 call->end);
}

static void take_args(struct stacktrack_process *process)
{
	struct record_call *call = &process->call;
	struct word word;

	process->args_text.size = 0;
	buf_add(&process->args_text, process->entry.text.data, process->entry.text.size + 1);
	call->arg_count = 0;
	for (char *at = (char *)process->args_text.data; next_word(&at, &word);) {
		ARRAY_GROW(process->args, process->arg_capacity, call->arg_count);
		process->args[call->arg_count++] = (struct call_arg){word.key, word.value};
	}
	call->args = process->args;
}

/* What `rest` of `divisor` ticks a second are in nanoseconds, rounded down. Digit by digit: a product would not fit. */
static uint64_t nanoseconds_of(uint64_t rest, uint64_t divisor)
{
	uint64_t nanoseconds = 0;

	for (; divisor > UINT64_MAX / 10; divisor >>= 1)
		rest >>= 1;
	for (int digit = 0; digit < 9; digit++) {
		rest *= 10;
		nanoseconds = nanoseconds * 10 + rest / divisor;
		rest %= divisor;
	}
	return nanoseconds;
}

/* Ticks since the start, whose second is known, as the time of the day. */
static uint64_t foreign_time(const struct stacktrack_process *process, uint64_t ticks)
{
	const uint64_t divisor = process->ticks ? process->ticks : STACKTRACK_TICKS;
	const uint64_t passed = ticks - process->start_ticks;

	return process->start % 86400 * STACKTRACK_TICKS + passed / divisor * STACKTRACK_TICKS +
	       nanoseconds_of(passed % divisor, divisor);
}

/* A checkpoint of a program that is not ours: a call that allocates nothing. */
static void take_foreign(struct stacktrack_reader *s, struct stacktrack_process *process)
{
	process->call.kind = CALL_COPY;
	process->call.time_ns = foreign_time(process, process->call.time_ns);
	process->call.resource = 1;
	if (process->has_foreign)
		return;
	process->has_foreign = true;
	enqueue(s, RECORD_RESOURCE)->resource = (struct record_resource){
		.id = 1, .flags = RESOURCE_CALL, .type = "checkpoint", .desc = "checkpoint that was passed"};
}

static void take_call(struct stacktrack_reader *s, struct stacktrack_process *process, const char *function)
{
	struct record_call *call = &process->call;
	char *at = (char *)process->entry.text.data;
	struct word word;

	/* The call before is perhaps in the queue, with its name. */
	process->turn = !process->turn;
	if (!process->functions[process->turn] || strcmp(process->functions[process->turn], function) != 0) {
		free(process->functions[process->turn]);
		process->functions[process->turn] = xstrdup(function);
	}
	*call = (struct record_call){.index = ++process->calls,
				     .time_ns = process->entry.members[STACKTRACK_HIT_WHEN],
				     .function = process->functions[process->turn]};
	while (next_word(&at, &word)) {
		const uint64_t value = word_number(&word);
		const enum call_kind kind = is(&word, "alloc")     ? CALL_ALLOC
					    : is(&word, "release") ? CALL_RELEASE
					    : is(&word, "copy")    ? CALL_COPY
								   : 0;

		if (kind) {
			call->kind = kind;
			call->id = value;
		} else if (is(&word, "size")) {
			call->size = value;
		} else if (is(&word, "resource")) {
			call->resource = (uint32_t)value;
		} else if (is(&word, "context")) {
			call->context = (uint32_t)value;
		} else if (is(&word, "notime")) {
			call->time_ns = TIME_NONE;
		} else if (is(&word, "shared")) {
			call->shares_next = true;
		}
	}
	if (!call->kind)
		take_foreign(s, process);
	process->has_call = true;
	process->call_sequence = process->entry.sequence;
}

static void take_heap(struct stacktrack_reader *s, char *at)
{
	struct record_heap *heap = &enqueue(s, RECORD_HEAP)->heap;
	struct word word;
	size_t info = 0;

	while (next_word(&at, &word)) {
		const uint64_t value = word_number(&word);

		if (is(&word, "bottom"))
			heap->bottom = value;
		else if (is(&word, "top"))
			heap->top = value;
		else if (is(&word, "lowest"))
			heap->lowest = value;
		else if (is(&word, "highest"))
			heap->highest = value;
		else if (is(&word, "info") && info < ARRAY_SIZE(heap->info))
			heap->info[info++] = value;
	}
}

/* The words of the small records. */
struct words {
	uint64_t id, flags, major, minor, from, size;
	const char *name, *text, *type, *path, *hex;
	bool internal;
};

static struct words take_words(char *at)
{
	struct words w = {.name = "", .text = "", .type = "", .path = "", .hex = ""};
	struct word word;

	while (next_word(&at, &word)) {
		const struct {
			const char *key;
			uint64_t *number;
			const char **text;
		} places[] = {{"id", &w.id, NULL},       {"tid", &w.id, NULL},      {"flags", &w.flags, NULL},
			      {"major", &w.major, NULL}, {"minor", &w.minor, NULL}, {"from", &w.from, NULL},
			      {"size", &w.size, NULL},   {"name", NULL, &w.name},   {"text", NULL, &w.text},
			      {"type", NULL, &w.type},   {"path", NULL, &w.path},   {"hex", NULL, &w.hex}};

		w.internal |= is(&word, "internal");
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

static void take_small(struct stacktrack_reader *s, enum stacktrack_value value, const struct words *w)
{
	switch (value) {
	case STACKTRACK_OF_MODULE:
		enqueue(s, RECORD_MODULE)->module =
			(struct record_module){(uint32_t)w->id, (uint16_t)w->major, (uint16_t)w->minor, w->name};
		break;
	case STACKTRACK_OF_RESOURCE:
		enqueue(s, RECORD_RESOURCE)->resource =
			(struct record_resource){(uint32_t)w->id, (uint32_t)w->flags & 3, w->type, w->text};
		break;
	case STACKTRACK_OF_CONTEXT:
		enqueue(s, RECORD_CONTEXT)->context = (struct record_context){(uint32_t)w->id, w->name};
		break;
	case STACKTRACK_OF_BUILD_ID:
		enqueue(s, RECORD_BUILD_ID)->build_id = (struct record_build_id){w->from, w->hex};
		break;
	case STACKTRACK_OF_THREAD:
		enqueue(s, RECORD_THREAD)->thread = (struct record_thread){(uint32_t)w->id, w->name};
		break;
	case STACKTRACK_OF_NOTE:
		enqueue(s, RECORD_NOTE)->note.text = w->text;
		break;
	case STACKTRACK_OF_COMMENT:
		enqueue(s, RECORD_COMMENT)->comment.text = w->text;
		break;
	case STACKTRACK_OF_ATTACHMENT:
		enqueue(s, RECORD_ATTACHMENT)->attachment = (struct record_attachment){w->text, w->path};
		break;
	case STACKTRACK_OF_AREA:
		enqueue(s, RECORD_AREA)->area = (struct record_area){w->from, w->size, w->internal};
		break;
	default:
		break;
	}
}

static void take_foreign_value(struct stacktrack_reader *s, struct stacktrack_process *process, const char *name)
{
	s->note.size = 0;
	buf_printf(&s->note, "%s = %s", name, buf_str(&process->entry.text));
	enqueue(s, RECORD_NOTE)->note.text = buf_str(&s->note);
}

static void take_hit(struct reader *reader, struct stacktrack_process *process)
{
	struct stacktrack_reader *s = reader->state;
	const uint64_t number = process->entry.members[STACKTRACK_HIT_SCOPE];
	const struct stacktrack_scope *scope = hash_get_ptr(&process->scopes, number);

	buf_str(&process->entry.text);
	if (scope && scope->value == STACKTRACK_OF_BACKTRACE && process->has_call &&
	    process->call_sequence == process->entry.sequence) {
		take_backtrace(s, process);
		return;
	}
	if (scope && scope->value == STACKTRACK_OF_ARGS && process->has_call &&
	    process->call_sequence == process->entry.sequence) {
		take_args(process);
		return;
	}
	stacktrack_give_call(s, process);
	if (!scope) {
		reader_complain(reader, "the hit at byte %" PRIu64 " is of scope %" PRIu64 ", which was not posted",
				reader_offset(reader), number);
		return;
	}
	if (scope->value == STACKTRACK_OF_PROCESS) {
		take_process(s, process);
		return;
	}
	tell_process(s, process);
	if (scope->value == STACKTRACK_OF_HEAP) {
		take_heap(s, (char *)process->entry.text.data);
	} else if (!scope->is_value) {
		take_call(s, process, scope->name);
	} else if (scope->value == STACKTRACK_OF_CALL) {
		take_foreign_value(s, process, scope->name);
	} else {
		const struct words w = take_words((char *)process->entry.text.data);

		take_small(s, scope->value, &w);
	}
}

int stacktrack_keep(struct reader *reader, size_t bytes, size_t released)
{
	struct stacktrack_reader *s = reader->state;

	s->kept = s->kept + bytes - released;
	if (s->kept > (size_t)STACKTRACK_KEPT_MIB << 20)
		return reader_damage(reader, 0, "names, and texts without an end, take more than %d MiB",
				     STACKTRACK_KEPT_MIB);
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

/* "map=0xFROM-0xTO" makes an object of a file. */
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
	enqueue(s, RECORD_OBJECT)->object = (struct record_object){from, to, path};
}

int stacktrack_take(struct reader *reader, struct stacktrack_process *process)
{
	struct stacktrack_reader *s = reader->state;
	const bool is_known = process->begins_again && !process->entry.sequence;

	switch (process->entry.type) {
	case STACKTRACK_HIT:
		if (!is_known)
			take_hit(reader, process);
		break;
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

/* Reads the StackTrack format: entries, and the texts that belong to them. stacktrack_records.c converts the entries to
 * records. */
#include "config.h"
#include "trace/stacktrack/stacktrack_read.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SPARE_TEXT 4096
/* take_entry() parses only this many members of an entry; read_prologue() parses the other members of the prologue */
#define ASKED_MEMBERS 2

static bool stacktrack_detect(const unsigned char *data, size_t size)
{
	struct stacktrack_format format;
	bool swap;

	stacktrack_format_init(&format);
	return size >= format.payload_at + 4 && stacktrack_is_prologue(&format, data, &swap);
}

static void stacktrack_read_begin(struct reader *reader)
{
	struct stacktrack_reader *s = reader->state;

	if (reader->layout)
		s->format = *reader->layout;
	else
		stacktrack_format_init(&s->format);
}

static void stacktrack_read_process_free(struct stacktrack_process *process)
{
	HASH_EACH_PTR(struct stacktrack_scope, scope, &process->scopes) {
		free(scope->name);
		free(scope);
	}
	hash_free_all(&process->files);
	HASH_EACH_PTR(struct stacktrack_stack, stack, &process->stacks) {
		free(stack->frames);
		free(stack);
	}
	hash_free(&process->stacks);
	hash_free(&process->scopes);
	HASH_EACH_PTR(struct stacktrack_entry, open, &process->open) {
		buf_free(&open->text);
		free(open);
	}
	hash_free(&process->open);
	if (process->last)
		buf_free(&process->last->text);
	free(process->last);
	if (process->spare)
		buf_free(&process->spare->text);
	free(process->spare);
	buf_free(&process->entry.text);
	buf_free(&process->args_text);
	buf_free(&process->frames_text);
	free(process->functions[0]);
	free(process->functions[1]);
	free(process->args);
	free(process->frames);
	free(process->texts);
	free(process);
}

static void stacktrack_read_end(struct reader *reader)
{
	struct stacktrack_reader *s = reader->state;

	HASH_EACH_PTR(struct stacktrack_process, process, &s->processes)
		stacktrack_read_process_free(process);
	hash_free(&s->processes);
	buf_free(&s->note);
}

/* Skips bytes up to the first prologue. If the beginning of the trace is missing, this is the prologue of the first
 * complete write cycle. */
static int find_prologue(struct reader *reader, size_t size)
{
	struct stacktrack_reader *s = reader->state;
	const uint64_t begin = reader_offset(reader);
	char clause[80];

	while (!stacktrack_is_prologue(&s->format, reader->data + reader->start, &s->swap)) {
		reader_skip(reader, 1);
		if (reader_fill(reader, size) < size)
			return reader_damage(reader, 0, "no prologue of StackTrack was found in the trace");
	}
	snprintf(clause, sizeof(clause), "it is read from its first prologue, at byte %" PRIu64,
		 reader_offset(reader) - begin);
	if (reader_offset(reader) > begin)
		reader_remark(reader, clause);
	return 1;
}

static int read_prologue(struct reader *reader)
{
	struct stacktrack_reader *s = reader->state;
	const size_t size = stacktrack_prologue_size(&s->format);
	char clause[160];
	size_t at;

	if (reader_fill(reader, size) < size)
		return reader_cut_off(reader, "the prologue");
	const int status = find_prologue(reader, size);

	if (status != 1)
		return status;
	if (!stacktrack_format_begin(&s->format, reader->data + reader->start, s->swap, &at, clause, sizeof(clause)))
		return reader_damage(reader, at, "%s", clause);
	s->begun = true;
	return 1;
}

static struct stacktrack_process *stacktrack_read_process_of(struct stacktrack_reader *s, uint32_t pid)
{
	if (s->last && s->last_pid == pid)
		return s->last;
	struct stacktrack_process *process = hash_get_ptr(&s->processes, pid);

	if (!process) {
		process = xcalloc(1, sizeof(*process));
		process->pid = pid;
		process->ticks = STACKTRACK_TICKS;
		hash_set_ptr(&s->processes, pid, process);
	}
	s->last = process;
	s->last_pid = pid;
	return process;
}

/* Queues the records of an entry whose text is complete. Moves the entry to process->entry, and leaves in *entry the
 * old text buffer of process->entry for reuse. */
static int close_entry(struct reader *reader, struct stacktrack_process *process, struct stacktrack_entry *entry)
{
	const struct buf text = process->entry.text;

	process->entry = *entry;
	entry->text = text;
	return stacktrack_take(reader, process);
}

static struct stacktrack_entry *open_entry_of(struct stacktrack_process *process, uint32_t sequence)
{
	struct stacktrack_entry *const last = process->last;

	return last && last->sequence == sequence ? last : hash_get_ptr(&process->open, sequence);
}

/* Removes the entry from those whose texts are unfinished. */
static void remove_open(struct stacktrack_process *process, const struct stacktrack_entry *entry)
{
	if (process->last == entry)
		process->last = NULL;
	else
		hash_remove(&process->open, entry->sequence, NULL);
}

/* Keeps an unused entry with its text buffer for reuse. Frees it if another unused entry is kept already, or if the
 * buffer is large. */
static void recycle(struct stacktrack_process *process, struct stacktrack_entry *entry)
{
	if (!process->spare && entry->text.capacity <= SPARE_TEXT) {
		process->spare = entry;
		return;
	}
	buf_free(&entry->text);
	free(entry);
}

/* Returns true if one of 16 bytes is NUL. */
static inline bool has_nul(const unsigned char *text)
{
	unsigned char __attribute__((vector_size(16))) bytes;
	uint64_t nuls[2];

	memcpy(&bytes, text, sizeof(bytes));
	bytes = bytes == 0;
	memcpy(nuls, &bytes, sizeof(nuls));
	return nuls[0] | nuls[1];
}

/* Returns the same as strnlen(). For the few bytes of an entry this is faster, because `size` is mostly a constant at
 * compile time. */
static inline size_t stacktrack_read_length_of(const unsigned char *text, size_t size)
{
	size_t length = 0;

	while (length + 16 <= size && !has_nul(text + length))
		length += 16;
	while (length < size && text[length])
		length++;
	return length;
}

/* Returns true if two entries have the same bytes before their payload except for the flags: the same pid and the same
 * sequence number. */
static inline bool is_of_same_text(const struct stacktrack_format *f, const unsigned char *p,
				   const unsigned char *other)
{
	uint64_t a, b;

	if (f->payload_at != sizeof(a))
		return !memcmp(p + 2, other + 2, f->payload_at - 2);
	memcpy(&a, p, sizeof(a));
	memcpy(&b, other, sizeof(b));
	return !(le64toh(a ^ b) >> 16);
}

enum { INFOS_AT_ONCE = 32 };

/* Appends the text of the INFO entry at reader->start, and the texts of the entries after it that are in the buffer
 * already and have the same bytes before their payload: at most `most` entries in all. The text of an entry ends at its
 * first NUL, so the result does not depend on how many entries are in the buffer. Afterwards reader->start is at the
 * last entry whose text was appended. */
static inline __attribute__((always_inline)) void take_infos(struct reader *reader, struct buf *text, size_t most,
							     size_t entry_size, size_t payload_at, size_t info_size)
{
	const unsigned char *p = reader->data + reader->start, *const end = reader->data + reader->end;
	unsigned char *const first = buf_room(text, most * info_size + 1), *to = first;

	for (size_t i = 1;; i++) {
		memcpy(to, p + payload_at, info_size);
		to += stacktrack_read_length_of(p + payload_at, info_size);
		if (i >= most || (size_t)(end - p) < 2 * entry_size || memcmp(p, p + entry_size, payload_at) != 0)
			break;
		p += entry_size;
	}
	reader->start = (size_t)(p - reader->data);
	text->size += (size_t)(to - first);
}

/* Returns true if the entry after the one at reader->start is in the buffer already and ends the same text. */
static bool is_end_after(const struct reader *reader, unsigned flags)
{
	const struct stacktrack_reader *s = reader->state;
	const struct stacktrack_format *const f = &s->format;
	const unsigned char *const p = reader->data + reader->start, *const after = p + f->entry_size;

	return reader_available(reader) >= 2 * f->entry_size &&
	       stacktrack_number(after, 2, s->swap) == (flags | f->info_end) && is_of_same_text(f, p, after);
}

/* Parses the INFO entry at reader->start, and the entries after it that belong to the same text. If they complete the
 * text, queues the records of `entry`. INFO entries with different sequence numbers may alternate. */
static int stacktrack_read_take_text(struct reader *reader, struct stacktrack_process *process,
				     struct stacktrack_entry *entry, unsigned flags)
{
	const struct stacktrack_reader *s = reader->state;
	const struct stacktrack_format *const f = &s->format;
	const size_t before = entry->text.size, room = (STACKTRACK_TEXT_MAX - before) / f->info_size;
	const size_t most = flags & f->info_end ? 1 : room < INFOS_AT_ONCE ? room : INFOS_AT_ONCE;

	if (!room)
		return reader_damage(reader, 0, "a text has more than %d bytes", STACKTRACK_TEXT_MAX);
	/* With constant sizes, the compiler copies and compares with a few registers. */
	if (f->entry_size == STACKTRACK_ENTRY && f->payload_at == STACKTRACK_PAYLOAD && f->info_size == STACKTRACK_INFO)
		take_infos(reader, &entry->text, most, STACKTRACK_ENTRY, STACKTRACK_PAYLOAD, STACKTRACK_INFO);
	else
		take_infos(reader, &entry->text, most, f->entry_size, f->payload_at, f->info_size);
	if (!(flags & f->info_end)) {
		if (entry->text.size + f->info_size > STACKTRACK_TEXT_MAX || !is_end_after(reader, flags))
			return stacktrack_keep(reader, entry->text.size - before, 0);
		reader->start += f->entry_size;
		take_infos(reader, &entry->text, 1, f->entry_size, f->payload_at, f->info_size);
	}
	remove_open(process, entry);
	stacktrack_keep(reader, 0, STACKTRACK_KEPT_EACH + before);
	const int status = close_entry(reader, process, entry);

	recycle(process, entry);
	return status;
}

static int take_info(struct reader *reader, struct stacktrack_process *process, uint32_t sequence, unsigned flags)
{
	struct stacktrack_entry *entry = open_entry_of(process, sequence);

	if (entry)
		return stacktrack_read_take_text(reader, process, entry, flags);
	reader_complain(reader, "the text at byte %" PRIu64 " belongs to no entry", reader_offset(reader));
	return 1;
}

static struct stacktrack_entry *new_entry(struct stacktrack_process *process)
{
	struct stacktrack_entry *const entry = process->spare ? process->spare : xcalloc(1, sizeof(*entry));

	process->spare = NULL;
	return entry;
}

/* Parses the next entry if it is an INFO entry with text of `entry`, and is in the buffer already, which is the usual
 * case. Otherwise does nothing: the text is parsed when its entries are read. */
static int take_text_after(struct reader *reader, struct stacktrack_process *process, struct stacktrack_entry *entry)
{
	const struct stacktrack_reader *s = reader->state;
	const struct stacktrack_format *const f = &s->format;
	const unsigned char *const p = reader->data + reader->start, *const after = p + f->entry_size;

	if (reader_available(reader) < 2 * f->entry_size || !is_of_same_text(f, p, after))
		return 1;
	const unsigned flags = (unsigned)stacktrack_number(after, 2, s->swap);

	if (stacktrack_type(f, flags) != STACKTRACK_IS_INFO)
		return 1;
	reader->start += f->entry_size;
	return stacktrack_read_take_text(reader, process, entry, flags);
}

static int open_entry(struct reader *reader, struct stacktrack_process *process, const struct stacktrack_entry *entry)
{
	const struct stacktrack_reader *s = reader->state;
	struct stacktrack_entry *open = open_entry_of(process, entry->sequence);
	const size_t released = open ? STACKTRACK_KEPT_EACH + open->text.size : 0;
	const bool has_text = entry->flags & s->format.has_info;

	if (open)
		reader_complain(reader, "the text before byte %" PRIu64 " has no end", reader_offset(reader));
	if (has_text && open)
		remove_open(process, open);
	else
		open = new_entry(process);
	const struct buf text = open->text;

	*open = *entry;
	open->text = text;
	open->text.size = 0;
	if (!has_text) {
		const int status = close_entry(reader, process, open);

		recycle(process, open);
		return status;
	}
	if (process->last)
		hash_set_ptr(&process->open, process->last->sequence, process->last);
	process->last = open;
	const int status = stacktrack_keep(reader, STACKTRACK_KEPT_EACH, released);

	return status == 1 ? take_text_after(reader, process, open) : status;
}

static int take_entry(struct reader *reader)
{
	struct stacktrack_reader *s = reader->state;
	const struct stacktrack_format *const f = &s->format;
	const size_t available = reader_fill(reader, f->entry_size);
	int status = 1;

	if (!available)
		return reader_end(reader);
	if (available < f->entry_size)
		return reader_cut_off(reader, "an entry");
	const unsigned char *p = reader->data + reader->start;
	struct stacktrack_process *process =
		stacktrack_read_process_of(s, (uint32_t)stacktrack_number(p + f->process_at, f->process_size, s->swap));
	struct stacktrack_entry entry = {.flags = (unsigned)stacktrack_number(p, 2, s->swap),
					 .sequence = (uint32_t)stacktrack_number(p + f->sequence_at, 4, s->swap)};

	entry.type = stacktrack_type(f, entry.flags);
	if (entry.type == STACKTRACK_IS_INFO) {
		status = take_info(reader, process, entry.sequence, entry.flags);
	} else if (entry.type < STACKTRACK_TYPES) {
		const struct stacktrack_layout *const layout = &f->layouts[entry.type];

		for (unsigned i = 0; i < layout->member_count && i < ASKED_MEMBERS; i++)
			entry.members[i] = stacktrack_member(f, &layout->members[i], p, s->swap);
		status = open_entry(reader, process, &entry);
	} else {
		reader->skipped++;
	}
	if (status == 1)
		reader_skip(reader, f->entry_size);
	return status;
}

/* At the end of the trace: queues one call that still waits for arguments or a stack. Returns false if there is no such
 * call. */
static bool end_calls(struct stacktrack_reader *s)
{
	struct hash_entry *entry;

	while ((entry = hash_next(&s->processes, &s->ending)))
		if (stacktrack_give_call(s, (void *)(uintptr_t)entry->value))
			return true;
	return false;
}

static int stacktrack_next(struct reader *reader, struct record *record)
{
	struct stacktrack_reader *s = reader->state;

	while (s->given == s->queued) {
		s->given = s->queued = 0;
		if (!s->stopped) {
			const int status = s->begun ? take_entry(reader) : read_prologue(reader);

			s->stopped = status != 1;
			s->status = status;
		} else if (!end_calls(s)) {
			return s->status;
		}
	}
	*record = s->queue[s->given++];
	return 1;
}

const struct reader_ops stacktrack_reader_ops = {
	.detect = stacktrack_detect,
	.state_size = sizeof(struct stacktrack_reader),
	.begin = stacktrack_read_begin,
	.next = stacktrack_next,
	.end = stacktrack_read_end,
};

/* Reads the StackTrack format: entries, and the texts that belong to them. What they say is stacktrack_records.c's
 * matter. */
#include "config.h"
#include "trace/stacktrack_read.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SPARE_TEXT 4096

static bool stacktrack_detect(const unsigned char *data, size_t size)
{
	struct stacktrack_format format;
	bool swap;

	stacktrack_format_init(&format);
	return size >= format.payload_at + 4 && stacktrack_is_prologue(&format, data, &swap);
}

static void *stacktrack_begin(struct reader *reader)
{
	struct stacktrack_reader *const s = xcalloc(1, sizeof(*s));

	if (reader->layout)
		s->format = *reader->layout;
	else
		stacktrack_format_init(&s->format);
	return s;
}

static void process_free(struct stacktrack_process *process)
{
	struct hash_entry *entry;

	for (size_t i = 0; (entry = hash_next(&process->scopes, &i));) {
		struct stacktrack_scope *scope = (void *)(uintptr_t)entry->value;

		free(scope->name);
		free(scope);
	}
	for (size_t i = 0; (entry = hash_next(&process->files, &i));)
		free((void *)(uintptr_t)entry->value);
	hash_free(&process->scopes);
	hash_free(&process->files);
	for (size_t i = 0; (entry = hash_next(&process->open, &i));) {
		struct stacktrack_entry *open = (void *)(uintptr_t)entry->value;

		buf_free(&open->text);
		free(open);
	}
	hash_free(&process->open);
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

static void stacktrack_end(struct reader *reader)
{
	struct stacktrack_reader *s = reader->state;
	struct hash_entry *entry;

	for (size_t i = 0; (entry = hash_next(&s->processes, &i));)
		process_free((void *)(uintptr_t)entry->value);
	hash_free(&s->processes);
	stack_cache_free(&s->stacks);
	buf_free(&s->note);
	free(s);
}

/* Where a tail of a trace is read, its first write cycle that is whole is looked for. */
static int find_prologue(struct reader *reader, size_t size)
{
	struct stacktrack_reader *s = reader->state;
	const uint64_t begin = reader_offset(reader);
	char clause[80];

	while (!stacktrack_is_prologue(&s->format, reader->data + reader->start, &s->swap)) {
		reader_skip(reader, 1);
		if (reader_fill(reader, size) < size)
			return reader_damage(reader, 0, "no StackTrack trace begins here, and none before");
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

static struct stacktrack_process *process_of(struct stacktrack_reader *s, uint32_t pid)
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

/* The entry is whole: its records are made. It gets the text of the one before, to be used again. */
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

/* Nothing of it is used any more but its memory; a long text's is not kept. */
static void recycle(struct stacktrack_process *process, struct stacktrack_entry *entry)
{
	if (process->last == entry)
		process->last = NULL;
	if (!process->spare && entry->text.capacity <= SPARE_TEXT) {
		process->spare = entry;
		return;
	}
	buf_free(&entry->text);
	free(entry);
}

/* What follows the entry of a text is mostly more of it: those with the same bytes before their payload, as far as they
 * are read already, but for the last of them, with which the caller goes on. How many bytes of text they had. */
static size_t take_infos_like_it(struct reader *reader, struct stacktrack_entry *entry)
{
	const struct stacktrack_format *const f = &((struct stacktrack_reader *)reader->state)->format;
	const unsigned char *p = reader->data + reader->start, *const end = reader->data + reader->end;
	const size_t room = (STACKTRACK_TEXT_MAX - entry->text.size) / f->info_size;
	size_t count = 0;

	while (count < room && (size_t)(end - p) >= 2 * f->entry_size && !memcmp(p, p + f->entry_size, f->payload_at)) {
		p += f->entry_size;
		count++;
	}
	unsigned char *const first = buf_room(&entry->text, count * f->info_size + 1), *to = first;

	/* Each copies its whole payload and keeps what precedes its first NUL: whatever is read already, the text is
	 * the same. */
	for (const unsigned char *from = p - count * f->entry_size; from < p;) {
		from += f->entry_size;
		memcpy(to, from + f->payload_at, f->info_size);
		to += strnlen((const char *)to, f->info_size);
	}
	reader->start = (size_t)(p - reader->data);
	const size_t length = (size_t)(to - first);

	entry->text.size += length;
	return length;
}

/* The texts of several sequence numbers may come by turns. */
static int take_info(struct reader *reader, struct stacktrack_process *process, uint32_t sequence, unsigned flags)
{
	const struct stacktrack_reader *s = reader->state;
	const char *const text = (const char *)reader->data + reader->start + s->format.payload_at;
	struct stacktrack_entry *entry = open_entry_of(process, sequence);

	if (!entry) {
		reader_complain(reader, "the text at byte %" PRIu64 " belongs to no entry", reader_offset(reader));
		return 1;
	}
	if (entry->text.size + s->format.info_size > STACKTRACK_TEXT_MAX)
		return reader_damage(reader, 0, "a text has more than %d bytes", STACKTRACK_TEXT_MAX);
	size_t length = strnlen(text, s->format.info_size);

	buf_add(&entry->text, text, length);
	if (!(flags & s->format.info_end)) {
		length += take_infos_like_it(reader, entry);
		return stacktrack_keep(reader, length, 0);
	}
	hash_remove(&process->open, sequence, NULL);
	stacktrack_keep(reader, 0, STACKTRACK_KEPT_EACH + entry->text.size - length);
	const int status = close_entry(reader, process, entry);

	recycle(process, entry);
	return status;
}

static struct stacktrack_entry *new_entry(struct stacktrack_process *process)
{
	struct stacktrack_entry *const entry = process->spare ? process->spare : xcalloc(1, sizeof(*entry));

	process->spare = NULL;
	return entry;
}

static int open_entry(struct reader *reader, struct stacktrack_process *process, const struct stacktrack_entry *entry)
{
	const struct stacktrack_reader *s = reader->state;
	struct stacktrack_entry *open = process->open.count ? open_entry_of(process, entry->sequence) : NULL;
	const size_t released = open ? STACKTRACK_KEPT_EACH + open->text.size : 0;
	const bool has_text = entry->flags & s->format.has_info;

	if (open)
		reader_complain(reader, "the text before byte %" PRIu64 " has no end", reader_offset(reader));
	if (!has_text || !open)
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
	hash_set_ptr(&process->open, entry->sequence, open);
	process->last = open;
	return stacktrack_keep(reader, STACKTRACK_KEPT_EACH, released);
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
		process_of(s, (uint32_t)stacktrack_number(p + f->process_at, f->process_size, s->swap));
	struct stacktrack_entry entry = {.flags = (unsigned)stacktrack_number(p, 2, s->swap),
					 .sequence = (uint32_t)stacktrack_number(p + f->sequence_at, 4, s->swap)};

	entry.type = stacktrack_type(f, entry.flags);
	if (entry.type == STACKTRACK_IS_INFO) {
		status = take_info(reader, process, entry.sequence, entry.flags);
	} else if (entry.type < STACKTRACK_TYPES) {
		const struct stacktrack_layout *const layout = &f->layouts[entry.type];

		for (unsigned i = 0; i < layout->member_count; i++)
			entry.members[i] = stacktrack_member(f, &layout->members[i], p, s->swap);
		status = open_entry(reader, process, &entry);
	} else {
		reader->skipped++;
	}
	if (status == 1)
		reader_skip(reader, f->entry_size);
	return status;
}

/* The calls that wait for more, when nothing more comes. True if one was queued. */
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
	.begin = stacktrack_begin,
	.next = stacktrack_next,
	.end = stacktrack_end,
};

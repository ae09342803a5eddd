/* Reads the StackTrack format: entries, and the texts that belong to them. What they say is stacktrack_records.c's
 * matter. */
#include "config.h"
#include "trace/stacktrack_read.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define SMALLEST_PAYLOAD 16

static uint64_t number(const unsigned char *p, size_t size, bool swap)
{
	uint64_t value = 0;

	for (size_t i = 0; i < size; i++)
		value |= (uint64_t)p[swap ? size - 1 - i : i] << 8 * i;
	return value;
}

uint64_t stacktrack_number(const struct stacktrack_reader *s, const unsigned char *p, size_t size)
{
	return number(p, size, s->swap);
}

static bool stacktrack_detect(const unsigned char *data, size_t size)
{
	return size >= 12 &&
	       (number(data + 8, 4, false) == STACKTRACK_MAGIC || number(data + 8, 4, true) == STACKTRACK_MAGIC);
}

static void *stacktrack_begin(struct reader *reader)
{
	(void)reader;
	return xcalloc(1, sizeof(struct stacktrack_reader));
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
	hash_free(&process->threads);
	buf_free(&process->text);
	buf_free(&process->args_text);
	buf_free(&process->frames_text);
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
	buf_free(&s->note);
	free(s);
}

static int read_prologue(struct reader *reader)
{
	struct stacktrack_reader *s = reader->state;

	if (reader_fill(reader, 19) < 19)
		return reader_cut_off(reader, "the prologue");
	const unsigned char *p = reader->data + reader->start;

	if (!stacktrack_detect(p, 12))
		return reader_damage(reader, 8, "this does not begin as a StackTrack trace");
	s->swap = number(p + 8, 4, false) != STACKTRACK_MAGIC;
	s->info_size = p[16];
	s->entry_size = p[17];
	s->payload_at = p[18];
	/* The header's numbers have the sizes that the document's system has: no field says otherwise. */
	if (s->payload_at != STACKTRACK_PAYLOAD || s->entry_size < s->payload_at + SMALLEST_PAYLOAD || !s->info_size ||
	    s->info_size > s->entry_size - s->payload_at)
		return reader_damage(reader, 16, "entries of %zu bytes with %zu of text at byte %zu are unknown",
				     s->entry_size, s->info_size, s->payload_at);
	if (number(p + 12, 4, s->swap) != STACKTRACK_VERSION)
		return reader_damage(reader, 12, "the format's version is %" PRIx64 "; known is 100",
				     number(p + 12, 4, s->swap));
	s->begun = true;
	return 1;
}

static struct stacktrack_process *process_of(struct stacktrack_reader *s, uint16_t pid)
{
	struct stacktrack_process *process = hash_get_ptr(&s->processes, pid);

	if (process)
		return process;
	process = xcalloc(1, sizeof(*process));
	process->pid = pid;
	process->ticks = STACKTRACK_TICKS;
	hash_set_ptr(&s->processes, pid, process);
	return process;
}

static int take_info(struct reader *reader, struct stacktrack_process *process, unsigned flags,
		     const unsigned char *text)
{
	const struct stacktrack_reader *s = reader->state;

	if (!process->has_entry) {
		reader_complain(reader, "the text at byte %" PRIu64 " belongs to no entry", reader_offset(reader));
		return 1;
	}
	if (process->text.size + s->info_size > STACKTRACK_TEXT_MAX)
		return reader_damage(reader, 0, "a text has more than %d bytes", STACKTRACK_TEXT_MAX);
	buf_add(&process->text, text, strnlen((const char *)text, s->info_size));
	if (!(flags & STACKTRACK_INFO_END))
		return 1;
	process->has_entry = false;
	return stacktrack_take(reader, process);
}

static int take_entry(struct reader *reader)
{
	struct stacktrack_reader *s = reader->state;
	const size_t available = reader_fill(reader, s->entry_size);

	if (!available)
		return reader_end(reader);
	if (available < s->entry_size)
		return reader_cut_off(reader, "an entry");
	const unsigned char *p = reader->data + reader->start;
	const unsigned flags = (unsigned)number(p, 2, s->swap), type = flags & STACKTRACK_TYPE_MASK;
	struct stacktrack_process *process = process_of(s, (uint16_t)number(p + 2, 2, s->swap));
	const uint32_t sequence = (uint32_t)number(p + 4, 4, s->swap);
	int status = 1;

	if (type == STACKTRACK_IS_INFO) {
		if (process->has_entry && process->entry.sequence != sequence)
			return reader_damage(reader, 4, "a text of sequence %" PRIu32 " within that of %" PRIu32,
					     sequence, process->entry.sequence);
		status = take_info(reader, process, flags, p + s->payload_at);
	} else if (type >= STACKTRACK_TYPES) {
		reader->skipped++;
	} else {
		if (process->has_entry)
			reader_complain(reader, "the text before byte %" PRIu64 " has no end", reader_offset(reader));
		process->entry = (struct stacktrack_entry){.flags = flags, .sequence = sequence};
		memcpy(process->entry.payload, p + s->payload_at, sizeof(process->entry.payload));
		process->text.size = 0;
		process->has_entry = flags & STACKTRACK_HAS_INFO;
		if (!process->has_entry)
			status = stacktrack_take(reader, process);
	}
	if (status == 1)
		reader_skip(reader, s->entry_size);
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

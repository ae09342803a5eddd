/* Stores the processes of a SWAP stream, and the objects that are mapped in each. */
#include "config.h"
#include "trace/swap/swap_read.h"
#include "base/time_units.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void swap_process_free(struct swap_process *p)
{
	for (uint32_t i = 0; i < p->file_count; i++)
		free((char *)(uintptr_t)p->files[i].path);
	free(p->files);
	free(p->name);
	free(p->command);
	mapped_objects_free(&p->objects);
	free(p);
}

static void push_process(struct swap_reader *s, const struct swap_process *p)
{
	swap_push(s, &(struct record){.type = RECORD_PROCESS,
				      .process = {.version_major = 1,
						  .version_minor = 4,
						  .pid = p->pid,
						  .has_pid = p->pid,
						  .start_sec = p->start_sec,
						  .start_usec = p->start_usec,
						  .no_timestamps = p->no_times,
						  .name = p->name,
						  .command = p->command,
						  .ppid = p->ppid,
						  .is_attached = p->is_attached,
						  .files = p->files,
						  .file_count = p->file_count}});
}

static struct swap_process *swap_read_process_add_process(struct swap_reader *s, uint32_t pid,
							  const struct swap_message *message)
{
	struct swap_process *p = xcalloc(1, sizeof(*p));

	p->pid = p->tid = pid;
	p->start_sec = message->seconds;
	p->start_usec = message->nanoseconds / 1000;
	p->day_ns = (uint64_t)(p->start_sec - p->start_sec % SECONDS_PER_DAY) * NS_PER_SECOND;
	hash_set_ptr(&s->processes, pid, p);
	return p;
}

void swap_select_process(struct swap_reader *s, uint32_t pid, const struct swap_message *message)
{
	struct swap_process *p = hash_get_ptr(&s->processes, pid);

	if (!p)
		p = swap_read_process_add_process(s, pid, message);
	if (s->current != p)
		push_process(s, p);
	s->current = p;
}

void swap_push_object(struct swap_reader *s, uint64_t low, uint64_t high, const char *path)
{
	const struct record_object object = {low, high, path};

	if (low >= high)
		return;
	mapped_objects_add(&s->current->objects, &object);
	swap_push(s, &(struct record){.type = RECORD_OBJECT, .object = object});
}

static void swap_read_process_take_files(struct swap_process *p, const struct swap_fields *status)
{
	p->is_attached = true;
	p->file_count = (uint32_t)status->item_count;
	p->files = p->file_count ? xcalloc(p->file_count, sizeof(*p->files)) : NULL;
	for (uint32_t i = 0; i < p->file_count; i++)
		p->files[i] = (struct open_file){(uint32_t)status->items[i].low, status->items[i].high,
						 xstrdup(status->items[i].path)};
}

void swap_take_process_info(struct swap_reader *s, const struct swap_message *message, const struct swap_fields *fields,
			    const struct swap_fields *status)
{
	const uint32_t pid = (uint32_t)fields->numbers[SLOT_PID];
	const char *const path = fields->texts[SLOT_PATH];
	struct swap_process *p = hash_get_ptr(&s->processes, pid);

	if (p) {
		char *const text = xasprintf("process %" PRIu32 " executes %s", pid, path);

		swap_select_process(s, pid, message);
		swap_push_note(s, swap_keep(s, text));
		free(text);
	} else {
		struct swap_message begin = *message;

		if (!begin.seconds && !begin.nanoseconds) {
			begin.seconds = (uint32_t)fields->numbers[SLOT_START];
			begin.nanoseconds = fields->start_ns < NS_PER_SECOND ? fields->start_ns : 0;
		}
		p = swap_read_process_add_process(s, pid, &begin);
		p->no_times = !message->seconds && !message->nanoseconds;
		p->ppid = (uint32_t)fields->numbers[SLOT_PPID];
		p->name = strcmp(path, "N/A") ? xstrdup(path) : NULL;
		p->command = xstrdup(fields->texts[SLOT_TEXT]);
		if (status)
			swap_read_process_take_files(p, status);
		swap_select_process(s, pid, message);
	}
	bool has_program = false;

	for (size_t i = 0; i < fields->item_count; i++)
		has_program |= !strcmp(fields->items[i].path, path);
	if (!has_program)
		swap_push_object(s, fields->numbers[SLOT_LOW], fields->numbers[SLOT_HIGH], path);
	for (size_t i = 0; i < fields->item_count; i++)
		swap_push_object(s, fields->items[i].low, fields->items[i].high, fields->items[i].path);
}

void swap_take_unmap(struct swap_reader *s, const struct swap_fields *fields)
{
	const uint64_t low = fields->numbers[SLOT_LOW], high = fields->numbers[SLOT_HIGH];
	const struct record_object *object = mapped_objects_find(&s->current->objects, low, high);
	char *const text = xasprintf("unmapped 0x%" PRIx64 "-0x%" PRIx64 "%s%s", low, high, object ? " " : "",
				     object ? object->path : "");

	swap_push_note(s, swap_keep(s, text));
	free(text);
	mapped_objects_remove(&s->current->objects, low, high);
}

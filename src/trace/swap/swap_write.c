/* Writes SWAP messages about the process, its objects, threads, contexts and notes. */
#include "config.h"
#include "trace/note_end.h"
#include "trace/swap/swap_write.h"
#include "base/time_units.h"

#include <stdlib.h>

#define STRING_MAX 4096
/* maximum number of threads whose names are remembered; when it is reached, all names are forgotten and written
 * again */
#define THREADS_MAX 65536

static void free_path(const char *path)
{
	free((char *)(uintptr_t)path);
}

static void swap_writer_end(struct writer *writer)
{
	struct swap_writer *s = writer->state;

	for (size_t i = 0; i < s->resource_count; i++)
		free(s->resources[i].type);
	for (size_t i = 0; i < s->file_count; i++)
		free_path(s->files[i].path);
	mapped_objects_free(&s->objects);
	free(s->resources);
	free(s->files);
	free(s->name);
	free(s->command);
	hash_free(&s->threads);
	stack_cache_free(&s->stacks);
}

/* ---- The process ---- */

static void copy_files(struct swap_writer *s, const struct record_process *process)
{
	s->file_count = process->file_count;
	s->files = process->file_count ? xcalloc(process->file_count, sizeof(*s->files)) : NULL;
	for (uint32_t i = 0; i < process->file_count; i++) {
		s->files[i] = process->files[i];
		s->files[i].path = xstrdup(process->files[i].path ? process->files[i].path : "");
	}
}

static void swap_write_take_process(struct writer *writer, const struct record_process *process)
{
	struct swap_writer *s = writer->state;
	const uint64_t start = process->start_sec > 0 ? (uint64_t)process->start_sec * NS_PER_SECOND +
								process->start_usec * UINT64_C(1000)
						      : 0;

	if (writer->has_process)
		return;
	s->pid = s->tid = process->pid;
	s->ppid = process->ppid;
	s->name = xstrdup(process->name ? process->name : "N/A");
	s->command = xstrdup(process->command ? process->command : process->name ? process->name : "");
	s->is_attached = process->is_attached;
	copy_files(s, process);
	s->start_ns = start;
	/* In a trace without times, readers take the trace's start from the process's start in MSG_PROCESS_INFO. So
	 * own_start_ns is then the trace's start. */
	s->own_start_ns = process->own_start_ns && !process->no_timestamps ? process->own_start_ns : start;
	s->day_ns = start - start % NS_PER_DAY;
	/* Time 0 in a head means that the trace has no times. */
	if (!process->no_timestamps)
		s->now_ns = start ? start : 1;
}

static void put_status(struct writer *writer)
{
	const struct swap_writer *s = writer->state;
	const size_t head = swap_begin(writer, SWAP_PROCESS_STATUS_INFO, s->now_ns);
	const size_t count_at = writer->out.size + 4;
	uint32_t count = 0;

	swap_put_dword(&writer->out, s->pid);
	swap_put_dword(&writer->out, 0);
	for (; count < s->file_count; count++) {
		const struct open_file *file = &s->files[count];

		if (writer->out.size - head - SWAP_HEAD + 16 + strlen(file->path) + 1 > SWAP_PAYLOAD_MAX)
			break;
		swap_put_dword(&writer->out, file->fd);
		swap_put_dword(&writer->out, s->pid);
		swap_put_long(&writer->out, file->size < SWAP_FILE_SIZE_MAX ? file->size : SWAP_FILE_SIZE_MAX);
		writer->cut_count += file->size > SWAP_FILE_SIZE_MAX;
		swap_put_string(writer, file->path, STRING_MAX);
	}
	writer->cut_count += s->file_count - count;
	swap_set_dword(&writer->out, count_at, count);
	swap_end(writer, head);
}

static void put_map(struct writer *writer, const struct record_object *object)
{
	const struct swap_writer *s = writer->state;
	const size_t head = swap_begin(writer, SWAP_PROCESS_MAP, s->now_ns);

	swap_put_dword(&writer->out, s->pid);
	swap_put_long(&writer->out, object->from);
	swap_put_long(&writer->out, object->to);
	swap_put_string(writer, object->path, STRING_MAX);
	swap_end(writer, head);
}

static void put_unmap(struct writer *writer, uint64_t low, uint64_t high)
{
	const struct swap_writer *s = writer->state;
	const size_t head = swap_begin(writer, SWAP_PROCESS_UNMAP, s->now_ns);

	swap_put_dword(&writer->out, s->pid);
	swap_put_long(&writer->out, low);
	swap_put_long(&writer->out, high);
	swap_end(writer, head);
}

/* Returns true if an object is a library. Objects that the kernel maps, such as [vdso], are not. */
static bool is_library(const struct record_object *object)
{
	return *object->path != '[';
}

/* Appends libraries while the message has room for them. Returns the index of the first object for which there is no
 * room. */
static size_t put_libraries(struct writer *writer, size_t head)
{
	const struct swap_writer *s = writer->state;
	const size_t count_at = writer->out.size;
	size_t at = 0, count = 0;

	swap_put_dword(&writer->out, 0);
	for (; at < s->objects.count; at++) {
		const struct record_object *object = &s->objects.items[at].object;

		if (!is_library(object))
			continue;
		if (writer->out.size - head - SWAP_HEAD + 16 + strlen(object->path) + 1 > SWAP_PAYLOAD_MAX)
			break;
		swap_put_long(&writer->out, object->from);
		swap_put_long(&writer->out, object->to);
		swap_put_string(writer, object->path, STRING_MAX);
		count++;
	}
	swap_set_dword(&writer->out, count_at, (uint32_t)count);
	return at;
}

/* Writes MSG_PROCESS_INFO, with the objects that are declared so far, unless it was written already. */
static void announce(struct writer *writer)
{
	struct swap_writer *s = writer->state;

	if (!writer->has_process || s->announced)
		return;
	s->announced = true;
	const size_t head = swap_begin(writer, SWAP_PROCESS_INFO, s->now_ns);

	swap_put_dword(&writer->out, s->pid);
	swap_put_string(writer, s->command, STRING_MAX);
	swap_put_dword(&writer->out, s->ppid);
	swap_put_dword(&writer->out, (uint32_t)(s->own_start_ns / NS_PER_SECOND));
	swap_put_dword(&writer->out, (uint32_t)(s->own_start_ns % NS_PER_SECOND));
	swap_put_long(&writer->out, s->program_from);
	swap_put_long(&writer->out, s->program_to);
	swap_put_string(writer, s->name, STRING_MAX);
	const size_t rest = put_libraries(writer, head);

	swap_end(writer, head);
	if (s->is_attached)
		put_status(writer);
	for (size_t i = 0; i < s->objects.count; i++)
		if (i >= rest || !is_library(&s->objects.items[i].object))
			put_map(writer, &s->objects.items[i].object);
}

/* ---- Objects ---- */

static void swap_write_put_object(struct writer *writer, const struct record_object *object)
{
	struct swap_writer *s = writer->state;

	if (!mapped_objects_add(&s->objects, object))
		return;
	if (!s->program_to && object->path && !strcmp(object->path, s->name)) {
		s->program_from = object->from;
		s->program_to = object->to;
	}
	if (s->announced)
		put_map(writer, object);
}

/* ---- Resources, threads, contexts, notes ---- */

static void swap_write_take_resource(struct writer *writer, const struct record_resource *resource)
{
	struct swap_writer *s = writer->state;
	struct swap_resource *known =
		(struct swap_resource *)(uintptr_t)(resource->id ? swap_resource_of(s, resource->id) : NULL);

	if (!known) {
		ARRAY_GROW(s->resources, s->resource_capacity, s->resource_count);
		known = &s->resources[s->resource_count++];
		*known = (struct swap_resource){.id = resource->id};
	}
	free(known->type);
	known->type = xstrdup(resource->type ? resource->type : "");
	known->flags = resource->flags;
}

static void swap_write_put_thread(struct writer *writer, const struct record_thread *thread)
{
	struct swap_writer *s = writer->state;
	const char *name = thread->name ? thread->name : "";
	const uint64_t hash = hash_bytes(name, strlen(name));
	const uint64_t *written = hash_get(&s->threads, thread->tid);

	s->tid = thread->tid;
	if (written && *written == hash)
		return;
	if (s->threads.count >= THREADS_MAX)
		hash_free(&s->threads);
	hash_set(&s->threads, thread->tid, hash);
	const size_t head = swap_begin(writer, SWAP_PROBE_THREAD, s->now_ns);

	swap_put_probe(writer, SWAP_API_CREATE);
	swap_put_long(&writer->out, thread->tid);
	swap_put_long(&writer->out, 0);
	swap_put_dword(&writer->out, 0);
	swap_put_dword(&writer->out, 1);
	swap_put_string(writer, name, STRING_MAX);
	swap_end(writer, head);
}

static void swap_write_put_context(struct writer *writer, const struct record_context *context)
{
	const struct swap_writer *s = writer->state;
	const size_t head = swap_begin(writer, SWAP_PROBE_CUSTOM, s->now_ns);

	swap_put_probe(writer, SWAP_API_MARK);
	swap_put_dword(&writer->out, context->id);
	swap_put_dword(&writer->out, 0);
	swap_put_string(writer, context->name, STRING_MAX);
	swap_put_dword(&writer->out, 0);
	swap_put_long(&writer->out, 0);
	swap_end(writer, head);
}

static void swap_write_put_note(struct writer *writer, const struct record_note *note)
{
	struct swap_writer *s = writer->state;
	const char *text = note->text ? note->text : "";
	struct process_end end;
	uint64_t low, high;

	if (swap_note_unmaps(text, &low, &high) && low < high) {
		mapped_objects_remove(&s->objects, low, high);
		put_unmap(writer, low, high);
		return;
	}
	s->has_ended |= note_end_parse(text, &end) && end.pid == s->pid;
	const size_t head = swap_begin(writer, SWAP_ERROR, s->now_ns);

	swap_put_string(writer, text, STRING_MAX);
	swap_end(writer, head);
}

/* ---- The writer ---- */

/* Puts a record. Before the first record that does not describe the process, writes MSG_PROCESS_INFO. */
static void swap_put(struct writer *writer, const struct record *record)
{
	const uint32_t description = 1u << RECORD_PROCESS | 1u << RECORD_MODULE | 1u << RECORD_RESOURCE |
				     1u << RECORD_OBJECT | 1u << RECORD_BUILD_ID;

	if (!(description >> record->type & 1))
		announce(writer);
	writer_put_record(writer, record);
}

static void swap_finish(struct writer *writer)
{
	const struct swap_writer *s = writer->state;

	announce(writer);
	if (!s->has_ended)
		return;
	const size_t head = swap_begin(writer, SWAP_TERMINATE, s->now_ns);

	swap_put_dword(&writer->out, s->pid);
	swap_end(writer, head);
}

const struct writer_ops swap_writer_ops = {
	.state_size = sizeof(struct swap_writer),
	.put = {.process = swap_write_take_process,
		.resource = swap_write_take_resource,
		.context = swap_write_put_context,
		.object = swap_write_put_object,
		.thread = swap_write_put_thread,
		.call = swap_put_call,
		.note = swap_write_put_note},
	.needs_process = true,
	.around = swap_put,
	.settle = announce,
	.finish = swap_finish,
	.end = swap_writer_end,
	.map = swap_api_map,
};

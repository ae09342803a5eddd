#include "config.h"
#include "record/trace_output.h"
#include "record/attachments.h"
#include "record/resource_ids.h"
#include "record/open_files.h"
#include "record/put_records.h"
#include "record/resident.h"
#include "record/trace_file.h"
#include "record/run.h"
#include "record/unread_calls.h"
#include "record/view_pipe.h"
#include "engine/engine.h"
#include "proc/proc.h"
#include "proc/process_search.h"
#include "symbols/names/naming_worker.h"
#include "base/own_file.h"
#include "base/buf.h"
#include "base/msg.h"
#include "base/time_units.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void output_end_sink(struct trace *trace, const char *how)
{
	struct call_sink *const sink = trace->sink;

	if (sink)
		sink->end(sink, how);
	trace->sink = NULL;
}

void output_start(struct trace *trace)
{
	const struct settings *set = trace->run->set;

	/* A sink gets times of CLOCK_MONOTONIC. */
	times_start(&trace->times, set->trace.timestamps || trace->sink,
		    encoding_can(set->trace.encoding, ENCODING_MONOTONIC) || trace->sink);
}

static bool is_traced(const struct settings *set, const char *module)
{
	for (size_t i = 0; i < set->traced.module_count; i++)
		if (!strcmp(set->traced.modules[i]->name, module))
			return true;
	return false;
}

#define COMMAND_MAX 4000 /* maximum length of the command line in a trace, in bytes */

/* Writes the process record for formats with ENCODING_PROCESS, with the command line, the parent and open files. */
static void put_described(struct trace *trace, struct record *record)
{
	struct record_process *process = &record->process;
	char *const command = process_command(trace->pid, COMMAND_MAX);
	struct open_file *files = NULL;

	process->command = command;
	process->ppid = (uint32_t)proc_parent(trace->pid);
	process->own_start_ns = process->is_attached ? proc_start_time(trace->pid) : 0;
	if (process->is_attached && is_traced(trace->run->set, "file"))
		files = open_files_of(trace->pid, &process->file_count);
	process->files = files;
	put_record(trace, record);
	open_files_free(files, process->file_count);
	free(command);
}

static void trace_output_put_process(struct trace *trace)
{
	const struct settings *set = trace->run->set;
	const uint64_t now = trace->times.start_ns;
	unsigned major = 0, minor = 0;
	char origin[64];

	/* Use only the first two numbers of the version, so that all formats contain the same version: RECORD_MODULE
	 * has no place for more. */
	sscanf(PACKAGE_VERSION, "%u.%u", &major, &minor);
	snprintf(origin, sizeof(origin), PACKAGE_NAME " %u.%u", major, minor);
	struct record record = {.type = RECORD_PROCESS,
				.process = {.arch = trace->arch->name,
					    .pointer_size = trace->arch->pointer_size,
					    .big_endian = trace->arch->big_endian,
					    .pid = (uint32_t)trace->pid,
					    .has_pid = true,
					    .start_sec = (int64_t)(now / NS_PER_SECOND),
					    .start_usec = (uint32_t)(now / 1000 % 1000000),
					    .depth = set->calls.depth,
					    .has_depth = true,
					    .no_timestamps = !set->trace.timestamps,
					    .is_attached = trace->origin.attached && !trace->origin.forked_by &&
							   !trace->origin.is_launched,
					    .name = trace->origin.exe,
					    .origin = origin}};

	if (encoding_can(set->trace.encoding, ENCODING_PROCESS))
		put_described(trace, &record);
	else
		put_record(trace, &record);
	put_record(trace, &(struct record){.type = RECORD_MODULE,
					   .module = {0, (uint16_t)major, (uint16_t)minor, PACKAGE_NAME}});
}

static void put_modules(struct trace *trace)
{
	const struct settings *set = trace->run->set;
	const struct resource *kind;

	for (size_t m = 0; m < set->traced.module_count; m++)
		put_record(trace, &(struct record){.type = RECORD_MODULE,
						   .module = {1u << m, set->traced.modules[m]->version_major,
							      set->traced.modules[m]->version_minor,
							      set->traced.modules[m]->name}});
	for (uint32_t id = 1; (kind = kind_of(set, id)); id++)
		put_record(trace, &(struct record){.type = RECORD_RESOURCE,
						   .resource = {id, kind->flags, kind->type, kind->desc}});
}

static void trace_output_put_context(struct trace *trace, unsigned index)
{
	put_record(trace, &(struct record){.type = RECORD_CONTEXT,
					   .context = {UINT32_C(1) << index, trace->contexts.names[index]}});
}

/* Reports that a trace could not be begun. If functrace is still launching or attaching, it exits after this. Otherwise
 * it goes on, and only the process of this trace runs on untraced. */
static void not_begun(struct trace *trace, int error)
{
	struct run *run = trace->run;
	const char *path = trace->output.path ? trace->output.path : "a new file";
	const char *advice = error == -ENXIO ? "Start the reader of this fifo first."
			     : error == -EMFILE
				     ? "Raise the limit of open files first (ulimit -n), or trace fewer processes."
			     : error == -ELOOP ? OWN_FILE_LINK_WORDS " Name another place with -o."
					       : "Name another place with -o.";

	trace->broken = run->has_broken = true;
	/* While functrace is launching or attaching (has_begun is false), it exits after this error. But if an attached
	 * process has called execve since, its new trace is not `attached`: only this process goes on untraced. */
	if (!run->has_begun && (trace->origin.attached || trace->origin.is_launched))
		msg_error("cannot write the trace to %s: %s. %s", path, strerror(-error), advice);
	else if (run->sums.unbegun_traces++ < BROKEN_REPORTED)
		msg_error("process %d (%s) goes on untraced: its trace cannot be written to %s: %s. %s", trace->pid,
			  trace->origin.name, path, strerror(-error), advice);
	free(trace->output.path);
	trace->output.path = NULL;
}

/* Writes the map file of the trace, if the format has one. */
static void trace_output_write_map(const struct trace *trace)
{
	const int error =
		trace->output.has_file ? encoding_write_map(trace->run->set->trace.encoding, trace->output.path) : 0;

	if (error < 0)
		msg_warn("%s" ENCODING_MAP_SUFFIX " cannot be written: %s. The trace can be read without it.",
			 trace->output.path, strerror(-error));
}

static void begin_names(struct trace *trace)
{
	struct run *const run = trace->run;

	if (!run->naming.namer)
		run->naming.namer = namer_new();
	trace->output.naming = naming_new(run->naming.namer);
}

int output_begin(struct trace *trace)
{
	const struct settings *set = trace->run->set;
	const int fd = trace->sink ? -1 : trace_file_open(trace);
	struct stat st;

	if (trace->sink) {
		trace->run->sums.begun_traces++;
		return 0;
	}
	if (fd < 0) {
		not_begun(trace, fd);
		return fd;
	}
	trace->output.fd = fd;
	trace->run->sums.begun_traces++;
	trace->broken = false;
	trace->output.next_index = 1;
	trace->output.last_thread = 0;
	areas_free(&trace->output.areas);
	if (set->calls.resolve && encoding_can(set->trace.encoding, ENCODING_NAMES))
		begin_names(trace);
	const bool has_reader = fstat(fd, &st) == 0 && !S_ISREG(st.st_mode);
	const struct writer_options options = {.line_buffered = has_reader,
					       .let_go = has_reader ? engine_let_go_fd(trace->run->engine) : NULL,
					       .never_waits = set->report.is_live,
					       .packer = trace->run->files.packer,
					       .namer = trace->output.naming ? naming_lookup : NULL,
					       .namer_context = trace->output.naming,
					       .cycle_size = set->trace.cycle_size};

	trace->output.writer = writer_new(set->trace.encoding, fd, &options);
	trace->output.unread = unread_calls_new(trace);
	trace_output_write_map(trace);
	trace_output_put_process(trace);
	put_modules(trace);
	for (size_t i = 0; i < trace->objects->count; i++)
		output_object(trace, trace->objects->items[i]);
	for (unsigned i = 0; i < trace->contexts.count; i++)
		trace_output_put_context(trace, i);
	if (trace->origin.forked_by)
		output_note(trace, "process %d was forked by %d", trace->pid, trace->origin.forked_by);
	trace->origin.forked_by = 0;
	attachments_take(trace, proc_live_thread(trace->pid));
	/* Flush, so that the trace can be read even if functrace is killed before the first event. */
	writer_flush(trace->output.writer);
	return 0;
}

/* Reports omissions that matter to the user: calls, baseline blocks, arguments (with -a), and notes on calls that
 * failed or did not return. Omitted times or stacks are not reported, because the user has chosen a format without
 * them. */
static void trace_output_report_omissions(struct trace *trace)
{
	const struct settings *const set = trace->run->set;
	const struct omissions *const omissions = writer_omissions(trace->output.writer);
	const uint32_t arguments = set->calls.args ? OMISSIONS_BIT(OMITTED_ARGUMENT) : 0;
	struct counts *const counts = &trace->counts;
	const uint32_t remarks = counts->failures || counts->unreturned ? OMISSIONS_BIT(OMITTED_NOTE) : 0;
	struct buf words = {0};

	if (omissions_words(&words, omissions, OMISSIONS_CALL | OMISSIONS_BIT(OMITTED_BASELINE) | arguments | remarks))
		msg_warn("process %d: the format %s has no place for %s", trace->pid,
			 encoding_name(set->trace.encoding), buf_str(&words));
	buf_free(&words);
	/* The summary must not refer to remarks that the trace does not contain. */
	if (omissions->count[OMITTED_NOTE])
		counts->failures = counts->unreturned = 0;
}

/* Removes the trace's empty file, if the path still names this file. */
static void remove_file(struct trace *trace)
{
	struct stat ours, named;

	if (fstat(trace->output.fd, &ours) == 0 && lstat(trace->output.path, &named) == 0 &&
	    ours.st_dev == named.st_dev && ours.st_ino == named.st_ino && unlink(trace->output.path) == 0)
		trace->output.has_file = false;
	trace->output.is_removed = !trace->output.has_file;
}

/* Reports an error if the trace's file was removed while it was written. The program itself may have removed the file's
 * folder. */
static void check_name(struct trace *trace)
{
	struct stat ours;

	if (!trace->output.has_file || trace->output.is_removed || fstat(trace->output.fd, &ours) ||
	    !S_ISREG(ours.st_mode) || ours.st_nlink)
		return;
	msg_error("process %d: its trace, %s, was removed while functrace wrote it. Trace again, with -o in another "
		  "folder.",
		  trace->pid, trace->output.path);
	trace->output.has_file = false;
	trace->output.is_removed = trace->run->has_broken = true;
}

void output_end(struct trace *trace, bool has_other_tasks)
{
	put_finish(trace, has_other_tasks);
	if (!trace->output.writer)
		return;
	attachments_write(trace, put_record);
	unread_calls_look(trace, true);
	writer_finish(trace->output.writer);
	if (trace->run->set->report.is_live && !view_pipe_may_wait(trace))
		writer_drop_rest(trace->output.writer);
	writer_sync(trace->output.writer);
	trace->output.calls_written = writer_calls(trace->output.writer);
	trace_output_report_omissions(trace);
	const int error = writer_close(trace->output.writer);

	if (error < 0)
		put_failed(trace, error);
	trace->output.writer = NULL;
	unread_calls_free(trace->output.unread);
	trace->output.unread = NULL;
	if (trace->broken && put_is_empty(trace))
		remove_file(trace);
	check_name(trace);
	/* NFS reports a full disk only when the file is closed. */
	const int unwritten = close(trace->output.fd) && errno != EINTR ? -errno : 0;

	trace->output.fd = -1;
	if (unwritten && trace->output.has_file)
		put_failed(trace, unwritten);
	view_pipe_end(trace);
	naming_end(trace->output.naming);
	trace->output.naming = NULL;
}

void output_object(struct trace *trace, const struct object *object)
{
	const struct record_object record = {object->base, object->lookup_end, object->path};
	const char *hex = elf_file_build_id(object->file);

	if (!trace->output.writer)
		return;
	put_record(trace, &(struct record){.type = RECORD_OBJECT, .object = record});
	if (trace->output.naming)
		naming_add_object(trace->output.naming, &record, object->open_path);
	if (!hex || !*hex)
		return;
	put_record(trace, &(struct record){.type = RECORD_BUILD_ID, .build_id = {object->base, hex}});
	if (trace->output.naming)
		naming_add_build_id(trace->output.naming, &(struct record_build_id){object->base, hex});
}

uint32_t output_context(struct trace *trace, const char *name)
{
	struct trace_contexts *const contexts = &trace->contexts;

	for (unsigned i = 0; i < contexts->count; i++)
		if (!strcmp(contexts->names[i], name))
			return UINT32_C(1) << i;
	if (contexts->count < TRACE_CONTEXTS) {
		contexts->names[contexts->count] = xstrdup(name);
		trace_output_put_context(trace, contexts->count);
		return UINT32_C(1) << contexts->count++;
	}
	if (!contexts->is_full)
		msg_warn("process %d has more than %d contexts, and a trace has no room for more: '%s' and later "
			 "contexts mark no calls. Name fewer with --context-function",
			 trace->pid, TRACE_CONTEXTS, name);
	contexts->is_full = true;
	return 0;
}

void output_note(struct trace *trace, const char *fmt, ...)
{
	va_list args;
	char *text;

	if (!trace->output.writer)
		return;
	va_start(args, fmt);
	if (vasprintf(&text, fmt, args) < 0)
		text = xstrdup(fmt);
	va_end(args);
	for (char *c = text; *c; c++)
		if (*c == '\n' || *c == '\r')
			*c = ' ';
	put_record(trace, &(struct record){.type = RECORD_NOTE, .note = {text}});
	free(text);
	engine_want_tick(trace->run->engine);
}

void output_heap(struct trace *trace, const struct record_heap *heap)
{
	put_record_now(trace, &(struct record){.type = RECORD_HEAP, .heap = *heap});
}

void output_scan(struct trace *trace, uint32_t resource, const char *reason)
{
	put_record_now(trace, &(struct record){.type = RECORD_SCAN, .scan = {resource, reason}});
}

void output_lost(struct trace *trace, uint32_t resource, uint64_t id, enum lost_kind kind)
{
	put_record_now(trace, &(struct record){.type = RECORD_LOST, .lost = {resource, id, kind}});
}

void output_baseline(struct trace *trace, uint32_t resource, const struct baseline_block *blocks, uint32_t count)
{
	put_record_now(trace, &(struct record){.type = RECORD_BASELINE, .baseline = {resource, blocks, count}});
	engine_want_tick(trace->run->engine);
}

void output_thread(struct trace *trace, struct thread *thread)
{
	if (!thread || thread->tid == trace->output.last_thread)
		return;
	if (!thread->name_known) {
		char *name = proc_comm(thread->tgid, thread->tid);

		if (name)
			snprintf(thread->name, sizeof(thread->name), "%.15s", name);
		free(name);
		thread->name_known = true;
	}
	trace->output.last_thread = thread->tid;
	put_record(trace, &(struct record){.type = RECORD_THREAD, .thread = {(uint32_t)thread->tid, thread->name}});
}

void output_forget_thread(struct trace *trace, pid_t tid)
{
	if (trace->output.last_thread == tid)
		trace->output.last_thread = 0;
}

void output_begin_late(struct trace *trace)
{
	if (trace->origin.forked_by && output_begin(trace) < 0)
		trace->origin.forked_by = 0; /* no second try: not_begun() has made functrace detach */
}

static void trace_output_put_area(void *context, uint64_t from, uint64_t size)
{
	put_record(context, &(struct record){.type = RECORD_AREA, .area = {.from = from, .size = size}});
}

/* If the event allocates a block that is in no area of the trace (RECORD_AREA), writes records for the mapping that
 * contains the block. To be called before the event is written. */
static void put_areas(struct trace *trace, const struct event *e, enum call_kind kind)
{
	if (kind == CALL_ALLOC && e->id && encoding_can(trace->run->set->trace.encoding, ENCODING_AREAS) &&
	    is_heap_type(kind_of(trace->run->set, e->function->resource)->type))
		areas_note_block(&trace->output.areas, trace->pid, e->id, trace_output_put_area, trace);
}

void output_call(struct trace *trace, const struct event *e, enum call_kind kind)
{
	uint64_t addresses[MAX_FRAMES];
	struct record record;

	trace->counts.events++;
	trace->counts.stacks += e->has_frames;
	trace->counts.cut_stacks += e->end == STACK_CUT;
	trace->counts.lost_stacks += e->end == STACK_LOST;
	if (trace->sink)
		trace->sink->take(trace->sink, e, kind);
	output_begin_late(trace);
	if (!trace->output.writer || trace->broken || unread_calls_take(trace, e, kind))
		return;
	put_areas(trace, e, kind);
	output_thread(trace, e->thread);
	for (size_t i = 0; i < e->frame_count; i++)
		addresses[i] = e->frames[i].pc;
	record.type = RECORD_CALL;
	record.call = (struct record_call){.index = trace->output.next_index++,
					   .time_ns = times_written(&trace->times, e->time_ns),
					   .resource = e->function->resource,
					   .context = e->context,
					   .kind = kind,
					   .function = e->function->shown,
					   .id = e->id,
					   .size = kind == CALL_RELEASE ? 0 : e->size,
					   .frames = addresses,
					   .frame_count = (uint32_t)e->frame_count,
					   .args = e->args ? e->args->items : NULL,
					   .arg_count = e->args ? (uint32_t)e->args->count : 0,
					   .has_frames = e->has_frames,
					   .end = e->end};
	put_record(trace, &record);
	engine_want_tick(trace->run->engine);
}

void output_flush_all(struct run *run)
{
	for (struct trace *trace = run->traces; trace; trace = trace->next) {
		if (!trace->output.writer || trace->broken)
			continue;
		resident_tick(trace);
		put_ready(trace);
		if (trace->output.deferred)
			engine_want_tick(run->engine);
		const int error = writer_flush(trace->output.writer);

		if (error < 0)
			put_failed(trace, error);
		unread_calls_look(trace, false);
		view_pipe_pass(trace);
		if (writer_waiting(trace->output.writer))
			engine_want_tick(run->engine);
	}
}

#include "config.h"
#include "tracer/model.h"
#include "base/buf.h"
#include "base/msg.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define DAY_NS      86400000000000ull
#define BROKEN_TOLD 4 /* traces that cannot be written any more, one by one */

uint64_t output_time(const struct process *p)
{
	if (!p->tracer->set->timestamps)
		return TIME_NONE;
	if (p->tracer->set->compat)
		return clock_ns(CLOCK_MONOTONIC);
	return clock_ns(CLOCK_REALTIME) - p->day_ns;
}

/* ---- Records ---- */

/* A trace that cannot be written any more is not worth a stop of the target. */
static void broken(struct process *p, int error)
{
	struct tracer *t = p->tracer;

	if (p->broken)
		return;
	p->broken = t->has_broken = true;
	if (!t->launch->pid)
		t->exit_status = 1;
	if (t->broken_traces++ >= BROKEN_TOLD)
		return; /* a full disk under a shell script's hundreds of processes: the summary says how many */
	msg_error("the trace of process %d can no longer be written to %s: %s. %swhat was written before is readable.",
		  p->pid, p->trace_path, strerror(-error), p->tasks ? "It goes on untraced; " : "Of its trace, ");
}

static void put(struct process *p, const struct record *record)
{
	if (!p->writer || p->broken)
		return;
	const int error = writer_put(p->writer, record);

	if (error < 0)
		broken(p, error);
}

void output_start(struct process *p)
{
	p->start_ns = clock_ns(CLOCK_REALTIME);
	p->day_ns = p->start_ns - p->start_ns % DAY_NS;
}

static void put_process(struct process *p)
{
	const struct settings *set = p->tracer->set;
	const uint64_t now = p->start_ns;
	unsigned major = 0, minor = 0;
	char origin[64];

	/* As much of the version as the binary format has a place for: a trace says the same in every format. */
	sscanf(PACKAGE_VERSION, "%u.%u", &major, &minor);
	snprintf(origin, sizeof(origin), PACKAGE_NAME " %u.%u", major, minor);
	put(p, &(struct record){.type = RECORD_PROCESS,
				.process = {.arch = p->arch->name,
					    .pointer_size = p->arch->pointer_size,
					    .big_endian = p->arch->big_endian,
					    .pid = (uint32_t)p->pid,
					    .has_pid = true,
					    .start_sec = (int64_t)(now / 1000000000u),
					    .start_usec = (uint32_t)(now / 1000 % 1000000),
					    .depth = set->depth,
					    .has_depth = true,
					    .no_timestamps = !set->timestamps,
					    .name = p->exe,
					    .origin = origin}});
	put(p, &(struct record){.type = RECORD_MODULE, .module = {0, (uint16_t)major, (uint16_t)minor, PACKAGE_NAME}});
}

static void put_modules(struct process *p)
{
	const struct settings *set = p->tracer->set;
	uint32_t id = 1;

	for (size_t m = 0; m < set->module_count; m++)
		put(p, &(struct record){.type = RECORD_MODULE,
					.module = {1u << m, set->modules[m]->version_major,
						   set->modules[m]->version_minor, set->modules[m]->name}});
	for (size_t m = 0; m < set->module_count; m++)
		for (size_t r = 0; r < set->modules[m]->resource_count; r++) {
			const struct resource *resource = &set->modules[m]->resources[r];

			put(p, &(struct record){.type = RECORD_RESOURCE,
						.resource = {id++, resource->flags, resource->type, resource->desc}});
		}
}

int output_begin(struct process *p)
{
	const struct settings *set = p->tracer->set;
	const int fd = trace_file_open(p);
	struct stat st;

	if (fd < 0) {
		p->broken = p->tracer->has_broken = true;
		msg_error("cannot write the trace to %s: %s. %s", p->trace_path ? p->trace_path : "a new file",
			  strerror(-fd),
			  fd == -ENXIO ? "Start what reads this fifo first." : "Name another place with -o.");
		free(p->trace_path);
		p->trace_path = NULL;
		return fd;
	}
	p->trace_fd = fd;
	p->broken = false;
	p->next_index = 1;
	p->last_thread = 0;
	if (set->resolve)
		p->names = names_new(&(struct names_options){0});
	const struct writer_options options = {.compat = set->compat,
					       .line_buffered = fstat(fd, &st) == 0 && !S_ISREG(st.st_mode),
					       .namer = set->resolve ? names_lookup : NULL,
					       .namer_context = p->names};

	p->writer = writer_new(set->encoding, fd, &options);
	put_process(p);
	put_modules(p);
	for (size_t i = 0; i < p->objects.count; i++)
		output_object(p, p->objects.items[i]);
	if (p->forked_by)
		output_note(p, "process %d was forked by %d", p->pid, p->forked_by);
	p->forked_by = 0;
	/* From its beginning on a trace is readable after any death. */
	writer_flush(p->writer);
	return 0;
}

/* What a fork's child has from its parent is in the parent's trace. */
static void note_inherited(struct process *p)
{
	const struct live_total live = ledger_live(p);

	if (live.inherited)
		output_note(p, "from before the fork %llu block%s with %llu byte%s %s live, and not in this trace",
			    (unsigned long long)live.inherited, live.inherited == 1 ? "" : "s",
			    (unsigned long long)live.inherited_bytes, live.inherited_bytes == 1 ? "" : "s",
			    live.inherited == 1 ? "is" : "are");
}

void output_end(struct process *p, const char *how)
{
	if (!p->writer)
		return;
	if (how)
		output_note(p, "%s", how);
	note_inherited(p);
	writer_flush(p->writer);
	p->calls_written = writer_calls(p->writer);
	const int error = writer_close(p->writer);

	if (error < 0)
		broken(p, error);
	p->writer = NULL;
	close(p->trace_fd);
	p->trace_fd = -1;
	names_free(p->names);
	p->names = NULL;
}

void output_object(struct process *p, const struct object *object)
{
	const struct record_object record = {object->base, object->end, object->path};
	const char *hex = elf_file_build_id(object->file);

	if (!p->writer)
		return;
	put(p, &(struct record){.type = RECORD_OBJECT, .object = record});
	if (p->names)
		names_add_object(p->names, &record, object->open_path);
	if (!hex || !*hex)
		return;
	put(p, &(struct record){.type = RECORD_BUILD_ID, .build_id = {object->base, hex}});
	if (p->names)
		names_add_build_id(p->names, &(struct record_build_id){object->base, hex});
}

void output_note(struct process *p, const char *fmt, ...)
{
	va_list args;
	char text[1024];

	if (!p->writer)
		return;
	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	for (char *c = text; *c; c++)
		if (*c == '\n' || *c == '\r')
			*c = ' ';
	put(p, &(struct record){.type = RECORD_NOTE, .note = {text}});
	engine_want_tick(p->tracer->engine);
}

static void put_thread(struct process *p, struct task *task)
{
	char path[48];

	if (!task || task->tid == p->last_thread)
		return;
	if (!task->name_known) {
		snprintf(path, sizeof(path), "/proc/%d/task/%d/comm", task->tgid, task->tid);
		char *name = read_file(path, 256, NULL);

		if (name) {
			name[strcspn(name, "\n")] = '\0';
			snprintf(task->name, sizeof(task->name), "%.15s", name);
		}
		free(name);
		task->name_known = true;
	}
	p->last_thread = task->tid;
	put(p, &(struct record){.type = RECORD_THREAD, .thread = {(uint32_t)task->tid, task->name}});
}

/* The first event of a fork's child: most children never have one. */
static void begin_late(struct process *p)
{
	if (output_begin(p) < 0)
		p->forked_by = 0; /* it is let go of soon */
}

void output_call(struct process *p, const struct event *e, enum call_kind kind)
{
	uint64_t addresses[MAX_FRAMES];
	struct record record = {.type = RECORD_CALL};

	p->counts.events++;
	p->counts.stacks += e->has_frames;
	p->counts.cut_stacks += e->end == STACK_CUT;
	p->counts.lost_stacks += e->end == STACK_LOST;
	if (p->forked_by)
		begin_late(p);
	if (!p->writer || p->broken)
		return;
	put_thread(p, e->task);
	for (size_t i = 0; i < e->frame_count; i++)
		addresses[i] = e->frames[i].pc;
	record.call = (struct record_call){.index = p->next_index++,
					   .time_ns = e->time_ns,
					   .resource = e->probe->wanted->resource,
					   .kind = kind,
					   .function = e->probe->shown,
					   .id = e->id,
					   .size = kind == CALL_RELEASE ? 0 : e->size,
					   .frames = addresses,
					   .frame_count = (uint32_t)e->frame_count,
					   .has_frames = e->has_frames,
					   .end = e->end};
	put(p, &record);
	engine_want_tick(p->tracer->engine);
}

void output_flush_all(struct tracer *t)
{
	for (struct process *p = t->processes; p; p = p->next) {
		if (!p->writer || p->broken)
			continue;
		const int error = writer_flush(p->writer);

		if (error < 0)
			broken(p, error);
	}
}

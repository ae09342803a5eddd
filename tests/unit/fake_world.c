/* The modules around the tracer: an engine without listeners, one object, traces that are not written. This file knows
 * the tracer's structures; the sequences do not. */
#include "config.h"
#include "modules/builtin.h"
#include "tests/unit/fake_kernel.h"
#include "tests/unit/fake_world.h"
#include "trace/encoding_ops.h"
#include "trace/writer_state.h"
#include "engine/shared_state.h"
#include "symbols/elf/elf_file.h"
#include "tracer/stop_pump.h"
#include "tracer/exit_captures.h"
#include "tracer/tracer.h"
#include "base/msg.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define WAKER  9999
#define SHELL  9998 /* the visible process, which the shell sees */
#define SOCKET 9998 /* descriptors that are not open */
#define LINK   9999

static const struct world *world;
static const struct module *modules[1];
static struct settings settings;
static struct engine engine;
static bool is_started, is_ended, is_let_go;
static struct tracer *pumped;
static pid_t full_disk; /* the process whose trace can no longer be written */

/* ---- The engine ---- */

bool __wrap_leak_check_at_detach(struct tracer *t);
void __wrap_capture_job_copy_and_read(void *job);
void __wrap_leak_check_write_figures(struct trace *trace, struct heap_capture *capture, const char *reason);
struct stop __real_pump_once(struct tracer *t, const struct stop_pump *pump);
struct stop __wrap_pump_once(struct tracer *t, const struct stop_pump *pump);

/* These fakes find no lost blocks. The sequences test only that a task in its exit stop waits for the thread that reads
 * its memory, and that the tracer resumes the task afterwards. */
bool __wrap_leak_check_at_detach(struct tracer *t)
{
	exit_captures_finish_all(t);
	return true;
}

void __wrap_capture_job_copy_and_read(void *job)
{
	(void)job;
}

void __wrap_leak_check_write_figures(struct trace *trace, struct heap_capture *capture, const char *reason)
{
	(void)capture;
	(void)reason;
	fake_note("figures %d", trace->pid);
}

void world_notified(int socket)
{
	struct shared_state *const shared = engine.shared;

	if (socket != engine.socket)
		return;
	if (shared->started && !is_started) {
		is_started = true;
		settings.baseline = world->figures; /* from now on: no baseline of attached processes */
		if (!world->whole)
			fake_started();
		else
			fake_note("started");
	}
	if (shared->ended && !is_ended) {
		is_ended = true;
		fake_note("shell: ended 0x%x", (unsigned)shared->status);
	}
}

bool world_signalled(pid_t pid, int sig)
{
	if (pid == SHELL)
		fake_note("shell: %s", fake_signal_name(sig));
	return pid == SHELL;
}

/* Wakes the tracer as wake_tracer() does, by a child that ends at once. */
static void wake(unsigned request)
{
	struct fake_task *wake_child = fake_new(WAKER, WAKER, NULL);

	engine.requests |= request;
	engine.wake_child = WAKER;
	fake_attach(wake_child);
	fake_end(wake_child, STATUS_EXITED(0));
}

void world_let_go(void)
{
	is_let_go = true;
	wake(REQUEST_LET_GO);
}

bool world_is_let_go(void)
{
	return is_let_go;
}

void world_toggle(void)
{
	wake(REQUEST_TOGGLE);
}

/* Stores the tracer, for world_pump(). */
struct stop __wrap_pump_once(struct tracer *t, const struct stop_pump *pump)
{
	pumped = t;
	return __real_pump_once(t, pump);
}

void world_pump(void)
{
	while (__real_pump_once(pumped, &pump_polls).kind != STOP_NONE)
		;
}

void world_tick(void)
{
	wake(REQUEST_TICK);
}

bool world_guards(pid_t tid)
{
	const struct shared_state *shared = engine.shared;

	for (unsigned i = 0; i < shared->journal_task_high; i++)
		if (shared->journal_tasks[i].tid == tid)
			return true;
	return false;
}

void world_fill_disk(pid_t pid)
{
	full_disk = pid;
}

/* ---- Messages ---- */

void __wrap_msg_warn(const char *fmt, ...) FT_PRINTF(1, 2);
void __wrap_msg_error(const char *fmt, ...) FT_PRINTF(1, 2);
void __wrap_msg_info(const char *fmt, ...) FT_PRINTF(1, 2);

static void message(const char *kind, const char *fmt, va_list args)
{
	char text[400];

	vsnprintf(text, sizeof(text), fmt, args);
	for (char *c = text; *c; c++)
		*c = *c == ';' || *c == '\n' ? ',' : *c;
	fake_note("%s: %s", kind, text);
}

void __wrap_msg_warn(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	message("warning", fmt, args);
	va_end(args);
}

void __wrap_msg_error(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	message("error", fmt, args);
	va_end(args);
}

void __wrap_msg_info(const char *fmt, ...)
{
	(void)fmt;
}

/* ---- Objects: only the program's ---- */

int __wrap_objects_update(struct object_list *list, pid_t pid, void (*removed)(void *context, struct object *object),
			  void (*added)(void *context, struct object *object), void *context);

/* The program's file. The test has a reference to it, so it is never freed. */
static struct elf_file file = {.is_static = true, .cached.references = 1};

static void fill_file(void)
{
	const struct fake_place *place;

	for (size_t i = 0; (place = fake_place_n(i)); i++) {
		if (!place->symbol)
			continue;
		ARRAY_GROW(file.table.symbols, file.table.symbol_capacity, file.table.symbol_count);
		file.table.symbols[file.table.symbol_count++] = (struct elf_symbol){
			.name = place->symbol, .value = place->address, .size = place->size, .is_global = true};
	}
}

static void add_object(struct object_list *list, bool has_tail)
{
	struct object *object = xcalloc(1, sizeof(*object));

	elf_file_ref(&file);
	*object = (struct object){.path = xstrdup("/bin/prog"),
				  .start = FAKE_TEXT,
				  .end = FAKE_TEXT_END,
				  .lookup_end = FAKE_TEXT_END,
				  .base = FAKE_TEXT,
				  .file = &file,
				  .text = xcalloc(1, sizeof(*object->text)),
				  .text_count = 1};
	object->text[0] = (struct text_range){.start = FAKE_TEXT,
					      .end = FAKE_TAIL,
					      .tail_start = FAKE_TAIL,
					      .tail_end = FAKE_TAIL + (has_tail ? FAKE_COPIES * ARCH_SLOT_SIZE : 0)};
	list->items = xreallocarray(list->items, list->count + 1, sizeof(*list->items));
	list->items[list->count++] = object;
}

int __wrap_objects_update(struct object_list *list, pid_t pid, void (*removed)(void *context, struct object *object),
			  void (*added)(void *context, struct object *object), void *context)
{
	(void)removed;
	fake_point("mapping %d", pid);
	const struct fake_task *task = fake_find(pid);

	if (!task || !task->memory)
		return -ESRCH;
	if (list->count)
		return 0;
	add_object(list, task->memory->has_tail);
	added(context, list->items[0]);
	return 0;
}

/* ---- Traces ---- */

/* An encoding that records the calls, and the notes about errors of the program. */
struct trace_state {
	pid_t pid;
	uint32_t tid;
};

static void trace_begin(struct writer *writer)
{
	writer->options.line_buffered = false; /* write /dev/null when a file is written: at a tick */
}

static void trace_process(struct writer *writer, const struct record_process *process)
{
	((struct trace_state *)writer->state)->pid = (pid_t)process->pid;
}

static void trace_thread(struct writer *writer, const struct record_thread *thread)
{
	((struct trace_state *)writer->state)->tid = thread->tid;
}

static void trace_call(struct writer *writer, const struct record_call *call)
{
	const struct trace_state *const state = writer->state;

	fake_note("event %u %s", state->tid, call->function);
	if (state->pid == full_disk) {
		const int full = open("/dev/full", O_WRONLY | O_CLOEXEC);

		dup2(full, writer->fd);
		close(full);
	}
	buf_add(&writer->out, "call\n", 5);
}

static void trace_note(struct writer *writer, const struct record_note *note)
{
	if (strstr(note->text, "not allocated"))
		fake_note("note %d: %s", ((struct trace_state *)writer->state)->pid, note->text);
}

static const struct writer_ops trace_ops = {
	.state_size = sizeof(struct trace_state),
	.begin = trace_begin,
	.put = {.process = trace_process, .thread = trace_thread, .call = trace_call, .note = trace_note}};
static const struct encoding trace_encoding = {
	.name = "fake", .suffix = ".fake", .writer = &trace_ops, .abilities = ENCODING_STREAM | ENCODING_SCANS};

/* ---- A run ---- */

static void check_end(void)
{
	const struct fake_task *task;

	for (size_t i = 0; (task = fake_nth(i)); i++) {
		if (!fake_is_ours(task) || task->state == FAKE_GONE || task->state == FAKE_ZOMBIE)
			continue;
		if (task->state == FAKE_STOPPED)
			fake_note("! %d is left stopped", task->tid);
		else if (!is_let_go)
			continue;
		else if (task->memory && fake_text_differs(task->memory))
			fake_note("! %d is left with %u bytes of ours in its text", task->tid,
				  fake_text_differs(task->memory));
		else
			fake_note("left %d", task->tid);
	}
}

static void run(void)
{
	static struct shared_state *shared;
	const struct launch launch = {.pid = world->launched, .gate = -1, .exec_error = -1};
	char name[] = "prog", *argv[] = {name, NULL};

	if (!shared) { /* 60 MB, almost all of which is never touched */
		shared = xcalloc(1, sizeof(*shared));
		fill_file();
	}
	modules[0] = builtin_module("memory");
	settings = (struct settings){.traced.modules = modules,
				     .traced.probes = PROBES_BREAKPOINTS,
				     .traced.module_count = 1,
				     .trace.encoding = &trace_encoding,
				     .target.pids = (pid_t *)(uintptr_t)world->pids,
				     .target.pid_count = world->pid_count,
				     .target.argv = argv,
				     .target.follow = !world->stays,
				     .verify = world->verify,
				     .quiet = true,
				     .cpu = CPU_FREE,
				     .trace.output = world->unwritable ? "/dev/null/trace" : "/dev/null",
				     .trace.output_fd = -1};
	engine = (struct engine){.settings = &settings,
				 .shared = shared,
				 .socket = SOCKET,
				 .link = LINK,
				 .visible = SHELL,
				 .visible_handle = -1,
				 .launch = launch,
				 .tick_wanted = true,
				 .wake_fd = -1};
	guard_init(&engine);
	const int result = tracer_run(&engine, &settings, &engine.launch);

	if (result)
		fake_note("status %d", result);
	is_let_go |= result && !is_started; /* a run that fails before it begins detaches from all processes */
	guard_free(&engine);
	memset(shared->journal_tasks, 0, sizeof(shared->journal_tasks[0]) * shared->journal_task_high);
	memset(shared->notes, 0, sizeof(shared->notes[0]) * shared->note_high);
	memset(shared->loans, 0, sizeof(shared->loans));
	shared->journal_task_high = shared->note_high = 0;
	shared->started = shared->stopped = shared->ended = false;
}

void world_run(const struct world *w)
{
	world = w;
	is_started = is_ended = is_let_go = false;
	full_disk = 0;
	run();
	check_end();
}

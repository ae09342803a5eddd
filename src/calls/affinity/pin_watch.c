#include "config.h"
#include "calls/affinity/pin_watch.h"
#include "calls/probes/probes.h"
#include "breakpoints/breakpoints.h"
#include "ptrace/target_memory.h"
#include "ptrace/tasks.h"
#include "proc/proc.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* While a task is pinned by --cpu=auto, watches the functions by which a program reads or sets its CPUs, or creates
 * tasks that inherit them. Their breakpoints are inserted only while a task is pinned, so they cost nothing at other
 * times. The functions are those of the C library that make the system calls. */

#define SC_NPROCESSORS_CONF 83 /* the same in glibc and musl */
#define SC_NPROCESSORS_ONLN 84
#define PROC                "/proc"

enum asks {
	ASKS_ALWAYS,
	ASKS_FOR_NUMBER, /* sysconf(): only a call that asks for the number of CPUs shows CPUs */
	ASKS_AS_FILE,    /* a function that opens a file: only a call that opens a file in /proc may show CPUs */
};

struct pin_watch_watched {
	const char *symbol;
	enum asks asks;
	unsigned path;  /* index of the argument that is the file's path */
	bool is_answer; /* the function returns the CPUs or their number; a C library without any such function shows
			 * the CPUs in ways that cannot be watched */
};

static const struct pin_watch_watched watched[] = {
	{.symbol = "sched_getaffinity", .is_answer = true},
	{.symbol = "sched_setaffinity"},
	{.symbol = "pthread_getaffinity_np"},
	{.symbol = "pthread_setaffinity_np"},
	{.symbol = "get_nprocs", .is_answer = true},
	{.symbol = "__get_nprocs_sched"},
	{.symbol = "sysconf", .asks = ASKS_FOR_NUMBER, .is_answer = true},
	{.symbol = "syscall"},
	{.symbol = "fork"},
	{.symbol = "_Fork"},
	{.symbol = "vfork"},
	{.symbol = "clone"},
	{.symbol = "posix_spawn"},
	{.symbol = "posix_spawnp"},
	{.symbol = "pthread_create"},
	{.symbol = "open", .asks = ASKS_AS_FILE},
	{.symbol = "open64", .asks = ASKS_AS_FILE},
	{.symbol = "openat", .asks = ASKS_AS_FILE, .path = 1},
	{.symbol = "openat64", .asks = ASKS_AS_FILE, .path = 1},
	{.symbol = "fopen", .asks = ASKS_AS_FILE},
	{.symbol = "fopen64", .asks = ASKS_AS_FILE},
};

/* Watches a function if the object contains it. Returns false if it cannot be watched. */
static bool watch_one(struct process *p, struct pin_watch *w, unsigned char which, const struct object *object)
{
	struct elf_symbol symbol;

	if (!elf_file_find(object->file, watched[which].symbol, &symbol) || symbol.is_ifunc ||
	    !(symbol.is_global || elf_file_is_static(object->file)) ||
	    !object_text_at(object, symbol.value + object->bias))
		return true;
	if (w->count == PIN_WATCHED_MAX)
		return false;
	struct breakpoint *b = breakpoint_insert(p, probe_entry(p, symbol.value + object->bias));

	if (!b)
		return false;
	if (!pin_watches(b))
		w->addresses[w->count++] = b->address;
	breakpoint_calls(b)->watched = which + 1;
	w->answers |= watched[which].is_answer;
	return true;
}

bool pin_watch(struct process *p, struct pin_watch *w)
{
	bool ok = true;

	*w = (struct pin_watch){.count = 0};
	for (size_t i = 0; i < p->objects.count; i++)
		for (size_t j = 0; ok && j < ARRAY_SIZE(watched); j++)
			ok = watch_one(p, w, (unsigned char)j, p->objects.items[i]);
	/* Without functions that return the CPUs (is_answer), the program sees its CPUs in ways that cannot be
	 * watched. */
	if (ok && w->answers)
		return true;
	pin_unwatch(p, w);
	return false;
}

void pin_unwatch(struct process *p, struct pin_watch *w)
{
	for (size_t i = 0; i < w->count; i++) {
		struct breakpoint *b = breakpoint_find(p, w->addresses[i]);

		if (!b || !pin_watches(b))
			continue;
		b->calls->watched = 0;
		if (!b->probe && !b->is_return)
			breakpoint_remove(p, b);
	}
	w->count = 0;
}

/* Returns true if a link in /proc/TID, for the working directory or an open directory, points into /proc. */
static bool leads_to_proc(const struct task *task, const char *link)
{
	char *const target = proc_link(task->tid, link);
	const bool leads = target && !strncmp(target, PROC, sizeof(PROC) - 1);

	free(target);
	return leads;
}

/* Returns true if a file that is about to be opened may be in /proc. address: the path in the task's memory; folder:
 * for a relative path, the descriptor of an open directory, or AT_FDCWD. */
static bool is_of_proc(struct task *task, uint64_t address, int folder)
{
	char path[32] = "", link[24] = "cwd";
	const char *name = path;

	if (memory_read_some(task->process, address, path, sizeof(path) - 1) <= 0)
		return false;
	if (strstr(path, ".."))
		return true;
	while (*name == '/' || (name > path && name[0] == '.' && name[1] == '/'))
		name++;
	if (name > path)
		return !strncmp(name, PROC + 1, sizeof(PROC) - 2);
	if (folder != AT_FDCWD)
		snprintf(link, sizeof(link), "fd/%d", folder);
	return leads_to_proc(task, link);
}

static bool asks_for_cpus(struct task *task, const struct pin_watch_watched *which)
{
	uint64_t args[CALL_ARGS];

	if (which->asks == ASKS_ALWAYS)
		return true;
	task_args(task, args);
	if (which->asks == ASKS_FOR_NUMBER)
		return (uint32_t)args[0] == SC_NPROCESSORS_CONF || (uint32_t)args[0] == SC_NPROCESSORS_ONLN;
	return is_of_proc(task, args[which->path], which->path ? (int)args[0] : AT_FDCWD);
}

const char *pin_watch_asks(struct task *task, const struct breakpoint *b)
{
	const struct pin_watch_watched *which = &watched[b->calls->watched - 1];

	return asks_for_cpus(task, which) ? which->symbol : NULL;
}

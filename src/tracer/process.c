#include "config.h"
#include "tracer/model.h"
#include "tracer/who.h"
#include "base/msg.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A process is an address space: its objects, breakpoints, slots, calls and trace. */

static char *exe_path(pid_t pid)
{
	char link[32], path[4096];

	snprintf(link, sizeof(link), "/proc/%d/exe", pid);
	const ssize_t length = readlink(link, path, sizeof(path) - 1);

	if (length <= 0)
		return xstrdup("?");
	path[length] = '\0';
	return xstrdup(path);
}

/* The processor that the program was made for, by its ELF header. NULL: errno, ENOEXEC if this build does not know
 * it. */
static const struct arch *arch_of(pid_t pid)
{
	unsigned char head[20];
	char link[32];

	snprintf(link, sizeof(link), "/proc/%d/exe", pid);
	const int fd = open(link, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return NULL;
	const ssize_t got = read(fd, head, sizeof(head));

	close(fd);
	errno = ENOEXEC;
	if (got != (ssize_t)sizeof(head) || memcmp(head, ELFMAG, SELFMAG))
		return NULL;
	const uint16_t machine = head[EI_DATA] == ELFDATA2MSB ? (uint16_t)(head[18] << 8 | head[19])
							      : (uint16_t)(head[19] << 8 | head[18]);

	return arch_for_elf(machine, head[EI_CLASS]);
}

/* A user shadow stack forbids emulated calls. */
static bool has_shadow_stack(pid_t pid)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	char *text = read_file(path, 1 << 16, NULL);
	const char *line = text ? strstr(text, "\nx86_Thread_features:") : NULL;
	bool found = false;

	if (line) {
		const char *end = strchr(line + 1, '\n');
		const char *word = strstr(line, "shstk");

		found = word && (!end || word < end);
	}
	free(text);
	return found;
}

static void process_free(struct process *p)
{
	struct tracer *t = p->tracer;
	const struct hash_entry *entry;

	lend_no_more(p);
	borrow_no_more(p);
	for (struct process **link = &t->processes; *link; link = &(*link)->next)
		if (*link == p) {
			*link = p->next;
			break;
		}
	for (size_t i = 0; (entry = hash_next(&p->breakpoints, &i));)
		breakpoint_free(p, (struct breakpoint *)(uintptr_t)entry->value);
	hash_free(&p->breakpoints);
	free(p->probes);
	for (size_t i = 0; (entry = hash_next(&p->slots, &i));)
		free((struct slot *)(uintptr_t)entry->value);
	hash_free(&p->slots);
	hash_free(&p->calls);
	free(p->tails);
	ledger_free(p);
	unwinder_free(p->unwinder);
	objects_free(&p->objects);
	guard_remove_space(t->engine, p->guard);
	if (p->mem_fd >= 0)
		close(p->mem_fd);
	if (p->stat_fd >= 0)
		close(p->stat_fd);
	free(p->trace_path);
	free(p->exe);
	free(p->name);
	free(p);
}

struct process *process_alloc(struct tracer *t, pid_t pid, const struct arch *arch)
{
	struct process *p = xcalloc(1, sizeof(*p));

	p->tracer = t;
	p->pid = pid;
	p->arch = arch;
	p->mem_fd = p->trace_fd = p->stat_fd = -1;
	p->guard = p->loan = -1;
	p->stack_want = 2048;
	p->text_serial = 1;
	p->next = t->processes;
	t->processes = p;
	return p;
}

int process_open(struct process *p, pid_t tid)
{
	const int fd = p->mem_fd >= 0 ? p->mem_fd : memory_open(tid);

	if (fd < 0)
		return fd;
	p->mem_fd = fd;
	if (p->guard < 0)
		p->guard = guard_add_space(p->tracer->engine, fd);
	return 0;
}

struct process *process_new(struct tracer *t, pid_t tid, pid_t tgid)
{
	const struct arch *arch = arch_of(tid);

	if (!arch)
		return NULL;
	struct process *p = process_alloc(t, tgid, arch);
	const int error = process_open(p, tid);

	if (error < 0) {
		process_free(p);
		errno = -error;
		return NULL;
	}
	p->exe = exe_path(tid);
	p->name = who_name(tid);
	p->foreign_mounts = who_has_other_mounts(tid);
	ledger_init(p);
	p->shadow_stack = has_shadow_stack(tid);
	p->trap = sigtrap_action(tid);
	p->unwinder = unwinder_new(tid, arch, t->set->unwinder);
	return p;
}

pid_t process_proc(const struct process *p)
{
	const struct task *leader = task_find(p->tracer, p->pid);
	const struct hash_entry *entry;

	if (p->anchor)
		return p->anchor;
	if (leader && leader->process == p && !leader->exiting && !leader->elsewhere)
		return p->pid;
	for (size_t i = 0; (entry = hash_next(&p->tracer->tasks, &i));) {
		const struct task *task = (const struct task *)(uintptr_t)entry->value;

		if (task->process == p && task->phase == PHASE_LIVE && !task->exiting && !task->elsewhere)
			return task->tid;
	}
	return p->pid;
}

pid_t process_anchor(struct process *p)
{
	const struct hash_entry *entry;

	/* What is stopped stays so until its stop is acted on; a parent in vfork will stop when that is over. */
	for (size_t i = 0; (entry = hash_next(&p->tracer->tasks, &i));) {
		const struct task *task = (const struct task *)(uintptr_t)entry->value;

		if (task->process == p && task->phase == PHASE_LIVE && !task->exiting && !task->elsewhere &&
		    ((task->stopped && !task->listening) || task->vforking))
			return p->anchor = task->tid;
	}
	return p->anchor = halt_one(p);
}

struct process *process_again(struct process *old)
{
	struct tracer *t = old->tracer;
	struct process *p = process_new(t, process_proc(old), old->pid);
	const struct hash_entry *entry;

	if (!p)
		return NULL;
	p->attached = old->attached;
	p->attached_to = old->attached_to;
	p->shared = old->shared;
	p->anchor = old->anchor;
	process_ref(old);
	for (size_t i = 0; (entry = hash_next(&t->tasks, &i));) {
		struct task *task = (struct task *)(uintptr_t)entry->value;

		if (task->process == old) {
			task->process = p;
			process_ref(p);
			process_unref(old, NULL);
		}
	}
	process_unref(old, NULL);
	return p;
}

void process_ref(struct process *p)
{
	p->tasks++;
}

void counts_add(struct counts *to, const struct counts *from)
{
	const uint64_t *add = (const uint64_t *)from;
	uint64_t *sum = (uint64_t *)to;

	for (size_t i = 0; i < sizeof(*to) / sizeof(uint64_t); i++)
		sum[i] += add[i];
}

void process_unref(struct process *p, const char *how)
{
	if (--p->tasks)
		return;
	calls_drop_all(p);
	output_end(p, how);
	output_report(p);
	process_free(p);
}

static void object_removed(void *context, struct object *object)
{
	struct process *p = context;

	output_note(p, "unmapped 0x%llx-0x%llx %s", (unsigned long long)object->start, (unsigned long long)object->end,
		    object->path);
	if (p->program == object)
		p->program = NULL;
	forget_range(p, object->start, object->end);
	unwinder_remove(p->unwinder, object->start, object->end);
}

static void object_added(void *context, struct object *object)
{
	struct process *p = context;

	unwinder_add(p->unwinder, object->start, object->end, object->bias, object->open_path,
		     elf_file_build_id(object->file));
	slots_add_object(p, object);
	output_object(p, object);
}

/* Its file may have been deleted or replaced meanwhile. */
static void find_program(struct process *p)
{
	const size_t length = strlen(p->exe);

	for (size_t i = 0; i < p->objects.count && !p->program; i++) {
		const char *path = p->objects.items[i]->path;

		if (!strncmp(path, p->exe, length) && (!path[length] || !strcmp(path + length, " (deleted)")))
			p->program = p->objects.items[i];
	}
}

void process_update_objects(struct process *p)
{
	lend_no_more(p);
	const int error = objects_update(&p->objects, process_proc(p), object_removed, object_added, p);

	if (error < 0 && error != -ESRCH && error != -ENOENT)
		msg_debug(DBG_SYMBOLS, 1, "maps of %d: %s", p->pid, strerror(-error));
	find_program(p);
	if (!p->planted)
		return;
	linker_mark_lasting(p);
	p->planting = true;
	for (size_t i = 0; i < p->objects.count; i++)
		if (!p->objects.items[i]->probed)
			probe_object(p, p->objects.items[i]);
	breakpoints_plant(p);
}

/* All but the planting. */
static int process_prepare(struct process *p)
{
	for (size_t i = 0; i < p->objects.count; i++)
		p->objects.items[i]->probed = false;
	process_update_objects(p);
	if (!p->objects.count)
		return -ESRCH;
	/* From its next notice on the dynamic linker waits: no library goes and comes again unnoticed while the
	 * others' breakpoints are planted. */
	probe_linker(p);
	process_update_objects(p);
	linker_mark_lasting(p);
	output_start(p);
	const int error = output_begin(p);

	if (error < 0)
		return error;
	p->planted = p->planting = true;
	probe_manual_symbols(p);
	for (size_t i = 0; i < p->objects.count; i++)
		probe_object(p, p->objects.items[i]);
	probe_resolved(p);
	return 0;
}

int process_start(struct process *p)
{
	const int error = process_prepare(p);

	if (!error)
		breakpoints_plant(p);
	return error;
}

/* One that has no objects, but tasks, is executing another program: all begins anew after that. */
static bool has_living_task(const struct process *p)
{
	const struct hash_entry *entry;

	for (size_t i = 0; (entry = hash_next(&p->tracer->tasks, &i));) {
		const struct task *task = (const struct task *)(uintptr_t)entry->value;

		if (task->process == p && task_is_alive(task->tid))
			return true;
	}
	return false;
}

static bool has_anchor(const struct process *p)
{
	const struct task *task = p->anchor ? task_find(p->tracer, p->anchor) : NULL;

	return task && task->process == p && !task->exiting && !task->elsewhere;
}

int processes_start(struct tracer *t, struct process **failed)
{
	int error = 0;

	for (struct process *p = t->processes; p; p = p->next)
		process_own(p);
	for (struct process *p = t->processes; p; p = p->next) {
		if (p->leaving)
			continue;
		if (p->shared && !has_anchor(p))
			process_anchor(p);
		process_update_objects(p);
		sigtrap_begin(p);
		const int own = process_prepare(p);

		if (own && !error && !(own == -ESRCH && has_living_task(p))) {
			error = own;
			*failed = p;
		}
	}
	for (struct process *p = t->processes; p; p = p->next) {
		breakpoints_plant(p);
		p->anchor = 0;
	}
	return error;
}

void process_pause(struct process *p, const char *why)
{
	process_own(p);
	lend_no_more(p);
	breakpoints_remove_some(p, true, SIZE_MAX);
	breakpoints_remove_some(p, false, SIZE_MAX);
	calls_drop_all(p);
	output_end(p, why);
	p->planted = false;
}

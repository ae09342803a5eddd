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

/* The processor that the program was made for, by its ELF header. NULL: errno, ENOEXEC if this build does not know it. */
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
	const uint16_t machine = head[EI_DATA] == ELFDATA2MSB ? (uint16_t)(head[18] << 8 | head[19]) :
								(uint16_t)(head[19] << 8 | head[18]);

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

static struct process *process_alloc(struct tracer *t, pid_t tid, pid_t tgid,
				     const struct arch *arch)
{
	const int fd = memory_open(tid);
	struct process *p;

	if (fd < 0) {
		errno = -fd;
		return NULL;
	}
	p = xcalloc(1, sizeof(*p));
	p->tracer = t;
	p->pid = tgid;
	p->arch = arch;
	p->mem_fd = fd;
	p->trace_fd = p->stat_fd = -1;
	p->stack_want = 2048;
	p->exe = exe_path(tid);
	p->guard = guard_add_space(t->engine, fd);
	p->next = t->processes;
	t->processes = p;
	ledger_init(p);
	return p;
}

struct process *process_new(struct tracer *t, pid_t tid, pid_t tgid)
{
	const struct arch *arch = arch_of(tid);
	struct process *p;

	if (!arch)
		return NULL;
	p = process_alloc(t, tid, tgid, arch);
	if (!p)
		return NULL;
	p->name = who_name(tid);
	p->foreign_mounts = who_has_other_mounts(tid);
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

static void process_free(struct process *p)
{
	struct tracer *t = p->tracer;
	const struct hash_entry *entry;

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
	close(p->mem_fd);
	if (p->stat_fd >= 0)
		close(p->stat_fd);
	free(p->trace_path);
	free(p->exe);
	free(p->name);
	free(p);
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

	output_note(p, "unmapped 0x%llx-0x%llx %s", (unsigned long long)object->start,
		    (unsigned long long)object->end, object->path);
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
	breakpoints_remove_some(p, true, SIZE_MAX);
	breakpoints_remove_some(p, false, SIZE_MAX);
	calls_drop_all(p);
	output_end(p, why);
	p->planted = false;
}

/* ---- Forks ---- */

/* What of our text a fork's child has: the table tells what may be there, its memory what is. A breakpoint
 * that was planted in the parent after the fork is not; one that was taken out since is. */
static bool child_has(int mem_fd, const struct breakpoint *b)
{
	unsigned char now[ARCH_BREAKPOINT_MAX];

	return b->size && memcmp(b->original, b->trap, b->size) &&
	       pread(mem_fd, now, b->size, (off_t)b->address) == b->size &&
	       !memcmp(now, b->trap, b->size);
}

void clean_child(struct process *parent, pid_t tid)
{
	const int fd = memory_open(tid);
	const struct hash_entry *entry;
	int error = 0;

	if (fd < 0)
		return;
	for (size_t i = 0; (entry = hash_next(&parent->breakpoints, &i));) {
		const struct breakpoint *b = (const struct breakpoint *)(uintptr_t)entry->value;

		if (child_has(fd, b))
			error |= text_write_stopped(fd, tid, b->address, b->original, b->size);
	}
	for (size_t i = 0; (entry = hash_next(&parent->slots, &i));) {
		const struct slot *slot = (const struct slot *)(uintptr_t)entry->value;
		unsigned char now[ARCH_SLOT_SIZE];

		if (slot->written &&
		    pread(fd, now, slot->copy.size, (off_t)slot->address) == slot->copy.size &&
		    !memcmp(now, slot->copy.bytes, slot->copy.size))
			error |= text_write_stopped(fd, tid, slot->address, slot->saved,
						    sizeof(slot->saved));
	}
	if (error)
		msg_warn("could not clean the text of process %d, which may end with SIGTRAP", tid);
	close(fd);
}

static void fork_slots(const struct process *parent, struct process *p)
{
	const struct hash_entry *entry;

	p->tail_count = p->tail_capacity = parent->tail_count;
	p->tails = xreallocarray(NULL, p->tail_count, sizeof(*p->tails));
	for (size_t i = 0; i < parent->tail_count; i++) {
		p->tails[i] = parent->tails[i];
		p->tails[i].object = objects_find(&p->objects, p->tails[i].start);
	}
	for (size_t i = 0; (entry = hash_next(&parent->slots, &i));) {
		struct slot *slot = xmalloc(sizeof(*slot));

		*slot = *(const struct slot *)(uintptr_t)entry->value;
		slot->users = 0;
		slot->owner = NULL;
		slot->object = objects_find(&p->objects, slot->address);
		hash_set_ptr(&p->slots, slot->address, slot);
		if (slot->written)
			text_write(p, slot->address, slot->copy.bytes, slot->copy.size);
	}
}

static void fork_breakpoint(struct process *p, const struct breakpoint *from)
{
	struct breakpoint *b = xmalloc(sizeof(*b));

	*b = *from;
	b->ticket = -1;
	b->path = NULL;
	b->in_flight = 0;
	if (from->probe) {
		b->probe = xmalloc(sizeof(*b->probe));
		*b->probe = *from->probe;
		b->probe->object = objects_find(&p->objects, b->address);
		ARRAY_GROW(p->probes, p->probe_capacity, p->probe_count);
		p->probes[p->probe_count++] = b->probe;
	}
	if (from->slot) {
		b->slot = hash_get_ptr(&p->slots, from->slot->address);
		b->slot->owner = b;
	}
	hash_set_ptr(&p->breakpoints, b->address, b);
	b->wanted = false;
	b->inserted = child_has(p->mem_fd, b);
	p->inserted += b->inserted;
	if (b->inserted)
		b->ticket = guard_note(p->tracer->engine, p->guard, b->address, b->original,
				       b->trap, b->size);
	if (from->inserted && !b->inserted)
		breakpoint_insert(p, b->address);
	else if (!from->inserted && b->inserted)
		breakpoint_remove(p, b);
}

struct process *process_fork(struct process *parent, struct task *child)
{
	struct process *p = process_alloc(parent->tracer, child->tid, child->tgid, parent->arch);
	const struct hash_entry *entry;

	if (!p)
		return NULL;
	/* From here on its text is written, perhaps through this very task. */
	child->process = p;
	process_ref(p);
	p->name = xstrdup(parent->name);
	p->foreign_mounts = parent->foreign_mounts;
	p->shadow_stack = parent->shadow_stack;
	p->r_debug = parent->r_debug;
	p->release_probes = parent->release_probes;
	sigtrap_fork(parent, p);
	objects_clone(&parent->objects, &p->objects);
	p->program = parent->program ? objects_find(&p->objects, parent->program->start) : NULL;
	p->unwinder = unwinder_clone(parent->unwinder, child->tid);
	fork_slots(parent, p);
	for (size_t i = 0; (entry = hash_next(&parent->breakpoints, &i));)
		fork_breakpoint(p, (const struct breakpoint *)(uintptr_t)entry->value);
	ledger_fork(parent, p);
	p->planted = parent->planted;
	for (size_t i = 0; i < p->objects.count; i++)
		p->objects.items[i]->probed = p->planted;
	if (p->planted && output_begin(p) < 0)
		process_pause(p, NULL);
	return p;
}

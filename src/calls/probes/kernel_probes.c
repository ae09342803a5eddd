#include "config.h"
#include "calls/probes/kernel_probes.h"
#include "calls/probes/kernel_links.h"
#include "calls/probes/kernel_sites.h"
#include "breakpoints/breakpoints.h"
#include "breakpoints/out_of_line_slots.h"
#include "ptrace/tasks.h"
#include "proc/proc.h"
#include "record/run_probes.h"
#include "base/msg.h"
#include "uprobe/uprobes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The data of this file about a process. */
struct kernel_probes {
	struct kernel_group *groups;
	size_t count, capacity;
	uint64_t began;       /* position in the ring at which all its first probes were in place */
	uint64_t trampoline;  /* 0: unknown */
	uint32_t space;       /* key of its rows in the kernel; 0: it has none */
	unsigned char serial; /* in the cookies, and so in the records, of its probes */
};

/* Adds a site to the new groups, those from `first` on. */
static void add_site(const struct process *p, size_t first, const struct object *object, const struct uprobe_site *site)
{
	struct kernel_probes *const own = p->kernel;
	struct kernel_group *group = own->groups + first;

	while (group < own->groups + own->count && group->object != object->start)
		group++;
	if (group == own->groups + own->count) {
		ARRAY_GROW(own->groups, own->capacity, own->count);
		group = &own->groups[own->count++];
		*group = (struct kernel_group){.object = object->start};
	}
	ARRAY_GROW(group->sites, group->capacity, group->count);
	/* The kernel probes one function after the other. If a release were missed whose allocation was seen, the next
	 * block at that address would seem to be allocated twice. So functions that release come first. */
	struct uprobe_site *const place = site->cookie & UPROBE_ENTER ? group->sites : group->sites + group->count;

	if (group->count)
		group->sites[group->count] = *place;
	*place = *site;
	kernel_site_number(place, own->serial);
	group->count++;
}

static void mark_group(struct process *p, const struct kernel_group *group, bool in_kernel)
{
	for (size_t i = 0; i < group->count; i++) {
		struct breakpoint *const b = breakpoint_find(p, group->sites[i].cookie & UPROBE_ADDRESS);

		if (!b)
			continue;
		b->in_kernel = in_kernel;
		b->prepared = b->prepared && !in_kernel;
		if (in_kernel && b->slot)
			slot_release(b->slot);
	}
}

/* Warns once that the kernel does not make the links; their functions get breakpoints. */
static void warn_not_linked(const struct process *p, int error)
{
	static bool was_said;

	if (was_said || error == -ESRCH || error == -ENOENT)
		return;
	was_said = true;
	msg_warn("process %d: the kernel does not probe its functions, so they get breakpoints: %s%s", p->pid,
		 strerror(-error), error == -EINVAL ? " (Linux 6.6 or newer can)" : "");
}

/* Sets the sites' offsets to those in the file, and links the new groups. Groups that cannot be linked are dropped, and
 * their functions get breakpoints. */
static void link_new(struct process *p, size_t first)
{
	struct kernel_probes *const own = p->kernel;
	struct maps maps;
	size_t kept = first;

	if (maps_read(process_proc_task(p), &maps) < 0) {
		while (own->count > first)
			kernel_group_free(&own->groups[--own->count]);
		return;
	}
	for (size_t i = first; i < own->count; i++) {
		struct kernel_group *const group = &own->groups[i];
		const struct object *const object = objects_find(&p->objects, group->object);
		bool is_possible = object != NULL;

		group->places = xreallocarray(NULL, group->count, sizeof(*group->places));
		for (size_t j = 0; j < group->count; j++) {
			const uint64_t at = (group->sites[j].cookie & UPROBE_ADDRESS) + group->sites[j].offset;
			const struct mapping *const mapping = maps_find(&maps, at);

			/* include/linux/uprobes.h: the kernel probes only text that is not writable. */
			is_possible &= mapping && mapping->exec && !mapping->write && !mapping->shared;
			group->sites[j].offset = mapping ? at - mapping->start + mapping->offset : 0;
			group->places[j] = at;
		}
		const int error =
			is_possible && kernel_group_open(group, object) ? kernel_group_link_all(p, group) : -ENOENT;

		msg_debug(DBG_BREAKPOINT, 1, "kernel probes at %zu functions of %s: %s", group->count,
			  object ? object->path : "?", error ? strerror(-error) : "linked");
		if (error) {
			warn_not_linked(p, error);
			kernel_group_free(group);
			continue;
		}
		mark_group(p, group, true);
		own->groups[kept++] = *group;
	}
	own->count = kept;
	maps_free(&maps);
}

static struct kernel_probes *kernel_probes_new(const struct process *p)
{
	struct kernel_probes *const own = xcalloc(1, sizeof(*own));

	own->serial = (unsigned char)(++p->tracer->kernel_serial % UPROBE_SERIALS);
	return own;
}

/* Returns true if malloc itself, of all objects, is probed in the kernel. */
static bool sees_all_mallocs(const struct process *p)
{
	size_t seen = 0;

	for (size_t i = 0; i < p->probes->count; i++) {
		const struct probe *const probe = p->probes->items[i];

		if (probe_is_hook(probe) || strcmp(probe->wanted->symbol, "malloc") != 0)
			continue;
		if (!breakpoint_find(p, probe->entry)->in_kernel)
			return false;
		seen++;
	}
	return seen != 0;
}

/* Returns true if operator new of another object than the C++ library is probed. The library's new[] calls it. */
static bool has_own_new(const struct process *p)
{
	for (size_t i = 0; i < p->probes->count; i++)
		if (kernel_site_is_own_new(p->probes->items[i]))
			return true;
	return false;
}

/* Gives no breakpoints to functions that are named by the frame above malloc. Such a function that only jumps to
 * another one (new[] to new) has no frame, so its entries are recorded. */
static void name_by_callers(struct process *p)
{
	const size_t first = p->kernel->count;

	HASH_EACH_PTR(struct breakpoint, b, &p->text->breakpoints) {
		const struct uprobe_site site = {.cookie = b->address | UPROBE_ENTER};

		if (!b->prepared || b->inserted || !b->probe || b->probe->next || !kernel_site_is_named(b->probe))
			continue;
		b->in_kernel = true;
		b->prepared = false;
		if (b->insn.pc_only)
			add_site(p, first, b->probe->object, &site);
	}
	if (first < p->kernel->count)
		link_new(p, first);
}

/* Returns true if the contexts of calls are recorded. They are read from the task's memory and stack at the call. */
static bool has_contexts(const struct process *p)
{
	if (p->tracer->set->traced.contexts)
		return true;
	for (size_t i = 0; i < p->probes->count; i++)
		if (p->probes->items[i]->wanted->hook == HOOK_CONTEXT_CREATE)
			return true;
	return false;
}

void kernel_probes_await_removal(const struct process *p)
{
	if (p->tracer->uprobes)
		uprobe_unlink_wait();
}

void kernel_probes_cover(struct process *p, const struct object *object)
{
	kernel_probes_await_removal(p);
	for (size_t i = 0; p->kernel && i < p->kernel->count; i++) {
		const struct kernel_group *const group = &p->kernel->groups[i];
		const struct object *const other = objects_find(&p->objects, group->object);

		if (!other || other == object || other->file != object->file)
			continue;
		for (size_t j = 0; j < group->count; j++)
			breakpoint_add(p, (group->sites[j].cookie & UPROBE_ADDRESS) - other->start + object->start)
				->in_kernel = true;
	}
}

/* Notes for the summary how the calls of allocators' functions are seen. */
static void note_functions(struct process *p)
{
	struct uprobe_site site;

	HASH_EACH_PTR(const struct breakpoint, b, &p->text->breakpoints) {
		if (!b->probe || !kernel_site_is_hot(b->probe) || (!b->in_kernel && (!b->prepared || b->inserted)))
			continue;
		const char *const why = b->in_kernel ? NULL : kernel_site_find(p, b, &site);

		run_probes_note(p->tracer->run, b->probe->traced.shown,
				b->in_kernel || why ? why : "the kernel does not probe them");
	}
}

bool kernel_probes_leave_out(const struct process *p)
{
	return p->tracer->set->traced.probes == PROBES_AUTO && p->trace->origin.is_child;
}

/* Returns why no function of the process can have a probe in the kernel; NULL: some can. */
static const char *why_none(const struct process *p)
{
	if (!p->arch->uprobe.site)
		return "functrace has probes in the kernel only for x86_64 programs";
	if (kernel_probes_leave_out(p))
		return "they are children, for which the kernel makes probes too slowly (--probes=kernel makes them)";
	return has_contexts(p) ? "contexts of calls are recorded, which needs breakpoints" : NULL;
}

void kernel_probes_plant(struct process *p)
{
	const char *const why = p->tracer->uprobes ? why_none(p) : NULL;
	struct uprobe_site site;

	if (why)
		run_probes_missing(p->tracer->run, why);
	if (why && p->kernel)
		kernel_probes_use_breakpoints(p);
	if (!p->tracer->uprobes || why)
		return;
	if (!p->kernel)
		p->kernel = kernel_probes_new(p);
	const size_t first = p->kernel->count;

	HASH_EACH_PTR(const struct breakpoint, b, &p->text->breakpoints) {
		if (!b->prepared || b->inserted || b->in_kernel)
			continue;
		if (!kernel_site_find(p, b, &site))
			add_site(p, first, b->probe->object, &site);
	}
	if (first < p->kernel->count)
		link_new(p, first);
	if (sees_all_mallocs(p) && !has_own_new(p))
		name_by_callers(p);
	note_functions(p);
	/* A stack is walked when its record is read. By then the program may have called execve, and the kernel no
	 * longer has the paths of its files. */
	if (p->tracer->set->calls.depth)
		unwinder_prepare(p->unwinder);
	if (!first)
		p->kernel->began = uprobe_ring_end(p->tracer->uprobes);
}

bool kernel_probes_fork(const struct process *parent, struct process *child)
{
	if (!parent->kernel || !parent->kernel->count)
		return true;
	if (!child->kernel)
		child->kernel = kernel_probes_new(child);
	for (size_t i = child->kernel->count; i < parent->kernel->count; i++) {
		ARRAY_GROW(child->kernel->groups, child->kernel->capacity, child->kernel->count);
		struct kernel_group *const group = &child->kernel->groups[child->kernel->count++];

		*group = kernel_group_copy(&parent->kernel->groups[i], child->kernel->serial);
		const int error = kernel_group_link_all(child, group);

		if (error < 0) {
			warn_not_linked(child, error);
			return false;
		}
	}
	return true;
}

int kernel_probes_clean(const struct process *parent, int mem_fd, pid_t tid)
{
	int error = 0;

	for (size_t i = 0; parent->kernel && i < parent->kernel->count; i++)
		error |= kernel_group_clean(&parent->kernel->groups[i], mem_fd, tid);
	return error;
}

bool kernel_probes_join(struct process *p, pid_t tgid)
{
	for (size_t i = 0; p->kernel && i < p->kernel->count; i++) {
		const int error = kernel_group_link(p, &p->kernel->groups[i], tgid);

		if (error < 0) {
			warn_not_linked(p, error);
			return false;
		}
	}
	return true;
}

void kernel_probes_leave(struct process *p, pid_t tgid)
{
	for (size_t i = 0; p->kernel && i < p->kernel->count; i++)
		kernel_group_unlink(&p->kernel->groups[i], tgid);
}

bool kernel_probes_are_of(const struct process *p, unsigned serial, uint64_t position)
{
	return p->kernel && p->kernel->serial == serial && position >= p->kernel->began;
}

void kernel_probes_use_breakpoints(struct process *p)
{
	if (p->kernel) {
		kernel_probes_remove(p);
		kernel_probes_await_removal(p);
	}
	HASH_EACH_PTR(struct breakpoint, b, &p->text->breakpoints) {
		/* The memory has had probes in the kernel, or is a copy of such memory. While any process has a probe
		 * at this instruction, the kernel would take a breakpoint there for one. */
		if (b->in_kernel && p->arch->breakpoint.second)
			b->trap[0] = p->arch->breakpoint.second;
		b->in_kernel = false;
		if (b->probe && !b->inserted && !b->unusable && !breakpoint_insert(p, breakpoint_code(b)))
			p->trace->counts.failed_probes++;
	}
}

bool kernel_probes_is_trampoline(struct process *p, uint64_t address)
{
	struct kernel_probes *const own = p->kernel;
	struct maps maps;

	if (own->trampoline || objects_find(&p->objects, address))
		return own->trampoline == address;
	if (maps_read(process_proc_task(p), &maps) < 0)
		return false;
	const struct mapping *const mapping = maps_find(&maps, address);

	/* kernel/events/uprobes.c, xol_add_vma(): the trampoline is the first slot. */
	if (mapping && !strcmp(mapping->path, "[uprobes]"))
		own->trampoline = mapping->start;
	maps_free(&maps);
	return own->trampoline == address;
}

void kernel_probes_note_trampoline(struct process *p, uint64_t address)
{
	if (address)
		p->kernel->trampoline = address;
}

void kernel_probes_note_space(struct process *p, uint32_t space)
{
	p->kernel->space = space;
}

uint32_t kernel_probes_space(const struct process *p)
{
	return p->kernel->space;
}

void kernel_probes_forget_range(struct process *p, uint64_t start, uint64_t end)
{
	struct kernel_probes *const own = p->kernel;
	size_t kept = 0;

	if (!own)
		return;
	for (size_t i = 0; i < own->count; i++) {
		struct kernel_group *const group = &own->groups[i];

		if (group->object < start || group->object >= end) {
			own->groups[kept++] = *group;
			continue;
		}
		mark_group(p, group, false);
		kernel_group_free(group);
	}
	own->count = kept;
	if (own->space)
		uprobe_rows_forget(p->tracer->uprobes, own->space, start, end);
}

void kernel_probes_remove(struct process *p)
{
	if (!p->kernel)
		return;
	kernel_probes_forget_range(p, 0, UINT64_MAX);
	free(p->kernel->groups);
	free(p->kernel);
	p->kernel = NULL;
}

const struct probe *kernel_probes_caller(const struct process *p, const struct probe *probe, uint64_t return_address)
{
	const struct probe *const around = probe_around(p, return_address, probe);

	return around && kernel_site_is_named(around) && breakpoint_find(p, around->entry)->in_kernel ? around : NULL;
}

#include "config.h"
#include "tracer/process_objects.h"
#include "tracer/forks.h"
#include "calls/abandoned_calls.h"
#include "calls/contexts.h"
#include "calls/probes/kernel_probes.h"
#include "calls/probes/alias.h"
#include "calls/probes/ifunc_slots.h"
#include "calls/probes/pattern_probes.h"
#include "calls/probes/r_debug.h"
#include "record/attachments.h"
#include "record/trace_output.h"
#include "breakpoints/breakpoints.h"
#include "breakpoints/out_of_line_slots.h"
#include "proc/proc.h"
#include "base/msg.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Forgets the data about a range that is no longer mapped: the breakpoints, the slots and the context libraries
 * (contexts.h) in it, and the names by which the object there calls functions (alias.h). */
static void forget_range(struct process *p, uint64_t start, uint64_t end)
{
	size_t count;

	text_about_to_change(p);
	uint64_t *const gone = hash_keys_between(&p->text->breakpoints, start, end, &count);

	for (size_t i = 0; i < count; i++) {
		struct breakpoint *b = breakpoint_find(p, gone[i]);

		/* Restores the original bytes if functrace's are still in place, because the object may still be mapped
		 * under another name, like a program whose file was replaced. */
		breakpoint_remove(p, b);
		calls_drop_site(p, b);
		probe_forget(p, b);
		breakpoint_free(p, b);
	}
	free(gone);
	slots_forget_range(p, start, end);
	callers_forget_range(p->probes, start, end);
	contexts_forget_range(p, start, end);
}

static void object_removed(void *context, struct object *object)
{
	struct process *p = context;

	output_note(p->trace, "unmapped 0x%llx-0x%llx %s", (unsigned long long)object->start,
		    (unsigned long long)object->lookup_end, object->path);
	if (p->program == object)
		p->program = NULL;
	kernel_probes_forget_range(p, object->start, object->lookup_end);
	forget_range(p, object->start, object->end);
	unwinder_remove(p->unwinder, object->start, object->lookup_end);
}

static void object_added(void *context, struct object *object)
{
	struct process *p = context;

	unwinder_add(p->unwinder, object->start, object->lookup_end, object->bias, object->open_path,
		     elf_file_build_id(object->file));
	slots_add_object(p, object);
	output_object(p->trace, object);
}

/* Finds the main program among the objects. The kernel appends " (deleted)" to the path of a file that was deleted or
 * replaced. */
static void process_find_program(struct process *p)
{
	const size_t length = strlen(p->trace->origin.exe);

	for (size_t i = 0; i < p->objects.count && !p->program; i++) {
		const char *path = p->objects.items[i]->path;

		if (!strncmp(path, p->trace->origin.exe, length) && (!path[length] || proc_path_length(path) == length))
			p->program = p->objects.items[i];
	}
}

void process_update_objects(struct process *p)
{
	bool has_new = false;

	process_time_reads(p->tracer);
	text_about_to_change(p);
	const int error = objects_update(&p->objects, process_proc_task(p), object_removed, object_added, p);

	if (error < 0 && error != -ESRCH && error != -ENOENT)
		msg_debug(DBG_SYMBOLS, 1, "maps of %d: %s", p->pid, strerror(-error));
	process_find_program(p);
	if (!p->life->planted)
		return;
	r_debug_mark_lasting(p);
	p->text->planting = true;
	for (size_t i = 0; i < p->objects.count; i++)
		if (!p->objects.items[i]->probed) {
			kernel_probes_cover(p, p->objects.items[i]);
			probe_object(p, p->objects.items[i]);
			probe_patterns(p, p->objects.items[i]);
			has_new = true;
		}
	/* When the dynamic linker gives notice of new libraries, it has already bound the symbols that it binds at once
	 * (-z now, data), so it has already called their IFUNC resolvers. */
	if (has_new)
		probe_resolved(p);
	process_plant_probes(p);
	contexts_find(p, false);
	/* Read the files to be attached, such as the maps, now, because the process may call execve or be killed
	 * next. */
	attachments_take(p->trace, process_proc_task(p));
}

void process_linker_notice(struct task *task)
{
	struct process *p = task->process;

	if (!r_debug_is_complete(p))
		return;
	p->anchor = p->shared ? task->tid : 0;
	process_update_objects(p);
	p->anchor = 0;
}

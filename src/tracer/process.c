#include "config.h"
#include "tracer/process.h"
#include "calls/abandoned_calls.h"
#include "calls/contexts.h"
#include "calls/probes/kernel_probes.h"
#include "record/ledger.h"
#include "record/run_summary.h"
#include "record/trace_life.h"
#include "record/trace_output.h"
#include "breakpoints/breakpoints.h"
#include "ptrace/halt.h"
#include "ptrace/target_memory.h"
#include "ptrace/tasks.h"
#include "proc/proc.h"
#include "proc/process_search.h"
#include "scan/capture/heap_capture.h"
#include "base/msg.h"
#include "base/timed.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

static char *exe_path(pid_t pid)
{
	char *path = proc_link(pid, "exe");

	return path ? path : xstrdup("?");
}

/* Returns true if the process has a user shadow stack, with which calls cannot be emulated. */
static bool has_shadow_stack(pid_t pid, const struct arch *arch)
{
	if (arch->shadow_stack.hwcap && !(getauxval(AT_HWCAP) & arch->shadow_stack.hwcap))
		return false;
	if (!arch->shadow_stack.line)
		return arch->shadow_stack.hwcap != 0;
	char *status = proc_read(pid, "status", NULL);
	const char *line = proc_status_line(status, arch->shadow_stack.line);
	const char *word = line ? strstr(line, arch->shadow_stack.word) : NULL;
	const bool found = word && word < line + strcspn(line, "\n");

	free(status);
	return found;
}

static void free_breakpoints(struct process *p)
{
	HASH_EACH_PTR(struct breakpoint, b, &p->text->breakpoints)
		probe_forget(p, b);
	text_free(p);
}

static void process_free_memory(struct process *p)
{
	struct tracer *t = p->tracer;

	kernel_probes_remove(p);
	text_about_to_change(p);
	process_end_borrowing(p);
	for (struct process **link = &t->processes; *link; link = &(*link)->next)
		if (*link == p) {
			*link = p->next;
			break;
		}
	free_breakpoints(p);
	contexts_free(p->calls);
	calls_free(p);
	probes_free(p);
	ledger_free(p->trace);
	trace_free(p->trace);
	traps_free(p->traps);
	objects_free(&p->objects);
	guard_remove_space(t->engine, p->guard);
	if (p->mem_fd >= 0)
		close(p->mem_fd);
	heap_capture_free(p->life->exit_capture);
	free(p->life);
	free(p);
}

struct process *process_alloc(struct tracer *t, pid_t pid, const struct arch *arch)
{
	struct process *p = xcalloc(1, sizeof(*p));

	p->tracer = t;
	p->pid = pid;
	p->arch = arch;
	p->mem_fd = p->guard = -1;
	p->text_serial = 1;
	p->text = text_new();
	p->calls = calls_new();
	p->probes = xcalloc(1, sizeof(*p->probes));
	p->life = xcalloc(1, sizeof(*p->life));
	p->life->loan = -1;
	p->trace = trace_new(t->run, pid, arch);
	p->trace->objects = &p->objects;
	p->trace->ledger.context = p;
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

static void check_unwinder(const struct process *p)
{
	if (!unwinder_has(p->arch, p->tracer->set->calls.unwinder))
		msg_warn("process %d is a program for %s, whose unwind tables libunwind does not read: "
			 "functrace uses its own unwinder, rows, instead; leave out --unwinder=libunwind",
			 p->pid, p->arch->name);
}

struct process *process_new(struct tracer *t, pid_t tid, pid_t tgid)
{
	const struct arch *arch = task_arch(tid);

	if (!arch)
		return NULL;
	struct process *p = process_alloc(t, tgid, arch);
	const int error = process_open(p, tid);

	if (error < 0) {
		process_free_memory(p);
		errno = -error;
		return NULL;
	}
	p->trace->origin.exe = exe_path(tid);
	p->trace->origin.name = process_started_name(tid);
	p->trace->origin.foreign_mounts = process_has_other_mounts(tid);
	ledger_init(p->trace);
	p->shadow_stack = has_shadow_stack(tid, arch);
	p->traps = traps_new(tid);
	check_unwinder(p);
	p->unwinder = unwinder_new(tid, arch, t->set->calls.unwinder);
	return p;
}

pid_t process_find_anchor(struct process *p)
{
	/* A stopped task stays stopped until its stop is acted on. A parent in vfork does not run before it stops at
	 * the end of the vfork. */
	FOR_EACH_TASK(task, p)
		if (task_can_be_poked(task) || (task_has_memory(task) && task->vforking))
			return p->anchor = task->tid;
	return p->anchor = halt_one(p);
}

struct process *process_again(struct process *old)
{
	struct process *p = process_new(old->tracer, process_proc_task(old), old->pid);

	if (!p)
		return NULL;
	p->trace->origin.attached = old->trace->origin.attached;
	p->trace->origin.attached_to = old->trace->origin.attached_to;
	p->trace->origin.is_child = old->trace->origin.is_child;
	p->shared = old->shared;
	p->anchor = old->anchor;
	process_ref(old);
	FOR_EACH_TASK(task, old) {
		process_unref(task_part(task), NULL);
		task_join(task, p);
	}
	process_unref(old, NULL);
	return p;
}

void process_ref(struct process *p)
{
	p->references++;
}

void process_unref(struct process *p, const char *how)
{
	if (--p->references)
		return;
	output_end_sink(p->trace, how);
	calls_drop_all(p);
	p->trace->has_ended = true;
	process_time_reads(p->tracer);
	report_end(p->trace, how, p->tracer->tasks.count != 0);
	process_report(p);
	process_free_memory(p);
}

void process_end_borrowing(struct process *p)
{
	struct process **link, *const lender = p->life->lender;

	if (!lender)
		return;
	for (link = &lender->life->borrowers; *link != p; link = &(*link)->life->next_borrower)
		;
	*link = p->life->next_borrower;
	p->life->lender = p->life->next_borrower = NULL;
	if (!lender->life->borrowers) {
		lender->text->before_change = NULL;
		lender->trace->ledger.before_change = NULL;
	}
	guard_lend_end(p->tracer->engine, p->life->loan);
	p->life->loan = -1;
}

void process_time_reads(const struct tracer *t)
{
	bool is_held = false;

	for (const struct process *p = t->processes; p; p = p->next)
		is_held |= p->tasks && p->text->inserted;
	timed_hold(is_held);
}

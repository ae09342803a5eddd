#include "config.h"
#include "tracer/forks.h"
#include "record/run.h"
#include "record/trace_life.h"
#include "calls/probes/alias.h"
#include "calls/probes/kernel_probes.h"
#include "calls/contexts.h"
#include "record/ledger.h"
#include "record/trace_output.h"
#include "breakpoints/fork_text.h"
#include "ptrace/target_memory.h"
#include "base/msg.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* A fork's child begins with its parent's text, with the breakpoints and slots in it, and with the same objects and
 * blocks. Most children call execve or end before they make a traced call. So no table is copied at first: the child
 * borrows its parent's tables. The process that owns these tables is the lender: the parent, or the parent's lender.
 * The child gets tables of its own at its first hit, or before the lender's tables change in a way in which the child's
 * text does not:
 *
 *	child: runs | lender: dlclose(), a breakpoint is removed | child: hits it in its own text
 *
 * A breakpoint that is inserted into the lender after the fork does no harm, because the child's text is compared with
 * its tables when it gets them. A slot that is filled anew for another breakpoint does no harm either, because no task
 * of a borrower can be in a slot. But a breakpoint may have been inserted after the kernel copied the parent's text and
 * before the fork's event: the child would never hit it. So if any breakpoint was inserted since the parent last ran,
 * the child gets its tables before it runs.
 *
 * For a child that makes no traced call, functrace creates no file, does not open the memory, and sends no descriptor
 * to the guardian. With -F, it removes the breakpoints from the child, and detaches from it. The tracer's system calls
 * in both cases, counted by strace (tests/scenarios/steady.py checks them):
 *
 *			   a bare fork	with -F
 *	waitid		       6	   3	fork event, first stop, exit event, SIGCHLD, exit; sometimes more
 *	ptrace		       7	   5	CONT after each stop but the last; GETEVENTMSG, GETREGS twice; DETACH
 *	kcmp, tgkill	       2	   2	whether it has memory and a group of its own
 *	/proc/TID/stat	      1.2	 1.2	three if the child is seen before its parent's event
 *	/proc/TID/mem	       -	   2
 *	pread, pwrite	       -	  10	two for each group of breakpoints close together, five in the C library
 *
 * vfork and execve take many more, because functrace reads and probes the new program's objects. */

void process_clean(struct process *p, pid_t tid)
{
	const int fd = p->mem_fd >= 0 ? p->mem_fd : memory_open(tid);
	const struct process *const tables = p->life->lender ? p->life->lender : p;
	const int error = fork_text_clean(tables, fd, tid) | kernel_probes_clean(tables, fd, tid);

	if (fd >= 0 && fd != p->mem_fd)
		close(fd);
	if (error && error != -ESRCH)
		msg_warn("breakpoints could not be removed from the forked process %d: SIGTRAP kills it if it reaches "
			 "one",
			 tid);
}

/* ---- The child's own tables ---- */

static void breakpoint_copied(struct process *p, struct breakpoint *b, const struct breakpoint *from)
{
	breakpoint_calls_copy(b, from);
	probe_copy(p, b, from);
}

static void copy_tables(const struct process *lender, struct process *p, pid_t tid)
{
	objects_clone(&lender->objects, &p->objects);
	for (size_t i = 0; i < p->objects.count; i++)
		p->objects.items[i]->probed = lender->life->planted;
	p->program = lender->program ? objects_find(&p->objects, lender->program->start) : NULL;
	p->unwinder = unwinder_clone(lender->unwinder, tid);
	p->probes->callers = callers_copy(lender->probes->callers);
	fork_text_copy(lender, p, breakpoint_copied);
	ledger_init(p->trace);
	ledger_fork(lender->trace, p->trace);
	p->life->planted = lender->life->planted;
}

/* ---- Borrowing ---- */

/* Gives all borrowers tables of their own, because the lender is about to change. */
static void process_end_lending(struct process *lender)
{
	while (lender->life->borrowers)
		process_own(lender->life->borrowers);
}

static void ledger_end_lending(void *lender)
{
	process_end_lending(lender);
}

static void borrow(struct process *p, struct process *lender, pid_t tid)
{
	p->life->lender = lender;
	p->life->next_borrower = lender->life->borrowers;
	lender->life->borrowers = p;
	lender->text->before_change = process_end_lending;
	lender->trace->ledger.before_change = ledger_end_lending;
	p->life->lacks_breakpoints = p->text_serial != lender->text_serial;
	p->life->loan = guard_lend(p->tracer->engine, lender->guard, tid);
	/* The journal has no room for another loan. */
	if (p->life->loan < 0)
		process_own(p);
}

void process_plant_probes(struct process *p)
{
	struct process *next;

	kernel_probes_plant(p);
	probes_plant(p);
	for (struct process *child = p->life->borrowers; child; child = next) {
		next = child->life->next_borrower;
		process_probe_fork(p, child);
	}
}

void process_probe_fork(const struct process *parent, struct process *child)
{
	const bool is_left_out = parent->kernel && kernel_probes_leave_out(child);

	if (!is_left_out && kernel_probes_fork(parent, child))
		return;
	process_own(child);
	if (is_left_out)
		kernel_probes_clean(parent, child->mem_fd, process_proc_task(child));
	kernel_probes_use_breakpoints(child);
}

/* Begins the child's trace, with the data of the parent's trace that are also true of the child. */
static void inherit_trace(const struct process *parent, struct trace *trace)
{
	const struct trace *from = parent->trace;

	trace->origin.exe = xstrdup(from->origin.exe);
	trace->origin.name = xstrdup(from->origin.name);
	trace->origin.foreign_mounts = from->origin.foreign_mounts;
	trace->origin.attached = from->origin.attached;
	trace->origin.is_forked = trace->origin.is_child = true;
	/* The child's memory was copied a moment before the fork was reported. If another thread of the parent has
	 * released a block since, the child still has this block, but its ledger does not. */
	trace->origin.may_miss = from->origin.may_miss || parent->task_count > 1;
	trace->origin.forked_by = parent->pid;
	trace_copy_contexts(from, trace);
	output_start(trace);
}

struct process *process_fork(struct process *parent, const struct task *child)
{
	struct process *lender = parent->life->lender ? parent->life->lender : parent;

	/* functrace attached to the parent during an execve, and has never read the parent's objects. */
	if (!lender->objects.count && !lender->tracer->run->paused)
		return process_new(lender->tracer, child->tid, child->tgid);
	struct process *p = process_alloc(lender->tracer, child->tgid, lender->arch);

	inherit_trace(parent, p->trace);
	p->shadow_stack = parent->shadow_stack;
	p->probes->r_debug = parent->probes->r_debug;
	contexts_fork(parent, p);
	p->traps = traps_fork(parent->traps);
	p->text_serial = child->text_serial;
	borrow(p, lender, child->tid);
	return p;
}

void process_own(struct process *p)
{
	struct process *const lender = p->life->lender;

	if (!lender && !p->life->uncompared)
		return;
	const pid_t tid = process_proc_task(p);
	const bool is_same = lender && p->text_serial == lender->text_serial;
	/* If process_open() fails with ESRCH, the process was killed. If it fails because functrace has no free
	 * descriptor, the memory is opened at the process's next hit. */
	const bool is_open = process_open(p, tid) == 0;

	if (lender)
		copy_tables(lender, p, tid);
	if (is_open && is_same)
		fork_text_trust(p);
	else if (is_open)
		fork_text_compare(p, tid);
	p->life->uncompared = !is_open;
	p->text_serial++;
	process_end_borrowing(p);
}

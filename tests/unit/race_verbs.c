/* The words of a sequence: SUBJECT VERB [OBJECT...]. */
#include "config.h"
#include "arch/x86/x86_insn.h"
#include "tests/unit/fake_kernel.h"
#include "tests/unit/race_verbs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <unistd.h>

static const struct {
	const char *name;
	int number;
} signals[] = {{"STOP", SIGSTOP}, {"TSTP", SIGTSTP}, {"CONT", SIGCONT}, {"TRAP", SIGTRAP}, {"KILL", SIGKILL},
	       {"USR1", SIGUSR1}, {"SEGV", SIGSEGV}, {"TTIN", SIGTTIN}, {"CHLD", SIGCHLD}},
  errors[] = {{"ESRCH", ESRCH}, {"EPERM", EPERM}, {"EIO", EIO}, {"EACCES", EACCES}};

const char *fake_signal_name(int sig)
{
	for (size_t i = 0; i < ARRAY_SIZE(signals); i++)
		if (signals[i].number == sig)
			return signals[i].name;
	return "?";
}

const char *fake_error_name(int error)
{
	for (size_t i = 0; i < ARRAY_SIZE(errors); i++)
		if (errors[i].number == error)
			return errors[i].name;
	return "?";
}

static int signal_named(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(signals); i++)
		if (!strcmp(signals[i].name, name))
			return signals[i].number;
	fake_fail("there is no signal '%s' here", name);
	return SIGUSR1;
}

/* ---- Births ---- */

/* The kinds of new tasks: what a new task shares with its creator, and which ptrace event reports its creation. The
 * remarks name the flags of clone(). */
static const struct birth {
	const char *kind;
	bool is_thread, shares, waits, is_sibling;
	int event;
} births[] = {
	{"thread", true, true, false, false, PTRACE_EVENT_CLONE},
	{"process", false, false, false, false, PTRACE_EVENT_FORK},
	{"vfork", false, true, true, false, PTRACE_EVENT_VFORK},
	{"sharer", false, true, false, false, PTRACE_EVENT_FORK},      /* CLONE_VM */
	{"silent", false, false, false, false, PTRACE_EVENT_CLONE},    /* no exit signal */
	{"sibling", false, false, false, true, PTRACE_EVENT_FORK},     /* CLONE_PARENT */
	{"vfork-copy", false, false, true, false, PTRACE_EVENT_VFORK}, /* CLONE_VFORK without CLONE_VM */
};

/* Sets the registers as after clone(): its result is `tid`, which is the new task's number in the creator and 0 in the
 * child. */
static void return_from_clone(struct fake_task *task, pid_t tid)
{
	task->regs.words[X86_ORIG_RAX] = 56;
	task->regs.words[X86_RAX] = (uint64_t)tid;
}

/* "N makes KIND M [untraced]": task N creates task M. */
static void verb_makes(struct fake_task *task, const struct words *w)
{
	const pid_t tid = number(w, 3);
	char name[16];

	snprintf(name, sizeof(name), "%d", tid);
	for (size_t i = 0; i < ARRAY_SIZE(births); i++) {
		const struct birth *birth = &births[i];

		if (strcmp(birth->kind, word(w, 2)) != 0)
			continue;
		struct fake_task *child = fake_new(tid, birth->is_thread ? task->tgid : tid,
						   birth->shares ? task->memory : fake_memory_fork(task->memory, name));

		child->parent = birth->is_thread || birth->is_sibling ? fake_leader(task)->parent : task->tgid;
		child->regs = task->regs;
		child->site = task->site;
		child->block = task->block;
		if (!birth->shares)
			child->stack = task->stack;
		if (!birth->is_thread)
			child->trap = fake_leader(task)->trap;
		fake_arch->registers.set_sp(&child->regs,
					    birth->shares ? child->stack : fake_arch->registers.sp(&task->regs));
		return_from_clone(task, tid);
		return_from_clone(child, 0);
		child->birth_event = birth->event;
		child->activity = 'R';
		if (!fake_is_ours(task) || !strcmp(word(w, 4), "untraced")) {
			task->vforking = birth->waits;
			return;
		}
		fake_attach(child);
		child->deaf = true; /* a new task does not stop before "M starts" */
		return;
	}
	fake_fail("there is no kind '%s' of a birth", word(w, 2));
}

/* "N reports M": task N stops with the ptrace event of the fork, vfork or clone that made task M. The event's message
 * is M's tid. If M is "no-task", N stops with PTRACE_EVENT_FORK, whose message is 0. */
static void verb_reports(struct fake_task *task, const struct words *w)
{
	struct fake_task *child = NULL;
	const pid_t tid = number(w, 2);

	if (!strcmp(word(w, 2), "no-task")) {
		fake_report(task, STATUS_EVENT(PTRACE_EVENT_FORK, SIGTRAP), 0);
		return;
	}
	for (size_t i = 0; fake_nth(i); i++)
		if (fake_nth(i)->tid == tid)
			child = fake_nth(i);
	if (!child) {
		fake_fail("%d has never been made", tid);
		return;
	}
	fake_report(task, STATUS_EVENT(child->birth_event, SIGTRAP), (unsigned long)tid);
	task->vforking = child->birth_event == PTRACE_EVENT_VFORK && child->memory;
}

/* "N starts": the new task N reports its first stop. */
static void verb_starts(struct fake_task *task, const struct words *w)
{
	const struct fake_task *leader = fake_leader(task);

	(void)w;
	task->deaf = false;
	fake_report(task, STATUS_EVENT(PTRACE_EVENT_STOP, leader && leader->group_stop ? leader->group_stop : SIGTRAP),
		    0);
}

/* "N done": N has waited for its vfork child, and reports that the child no longer shares N's memory. */
static void verb_done(struct fake_task *task, const struct words *w)
{
	(void)w;
	task->vforking = false;
	if (fake_is_ours(task))
		fake_report(task, STATUS_EVENT(PTRACE_EVENT_VFORK_DONE, SIGTRAP), 0);
}

/* "N returned M": clone() has returned M in task N. */
static void verb_returned(struct fake_task *task, const struct words *w)
{
	return_from_clone(task, number(w, 2));
}

/* ---- Calls ---- */

static uint64_t blocks; /* the block that was allocated last */

/* "N hits FUNCTION [from SITE]": task N calls the function from that place and hits its breakpoint. */
static void verb_hits(struct fake_task *task, const struct words *w)
{
	const struct fake_place *function = fake_place_named(word(w, 2));
	const bool is_free = !strcmp(function->name, "free");

	task->site = fake_place_named(w->count > 4 ? word(w, 4) : "site");
	task->block = is_free ? blocks : 0x5000u + 16u * (unsigned)task->tid;
	if (!task->memory)
		return;
	fake_memory_put(task->memory, task->stack, &task->site->address, sizeof(task->site->address));
	fake_arch->registers.set_sp(&task->regs, task->stack);
	task->regs.words[fake_arch->convention.argument_words[0]] = is_free ? task->block : 16;
	task->regs.words[fake_arch->convention.argument_words[1]] = 16;
	task->regs.words[X86_ORIG_RAX] = UINT64_MAX;
	fake_hit(task, function->address);
}

/* "N repeats": task N hits the breakpoint at its pc once more, with unchanged registers. */
static void verb_repeats(struct fake_task *task, const struct words *w)
{
	(void)w;
	fake_hit(task, fake_arch->registers.pc(&task->regs));
}

/* "N returns": task N's last call returns, and the task hits the breakpoint at the return address. */
static void verb_returns(struct fake_task *task, const struct words *w)
{
	(void)w;
	if (!task->site) {
		fake_fail("%d has called nothing", task->tid);
		return;
	}
	fake_arch->registers.set_sp(&task->regs, task->stack + 8);
	task->regs.words[X86_RAX] = blocks = task->block;
	fake_hit(task, task->site->address);
}

/* "N is-at PLACE[+OFFSET]": sets task N's pc to that place. */
static void verb_is_at(struct fake_task *task, const struct words *w)
{
	char name[40];
	const char *plus = strchr(word(w, 2), '+');

	snprintf(name, sizeof(name), "%.*s", plus ? (int)(plus - word(w, 2)) : 39, word(w, 2));
	fake_arch->registers.set_pc(&task->regs,
				    fake_place_named(name)->address + (plus ? strtoul(plus + 1, NULL, 10) : 0));
}

/* "N queues FUNCTION": task N has hit that function's breakpoint, and reports it after its present stop. Signals that
 * the task itself has raised are delivered before all others (dequeue_synchronous_signal()): such a trap never comes
 * after another signal. */
static void verb_queues(struct fake_task *task, const struct words *w)
{
	if (task->state != FAKE_RUNS && task->status >> 16 != PTRACE_EVENT_STOP)
		fake_fail("a trap can only come after an interruption or a group-stop");
	task->queued_hit = fake_place_named(word(w, 2))->address;
	fake_arch->registers.set_pc(&task->regs, task->queued_hit + 1);
}

/* ---- Stops ---- */

static void verb_gets(struct fake_task *task, const struct words *w)
{
	if (!fake_report(task, STATUS_STOPPED(signal_named(word(w, 2))), 0))
		return;
	task->activity = 'R';
	if (signal_named(word(w, 2)) == SIGSEGV) {
		task->info.si_code = SEGV_MAPERR;
		task->info.si_addr = (void *)(uintptr_t)fake_arch->registers.pc(&task->regs);
	}
}

/* "N stops SIG": task N takes part in a group-stop. */
static void verb_stops(struct fake_task *task, const struct words *w)
{
	struct fake_task *leader = fake_leader(task);

	if (leader)
		leader->group_stop = signal_named(word(w, 2));
	fake_report(task, STATUS_EVENT(PTRACE_EVENT_STOP, signal_named(word(w, 2))), 0);
}

/* "N continues": SIGCONT has ended task N's group-stop. */
static void verb_continues(struct fake_task *task, const struct words *w)
{
	struct fake_task *leader = fake_leader(task);

	(void)w;
	if (leader)
		leader->group_stop = 0;
	if (task->state == FAKE_LISTENS)
		fake_interrupt(task);
}

/* "N wakes": task N slept in epoll_wait, which returns EINTR because of the task's present stop. */
static void verb_wakes(struct fake_task *task, const struct words *w)
{
	(void)w;
	task->regs.words[X86_RAX] = (uint64_t)-EINTR;
	task->regs.words[X86_ORIG_RAX] = 232;
}

/* ---- States and ends of tasks ---- */

static void verb_runs(struct fake_task *task, const struct words *w)
{
	(void)w;
	task->activity = 'R';
}

static void verb_sleeps(struct fake_task *task, const struct words *w)
{
	task->activity = w->count > 2 ? word(w, 2)[0] : 'S';
}

/* "N deaf": from now on task N does not stop when it is interrupted. "N deaf no" ends this. */
static void verb_deaf(struct fake_task *task, const struct words *w)
{
	const bool was_interrupted = task->interrupted;

	task->deaf = w->count < 3;
	if (!task->deaf && was_interrupted && task->state == FAKE_RUNS)
		fake_interrupt(task);
}

/* "N lacks its stack": writes to task N's stack fail, because another thread must provide the page (userfaultfd). "N
 * lacks its stack no" ends this. */
static void verb_lacks(struct fake_task *task, const struct words *w)
{
	task->no_stack = w->count < 5;
}

/* "N steps": task N completes the step that was delayed. */
static void verb_steps(struct fake_task *task, const struct words *w)
{
	(void)w;
	task->deaf = false;
	fake_end_step(task);
}

static void verb_exits(struct fake_task *task, const struct words *w)
{
	task->regs.words[X86_ORIG_RAX] = 231;
	fake_exit(task, STATUS_EXITED(number(w, 2)));
}

static void verb_ends(struct fake_task *task, const struct words *w)
{
	fake_end(task, STATUS_EXITED(number(w, 2)));
}

static void verb_dies(struct fake_task *task, const struct words *w)
{
	(void)w;
	fake_kill(task->tgid);
}

/* "N vanishes": task N is killed before it can report anything. */
static void verb_vanishes(struct fake_task *task, const struct words *w)
{
	(void)w;
	fake_end(task, SIGKILL);
	fake_taken(task);
	task->state = FAKE_GONE;
}

/* "N execs": task N executes another program. With "killed" it is killed when it has got its leader's tid, before it
 * reports the event. */
static void verb_execs(struct fake_task *task, const struct words *w)
{
	task->dies_in_exec = w->count > 2;
	fake_exec(task);
}

/* "N refuses": attaching to task N fails. "N belongs M": process M traces it already. "N handles", "N ignores": N's
 * process has a handler for SIGTRAP, or ignores it. */
static void verb_refuses(struct fake_task *task, const struct words *w)
{
	(void)w;
	task->refusal = EPERM;
}

static void verb_belongs(struct fake_task *task, const struct words *w)
{
	task->tracer = number(w, 2);
}

static void verb_handles(struct fake_task *task, const struct words *w)
{
	(void)w;
	fake_leader(task)->trap = 'h';
}

/* "N resets": SIGTRAP has its default action again in N's process. A breakpoint has this effect if SIGTRAP is blocked
 * or ignored (force_sig()). */
static void verb_resets(struct fake_task *task, const struct words *w)
{
	(void)w;
	fake_leader(task)->trap = 'd';
}

static void verb_ignores(struct fake_task *task, const struct words *w)
{
	(void)w;
	fake_leader(task)->trap = 'i';
}

/* "N patches PLACE": the program writes other code at that place. */
static void verb_patches(struct fake_task *task, const struct words *w)
{
	fake_memory_patch(task->memory, fake_place_named(word(w, 2)));
}

/* "N closed": from now on /proc/N/mem cannot be opened. "N closed no" ends this. */
static void verb_closed(struct fake_task *task, const struct words *w)
{
	task->memory->closed = w->count < 3;
}

static void verb_disk_full(struct fake_task *task, const struct words *w)
{
	(void)w;
	world_fill_disk(task->tgid);
}

static const struct verb {
	const char *name;
	void (*apply)(struct fake_task *task, const struct words *words);
} verbs[] = {
	{"makes", verb_makes},       {"reports", verb_reports},     {"starts", verb_starts},
	{"done", verb_done},         {"hits", verb_hits},           {"repeats", verb_repeats},
	{"returns", verb_returns},   {"is-at", verb_is_at},         {"queues", verb_queues},
	{"gets", verb_gets},         {"stops", verb_stops},         {"continues", verb_continues},
	{"wakes", verb_wakes},       {"runs", verb_runs},           {"sleeps", verb_sleeps},
	{"deaf", verb_deaf},         {"exits", verb_exits},         {"ends", verb_ends},
	{"dies", verb_dies},         {"vanishes", verb_vanishes},   {"execs", verb_execs},
	{"refuses", verb_refuses},   {"belongs", verb_belongs},     {"handles", verb_handles},
	{"ignores", verb_ignores},   {"disk-full", verb_disk_full}, {"resets", verb_resets},
	{"returned", verb_returned}, {"closed", verb_closed},       {"patches", verb_patches},
	{"steps", verb_steps},       {"lacks", verb_lacks},
};

bool race_verb(struct fake_task *task, const struct words *w)
{
	for (size_t i = 0; i < ARRAY_SIZE(verbs); i++)
		if (!strcmp(verbs[i].name, word(w, 1))) {
			verbs[i].apply(task, w);
			return true;
		}
	return false;
}

void race_verbs_reset(void)
{
	blocks = 0x4000;
}

#include "config.h"
#include "tracer/stop.h"
#include "tracer/who.h"
#include "base/buf.h"
#include "base/msg.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define EXEC_NAP_NS 1000000
#define EXEC_NAPS   1000

/* ---- Why it cannot be attached ---- */

static char *status_line(pid_t pid, const char *key)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	char *text = read_file(path, 1 << 16, NULL);
	char *line = text ? strstr(text, key) : NULL;
	char *value = NULL;

	if (line) {
		line += strlen(key);
		line += strspn(line, "\t ");
		value = xstrndup(line, strcspn(line, "\n"));
	}
	free(text);
	return value;
}

static bool has_other_tracer(pid_t tid)
{
	const pid_t tracer = tracer_of(tid);

	return tracer && tracer != gettid();
}

static void explain_tracer(pid_t pid, pid_t traced)
{
	const pid_t tracer = tracer_of(traced);
	char *name = status_line(tracer, "Name:");

	msg_error("cannot attach to process %d: process %d (%s) traces %s already, and a process has "
		  "only one tracer. End that one first.",
		  pid, tracer, name ? name : "?", traced == pid ? "it" : "a thread of it");
	free(name);
}

static bool has_other_owner(pid_t tid)
{
	const long owner = owner_of(tid);

	return owner >= 0 && (uid_t)owner != geteuid();
}

static void explain_denied(pid_t pid)
{
	char *scope = read_file("/proc/sys/kernel/yama/ptrace_scope", 16, NULL);
	const pid_t other = find_thread(pid, has_other_owner);

	if (other == pid)
		msg_error("cannot attach to process %d: it belongs to user %ld. Run functrace as that user, "
			  "or as root.",
			  pid, owner_of(pid));
	else if (other)
		msg_error("cannot attach to process %d: its thread %d belongs to user %ld. Run functrace as root.", pid,
			  other, owner_of(other));
	else if (scope && scope[0] >= '1' && scope[0] <= '2')
		msg_error("cannot attach to process %d: kernel.yama.ptrace_scope is %c. Start the program under "
			  "functrace, run functrace as root, or (as root) 'sysctl kernel.yama.ptrace_scope=0'.",
			  pid, scope[0]);
	else if (scope && scope[0] == '3')
		msg_error("cannot attach to process %d: kernel.yama.ptrace_scope is 3, which forbids tracing "
			  "until the next boot.",
			  pid);
	else
		msg_error("cannot attach to process %d: not permitted. It may be privileged or not dumpable; "
			  "run functrace as root, in a container with the capability SYS_PTRACE.",
			  pid);
	free(scope);
}

static int explain(pid_t pid, int error)
{
	const pid_t traced = find_thread(pid, has_other_tracer);
	char state = 0;
	unsigned long flags = 0;
	const bool exists = task_stat(pid, &state, &flags);

	if (!exists || error == ESRCH)
		msg_error("cannot attach to process %d: there is no such process (any more).", pid);
	else if (flags & PF_KTHREAD)
		msg_error("cannot attach to process %d: it is a kernel thread, which has no program.", pid);
	else if (traced)
		explain_tracer(pid, traced);
	else if (!live_thread(pid))
		msg_error("cannot attach to process %d: it has ended and waits for its parent.", pid);
	else if (error == EPERM || error == EACCES)
		explain_denied(pid);
	else
		msg_error("cannot attach to process %d: %s.", pid, strerror(error));
	return 1;
}

/* ---- Attaching ---- */

static int refuse(pid_t pid, int error)
{
	char state = 0;
	unsigned long flags = 0;

	if (!task_stat(pid, &state, &flags))
		return explain(pid, ESRCH);
	return (flags & PF_KTHREAD) || has_other_tracer(pid) ? explain(pid, error) : 0;
}

/* While it executes another program it may have no memory that could be opened. */
static struct process *new_process(struct tracer *t, pid_t pid)
{
	for (unsigned n = 0;; n++) {
		const pid_t tid = live_thread(pid);
		struct process *p = process_new(t, tid ? tid : pid, pid);
		const int error = p ? 0 : errno;

		if ((error != ESRCH && error != ENOENT) || n == EXEC_NAPS || !tid) {
			errno = error;
			return p;
		}
		collect_ends(t, NULL);
		nanosleep(&(struct timespec){.tv_nsec = EXEC_NAP_NS}, NULL);
	}
}

static int attach_sharers(struct tracer *t, pid_t pid, bool is_named, struct sharers *s)
{
	int error = 0;

	seize_tasks(t, pid, &error);
	if (error)
		return explain(pid, error);
	/* Before its memory is opened: if it executes another program after this, that is seen from those found
	 * here. */
	const pid_t one = live_thread(pid);

	seize_sharers(t, s, one ? one : pid);
	struct process *p = new_process(t, pid);

	if (!p) {
		if (errno == ENOEXEC)
			msg_error("cannot trace process %d: its program is made for a processor that this "
				  "functrace does not know.",
				  pid);
		else
			return explain(pid, errno);
		return 1;
	}
	p->attached = true;
	p->attached_to = is_named;
	seize_rest(t, p, s);
	if (s->refused) {
		if (s->refused != pid)
			msg_error("process %d shares the memory of process %d, so that both would have to be attached.",
				  s->refused, pid);
		return explain(s->refused, s->error);
	}
	return 0;
}

static int attach_once(struct tracer *t, pid_t pid, bool is_named)
{
	struct sharers s = {.pids = xcalloc(1, sizeof(pid)), .count = 1, .capacity = 1};

	s.pids[0] = pid;
	const int result = attach_sharers(t, pid, is_named, &s);

	free(s.pids);
	return result;
}

#define EXECS_MAX 1000

/* is_named: by the user, else it is a child of such a one. */
static int attach_one(struct tracer *t, pid_t which, bool is_named)
{
	const pid_t leader = tgid_of(which), pid = leader ? leader : which; /* it may be a thread's */
	struct task *known = task_of_group(t, pid);

	/* It shares the memory of one before it. */
	if (known && !seize_lost(t, pid) && (known->process || known->phase != PHASE_LIVE)) {
		known->release_at_exec = false;
		return 0;
	}
	if (refuse(pid, EPERM))
		return 1;
	for (unsigned execs = 0; execs < EXECS_MAX; execs++) {
		const int error = attach_once(t, pid, is_named);

		if (error || !seize_lost(t, pid))
			return error;
	}
	msg_error("cannot attach to process %d: it executes one program after the other.", pid);
	return 1;
}

/* Whether a process that nothing is known of is the child of one that is attached to, and nobody's tracee yet: what was
 * forked since is ours already. */
static bool is_new_child(struct tracer *t, pid_t pid)
{
	const pid_t parent = task_of_group(t, pid) ? 0 : who_parent(pid);

	return parent && task_of_group(t, parent) && task_is_alive(pid) && tracer_of(pid) != gettid();
}

/* --children: until there are no more. One that cannot be attached to stays as it is; functrace says why. */
static void attach_children(struct tracer *t)
{
	struct hash failed = {0};
	bool more = true;

	while (more) {
		size_t count;
		pid_t *const pids = who_all(&count);

		more = false;
		for (size_t i = 0; i < count; i++) {
			if (!is_new_child(t, pids[i]) || hash_get(&failed, (uint64_t)pids[i]))
				continue;
			more = true;
			if (!attach_one(t, pids[i], false))
				continue;
			hash_set(&failed, (uint64_t)pids[i], 1);
			t->lost_attach++;
		}
		free(pids);
	}
	hash_free(&failed);
}

static size_t functions_of(const struct process *p)
{
	size_t count = 0;

	for (size_t i = 0; i < p->probe_count; i++)
		count += !p->probes[i]->wanted->hook;
	return count;
}

/* So that one knows that it has begun, with what, and how it ends. */
static void tell_attached(const struct tracer *t)
{
	size_t named = 0, others = 0, told = 0;
	struct buf b = {0};

	/* Whose trace could not even be begun is let go of already. */
	for (const struct process *p = t->processes; p; p = p->next) {
		named += p->attached_to && !p->broken;
		others += !p->attached_to;
	}
	for (const struct process *p = t->processes; p; p = p->next) {
		if (!p->attached_to || p->broken)
			continue;
		buf_printf(&b, "attached to %s (%d), %zu thread%s, ", p->name, p->pid, p->tasks,
			   p->tasks == 1 ? "" : "s");
		if (t->paused)
			buf_printf(&b, "paused");
		else
			buf_printf(&b, "%zu function%s", functions_of(p), functions_of(p) == 1 ? "" : "s");
		if (++told == named && others)
			buf_printf(&b, ", and to %zu other process%s below", others, others == 1 ? "" : "es");
		msg_info("%s%s", buf_str(&b), told == named ? "; Ctrl-C lets go" : "");
		b.size = 0;
	}
	buf_free(&b);
}

int attach_all(struct tracer *t)
{
	struct process *failed;
	int error = 0;

	seize_begin();
	for (size_t i = 0; i < t->set->pid_count && !error; i++)
		error = attach_one(t, t->set->pids[i], true);
	if (!error && t->set->children)
		attach_children(t);
	seize_end();
	if (error)
		return 1;
	if (!t->paused)
		error = processes_start(t, &failed);
	for (struct process *p = t->processes; p; p = p->next)
		p->anchor = 0;
	if (error < 0)
		return error == -ESRCH ? explain(failed->pid, ESRCH) : 1;
	engine_started(t->engine);
	tell_attached(t);
	progress_begin(t);
	return 0;
}

/* ---- Launching ---- */

/* From the gate to exec: the only stops are signals. */
static int wait_for_exec(struct tracer *t)
{
	for (;;) {
		const struct stop stop = collect(t);

		if (stop.kind == STOP_EXEC) {
			act(t, &stop);
			return t->exit_status;
		}
		if (stop.kind == STOP_GONE || stop.kind == STOP_NONE) {
			const int failure = launch_failure(t->launch, t->set->argv[0]);

			if (failure)
				return failure;
			if (stop.kind == STOP_GONE && WIFSIGNALED(stop.status)) {
				act(t, &stop);
				return 128 + WTERMSIG(stop.status);
			}
			msg_error("%s could not be started.", t->set->argv[0]);
			return 1;
		}
		act(t, &stop);
	}
}

int launch_begin(struct tracer *t)
{
	const pid_t pid = t->launch->pid;

	if (ptrace(PTRACE_SEIZE, pid, NULL, seize_options) < 0) {
		msg_error("cannot trace %s: %s.%s", t->set->argv[0], strerror(errno),
			  errno == EPERM ? " In a container, functrace needs the capability SYS_PTRACE." : "");
		kill(pid, SIGKILL);
		return 1;
	}
	task_new(t, pid, pid, NULL, PHASE_LIVE);
	launch_open_gate(t->launch); /* if it has been killed meanwhile, its end is reported */
	return wait_for_exec(t);
}

/* The fake kernel's ptrace(). Actions that the tracer must never do, in any sequence, are recorded with "!".
 */
#include "config.h"
#include "arch/x86/x86_insn.h"
#include "tests/unit/fake_kernel.h"
#include "tests/unit/fake_world.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <unistd.h>

long __wrap_ptrace(int request, ...);

static unsigned attach_order;

void fake_attach(struct fake_task *task)
{
	task->tracer = gettid();
	task->order = ++attach_order;
}

/* Seizes a task. Looks the task up first, because the call may then have to wait while other statements are played. */
static long seize(pid_t tid)
{
	struct fake_task *task = fake_find(tid);
	int error = 0;

	fake_begin("SEIZE %d", tid);
	if (!task || task->state == FAKE_GONE)
		error = ESRCH;
	else if (task->tracer || task->state == FAKE_ZOMBIE)
		error = EPERM;
	else if (task->refusal)
		error = task->refusal;
	else
		fake_attach(task);
	return fake_finished(error);
}

static bool may_resume(const struct fake_task *task)
{
	return fake_is_ours(task) && task->state == FAKE_STOPPED;
}

/* Records an error ("!") if the tracer is about to resume a task that would run on from a wrong pc, or that the
 * guardian could not set back to its breakpoint. */
static void check_pc(const struct fake_task *task)
{
	const uint64_t pc = fake_arch->registers.pc(&task->regs);
	const struct fake_place *hit = NULL;
	unsigned char code;

	for (size_t i = 0; task->hit && !hit && fake_place_n(i); i++)
		if (fake_place_n(i)->address == task->hit)
			hit = fake_place_n(i);
	if (hit && hit->length > 1 && pc == hit->address + 1)
		fake_note("! %d goes on in the middle of %s", task->tid, hit->name);
	if (task->hit && !world_guards(task->tid))
		fake_note("! a guardian would have left %d after its breakpoint", task->tid);
	if (!task->memory || pc < FAKE_TAIL || pc >= FAKE_TEXT_END)
		return;
	fake_memory_read(task->memory, pc, &code, 1);
	if (!code)
		fake_note("! %d goes on in %s, where nothing is", task->tid, fake_place_text(pc));
}

/* Records an error ("!") if the tracer resumes a task whose stop it has not taken. If the task was killed in an earlier
 * stop, this is no error, because the tracer may miss the exit event. */
static void check_taken(const struct fake_task *task)
{
	if (task->unread && task->exit_event_seen)
		fake_note("(%d has been killed meanwhile)", task->tid);
	else if (task->unread)
		fake_note("! what %d has reported has not been taken", task->tid);
}

static void check_detach(const struct fake_task *task)
{
	const uint64_t pc = fake_arch->registers.pc(&task->regs);

	if (!task->memory)
		return;
	if (fake_text_differs(task->memory))
		fake_note("! %d is let go of with %u bytes of ours in its text", task->tid,
			  fake_text_differs(task->memory));
	if (pc >= FAKE_TAIL && pc < FAKE_TEXT_END)
		fake_note("! %d is let go of in %s", task->tid, fake_place_text(pc));
	if (task->queued_hit)
		fake_note("! %d is let go of with a trap pending", task->tid);
}

static long resume(const char *how, pid_t tid, long sig)
{
	struct fake_task *task = fake_find(tid);

	fake_begin("%s %d%s", how, tid, fake_with_signal(sig));
	if (!may_resume(task))
		return fake_finished(ESRCH);
	check_taken(task);
	check_pc(task);
	fake_go_on(task);
	return fake_finished(0);
}

static long detach(pid_t tid, long sig)
{
	struct fake_task *task = fake_find(tid);

	fake_begin("DETACH %d%s", tid, fake_with_signal(sig));
	if (!may_resume(task))
		return fake_finished(ESRCH);
	check_taken(task);
	check_pc(task);
	check_detach(task);
	task->tracer = 0;
	fake_go_on(task);
	return fake_finished(0);
}

static long listen_to(pid_t tid)
{
	struct fake_task *task = fake_find(tid);

	fake_begin("LISTEN %d", tid);
	if (!may_resume(task))
		return fake_finished(ESRCH);
	if (task->status >> 16 != PTRACE_EVENT_STOP)
		return fake_finished(EIO);
	task->state = FAKE_LISTENS;
	if (task->interrupted)
		fake_interrupt(task);
	return fake_finished(0);
}

static long interrupt(pid_t tid)
{
	struct fake_task *task = fake_find(tid);

	fake_begin("INTERRUPT %d", tid);
	if (!fake_is_ours(task) || task->state == FAKE_GONE)
		return fake_finished(ESRCH);
	fake_interrupt(task);
	return fake_finished(0);
}

void fake_end_step(struct fake_task *task)
{
	const uint64_t pc = fake_arch->registers.pc(&task->regs);

	for (size_t i = 0; fake_place_n(i); i++)
		if (fake_place_n(i)->address == pc)
			fake_arch->registers.set_pc(&task->regs, pc + fake_place_n(i)->length);
	if (fake_report(task, STATUS_STOPPED(SIGTRAP), 0))
		task->info.si_code = TRAP_TRACE;
}

static long step(pid_t tid)
{
	struct fake_task *task = fake_find(tid);

	fake_begin("STEP %d", tid);
	if (!may_resume(task))
		return fake_finished(ESRCH);
	fake_go_on(task);
	fake_point("stepping %d", tid);
	if (task->state == FAKE_RUNS && !task->deaf)
		fake_end_step(task);
	return fake_finished(0);
}

/* Executes rt_sigaction(SIGTRAP, set, old), the only system call that the tracer runs in its tracees. */
static void do_sigaction(struct fake_task *task)
{
	struct fake_task *leader = fake_leader(task);
	const unsigned char *words = fake_arch->convention.argument_words;
	const uint64_t set = task->regs.words[words[1]], old = task->regs.words[words[2]];
	const uint64_t handler = leader->trap == 'h' ? FAKE_TEXT + 0x600 : leader->trap == 'i';
	uint64_t action[4] = {handler, 0, 0, 0};

	if (old)
		fake_memory_put(task->memory, old, action, sizeof(action));
	if (set) {
		fake_memory_read(task->memory, set, action, sizeof(action));
		leader->trap = action[0] > 1 ? 'h' : action[0] ? 'i' : 'd';
	}
}

static long run_to_syscall(pid_t tid)
{
	struct fake_task *task = fake_find(tid);

	fake_begin("SYSCALL %d", tid);
	if (!may_resume(task))
		return fake_finished(ESRCH);
	fake_go_on(task);
	fake_point("calling %d", tid);
	if (task->state != FAKE_RUNS || task->deaf)
		return fake_finished(0);
	if (task->in_syscall) {
		do_sigaction(task);
		task->regs.words[X86_RAX] = 0;
	}
	task->in_syscall = !task->in_syscall;
	fake_report(task, STATUS_STOPPED(SIGTRAP | 0x80), 0);
	return fake_finished(0);
}

static long set_pc(pid_t tid, uint64_t pc)
{
	struct fake_task *task = fake_find(tid);

	fake_begin("PC %d %s", tid, fake_place_text(pc));
	if (!may_resume(task))
		return fake_finished(ESRCH);
	fake_arch->registers.set_pc(&task->regs, pc);
	return fake_finished(0);
}

static long set_regs(pid_t tid, const struct iovec *iov)
{
	struct fake_task *task = fake_find(tid);
	struct arch_regs regs = {.words = {0}};

	memcpy(&regs, iov->iov_base, iov->iov_len < sizeof(regs) ? iov->iov_len : sizeof(regs));
	fake_begin("REGS %d %s", tid, fake_place_text(fake_arch->registers.pc(&regs)));
	if (!may_resume(task))
		return fake_finished(ESRCH);
	task->regs = regs;
	return fake_finished(0);
}

static long set_siginfo(pid_t tid, const siginfo_t *info)
{
	struct fake_task *task = fake_find(tid);

	fake_begin("SIGINFO %d %s", tid, fake_place_text((uintptr_t)info->si_addr));
	if (!may_resume(task))
		return fake_finished(ESRCH);
	task->info = *info;
	return fake_finished(0);
}

static long poke(pid_t tid, uint64_t address, long word)
{
	struct fake_task *task = fake_find(tid);

	fake_begin("POKE %d", tid);
	if (!may_resume(task) || !task->memory)
		return fake_finished(ESRCH);
	if (fake_memory_write(task->memory, address, &word, sizeof(word), tid) < 0)
		return fake_finished(errno);
	fake_done_silently();
	return 0;
}

/* Handles requests that are not recorded. */
static long ask(int request, struct fake_task *task, void *address, void *data)
{
	if (fake_arch->registers.getregs && request == fake_arch->registers.getregs) {
		memcpy(data, &task->regs, fake_arch->registers.size);
		return 0;
	}
	switch (request) {
	case PTRACE_GETEVENTMSG:
		*(unsigned long *)data = task->message;
		return 0;
	case PTRACE_GETSIGINFO:
		*(siginfo_t *)data = task->info;
		if (task->exit_event_seen)
			((siginfo_t *)data)->si_code = SIGTRAP | PTRACE_EVENT_EXIT << 8;
		return 0;
	case PTRACE_PEEKSIGINFO: {
		const struct __ptrace_peeksiginfo_args *args = address;

		if (!task->queued_hit || args->off)
			return 0;
		*(siginfo_t *)data = (siginfo_t){.si_signo = SIGTRAP, .si_code = SI_KERNEL};
		return 1;
	}
	case PTRACE_GETREGSET: {
		struct iovec *iov = data;

		iov->iov_len = fake_arch->registers.size;
		memcpy(iov->iov_base, &task->regs, fake_arch->registers.size);
		return 0;
	}
	case PTRACE_PEEKTEXT: {
		long word;

		if (!task->memory)
			return fake_failed(EIO);
		fake_memory_read(task->memory, (uintptr_t)address, &word, sizeof(word));
		return word;
	}
	case PTRACE_GETSIGMASK:
		memcpy(data, &task->mask, sizeof(task->mask));
		return 0;
	case PTRACE_SETSIGMASK:
		memcpy(&task->mask, data, sizeof(task->mask));
		return 0;
	case PTRACE_SETOPTIONS:
		return 0;
	default:
		fake_fail("ptrace request %d is not known here", request);
		return fake_failed(EIO);
	}
}

long __wrap_ptrace(int request, ...)
{
	va_list args;

	va_start(args, request);
	const pid_t tid = va_arg(args, pid_t);
	void *const address = va_arg(args, void *), *const data = va_arg(args, void *);

	va_end(args);
	if (fake_has_failed())
		return fake_failed(ESRCH);
	switch (request) {
	case PTRACE_SEIZE:
		return seize(tid);
	case PTRACE_INTERRUPT:
		return interrupt(tid);
	case PTRACE_CONT:
		return resume("CONT", tid, (long)data);
	case PTRACE_LISTEN:
		return listen_to(tid);
	case PTRACE_DETACH:
		return detach(tid, (long)data);
	case PTRACE_SINGLESTEP:
		return step(tid);
	case PTRACE_SYSCALL:
		return run_to_syscall(tid);
	case PTRACE_POKEUSER:
		return set_pc(tid, (uintptr_t)data);
	case PTRACE_SETREGSET:
		return set_regs(tid, data);
	case PTRACE_SETSIGINFO:
		return set_siginfo(tid, data);
	case PTRACE_POKETEXT:
		return poke(tid, (uintptr_t)address, (long)data);
	default:
		if (!may_resume(fake_find(tid)))
			return fake_failed(ESRCH);
		return ask(request, fake_find(tid), address, data);
	}
}

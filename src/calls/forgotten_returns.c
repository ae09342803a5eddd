#include "config.h"
#include "calls/forgotten_returns.h"
#include "calls/kernel_calls.h"
#include "calls/probes/kernel_probes.h"
#include "ptrace/target_memory.h"
#include "ptrace/tasks.h"
#include "base/msg.h"
#include "base/util.h"
#include "uprobe/uprobes.h"

#include <signal.h>
#include <string.h>
#include <time.h>

/* The kernel keeps the true return addresses of a thread's probed calls in a list. A probed call at a higher place than
 * an earlier one removes the earlier one from the list, because the stack seems to be unwound. That is wrong if a
 * signal handler that runs on another stack has made the later call:
 *
 *	malloc() | handler on the alternate stack: malloc() returns | malloc() returns to the trampoline: SIGILL
 *
 * The BPF program keeps such calls. Source: kernel/events/uprobes.c, uprobe_handle_trampoline().
 *
 * Since Linux 6.11 the trampoline makes a system call. A program that has its system calls delivered to a handler by
 * SIGSYS (PR_SET_SYSCALL_USER_DISPATCH, as Wine does, or a seccomp filter) would get this one, too. */

/* A record whose stack is a copy. */
struct repaired_record {
	struct uprobe_record record;
	uint64_t frames[UPROBE_FRAMES_MAX];
	struct uprobe_copy copy;
};

static struct repaired_record repaired;

/* Makes the record that the BPF program would have made of the return. The task's registers are those of the return. */
static const struct uprobe_record *make_record(const struct task *task, const struct uprobe_call *call)
{
	struct process *const p = task->process;
	struct uprobe_record *const r = &repaired.record;

	memset(r, 0, sizeof(*r));
	r->kind = UPROBE_RETURNED;
	r->stack = UPROBE_COPY;
	r->flags = call->is_entered ? UPROBE_WAS_ENTERED : 0;
	r->tid = (uint32_t)task->tid;
	r->tgid = (uint32_t)task->tgid;
	r->space = kernel_probes_space(p);
	r->time_ns = clock_ns(CLOCK_MONOTONIC);
	uprobe_record_call(r, call);
	r->result = task->regs.words[p->arch->uprobe.result_word];
	if (call->address & UPROBE_POINTEE)
		memory_read(p, call->args[0], &r->pointee, sizeof(r->pointee));
	for (unsigned i = 0; i < UPROBE_REGISTERS; i++)
		repaired.copy.registers[i] = task->regs.words[p->arch->uprobe.words[i]];
	repaired.copy.trampoline = 0;
	repaired.copy.size = UPROBE_COPY_SIZE;
	while (repaired.copy.size && memory_read(p, call->return_sp, repaired.copy.bytes, repaired.copy.size) < 0)
		repaired.copy.size /= 2;
	return r;
}

bool forgotten_return_repair(struct task *task, int code)
{
	struct process *const p = task->process;
	struct uprobe_call calls[UPROBE_CALLS];
	uint64_t top[ARCH_TRAMPOLINE_WORDS];

	if (!p->kernel || task_regs(task) < 0)
		return false;
	const uint64_t pc = p->arch->registers.pc(&task->regs), page = align_down(pc, page_size());

	if (!kernel_probes_is_trampoline(p, page) ||
	    memory_read(p, p->arch->registers.sp(&task->regs), top, sizeof(top)) < 0)
		return false;
	struct arch_regs returned = task->regs;

	p->arch->uprobe.leave_trampoline(&returned, page, code == SI_KERNEL, top);
	size_t count = uprobe_take_returned(p->tracer->uprobes, task->tid, p->arch->registers.sp(&returned), calls);

	if (!count || !calls[0].return_sp)
		return false;
	msg_debug(DBG_CALL, 1, "%d: a call returns to 0x%llx without the kernel's program", task->tid,
		  (unsigned long long)calls[0].return_address);
	p->arch->registers.set_pc(&returned, calls[0].return_address);
	task->regs = returned;
	task_set_regs(task);
	/* The function that was reached last by jumps returns first. */
	while (count-- > 0) {
		calls[count].return_address = calls[0].return_address;
		if (calls[count].return_sp)
			kernel_call(task, make_record(task, &calls[count]));
	}
	return true;
}

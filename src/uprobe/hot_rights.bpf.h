/* What the program reads of the kernel's data of a thread: its numbers, and whether its calls may be recorded. Part of
 * hot_calls.bpf.c.
 *
 * If functrace has no rights of its own, the helper functrace-probes has loaded the program for one tracer, which may
 * see only what ptrace would show it at this moment. A probe stays when its process is detached, when it executes a
 * set-user-ID program, or when it makes itself undumpable; then the program must be silent.
 *
 * Only the members that are used are declared: the kernel's own places of them are filled in when the program is
 * loaded (CO-RE). */
#include <bpf/bpf_core_read.h>

struct xol_area {
	unsigned long vaddr;
} __attribute__((preserve_access_index));

struct mm_struct {
	unsigned long flags;
	struct {
		struct xol_area *xol_area;
	} uprobes_state;
} __attribute__((preserve_access_index));

/* Since Linux 6.18 the flags are a structure, whose first word has the same bits. */
struct mm_struct___6_18 {
	struct {
		unsigned long words;
	} flags;
} __attribute__((preserve_access_index));

struct pid_namespace {
	struct {
		unsigned int inum;
	} ns;
} __attribute__((preserve_access_index));

/* include/linux/pid.h: a number of a task, in one of the namespaces that it is in */
struct upid {
	int nr;
	struct pid_namespace *ns;
};

struct pid {
	unsigned int level; /* its last number */
	struct upid numbers[1];
} __attribute__((preserve_access_index));

struct task_struct {
	struct pid *thread_pid;
	unsigned int ptrace;
	int tgid;
	struct task_struct *parent, *group_leader;
	__u64 start_boottime;
	struct {
		unsigned long sig[1];
	} blocked;
	struct mm_struct *mm;
} __attribute__((preserve_access_index));

#define LEVELS_MAX 32 /* include/linux/pid_namespace.h: MAX_PID_NS_LEVEL */

/* Returns a task's number in the reader's pid namespace; 0: it has none. The task may be in a namespace in that one, as
 * in a container, for which bpf_get_ns_current_pid_tgid() has no answer. */
static __always_inline __u32 number_of(struct task_struct *task)
{
	struct pid *const pid = BPF_CORE_READ(task, thread_pid);
	const unsigned int last = BPF_CORE_READ(pid, level);
	const struct upid *const numbers = (const void *)__builtin_preserve_access_index(&pid->numbers);
	struct upid number = {};

	for (unsigned int i = 0; i <= LEVELS_MAX; i++) {
		if (i > last || bpf_probe_read_kernel(&number, sizeof(number), numbers + i))
			return 0;
		if (BPF_CORE_READ(number.ns, ns.inum) == (unsigned int)config.ns_ino)
			return (__u32)number.nr;
	}
	return 0;
}

/* Returns the address by which the kernel replaces return addresses: kernel/events/uprobes.c,
 * uprobe_get_trampoline_vaddr(). */
static __always_inline __u64 trampoline_address(void)
{
	struct task_struct *const task = bpf_get_current_task_btf();

	return BPF_CORE_READ(task, mm, uprobes_state.xol_area, vaddr);
}

/* Returns true if the thread blocks the signal. Then it would stay pending, and a call of sigwait() would get it. */
static __always_inline bool is_blocked(__u32 sig)
{
	struct task_struct *const task = bpf_get_current_task_btf();

	return BPF_CORE_READ(task, blocked.sig[0]) >> ((sig - 1) & 63) & 1;
}

#define DUMPABLE_MASK 3 /* include/linux/mm_types.h: MMF_DUMPABLE_MASK */
#define DUMPABLE_USER 1 /* include/linux/sched/coredump.h: SUID_DUMP_USER */

/* kernel/ptrace.c, ptrace_access_vm(): a tracer without rights reads only memory that is dumpable. */
static __always_inline bool is_dumpable(struct mm_struct *mm)
{
	unsigned long flags = 0;
	const void *at = bpf_core_field_exists(struct mm_struct___6_18, flags)
				 ? (const void *)&((struct mm_struct___6_18 *)mm)->flags
				 : (const void *)&mm->flags;

	return !bpf_probe_read_kernel(&flags, sizeof(flags), at) && (flags & DUMPABLE_MASK) == DUMPABLE_USER;
}

/* Returns true if the tracer traces this thread. Its start time tells it from a later process with the same number. */
static __always_inline bool is_tracee(void)
{
	struct task_struct *const task = bpf_get_current_task_btf(), *const tracer = task->parent;

	if (!task->ptrace || !tracer || (__u32)tracer->tgid != config.tracer ||
	    (__u32)bpf_get_current_uid_gid() != config.tracer_uid)
		return false;
	struct task_struct *const leader = tracer->group_leader;

	return leader && leader->start_boottime / UPROBE_TICK_NS == config.tracer_start;
}

/* Returns true if the tracer may see the calls of this thread. */
static __always_inline bool may_record(void)
{
	struct task_struct *const task = bpf_get_current_task_btf();

	return !config.tracer || (is_tracee() && task->mm && is_dumpable(task->mm));
}

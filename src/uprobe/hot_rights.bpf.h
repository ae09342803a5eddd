/* Whose calls the program records: part of hot_calls.bpf.c. If functrace has no rights of its own, the helper
 * functrace-probes has loaded the program for one tracer, which may see only what ptrace would show it at this moment.
 * A probe stays when its process is detached, when it executes a set-user-ID program, or when it makes itself
 * undumpable; then the program must be silent.
 *
 * Only the members that are used are declared: the kernel's own places of them are filled in when the program is
 * loaded (CO-RE). */
#include <bpf/bpf_core_read.h>

struct mm_struct {
	unsigned long flags;
} __attribute__((preserve_access_index));

/* Since Linux 6.18 the flags are a structure, whose first word has the same bits. */
struct mm_struct___6_18 {
	struct {
		unsigned long words;
	} flags;
} __attribute__((preserve_access_index));

struct task_struct {
	unsigned int ptrace;
	int tgid;
	struct task_struct *parent, *group_leader;
	__u64 start_boottime;
	struct mm_struct *mm;
} __attribute__((preserve_access_index));

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

/* Returns true if the tracer may see the calls of this thread. The tracer's start time tells it from a later process
 * with the same number. */
static __always_inline bool may_record(void)
{
	struct task_struct *task = bpf_get_current_task_btf(), *tracer, *leader;

	if (!config.tracer)
		return true;
	tracer = task->parent;
	if (!task->ptrace || !tracer || (__u32)tracer->tgid != config.tracer ||
	    (__u32)bpf_get_current_uid_gid() != config.tracer_uid)
		return false;
	leader = tracer->group_leader;
	return leader && leader->start_boottime / UPROBE_TICK_NS == config.tracer_start && task->mm &&
	       is_dumpable(task->mm);
}

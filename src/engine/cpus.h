/* Narrows the CPUs of a task to one, and restores them. Shared by the tracer, which narrows them, and the guardian,
 * which restores them if the tracer is killed. */
#ifndef FT_ENGINE_CPUS_H
#define FT_ENGINE_CPUS_H

#include <sched.h>
#include <stdbool.h>
#include <sys/types.h>

/* True if the task (0: the calling thread) may run on that CPU only. False means that the task, or another program,
 * has chosen other CPUs meanwhile; functrace must not change them then. */
bool cpus_are_only(pid_t tid, int cpu);
/* Makes that CPU the task's only one. Returns 0 or -errno. */
int cpus_narrow(pid_t tid, int cpu);
/* Restores the mask of a task that was narrowed to that CPU. Returns 0, also if the task's CPUs are not functrace's
 * to change any more, or -errno. */
int cpus_put_back(pid_t tid, int cpu, const cpu_set_t *mask);

#endif

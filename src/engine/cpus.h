/* The CPUs that a task may run on, where functrace has narrowed them to one: shared by the tracer, which does that,
 * and the guardian, which puts them back if the tracer is killed. */
#ifndef FT_ENGINE_CPUS_H
#define FT_ENGINE_CPUS_H

#include <sched.h>
#include <stdbool.h>
#include <sys/types.h>

/* Whether the task (0: the calling thread) may run on that CPU only. If not, it has chosen others meanwhile, or
 * another program has for it, and they are no longer functrace's to change. */
bool cpus_are_only(pid_t tid, int cpu);
/* Makes it the only CPU of the task. 0 or -errno. */
int cpus_narrow(pid_t tid, int cpu);
/* Gives a task that was narrowed to that CPU its own mask back. 0, also where it is not functrace's to change, or
 * -errno. */
int cpus_put_back(pid_t tid, int cpu, const cpu_set_t *mask);

#endif

/* Narrows the CPUs of a task to one, and restores them. The tracer narrows them; the tracer, or the guardian if the
 * tracer was killed, restores them. */
#ifndef FT_ENGINE_CPUS_H
#define FT_ENGINE_CPUS_H

#include <sched.h>
#include <stdbool.h>
#include <sys/types.h>

/* Returns true if the task (0: the calling thread) may run on that CPU only. False means that the task, or another
 * program, has chosen other CPUs meanwhile, which functrace must not change. */
bool cpus_are_only(pid_t tid, int cpu);
/* Makes that CPU the task's only one. Returns 0 or -errno. */
int cpus_narrow(pid_t tid, int cpu);
/* Restores the mask of a task that was narrowed to that CPU. Returns 0 or -errno. If the task's CPUs were changed by
 * another program since, changes nothing and returns 0. */
int cpus_put_back(pid_t tid, int cpu, const cpu_set_t *mask);
/* If a new task has only one CPU, and its maker has several, gives the task those of its maker. The maker was narrowed
 * to that CPU when it made the task, and has been restored since. */
void cpus_inherit(pid_t child, pid_t maker);

#endif

/* Narrows and restores the CPUs of a task. */
#include "config.h"
#include "engine/cpus.h"

#include <errno.h>
#include <string.h>

bool cpus_are_only(pid_t tid, int cpu)
{
	cpu_set_t now;

	return sched_getaffinity(tid, sizeof(now), &now) == 0 && CPU_COUNT(&now) == 1 && CPU_ISSET(cpu, &now);
}

int cpus_narrow(pid_t tid, int cpu)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	return sched_setaffinity(tid, sizeof(one), &one) < 0 ? -errno : 0;
}

int cpus_put_back(pid_t tid, int cpu, const cpu_set_t *mask)
{
	cpu_set_t all, now;

	if (!cpus_are_only(tid, cpu) || (CPU_COUNT(mask) == 1 && CPU_ISSET(cpu, mask)))
		return 0;
	/* A task that has chosen a mask does not use CPUs that are added to its cpuset later. Therefore all CPUs are
	 * allowed first, as if the task had chosen no mask. The old mask is set only if it is not equal to the mask
	 * that results. */
	memset(&all, 0xff, sizeof(all));
	if (sched_setaffinity(tid, sizeof(all), &all) == 0 && sched_getaffinity(tid, sizeof(now), &now) == 0 &&
	    CPU_EQUAL(&now, mask))
		return 0;
	return sched_setaffinity(tid, sizeof(*mask), mask) < 0 ? -errno : 0;
}

void cpus_inherit(pid_t child, pid_t maker)
{
	cpu_set_t one, several;
	int cpu = 0;

	if (sched_getaffinity(child, sizeof(one), &one) < 0 || CPU_COUNT(&one) != 1 ||
	    sched_getaffinity(maker, sizeof(several), &several) < 0 || CPU_COUNT(&several) < 2)
		return;
	while (!CPU_ISSET(cpu, &one))
		cpu++;
	cpus_put_back(child, cpu, &several);
}

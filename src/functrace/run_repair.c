#include "config.h"
#include "functrace/run_repair.h"
#include "base/hash.h"
#include "proc/proc.h"
#include "proc/process_search.h"
#include "scan/code_changes.h"

#include <stdlib.h>

/* Repairs a process, then with `children` also its descendants. A process is repaired before its children, so that
 * children that it forks afterwards have no breakpoints. Returns 0, or 1 after a message. */
static int repair(struct hash *seen, pid_t pid, bool children)
{
	int status;

	if (hash_get(seen, (uint64_t)pid))
		return 0;
	hash_set(seen, (uint64_t)pid, 1);
	status = code_repair(pid);
	if (!children)
		return status;
	size_t count;
	pid_t *const pids = process_children(pid, &count);

	for (size_t i = 0; i < count; i++)
		status |= repair(seen, pids[i], true);
	free(pids);
	return status;
}

int repair_run(const struct settings *settings)
{
	struct hash seen = {0};
	int status = 0;

	for (size_t i = 0; i < settings->target.pid_count; i++) {
		const pid_t leader = proc_tgid(settings->target.pids[i]);

		status |= repair(&seen, leader ? leader : settings->target.pids[i], settings->target.children);
	}
	hash_free(&seen);
	return status;
}

#include "config.h"
#include "tracer/leftovers.h"
#include "record/run.h"
#include "scan/code_changes.h"
#include "breakpoints/process_text.h"
#include "base/msg.h"
#include "base/timed.h"

#include <stdlib.h>

struct comparing {
	pid_t pid;
	const struct arch *arch;
	int error;
	struct code_changes changes;
};

static void comparing_free(void *context)
{
	struct comparing *const comparing = context;

	code_changes_free(&comparing->changes);
	free(comparing);
}

static void leftovers_compare(void *context)
{
	struct comparing *const comparing = context;

	comparing->error = code_changes_find(comparing->pid, comparing->arch, &comparing->changes);
}

size_t leftovers_count(struct process *p)
{
	struct comparing *const comparing = xcalloc(1, sizeof(*comparing));

	*comparing = (struct comparing){.pid = p->pid, .arch = p->arch};
	if (!timed_do(leftovers_compare, comparing_free, comparing)) {
		msg_warn("functrace cannot tell whether an earlier tracer has left breakpoints in the code of process "
			 "%d (%s): comparing the code with the program's files takes too long",
			 p->pid, p->trace->origin.name);
		return 0;
	}
	const size_t count = comparing->error ? 0 : comparing->changes.breakpoints;

	p->text->has_leftovers = count && !comparing->changes.has_uprobes;
	comparing_free(comparing);
	return count;
}

void leftovers_look(struct process *p, struct leftovers *found)
{
	const size_t count = p->arch ? leftovers_count(p) : 0;

	if (!count || !p->text->has_leftovers)
		return;
	if (found->pid) {
		found->others++;
		return;
	}
	found->pid = p->pid;
	found->name = xstrdup(p->trace->origin.name);
	found->breakpoints = count;
}

/* Prints one message for all processes, not one for each: if a server has such breakpoints, all its workers have them
 * too. */
void leftovers_say(struct leftovers *found)
{
	char *const more = found->others ? xasprintf(", and more in %zu other process%s", found->others,
						     found->others == 1 ? "" : "es")
					 : xstrdup("");
	const bool is_one = found->breakpoints == 1;

	if (found->pid)
		msg_warn("%zu breakpoint%s of a tracer that is gone %s in the code of process %d (%s)%s, if no program "
			 "such as perf or bpftrace has probes there now: SIGTRAP kills a process that reaches such a "
			 "breakpoint, and functrace sets no breakpoint there. Detach functrace, then remove the "
			 "breakpoint%s: functrace --repair %s-t %d",
			 found->breakpoints, is_one ? "" : "s", is_one ? "is" : "are", found->pid, found->name, more,
			 is_one ? "" : "s", found->others ? "--children " : "", found->pid);
	free(more);
	free(found->name);
	*found = (struct leftovers){0};
}

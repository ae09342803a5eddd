#include "config.h"
#include "tracer/leftovers.h"
#include "record/run.h"
#include "scan/code_changes.h"
#include "text/text.h"
#include "base/msg.h"

#include <stdlib.h>

size_t leftovers_count(struct process *p)
{
	struct code_changes changes;
	const int error = code_changes_find(p->pid, p->arch, &changes);
	const size_t count = error ? 0 : changes.breakpoints;

	p->text->has_leftovers = count && !changes.has_uprobes;
	code_changes_free(&changes);
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
	found->name = xstrdup(p->trace->name);
	found->breakpoints = count;
}

/* A child of such a process has them, too: it would be one message for each worker of a server. */
void leftovers_say(struct leftovers *found)
{
	char *const more = found->others ? xasprintf(", and in that of %zu more", found->others) : xstrdup("");
	const bool is_one = found->breakpoints == 1;

	if (found->pid)
		msg_warn("%zu breakpoint%s of a tracer that is gone %s in the code of process %d (%s)%s: a thread that "
			 "runs into one dies of SIGTRAP, and these functions are not traced. Let go, and put the code "
			 "back: functrace --repair %s-t %d",
			 found->breakpoints, is_one ? "" : "s", is_one ? "is" : "are", found->pid, found->name, more,
			 found->others ? "--children " : "", found->pid);
	free(more);
	free(found->name);
	*found = (struct leftovers){0};
}

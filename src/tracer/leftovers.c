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

/* A child of such a process has them, too: it would be one message for each worker of a server. */
void leftovers_look(struct tracer *t)
{
	const struct process *first = NULL;
	size_t found = 0, others = 0;

	for (struct process *p = t->processes; p; p = p->next) {
		const size_t count = p->arch ? leftovers_count(p) : 0;

		if (!count || !p->text->has_leftovers)
			continue;
		others += first != NULL;
		if (!first) {
			first = p;
			found = count;
		}
	}
	if (!first)
		return;
	char *const more = others ? xasprintf(", and in that of %zu more", others) : xstrdup("");

	msg_warn("%zu breakpoint%s of a tracer that is gone %s in the code of process %d (%s)%s: a thread that runs "
		 "into one dies of SIGTRAP, and these functions are not traced. Let go, and put the code back: "
		 "functrace --repair %s-t %d",
		 found, found == 1 ? "" : "s", found == 1 ? "is" : "are", first->pid, first->trace->name, more,
		 others ? "--children " : "", first->pid);
	free(more);
}

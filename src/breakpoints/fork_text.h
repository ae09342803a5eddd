/* A fork's child has the text of its parent, with our breakpoints and copies in it. */
#ifndef FT_BREAKPOINTS_FORK_TEXT_H
#define FT_BREAKPOINTS_FORK_TEXT_H

#include "breakpoints/process_text.h"

/* Takes all that is ours, by `tables`' text, out of the memory of a stopped task, open as mem_fd. 0, or an
 * error: the bits of all that came, so that only -ESRCH alone is what it says. */
int fork_text_clean(const struct process *tables, int mem_fd, pid_t tid);
/* Copies slots and breakpoints for a child whose objects are known; none has a probe yet. The function is called for
 * each new breakpoint and the one that it is a copy of. */
void fork_text_copy(const struct process *from, struct process *p,
		    void (*copied)(struct process *p, struct breakpoint *b, const struct breakpoint *from));
/* The child's text is what it was when the tables were: nothing of ours was written to the lender's in between. */
void fork_text_trust(struct process *p);
/* Makes text and tables agree. A breakpoint that was planted in the lender after the fork is not there yet; one that
 * was taken out since is there still; a slot may hold another copy. */
void fork_text_compare(struct process *p, pid_t tid);

#endif

/* Cleans, copies and compares the text of a fork's child, which has the breakpoints and slots of its parent. */
#ifndef FT_BREAKPOINTS_FORK_TEXT_H
#define FT_BREAKPOINTS_FORK_TEXT_H

#include "breakpoints/process_text.h"

/* Puts the original bytes back in the memory of the stopped task `tid`, open as mem_fd, wherever a breakpoint or slot
 * of `tables` is in place. Returns 0, or the bitwise or of all errors (negative errno), which callers compare with
 * -ESRCH only. */
int fork_text_clean(const struct process *tables, int mem_fd, pid_t tid);
/* Puts back the original bytes of another change of the parent's text. Returns 0 or -errno. */
int fork_text_restore(int mem_fd, pid_t tid, uint64_t address, const void *original, size_t size);
/* Copies the slots and breakpoints of `from` into the tables of its fork's child `p`, whose objects must be known. The
 * copies have no probes yet. Calls copied() with each new breakpoint and its original. */
void fork_text_copy(const struct process *from, struct process *p,
		    void (*copied)(struct process *p, struct breakpoint *b, const struct breakpoint *from));
/* Adds the child's inserted breakpoints to the journal without reading the child's text. Called if the child's text
 * agrees with its tables, because functrace wrote nothing to the lender's text after the fork. The lender is the
 * process whose tables the child borrowed. */
void fork_text_trust(struct process *p);
/* Makes the child's text agree with its tables. A breakpoint that was inserted into the lender after the fork is
 * missing in the child; a breakpoint that was removed from the lender after the fork is still in the child; a slot may
 * have another content. */
void fork_text_compare(struct process *p, pid_t tid);

#endif

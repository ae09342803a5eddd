/* A process is an address space: its objects, and the parts that the floors below keep of it. */
#ifndef FT_TRACER_PROCESS_H
#define FT_TRACER_PROCESS_H

#include "calls/calls.h"
#include "calls/sigtrap.h"
#include "ptrace/tasks.h"
#include "record/trace.h"
#include "breakpoints/process_text.h"

/* What this floor knows of a process. */
struct process_life {
	bool planted;        /* its functions have breakpoints: start.c */
	bool has_unread_end; /* of a task, whose registers at its end could not be read: births.c */
	/* A fork's child without tables of its own: forks.c. */
	struct process *lender, *borrowers, *next_borrower;
	int loan;                        /* of the guard's; -1 none */
	bool behind;                     /* its text may lack breakpoints: it needs tables before it runs */
	struct heap_capture *ending;     /* NULL: none of its tasks has come to its end: leak_check.c */
	struct end_reading *end_reading; /* NULL: it is not being read: exit_captures.c */
	bool is_looked_through;          /* leak_check.c */
	bool has_verdict;                /* what is lost at its end is said or about to be: exit_captures.c */
	bool was_started;                /* begin_tracing.c: its turn has come; start_error: 0 or -errno */
	int start_error;
	bool uncompared; /* it has got tables, but its memory could not be opened: they may say what its text is not */
};

/* The process of a task. NULL: errno, ENOEXEC if its processor is not known. */
struct process *process_new(struct tracer *t, pid_t tid, pid_t tgid);
/* One without memory, tables and a name. It has no reference yet: a task that joins it, or process_ref(). */
struct process *process_alloc(struct tracer *t, pid_t pid, const struct arch *arch);
/* Opens its memory by one of its tasks, if it is not open. 0 or -errno. */
int process_open(struct process *p, pid_t tid);
/* One reference more. */
void process_ref(struct process *p);
/* One reference less; the last one ends the process and its trace, which says `how` (NULL: nothing). */
void process_unref(struct process *p, const char *how);

/* Where one of those that share the memory may be executing another program, /proc must not be asked by that one:
 * finds or stops a task that cannot, its anchor. 0 if there is none. */
pid_t process_find_anchor(struct process *p);
/* Makes the same process anew by its anchor, with all its tasks, and frees p. NULL: errno, nothing has changed. */
struct process *process_again(struct process *old);

/* Says by whether any process has breakpoints how long reads may take from now on (timed.h). */
void process_time_reads(const struct tracer *t);
/* Brings its objects up to date; while it is planted, their functions get breakpoints. */
void process_update_objects(struct process *p);
/* The task is at the dynamic linker's notice: the same, if that is done. */
void process_linker_notice(struct task *task);

/* Ends its borrowing, if it borrows its lender's tables: it has its own now, or ends. */
void process_end_borrowing(struct process *p);

/* process_report.c: reports what record/ cannot know of a process whose trace is over. Once: later calls do nothing. */
void process_report(struct process *p);

#endif

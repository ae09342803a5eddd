/* A process is an address space: its objects, and the parts that lower floors keep for it. */
#ifndef FT_TRACER_PROCESS_H
#define FT_TRACER_PROCESS_H

#include "calls/calls.h"
#include "calls/sigtrap.h"
#include "ptrace/tasks.h"
#include "record/trace.h"
#include "breakpoints/process_text.h"

/* This room's part of a process. */
struct process_life {
	bool planted;        /* its functions have breakpoints: start.c */
	bool has_unread_end; /* a task's registers could not be read at its end: births.c */
	/* For a fork's child without tables of its own: forks.c. */
	struct process *lender, *borrowers, *next_borrower;
	int loan;                          /* of the guardian's journal; -1: none */
	bool lacks_breakpoints;            /* its text may lack breakpoints: it gets tables before it runs */
	struct heap_capture *exit_capture; /* NULL: none of its tasks is at its end: leak_check.c */
	struct end_reading *end_reading;   /* NULL: its heap is not being read: exit_captures.c */
	bool is_looked_through;            /* leak_check_detach.c: it was captured in this round */
	bool has_verdict;                  /* the leak check at its end is written, or under way: exit_captures.c */
	bool was_started;                  /* begin_tracing.c: begin_all() has started it; start_error: 0 or -errno */
	int start_error;
	bool uncompared; /* it has tables, but its memory could not be opened: they may differ from its text */
};

/* Makes the process of a task. Returns NULL with errno set; ENOEXEC: its processor is unknown. */
struct process *process_new(struct tracer *t, pid_t tid, pid_t tgid);
/* Makes one without memory, tables and a name. It has no reference yet: a task joins it, or the caller uses
 * process_ref(). */
struct process *process_alloc(struct tracer *t, pid_t pid, const struct arch *arch);
/* Opens its memory by one of its tasks, if it is not open. Returns 0 or -errno. */
int process_open(struct process *p, pid_t tid);
/* Adds a reference. */
void process_ref(struct process *p);
/* Drops a reference. The last one ends the process and its trace, which says `how` (NULL: nothing). */
void process_unref(struct process *p, const char *how);

/* Finds or stops a task that cannot be executing another program, the anchor. If several processes share the memory,
 * /proc is read by the anchor only, because the others may exec. Returns its id, or 0 if there is none. */
pid_t process_find_anchor(struct process *p);
/* Makes the same process anew by its anchor, with all its tasks, and frees the old one. Returns NULL with errno set if
 * that fails; nothing has changed then. */
struct process *process_again(struct process *old);

/* Sets how long reads may take from now on (timed.h), by whether any process has breakpoints. */
void process_time_reads(const struct tracer *t);
/* Brings its objects up to date. If it is `planted`, new objects get breakpoints. */
void process_update_objects(struct process *p);
/* Does the same at the dynamic linker's notice, where the task is stopped, if the linker's list is complete. */
void process_linker_notice(struct task *task);

/* Ends its borrowing, if it borrows: it has tables of its own now, or ends. */
void process_end_borrowing(struct process *p);

/* process_report.c: reports what record/ cannot know about a process whose trace is over. Later calls do nothing. */
void process_report(struct process *p);

#endif

/* A process is an address space: its objects, and the data that lower layers keep about it. */
#ifndef FT_TRACER_PROCESS_H
#define FT_TRACER_PROCESS_H

#include "calls/calls.h"
#include "calls/sigtrap.h"
#include "ptrace/tasks.h"
#include "record/trace.h"
#include "breakpoints/process_text.h"

/* The data of src/tracer about a process. */
struct process_life {
	bool planted;        /* the process's functions have breakpoints: process_start.c */
	bool has_unread_end; /* births.c: the registers of a task could not be read at its end */
	/* forks.c: links between a fork's child without tables of its own (a borrower) and its lender */
	struct process *lender, *borrowers, *next_borrower;
	int loan;               /* the borrowing's id in the guardian's journal (guard_lend()); -1: none */
	bool lacks_breakpoints; /* the text may lack breakpoints: the process gets its own tables before it runs */
	struct heap_capture *exit_capture; /* the capture at exit; NULL: not wanted, or no exit event was seen yet */
	struct end_reading *end_reading;   /* exit_captures.c: NULL if no capture at exit is under way */
	bool is_looked_through;            /* leak_check_detach.c: the process was captured in this round */
	bool has_verdict;                  /* exit_captures.c: the leak check at exit has begun, or is written */
	/* begin_tracing.c: the process was started, by begin_all() with the result start_error (0 or -errno), or at its
	 * exec */
	bool was_started;
	int start_error;
	bool uncompared; /* the process's own tables may differ from its text, because the memory could not be opened */
};

/* Makes the struct of the process to which a task belongs. Returns NULL with errno set; ENOEXEC: the task's processor
 * is not supported. */
struct process *process_new(struct tracer *t, pid_t tid, pid_t tgid);
/* Makes a process without memory, tables and name. The process has no reference yet: a task joins it, or the caller
 * calls process_ref(). */
struct process *process_alloc(struct tracer *t, pid_t pid, const struct arch *arch);
/* Opens the process's memory through one of its tasks, if it is not open. Returns 0 or -errno. */
int process_open(struct process *p, pid_t tid);
/* Adds a reference. */
void process_ref(struct process *p);
/* Drops a reference. When the last one is dropped, ends the process and its trace, and writes `how` to the trace (NULL:
 * nothing). */
void process_unref(struct process *p, const char *how);

/* Finds the anchor: a task that cannot be in an execve, because it is stopped or waits in vfork. If there is no such
 * task, stops one. If several processes share the memory, /proc is read through the anchor only, because other tasks
 * may exec. Returns the anchor's tid, or 0 if no task could be stopped. */
pid_t process_find_anchor(struct process *p);
/* Makes a new struct process through the anchor, moves all tasks to it, and frees the old one. On failure changes
 * nothing and returns NULL with errno set. */
struct process *process_again(struct process *old);

/* Sets the time limit of the tracer's reads (timed.h), which depends on whether any process has breakpoints. */
void process_time_reads(const struct tracer *t);

/* Ends the borrowing of a process that borrows tables, because it has tables of its own now, or ends. */
void process_end_borrowing(struct process *p);

/* In process_report.c: adds a process whose trace has ended to the summary, and reports what src/record cannot report
 * about it. Later calls do nothing. */
void process_report(struct process *p);

#endif

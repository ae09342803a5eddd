/* A thread that does jobs one after another, in the order in which they are given. A job that takes for ever, because
 * it reads a file that does not answer, holds up its worker alone: whoever has given it waits as long as it wants, and
 * then leaves it to the worker.
 *
 * Between the two threads a job belongs to one of them at any time:
 *
 *   giver: worker_give(job)  |  worker: job->work(job), done  |  giver: worker_wait(), reads it, job->end(job)
 *   giver: worker_give(job), worker_drop(job)  |  worker: job->work(job), job->end(job) */
#ifndef FT_BASE_WORKER_H
#define FT_BASE_WORKER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct worker;

struct worker_job {
	void (*work)(struct worker_job *job); /* called by the worker's thread */
	void (*end)(struct worker_job *job);  /* frees what the job has, and the job: called once, by either thread */
	struct worker_job *next;              /* this and what follows are the worker's own */
	atomic_bool is_done;
	bool is_dropped;
};

/* The tracer's thread may share one CPU with what it traces; threads that work beside it do not. The first call
 * remembers on which CPUs its thread may run, which has to be before that one is pinned. */
void cpus_remember(void);
/* The calling thread may run on those that are remembered. */
void cpus_use_all(void);

/* Begins a thread of that name, on which no signal is delivered. It may run on those CPUs that cpus_remember() knows.
 * Where no thread can be started, jobs are done when they are given. */
struct worker *worker_new(const char *name);
/* Queues a new job: the worker does it after all that were given before. */
void worker_give(struct worker *worker, struct worker_job *job);
/* Whether the work is done: then the job is the caller's again. Cheap. */
bool worker_is_done(const struct worker_job *job);
/* Waits until the work is done, at most `ns` nanoseconds. Whether it is. */
bool worker_wait(struct worker *worker, const struct worker_job *job, uint64_t ns);
/* The caller will not ask for the job again: job->end() is called now if the work is done, else after it. */
void worker_drop(struct worker *worker, struct worker_job *job);
/* The caller gives no more jobs. Does not wait: the thread ends when it has done those that it has. NULL is allowed. */
void worker_end(struct worker *worker);
/* Whether a thread of any worker is in a job: such a one may keep this process from ending (watch() in guardian.c). */
bool workers_are_busy(void);

#endif

/* A thread that does jobs one after another, in the order in which they are given. A job that never ends, because it
 * reads a file that does not answer, blocks only its worker: the giver waits as long as it wants, and then leaves the
 * job to the worker.
 *
 * At any time a job belongs to one of the two threads:
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
	void (*end)(struct worker_job *job);  /* frees the job and its data; called once, by either thread */
	struct worker_job *next;              /* the worker's own, like the fields below */
	atomic_bool is_done;
	bool is_dropped;
};

/* Remembers the CPUs that the calling thread may use, on the first call. To be called before the tracer's thread is
 * pinned: it may share one CPU with its target, but the threads that work beside it do not. */
void cpus_remember(void);
/* Lets the calling thread use the remembered CPUs. */
void cpus_use_all(void);

/* Starts a thread of that name, to which no signal is delivered and which may use the CPUs of cpus_remember(). If no
 * thread can be started, each job is done when it is given. */
struct worker *worker_new(const char *name);
/* Queues a new job, after all jobs that were given before. */
void worker_give(struct worker *worker, struct worker_job *job);
/* True if the work is done: then the job is the caller's again. Cheap. */
bool worker_is_done(const struct worker_job *job);
/* Waits until the work is done, for at most `ns` nanoseconds. Returns true if it is done. */
bool worker_wait(struct worker *worker, const struct worker_job *job, uint64_t ns);
/* Gives up the caller's interest in the job: job->end() is called now if the work is done, else after it. */
void worker_drop(struct worker *worker, struct worker_job *job);
/* Ends the worker when it has done its jobs, to which the caller adds no more. Does not wait. NULL is allowed. */
void worker_end(struct worker *worker);
/* True if a thread of any worker is in a job, which may keep this process from ending (watch() in guardian.c). */
bool workers_are_busy(void);

#endif

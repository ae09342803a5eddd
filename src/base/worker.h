/* A thread that does jobs one after another, in the order in which they are given. A job that never returns, because a
 * read blocks for ever, blocks only the worker: the thread that gave the job waits for a limited time, and then leaves
 * the job to the worker.
 *
 * At any time a job belongs to one of the two threads:
 *
 *   giver: worker_give(job)  |  worker: job->work(job), done  |  giver: worker_wait(), reads the result, job->end(job)
 *   giver: worker_give(job), worker_drop(job)  |  worker: job->work(job), job->end(job) */
#ifndef FT_BASE_WORKER_H
#define FT_BASE_WORKER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct worker;

struct worker_job {
	void (*work)(struct worker_job *job); /* called by the worker's thread */
	void (*end)(struct worker_job *job);  /* frees the job and its data; called at most once, by either thread */
	struct worker_job *next;              /* used only by worker.c, like the fields below */
	atomic_bool is_done;
	bool is_dropped;
};

/* Remembers, on the first call, the CPUs that the calling thread may use. Must be called before the tracer's thread is
 * pinned: the tracer may share one CPU with its target, but worker threads must not. */
void cpus_remember(void);
/* Lets the calling thread use the remembered CPUs. */
void cpus_use_all(void);

/* Starts a thread in which all signals are blocked, so that other threads handle the signals of the process. Arguments
 * and result are those of pthread_create(). */
int thread_start_masked(pthread_t *thread, const pthread_attr_t *attributes, void *(*work)(void *context),
			void *context);

/* Starts a thread of that name, to which no signal is delivered and which may use the CPUs of cpus_remember(). If no
 * thread can be started, worker_give() does each job itself. */
struct worker *worker_new(const char *name);
/* Queues a new job, after all jobs that were given before. */
void worker_give(struct worker *worker, struct worker_job *job);
/* Returns true if the work is done: then the job belongs to the caller again. Cheap. */
bool worker_is_done(const struct worker_job *job);
/* Waits until the work is done, for at most `ns` nanoseconds. Returns true if it is done. */
bool worker_wait(struct worker *worker, const struct worker_job *job, uint64_t ns);
/* Tells the worker that the caller does not wait for the job any more. If the work is done, calls job->end() now;
 * otherwise the worker calls job->end() after the work. */
void worker_drop(struct worker *worker, struct worker_job *job);
/* Ends the worker thread when it has done its jobs. The caller gives it no more jobs. Does not wait. NULL is
 * allowed. */
void worker_end(struct worker *worker);
/* How a worker's thread has spent its time since it was started, in ns. */
struct worker_times {
	uint64_t ran, delayed; /* ran: on a CPU; delayed: waiting for a CPU, up to the last time that it got one */
	bool is_runnable;      /* it runs or waits for a CPU, and does not wait for a file */
};
/* Gets the times of the worker's thread. Returns false if the kernel does not report them. */
bool worker_times(const struct worker *worker, struct worker_times *times);
/* Returns true if a worker's thread is inside a job. Such a job may keep this process from ending
 * (guardian_watch()). */
bool workers_are_busy(void);

#endif

/* Threads that do jobs: see worker.h. */
#include "config.h"
#include "base/worker.h"
#include "base/util.h"
#include "base/time_units.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#define NAME_MAX_BYTES 16 /* size of a thread name, including the NUL */

struct worker {
	pthread_mutex_t lock;
	pthread_cond_t given, done;
	struct worker_job *first, **end;
	bool has_thread, is_over;
	atomic_int tid; /* 0: the thread has not run yet */
	char name[NAME_MAX_BYTES];
};

static atomic_uint busy; /* number of threads that are doing a job */

static struct {
	cpu_set_t set;
	bool is_known;
} cpus;

void cpus_remember(void)
{
	if (!cpus.is_known)
		cpus.is_known = sched_getaffinity(0, sizeof(cpus.set), &cpus.set) == 0;
}

void cpus_use_all(void)
{
	if (cpus.is_known)
		sched_setaffinity(0, sizeof(cpus.set), &cpus.set);
}

static void worker_free(struct worker *worker)
{
	pthread_mutex_destroy(&worker->lock);
	pthread_cond_destroy(&worker->given);
	pthread_cond_destroy(&worker->done);
	free(worker);
}

/* Does a job. The job may have been freed when this function returns. */
static void do_job(struct worker *worker, struct worker_job *job)
{
	job->work(job);
	pthread_mutex_lock(&worker->lock);
	const bool is_dropped = job->is_dropped;

	if (!is_dropped)
		atomic_store_explicit(&job->is_done, true, memory_order_release);
	pthread_cond_broadcast(&worker->done);
	pthread_mutex_unlock(&worker->lock);
	if (is_dropped)
		job->end(job);
}

static void *worker_run(void *argument)
{
	struct worker *const worker = argument;
	struct worker_job *job;

	atomic_store(&worker->tid, gettid());
	prctl(PR_SET_NAME, worker->name);
	cpus_use_all();
	for (;;) {
		pthread_mutex_lock(&worker->lock);
		while (!worker->first && !worker->is_over)
			pthread_cond_wait(&worker->given, &worker->lock);
		job = worker->first;
		if (job)
			worker->first = job->next;
		if (!worker->first)
			worker->end = &worker->first;
		pthread_mutex_unlock(&worker->lock);
		if (!job)
			break;
		atomic_fetch_add(&busy, 1);
		do_job(worker, job);
		atomic_fetch_sub(&busy, 1);
	}
	worker_free(worker);
	return NULL;
}

bool worker_times(const struct worker *worker, struct worker_times *times)
{
	const int tid = atomic_load(&worker->tid);
	unsigned long long ran = 0, delayed = 0;
	char path[64], state = 'R';

	snprintf(path, sizeof(path), "/proc/self/task/%d/schedstat", tid);
	char *const text = tid ? read_file(path, 128, NULL) : NULL;
	bool is_known = !tid || (text && sscanf(text, "%llu %llu", &ran, &delayed) == 2);

	free(text);
	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", tid);
	char *const stat = tid ? read_file(path, 1024, NULL) : NULL;
	const char *const after = stat ? strrchr(stat, ')') : NULL;

	is_known &= !tid || (after && sscanf(after + 1, " %c", &state) == 1);
	free(stat);
	*times = (struct worker_times){.ran = ran, .delayed = delayed, .is_runnable = state == 'R'};
	return is_known;
}

int thread_start_masked(pthread_t *thread, const pthread_attr_t *attributes, void *(*work)(void *context),
			void *context)
{
	sigset_t all, before;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	const int error = pthread_create(thread, attributes, work, context);

	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return error;
}

static bool begin_thread(struct worker *worker)
{
	pthread_attr_t attributes;
	pthread_t thread;

	if (pthread_attr_init(&attributes))
		return false;
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	const bool has_begun = thread_start_masked(&thread, &attributes, worker_run, worker) == 0;

	pthread_attr_destroy(&attributes);
	return has_begun;
}

struct worker *worker_new(const char *name)
{
	struct worker *const worker = xcalloc(1, sizeof(*worker));
	pthread_condattr_t clock;

	cpus_remember();
	snprintf(worker->name, sizeof(worker->name), "%s", name);
	worker->end = &worker->first;
	pthread_mutex_init(&worker->lock, NULL);
	pthread_condattr_init(&clock);
	pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
	pthread_cond_init(&worker->given, NULL);
	pthread_cond_init(&worker->done, &clock);
	pthread_condattr_destroy(&clock);
	worker->has_thread = begin_thread(worker);
	return worker;
}

void worker_give(struct worker *worker, struct worker_job *job)
{
	job->next = NULL;
	job->is_dropped = false;
	atomic_store(&job->is_done, false);
	if (!worker->has_thread) {
		do_job(worker, job);
		return;
	}
	pthread_mutex_lock(&worker->lock);
	*worker->end = job;
	worker->end = &job->next;
	pthread_cond_signal(&worker->given);
	pthread_mutex_unlock(&worker->lock);
}

bool worker_is_done(const struct worker_job *job)
{
	return atomic_load_explicit(&job->is_done, memory_order_acquire);
}

bool worker_wait(struct worker *worker, const struct worker_job *job, uint64_t ns)
{
	const uint64_t end = clock_ns(CLOCK_MONOTONIC) + ns;
	const struct timespec until = {.tv_sec = (time_t)(end / NS_PER_SECOND), .tv_nsec = (long)(end % NS_PER_SECOND)};

	pthread_mutex_lock(&worker->lock);
	while (!worker_is_done(job) && pthread_cond_timedwait(&worker->done, &worker->lock, &until) != ETIMEDOUT)
		;
	pthread_mutex_unlock(&worker->lock);
	return worker_is_done(job);
}

void worker_drop(struct worker *worker, struct worker_job *job)
{
	pthread_mutex_lock(&worker->lock);
	const bool is_done = worker_is_done(job);

	job->is_dropped = true;
	pthread_mutex_unlock(&worker->lock);
	if (is_done)
		job->end(job);
}

void worker_end(struct worker *worker)
{
	if (!worker)
		return;
	if (!worker->has_thread) {
		worker_free(worker);
		return;
	}
	pthread_mutex_lock(&worker->lock);
	worker->is_over = true;
	pthread_cond_signal(&worker->given);
	pthread_mutex_unlock(&worker->lock);
}

bool workers_are_busy(void)
{
	return atomic_load(&busy);
}

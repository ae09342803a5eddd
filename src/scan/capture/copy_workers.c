#include "config.h"
#include "scan/capture/copy_workers.h"
#include "base/util.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>

#define WORKERS_MAX 16 /* maximum number of threads; more do not copy faster, because memory is the bottleneck */

struct share {
	uint64_t end, piece;
	void (*work)(void *context, uint64_t from, uint64_t to);
	void *context;
	atomic_uint_fast64_t next;
};

static void *copy_workers_work(void *context)
{
	struct share *const share = context;
	uint64_t from;

	while ((from = atomic_fetch_add(&share->next, share->piece)) < share->end)
		share->work(share->context, from, share->end - from < share->piece ? share->end : from + share->piece);
	return NULL;
}

/* Returns how many processors this thread may use. The number is one while the thread is pinned to the
 * processor of a traced task. */
static unsigned count_processors(void)
{
	cpu_set_t set;

	return sched_getaffinity(0, sizeof(set), &set) ? 1 : (unsigned)CPU_COUNT(&set);
}

void workers_share(uint64_t end, uint64_t piece, void (*callback)(void *context, uint64_t from, uint64_t to),
		   void *context)
{
	struct share share = {.end = end, .piece = piece, .work = callback, .context = context};
	const uint64_t pieces = end / piece + (end % piece != 0);
	unsigned wanted = pieces >= WORKERS_LEAST ? count_processors() : 1, made = 0;
	pthread_t threads[WORKERS_MAX - 1];
	sigset_t all, before;

	wanted = wanted < WORKERS_MAX ? wanted : WORKERS_MAX;
	wanted = wanted < pieces ? wanted : (unsigned)pieces;
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	/* If no thread can be created, the calling thread does all the work. */
	while (made + 1 < wanted && !pthread_create(&threads[made], NULL, copy_workers_work, &share))
		made++;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	copy_workers_work(&share);
	while (made)
		pthread_join(threads[--made], NULL);
}

/* Runs work in a thread of its own: see background.h. */
#include "config.h"
#include "base/background.h"
#include "base/util.h"
#include "base/worker.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/resource.h>

/* Added to the nice value. The thread then gets about a third of the CPU time of a thread with an unchanged nice value,
 * so its work always progresses. */
#define GENTLE 5

struct background {
	void (*work)(void *context);
	void *context;
	pthread_t thread;
	bool has_thread, is_gentle;
	atomic_bool is_done;
};

static atomic_uint working; /* number of pieces of work in progress */

static void background_do_work(struct background *background)
{
	atomic_fetch_add(&working, 1);
	background->work(background->context);
	atomic_fetch_sub(&working, 1);
	atomic_store(&background->is_done, true);
}

bool background_is_any(void)
{
	return atomic_load(&working);
}

static void *background_run(void *argument)
{
	struct background *const background = argument;

	cpus_use_all();
	if (background->is_gentle)
		setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, 0) + GENTLE); /* changes this thread only */
	background_do_work(background);
	return NULL;
}

static struct background *background_start(void (*work)(void *context), void *context, bool is_gentle)
{
	struct background *const background = xcalloc(1, sizeof(*background));

	background->work = work;
	background->context = context;
	background->is_gentle = is_gentle;
	cpus_remember();
	background->has_thread = thread_start_masked(&background->thread, NULL, background_run, background) == 0;
	if (!background->has_thread)
		background_do_work(background);
	return background;
}

struct background *background_begin(void (*work)(void *context), void *context)
{
	return background_start(work, context, false);
}

struct background *background_begin_gently(void (*work)(void *context), void *context)
{
	return background_start(work, context, true);
}

bool background_is_done(const struct background *background)
{
	return atomic_load(&background->is_done);
}

void background_end(struct background *background)
{
	if (background->has_thread)
		pthread_join(background->thread, NULL);
	free(background);
}

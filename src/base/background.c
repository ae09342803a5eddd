#include "config.h"
#include "base/background.h"
#include "base/util.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>

struct background {
	void (*work)(void *context);
	void *context;
	pthread_t thread;
	bool has_thread;
	atomic_bool is_done;
};

static void *run(void *argument)
{
	struct background *const background = argument;

	background->work(background->context);
	atomic_store(&background->is_done, true);
	return NULL;
}

struct background *background_begin(void (*work)(void *context), void *context)
{
	struct background *const background = xcalloc(1, sizeof(*background));
	sigset_t all, before;

	background->work = work;
	background->context = context;
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	background->has_thread = pthread_create(&background->thread, NULL, run, background) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (!background->has_thread)
		run(background);
	return background;
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

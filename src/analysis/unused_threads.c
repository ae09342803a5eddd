#include "config.h"
#include "analysis/unused_threads.h"
#include "analysis/intern.h"

#include <stdlib.h>

struct named_thread {
	uint32_t tid;
	const char *name; /* interned; NULL if there is no thread yet */
};

struct thread_names_threads {
	struct stage stage;
	struct intern_pool names;
	struct named_thread now, written;
};

static int thread_names_put(struct stage *stage, const struct record *record)
{
	struct thread_names_threads *threads = (struct thread_names_threads *)stage;
	const struct named_thread *now = &threads->now;

	if (record->type == RECORD_THREAD) {
		threads->now = (struct named_thread){
			record->thread.tid, string_intern(&threads->names, string_or_empty(record->thread.name))};
		return 0;
	}
	if (record->type == RECORD_CALL && now->name &&
	    (now->tid != threads->written.tid || now->name != threads->written.name)) {
		const int error = stage_put(stage->next,
					    &(struct record){.type = RECORD_THREAD, .thread = {now->tid, now->name}});

		if (error)
			return error;
		threads->written = *now;
	}
	return stage_put(stage->next, record);
}

static void thread_names_free(struct stage *stage)
{
	intern_pool_free(&((struct thread_names_threads *)stage)->names);
	free(stage);
}

struct stage *thread_names_new(struct stage *next)
{
	struct thread_names_threads *threads = xcalloc(1, sizeof(*threads));

	threads->stage = (struct stage){
		.put = thread_names_put, .finish = stage_finish_next, .free = thread_names_free, .next = next};
	return &threads->stage;
}

#include "config.h"
#include "live/view.h"
#include "analysis/output.h"
#include "trace/note_unread.h"
#include "base/msg.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The reading thread: the records of one process. */
static void *read_records(void *context)
{
	struct view *view = context;
	struct record record;
	uint64_t calls;
	int status;

	while ((status = reader_next(view->reader, &record)) == 1) {
		pthread_mutex_lock(&view->lock);
		output_feed_names(view->options->names, &view->account.objects, &record);
		account_put(&view->account, &record);
		if (record.type == RECORD_NOTE && note_unread_parse(record.note.text, &calls))
			view->unread += calls;
		pthread_mutex_unlock(&view->lock);
	}
	pthread_mutex_lock(&view->lock);
	view->has_ended = true;
	view->reason = status < 0 ? reader_error(view->reader) : NULL;
	pthread_mutex_unlock(&view->lock);
	return NULL;
}

int live_run(struct reader *reader, const struct live_options *options)
{
	struct view view = {.options = options, .reader = reader, .profile = profile_new()};
	pthread_t thread;

	pthread_mutex_init(&view.lock, NULL);
	view.resolver = (struct resolver){.profile = view.profile, .account = &view.account, .names = options->names};
	const int error = pthread_create(&thread, NULL, read_records, &view);

	if (error) {
		msg_error("the live view cannot make a thread: %s", strerror(error));
		view_free(&view);
		return EXIT_FAILURE;
	}
	const int status = isatty(STDOUT_FILENO) ? live_screen(&view) : live_lines(&view);

	/* It may wait for a trace that does not end; nothing is held that the end of the program does not free. */
	pthread_mutex_lock(&view.lock);
	const bool has_ended = view.has_ended;

	pthread_mutex_unlock(&view.lock);
	if (!has_ended)
		_exit(status);
	pthread_join(thread, NULL);
	view_free(&view);
	return status;
}

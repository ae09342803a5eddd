/* The queue of messages. The visible process (V), the guardian (G) and the engine (E) write their messages into a pipe,
 * without ever blocking. A thread of the visible process copies them to the original standard error, so only that
 * thread waits if a terminal is stopped or a pipe is not read. Messages that do not fit into the pipe are counted in
 * the shared state (shared_state.h); the thread reports the count.
 *
 *	G, E: standard error -> pipe -> V's thread -> V's standard error
 *
 * The target writes directly to the visible process's standard error. */
#ifndef FT_ENGINE_MESSAGE_QUEUE_H
#define FT_ENGINE_MESSAGE_QUEUE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct message_queue {
	int in, out; /* the write end and the read end of the pipe */
	int to;      /* the original standard error, a close-on-exec copy */
	_Atomic uint64_t *lost;
	pthread_t thread;
	atomic_bool is_over;       /* no more messages will come: the thread ends when the pipe is empty */
	int wake, done;            /* eventfds: `wake` wakes the thread; the thread writes `done` when it ends */
	_Atomic uint64_t waits_at; /* CLOCK_MONOTONIC time in ns at which the thread's present write began, or 0 */
};

/* Makes the pipe; called before the guardian is forked. lost: counter of the messages that did not fit into the pipe.
 * Returns 0 or -errno. */
int message_queue_open(struct message_queue *messages, _Atomic uint64_t *lost);
/* Called in the guardian and the engine: makes standard error the write end of the pipe. */
void message_queue_enter(const struct message_queue *messages);
/* Called in the visible process: starts the thread, and sends this process's own messages to the pipe too. Returns 0 or
 * -errno. */
int message_queue_start(struct message_queue *messages);
/* Makes the thread end when the pipe is empty; `done` then becomes readable. Called in the visible process when the
 * guardian and the engine will write no more messages. */
void message_queue_end(struct message_queue *messages);
/* Returns true if nothing could be written for a second after `since` (CLOCK_MONOTONIC, ns). */
bool message_queue_is_stuck(const struct message_queue *messages, uint64_t since);
/* Restores the visible process's standard error. has_ended: the thread has ended and is joined; else the thread stays
 * blocked in its write. */
void message_queue_close(struct message_queue *messages, bool has_ended);

#endif

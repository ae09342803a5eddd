/* The queue of messages. The visible process (V), the guardian (G) and the engine (E) write messages into a pipe and
 * never wait. A thread of V copies them to the original standard error, so only that thread waits if a terminal is
 * stopped or a pipe is not read. Messages that do not fit into the pipe are counted on the board (base/msg.h); the
 * thread reports the count.
 *
 *	G, E: standard error -> pipe -> V's thread -> V's standard error
 *
 * The target has V's standard error itself. */
#ifndef FT_ENGINE_PUMP_H
#define FT_ENGINE_PUMP_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct pump {
	int in, out; /* the ends of the pipe: to write, to read */
	int to;      /* the original standard error, close-on-exec */
	_Atomic uint64_t *lost;
	pthread_t thread;
	atomic_bool is_over;       /* no more messages will come: the thread ends when the pipe is empty */
	int wake, done;            /* eventfds: wake the thread; written by the thread at its end */
	_Atomic uint64_t waits_at; /* CLOCK_MONOTONIC, start of the write that the thread is in, or 0 */
};

/* Makes the pipe; called before G is forked. Returns 0 or -errno. */
int pump_open(struct pump *pump, _Atomic uint64_t *lost);
/* In G and E: makes standard error the write end of the pipe. */
void pump_enter(const struct pump *pump);
/* In V: starts the thread, and sends V's own messages to the pipe too. Returns 0 or -errno. */
int pump_start(struct pump *pump);
/* In V, when G and E will write no more messages: `done` becomes readable when all messages have been written. */
void pump_end(struct pump *pump);
/* True if nothing could be written for a second after `since` (CLOCK_MONOTONIC). */
bool pump_is_stuck(const struct pump *pump, uint64_t since);
/* Restores V's standard error. has_ended: the thread has ended and is joined; else it is left waiting in its write. */
void pump_close(struct pump *pump, bool has_ended);

#endif

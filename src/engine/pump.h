/* The queue of messages. What V, G and E say goes into a pipe, whose writers never wait, and a thread of V writes it to
 * what was standard error: where a terminal is stopped, or a pipe is not read, only that thread waits. What the pipe
 * has no room for is counted on the board (base/msg.h), and the thread says so.
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
	int to;      /* what was standard error, close-on-exec */
	_Atomic uint64_t *lost;
	pthread_t thread;
	atomic_bool is_over;       /* no more will come: the thread ends when the pipe is empty */
	int wake, done;            /* eventfds: to the thread, and from it at its end */
	_Atomic uint64_t waits_at; /* CLOCK_MONOTONIC: since then the thread is in one write; 0: in none */
};

/* Before G is forked: makes the pipe. 0 or -errno. */
int pump_open(struct pump *pump, _Atomic uint64_t *lost);
/* In G and E: standard error becomes the pipe, which is closed together with it. */
void pump_enter(const struct pump *pump);
/* In V: starts the thread, and V's own messages go that way, too. 0 or -errno. */
int pump_start(struct pump *pump);
/* In V, when G and E have said all that they will: `done` becomes readable when all of it is written. */
void pump_end(struct pump *pump);
/* Whether nothing could be written for a second, of the time after `since` (CLOCK_MONOTONIC). */
bool pump_is_stuck(const struct pump *pump, uint64_t since);
/* V's standard error is what it was. The thread has ended, or is left where it waits. */
void pump_close(struct pump *pump, bool has_ended);

#endif

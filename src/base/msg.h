/* The one place that talks to the user: full sentences on stderr, each with the
 * program's name before it, one write(2) a message so that two processes'
 * messages never mix. */
#ifndef FT_BASE_MSG_H
#define FT_BASE_MSG_H

#include "base/util.h"

enum msg_domain { DBG_TRACER, DBG_BREAKPOINT, DBG_CALL, DBG_SYMBOLS, DBG_UNWIND, DBG_TRACE, DBG_PROCESS, DBG_DOMAINS };

/* The name before each message. `name` is kept, not copied. */
void msg_set_program(const char *name);

/* -q: only errors. */
void msg_set_quiet(bool quiet);
bool msg_is_quiet(void);

/* -d[=DOMAIN:LEVEL,...]: NULL turns on level 1 everywhere. False when `spec` names no
 * domain or the level is no number from 0 to MSG_DEBUG_MAX. */
#define MSG_DEBUG_MAX 2
bool msg_set_debug(const char *spec);

/* All domains, separated by commas, for messages. */
const char *msg_debug_domains(void);

extern unsigned char msg_debug_level[DBG_DOMAINS];

void msg_error(const char *fmt, ...) FT_PRINTF(1, 2);                         /* always shown */
void msg_warn(const char *fmt, ...) FT_PRINTF(1, 2);                          /* not with -q */
void msg_info(const char *fmt, ...) FT_PRINTF(1, 2);                          /* not with -q */
void msg_die(const char *fmt, ...) FT_PRINTF(1, 2) __attribute__((noreturn)); /* _exit(1) */

/* Standard error is a pipe that never blocks, from now on: a message that finds it full is counted in *lost, and a
 * status line that would have to wait there is left out, because a newer one comes. terminal: a descriptor of the
 * terminal that the pipe leads to, for its width; -1: none. Both must stay. */
void msg_set_queue(int terminal, _Atomic uint64_t *lost);
/* Standard error is what it was again. */
void msg_set_direct(void);
/* From now on up to `room` bytes of messages that find the pipe full are kept, to be sent when there is room. Each call
 * has the same `room`. */
void msg_keep(size_t room);
#define MESSAGES_KEPT (256u << 10) /* a summary is far shorter */
/* Sends the kept messages. Waits for room in a full pipe, each time for `milliseconds` at most (-1: without a limit);
 * messages that find no room by then are counted as lost. Does nothing without a queue. */
void msg_settle(int milliseconds);

/* A line on a terminal, replaced by the next one and by any message; NULL takes it away. It is cut to the terminal's
 * width. */
void msg_status(const char *text);

/* Writes a line of debugging; msg_debug() asks first whether the domain shows that level. */
void msg_debug_write(enum msg_domain domain, const char *fmt, ...) FT_PRINTF(2, 3);
#define msg_debug(domain, level, ...)                                                                                  \
	do {                                                                                                           \
		if (__builtin_expect(msg_debug_level[domain] >= (level), 0))                                           \
			msg_debug_write(domain, __VA_ARGS__);                                                          \
	} while (0)

#endif

/* Prints all messages: full sentences on stderr, each after the program's name. Each message is one write(2), so that
 * the messages of two processes never mix. */
#ifndef FT_BASE_MSG_H
#define FT_BASE_MSG_H

#include "base/util.h"

enum msg_domain { DBG_TRACER, DBG_BREAKPOINT, DBG_CALL, DBG_SYMBOLS, DBG_UNWIND, DBG_TRACE, DBG_PROCESS, DBG_DOMAINS };

/* Sets the name printed before each message. Keeps the pointer. */
void msg_set_program(const char *name);

/* -q: sets whether only errors are shown. */
void msg_set_quiet(bool quiet);
bool msg_is_quiet(void);

/* -d[=DOMAIN:LEVEL,...]: sets debug levels; NULL sets level 1 in all domains. Returns false if `spec` names an unknown
 * domain or a level outside of 0 to MSG_DEBUG_MAX. */
#define MSG_DEBUG_MAX 2
bool msg_set_debug(const char *spec);

/* Returns the names of all domains, separated by commas. */
const char *msg_debug_domains(void);

extern unsigned char msg_debug_level[DBG_DOMAINS];

void msg_error(const char *fmt, ...) FT_PRINTF(1, 2);                         /* always shown */
void msg_warn(const char *fmt, ...) FT_PRINTF(1, 2);                          /* not with -q */
void msg_info(const char *fmt, ...) FT_PRINTF(1, 2);                          /* not with -q */
void msg_die(const char *fmt, ...) FT_PRINTF(1, 2) __attribute__((noreturn)); /* shows the message, then _exit(1) */

/* From now on standard error is a pipe that never blocks. A message that does not fit into the full pipe is lost and
 * counted in *lost, unless msg_keep() has reserved room in which it can be kept. A status line is not written while the
 * pipe contains unread text, because a newer line follows. terminal: a descriptor of the terminal to which the pipe's
 * content is copied, or -1; the width of lines is read from the terminal. Both arguments must stay valid. */
void msg_set_queue(int terminal, _Atomic uint64_t *lost);
/* From now on messages go directly to standard error again. */
void msg_set_direct(void);
/* From now on keeps up to `room` bytes of messages that do not fit into the full pipe, and sends them when there is
 * room again. Every call must pass the same `room`. */
void msg_keep(size_t room);
#define MESSAGES_KEPT (256u << 10) /* in bytes; the messages at the end of a run are much smaller */
/* Sends the kept messages. Waits for room in a full pipe, each time for at most `milliseconds` (-1: without a limit);
 * messages that do not fit within this time count as lost. Does nothing without msg_set_queue(). */
void msg_settle(int milliseconds);

/* Shows a line on a terminal, cut to its width. The next line or message replaces it; NULL removes it. */
void msg_status(const char *text);

/* Prints a debugging message. Called by msg_debug(), which checks first whether the domain shows that level. */
void msg_debug_write(enum msg_domain domain, const char *fmt, ...) FT_PRINTF(2, 3);
#define msg_debug(domain, level, ...)                                                                                  \
	do {                                                                                                           \
		if (__builtin_expect(msg_debug_level[domain] >= (level), 0))                                           \
			msg_debug_write(domain, __VA_ARGS__);                                                          \
	} while (0)

#endif

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

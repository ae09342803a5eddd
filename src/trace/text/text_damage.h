/* Separates damaged records of a text trace from comments: text_damage.c. Private to trace/. */
#ifndef FT_TRACE_TEXT_TEXT_DAMAGE_H
#define FT_TRACE_TEXT_TEXT_DAMAGE_H

#include <stdbool.h>

/* Returns whether another trace's header begins here. `line` ends with a NUL or a newline. */
bool text_is_header(const char *line);

/* Returns what a NUL-terminated line, which is no record, may have been before it was damaged, as a clause for
 * s->damage; NULL if it is a comment. */
const char *text_damage(const char *line);

/* Returns whether a line that is no call has another line in it, because its end was lost. */
bool text_has_another(const char *line);

/* Returns whether a call's name is damaged: it has a parenthesis without its pair, or another call in it. */
bool text_is_damaged_name(const char *name);

/* Returns whether the text has a control character, which is escaped in all sound fields. */
bool text_has_control(const char *text);

#endif

/* How damaged records of a text trace are separated from comments: text_damage.c. Private to trace/. */
#ifndef FT_TRACE_TEXT_TEXT_DAMAGE_H
#define FT_TRACE_TEXT_TEXT_DAMAGE_H

#include <stdbool.h>

/* Whether another trace's header begins here: a NUL-terminated line, or one with its newline. */
bool text_is_header(const char *line);

/* What a NUL-terminated line that is none of the records may have been before it was damaged, as a clause for
 * s->damage; NULL if it is a comment. */
const char *text_damage(const char *line);

/* Whether a line that is no call has another one in it: its end was lost. */
bool text_has_another(const char *line);

/* Whether a call's name cannot be one: parentheses without their pair, or another call in it. */
bool text_is_damaged_name(const char *name);

/* Whether there is a control character: in all fields they are escaped. */
bool text_has_control(const char *text);

#endif

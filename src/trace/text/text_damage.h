/* Distinguishes damaged records of a text trace from comments. Private to trace/. */
#ifndef FT_TRACE_TEXT_TEXT_DAMAGE_H
#define FT_TRACE_TEXT_TEXT_DAMAGE_H

#include <stdbool.h>

/* Returns true if the line begins like the header of a trace. The line ends with a NUL or a newline. */
bool text_is_header(const char *line);

/* Returns a clause for s->damage that names the record which a NUL-terminated line may have been before it was damaged.
 * Returns NULL if the line is a comment. The line must not be a valid record. */
const char *text_damage(const char *line);

/* The line is no call. Returns true if it contains a control character other than a tab, or the text of a second line,
 * because a newline is missing. */
bool text_has_another(const char *line);

/* Returns true if the function name of a call is damaged: it has an unbalanced parenthesis, or contains another
 * call. */
bool text_is_damaged_name(const char *name);

/* Returns true if the text contains a control character. Writers escape these in all fields. */
bool text_has_control(const char *text);

#endif

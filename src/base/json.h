/* Pieces of JSON (RFC 8259), for what programs read. */
#ifndef FT_BASE_JSON_H
#define FT_BASE_JSON_H

#include "base/buf.h"

/* Appends the text as a JSON string with its quotation marks; NULL as null. Whatever bytes the text has, what is
 * appended is UTF-8 without control characters: bytes that are none of UTF-8's become U+FFFD, one each. */
void json_add_string(struct buf *out, const char *text);

#endif

/* Writes parts of JSON (RFC 8259). */
#ifndef FT_BASE_JSON_H
#define FT_BASE_JSON_H

#include "base/buf.h"

/* Appends the text as a JSON string with quotation marks; NULL as null. The result is always UTF-8 without control
 * characters: each byte of the text that is not valid UTF-8 becomes U+FFFD. */
void json_add_string(struct buf *out, const char *text);

#endif

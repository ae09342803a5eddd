/* Recognises UTF-8 characters. */
#ifndef FT_BASE_UTF8_H
#define FT_BASE_UTF8_H

#include <stddef.h>

/* Returns the number of bytes of the character at `text` (RFC 3629: no overlong forms, no surrogates, nothing above
 * U+10FFFF); 0 if it is invalid. Never reads past the text's NUL, because NUL is no continuation byte. */
size_t utf8_size(const unsigned char *text);

#endif

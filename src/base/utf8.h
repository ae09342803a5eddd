/* Characters of UTF-8. */
#ifndef FT_BASE_UTF8_H
#define FT_BASE_UTF8_H

#include <stddef.h>

/* Returns the number of bytes of the character at `text` (RFC 3629: no overlong forms, no surrogates, nothing above
 * U+10FFFF); 0: it is invalid. Never reads past the text's NUL, because that is no continuation byte. */
size_t utf8_size(const unsigned char *text);

#endif

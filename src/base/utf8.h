/* Characters of UTF-8. */
#ifndef FT_BASE_UTF8_H
#define FT_BASE_UTF8_H

#include <stddef.h>

/* How many bytes the character has that begins there (RFC 3629: no overlong forms, no surrogates, nothing above
 * U+10FFFF); 0: none begins there. The text's NUL is no continuation, so nothing is read behind it. */
size_t utf8_size(const unsigned char *text);

#endif

/* Makes text from other programs (names of files, threads, functions) safe for terminals and line formats. Otherwise
 * control characters in the text could move the cursor and forge lines, and Unicode's direction marks could reverse the
 * text after them. */
#ifndef FT_BASE_TERMINAL_ESCAPE_H
#define FT_BASE_TERMINAL_ESCAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Returns true if the character is plain: a printable sign. Controls (C0, C1), direction marks, zero-width characters,
 * line ends, surrogates and the private-use characters up to U+F8FF are not plain. */
bool plain_character(uint32_t character);
/* Returns the number of bytes of the UTF-8 character at the beginning of the text; 0 if it is invalid or not plain. */
size_t plain_size(const char *text);

#define PLAIN_ESCAPE 4 /* number of bytes of an escape, \ooo */
void plain_escape(char byte, char to[PLAIN_ESCAPE]);

struct buf;

/* Append the text to a buffer, or print it. Each byte that is not part of a plain character becomes an escape, \ooo. */
void plain_add(struct buf *out, const char *text);
void plain_print(FILE *out, const char *text);
/* Copies the text, with escapes as in plain_add(), to `to`, which has `room` bytes. Adds no NUL. The copy never ends
 * inside an escape or a character. Returns the number of bytes. With keeps_lines, '\n' is copied unchanged. */
size_t plain_copy(char *to, size_t room, const char *text, bool keeps_lines);
/* Replaces each byte that is not part of a plain character by `instead`; the length does not change. */
void plain_mask(char *text, size_t size, char instead);

#endif

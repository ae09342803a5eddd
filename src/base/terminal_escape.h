/* Makes text from other programs (names of files, threads, functions) safe for terminals and line formats: control
 * characters move the cursor and forge lines, and marks of direction reverse the text after them. */
#ifndef FT_BASE_TERMINAL_ESCAPE_H
#define FT_BASE_TERMINAL_ESCAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* True if the character is only a printable sign: no control (C0, C1), mark of direction, line end, surrogate or
 * character of private use. */
bool plain_character(uint32_t character);
/* Returns the number of bytes of the UTF-8 character that begins the text; 0: it is invalid or not plain. */
size_t plain_size(const char *text);

#define PLAIN_ESCAPE 4 /* number of bytes of \ooo */
void plain_escape(char byte, char to[PLAIN_ESCAPE]);

struct buf;

/* Append or print the text, with each byte that is not plain as \ooo. */
void plain_add(struct buf *out, const char *text);
void plain_print(FILE *out, const char *text);
/* Copies the text to `to`, which has `room` bytes, without a NUL, and without a partial escape or character at the
 * end. Returns the number of bytes. keeps_lines: '\n' stays. */
size_t plain_copy(char *to, size_t room, const char *text, bool keeps_lines);
/* Replaces each byte that is not plain by `instead`, so that the length stays. */
void plain_mask(char *text, size_t size, char instead);

#endif

/* Text that others name (files, threads, functions), for terminals and for formats of lines: control characters move
 * the cursor and forge lines, and marks of direction turn what follows round. */
#ifndef FT_BASE_PLAIN_H
#define FT_BASE_PLAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Whether a terminal has a sign for the character that is only a sign: no control (C0, C1), no mark of direction, no
 * end of a line, no surrogate, nothing of private use. */
bool plain_character(uint32_t character);
/* How many bytes the character of UTF-8 has that begins the text; 0: none does, or it is not plain. */
size_t plain_size(const char *text);

#define PLAIN_ESCAPE 4 /* bytes of \ooo */
void plain_escape(char byte, char to[PLAIN_ESCAPE]);

struct buf;

/* Appends or prints the text; the bytes that are not plain become \ooo. */
void plain_add(struct buf *out, const char *text);
void plain_print(FILE *out, const char *text);
/* Writes it to `to`, which has `room` bytes, without a NUL and without half an escape or character at the end; the
 * number of bytes. keeps_lines: '\n' stays. */
size_t plain_copy(char *to, size_t room, const char *text, bool keeps_lines);
/* Puts `instead` in the place of each byte that is not plain, so that the text's length stays. */
void plain_mask(char *text, size_t size, char instead);

#endif

/* Escapes text for terminals: see terminal_escape.h. */
#include "config.h"
#include "base/terminal_escape.h"
#include "base/utf8.h"

#include <string.h>

bool plain_character(uint32_t c)
{
	if (c < 0x80)
		return c >= ' ' && c != 0x7f;
	return c >= 0xa0 && c != 0xad && c != 0x61c && (c < 0x200b || c > 0x200f) && (c < 0x2028 || c > 0x202e) &&
	       (c < 0x2060 || c > 0x206f) && (c < 0xd800 || c > 0xf8ff) && c != 0xfeff && (c < 0xfff0 || c > 0xfffb) &&
	       c <= 0x10ffff;
}

static uint32_t decode_character(const unsigned char *bytes, size_t size)
{
	uint32_t c = size == 1 ? bytes[0] : bytes[0] & (0x7fu >> size);

	for (size_t i = 1; i < size; i++)
		c = c << 6 | (bytes[i] & 0x3fu);
	return c;
}

size_t plain_size(const char *text)
{
	const unsigned char *const bytes = (const unsigned char *)text;

	if (*bytes < 0x80)
		return *bytes >= ' ' && *bytes != 0x7f;
	const size_t size = utf8_size(bytes);

	return size && plain_character(decode_character(bytes, size)) ? size : 0;
}

void plain_escape(char byte, char to[PLAIN_ESCAPE])
{
	const unsigned char c = (unsigned char)byte;

	to[0] = '\\';
	to[1] = (char)('0' + (c >> 6));
	to[2] = (char)('0' + (c >> 3 & 7));
	to[3] = (char)('0' + (c & 7));
}

size_t plain_copy(char *to, size_t room, const char *text, bool keeps_lines)
{
	size_t used = 0;

	while (*text) {
		const size_t size = keeps_lines && *text == '\n' ? 1 : plain_size(text);
		const size_t wanted = size ? size : PLAIN_ESCAPE;

		if (wanted > room - used)
			break;
		if (size)
			memcpy(to + used, text, size);
		else
			plain_escape(*text, to + used);
		used += wanted;
		text += size ? size : 1;
	}
	return used;
}

/* Returns the size of the character at `text`, of which `left` bytes are present; 0 if it is invalid or not plain. */
static size_t size_within(const char *text, size_t left)
{
	char copy[8] = "";

	memcpy(copy, text, left < 4 ? left : 4);
	return plain_size(copy);
}

void plain_mask(char *text, size_t size, char instead)
{
	for (size_t i = 0; i < size;) {
		const size_t length = size_within(text + i, size - i);

		if (!length)
			text[i] = instead;
		i += length ? length : 1;
	}
}

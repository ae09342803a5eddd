/* Appends text with escapes to a buffer: see terminal_escape.h. */
#include "config.h"
#include "base/terminal_escape.h"
#include "base/buf.h"

void plain_add(struct buf *out, const char *text)
{
	while (*text) {
		const char *const begin = text;
		char escaped[PLAIN_ESCAPE];

		for (size_t size; *text && (size = plain_size(text)) > 0;)
			text += size;
		buf_add(out, begin, (size_t)(text - begin));
		if (!*text)
			return;
		plain_escape(*text++, escaped);
		buf_add(out, escaped, sizeof(escaped));
	}
}

void plain_print(FILE *out, const char *text)
{
	struct buf line = {0};

	plain_add(&line, text);
	buf_write(&line, out);
	buf_free(&line);
}

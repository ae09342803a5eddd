/* Quotes words for a shell: see shell_quote.h. */
#include "config.h"
#include "base/shell_quote.h"

#include <string.h>

void shell_quote_add(struct buf *out, const char *word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789./_-+,:=@%";

	if (*word && !word[strspn(word, plain)]) {
		buf_add_str(out, word);
		return;
	}
	buf_add_str(out, "'");
	for (; *word; word++)
		if (*word == '\'')
			buf_add_str(out, "'\\''");
		else
			buf_add_char(out, *word);
	buf_add_str(out, "'");
}

void shell_quote_add_path(struct buf *out, const char *path)
{
	if (*path == '-')
		buf_add_str(out, "./");
	shell_quote_add(out, path);
}

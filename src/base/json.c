/* Writes JSON strings: see json.h. */
#include "config.h"
#include "base/json.h"
#include "base/terminal_escape.h"
#include "base/utf8.h"

/* Escapes a character that is not plain. All such characters have at most three bytes, because they are in Unicode's
 * first plane. */
static void add_escape(struct buf *out, const unsigned char *at, size_t size)
{
	unsigned c = at[0];

	if (size == 2)
		c = (at[0] & 0x1fu) << 6 | (at[1] & 0x3fu);
	else if (size == 3)
		c = (at[0] & 0x0fu) << 12 | (at[1] & 0x3fu) << 6 | (at[2] & 0x3fu);
	buf_printf(out, "\\u%04x", c);
}

void json_add_string(struct buf *out, const char *text)
{
	if (!text) {
		buf_add_str(out, "null");
		return;
	}
	buf_add_char(out, '"');
	for (const unsigned char *at = (const unsigned char *)text; *at;) {
		const size_t size = utf8_size(at);

		if (!size)
			buf_add_str(out, "\xef\xbf\xbd");
		else if (!plain_size((const char *)at))
			add_escape(out, at, size);
		else if (*at == '"' || *at == '\\')
			buf_printf(out, "\\%c", *at);
		else
			buf_add(out, at, size);
		at += size ? size : 1;
	}
	buf_add_char(out, '"');
}

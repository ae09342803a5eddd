#include "config.h"
#include "base/json.h"
#include "base/utf8.h"

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
		else if (*at < ' ' || *at == 0x7f)
			buf_printf(out, "\\u%04x", *at);
		else if (*at == '"' || *at == '\\')
			buf_printf(out, "\\%c", *at);
		else
			buf_add(out, at, size);
		at += size ? size : 1;
	}
	buf_add_char(out, '"');
}

#include "config.h"
#include "base/buf.h"
#include "trace/encoding_ops.h"

#include <string.h>

const struct encoding *encoding_find(const char *name)
{
	for (size_t i = 0; i < encoding_count; i++)
		if (!strcmp(encodings[i].name, name))
			return &encodings[i];
	return NULL;
}

const struct encoding *encoding_compat(const struct encoding *encoding)
{
	return encoding->is_compat ? encoding : encoding->compat;
}

bool encoding_can(const struct encoding *encoding, unsigned abilities)
{
	const unsigned from_ops = (encoding->reader ? ENCODING_READ : 0u) | (encoding->writer ? ENCODING_WRITE : 0u);
	const unsigned of_dialect = encoding->is_compat ? ENCODING_MONOTONIC : 0u;

	return !(abilities & ~(encoding->abilities | from_ops | of_dialect));
}

const char *encoding_names(unsigned abilities)
{
	static struct buf names;

	names.size = 0;
	for (size_t i = 0; i < encoding_count; i++)
		if (encoding_can(&encodings[i], abilities))
			buf_printf(&names, "%s%s", names.size ? ", " : "", encodings[i].name);
	return names.size ? buf_str(&names) : "none";
}

const char *encoding_name(const struct encoding *encoding)
{
	return encoding->name;
}

const char *encoding_suffix(const struct encoding *encoding)
{
	return encoding->suffix;
}

const struct encoding *encoding_detect(const unsigned char *data, size_t size)
{
	for (size_t i = 0; i < encoding_count; i++)
		if (encodings[i].reader && encodings[i].reader->detect(data, size))
			return &encodings[i];
	return NULL;
}

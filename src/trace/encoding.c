#include "config.h"
#include "base/buf.h"
#include "base/own_file.h"
#include "trace/encoding_ops.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
	const unsigned from_ops = (encoding->reader ? ENCODING_READ : 0u) | (encoding->writer ? ENCODING_WRITE : 0u) |
				  (encoding->reader && encoding->reader->dump ? ENCODING_DUMP : 0u);
	const unsigned of_dialect = encoding->is_compat ? ENCODING_MONOTONIC : 0u;

	const unsigned not_of_dialect = encoding->is_compat ? ENCODING_RESIDENT : 0u;

	return !(abilities & ~((encoding->abilities & ~not_of_dialect) | from_ops | of_dialect));
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

int encoding_write_map(const struct encoding *encoding, const char *trace_path)
{
	if (!encoding->writer || !encoding->writer->map)
		return 0;
	char *const path = xasprintf("%s" ENCODING_MAP_SUFFIX, trace_path);
	const char *const map = encoding->writer->map();
	const int fd = own_file_open(path);
	const int error = fd < 0 ? fd : write_all(fd, map, strlen(map), NULL);

	if (fd >= 0)
		close(fd);
	free(path);
	return error;
}

const struct encoding *encoding_detect(const unsigned char *data, size_t size)
{
	for (size_t i = 0; i < encoding_count; i++)
		if (encodings[i].reader && encodings[i].reader->detect(data, size))
			return &encodings[i];
	return NULL;
}

#include "config.h"
#include "trace/encoding.h"
#include "trace/writer.h"
#include "base/util.h"

#include <string.h>

static const struct encoding encodings[] = {
	{.name = "rtrace", .suffix = ".rtrace", .writer = &rtrace_writer_ops, .reader = &rtrace_reader_ops},
	{.name = "text", .suffix = ".rtrace.txt", .writer = &text_writer_ops, .reader = &text_reader_ops},
};

const struct encoding *encoding_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(encodings); i++)
		if (!strcmp(encodings[i].name, name))
			return &encodings[i];
	return NULL;
}

const char *encoding_names(void)
{
	static char names[32 * ARRAY_SIZE(encodings)];

	if (!names[0])
		for (size_t i = 0; i < ARRAY_SIZE(encodings); i++) {
			strcat(names, i ? ", " : "");
			strcat(names, encodings[i].name);
		}
	return names;
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
	for (size_t i = 0; i < ARRAY_SIZE(encodings); i++)
		if (encodings[i].reader->detect(data, size))
			return &encodings[i];
	return NULL;
}

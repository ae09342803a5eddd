#include "config.h"
#include "functrace/option_copy_file.h"
#include "base/buf.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define NAME_LENGTH 64

/* The files of /proc/PID that help to understand a traced process. */
static const char *const proc_files[] = {"maps", "cmdline", "environ", "limits", "status", "io", "mountinfo", "smaps"};

static bool is_name(const char *name, size_t length)
{
	size_t i = 0;

	while (i < length && isascii((unsigned char)name[i]) && isalnum((unsigned char)name[i]))
		i++;
	return length && length <= NAME_LENGTH && i == length;
}

/* Reports a NAME without PATH that is not in proc_files. */
static int option_copy_file_unknown_name(struct parse *parse, const char *text)
{
	struct buf known = {0};

	for (size_t i = 0; i < ARRAY_SIZE(proc_files); i++)
		buf_printf(&known, "%s%s", i ? ", " : "", proc_files[i]);
	const int error = usage_error(parse,
				      "--copy-file=%s: give a file with a name for it, --copy-file=NAME=PATH, or "
				      "the name of a file in /proc/PID: %s",
				      text, buf_str(&known));

	buf_free(&known);
	return error;
}

int option_copy_file(struct parse *parse, const char *text)
{
	struct settings *const s = parse->settings;
	const char *const sign = strchr(text, '=');
	const size_t length = sign ? (size_t)(sign - text) : strlen(text);

	if (!sign && word_find(proc_files, ARRAY_SIZE(proc_files), text) == ARRAY_SIZE(proc_files))
		return option_copy_file_unknown_name(parse, text);
	if (!is_name(text, length))
		return usage_error(parse,
				   "--copy-file=%s: a name has letters and digits, at most %d: --copy-file=NAME=PATH",
				   text, NAME_LENGTH);
	if (sign && !sign[1])
		return usage_error(parse, "--copy-file=%s: give the file after the '='", text);
	for (size_t i = 0; i < s->trace.attachment_count; i++)
		if (strlen(s->trace.attachments[i].name) == length &&
		    !strncmp(s->trace.attachments[i].name, text, length))
			return usage_error(
				parse, "--copy-file=%s: another file has that name; give each file its own name", text);
	named_files_add(&parse->files, "--copy-file", sign ? sign + 1 : NULL, false);
	ARRAY_GROW(s->trace.attachments, parse->attachment_capacity, s->trace.attachment_count);
	s->trace.attachments[s->trace.attachment_count++] =
		(struct attachment){.name = xstrndup(text, length), .path = sign ? sign + 1 : NULL};
	return 0;
}

void option_copy_file_free(struct settings *settings)
{
	for (size_t i = 0; i < settings->trace.attachment_count; i++)
		free((char *)(uintptr_t)settings->trace.attachments[i].name);
	free(settings->trace.attachments);
}

/* --copy-file: files that are copied to the folder of each trace. */
#ifndef FT_FUNCTRACE_OPTION_COPY_FILE_H
#define FT_FUNCTRACE_OPTION_COPY_FILE_H

#include "functrace/option_values.h"

/* Adds a file to settings->attachments: PATH for NAME=PATH, or /proc/PID/NAME for NAME alone. Returns 0, or what
 * usage_error() returns. */
int option_copy_file(struct parse *parse, const char *text);
void option_copy_file_free(struct settings *settings);

#endif

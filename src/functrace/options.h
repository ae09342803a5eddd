/* The command line of functrace. */
#ifndef FT_FUNCTRACE_OPTIONS_H
#define FT_FUNCTRACE_OPTIONS_H

#include "engine/settings.h"

/* Fills *settings (which it initialises) from the command line. -1: go on with them; otherwise the status to end
 * with (0 after --help and --version, 2 after a usage error, which has been reported). Sets -q and -d for msg.h at
 * once. settings->argv points into argv; all else is freed by settings_free(), whatever was returned. */
int settings_parse(int argc, char **argv, struct settings *settings);
void settings_free(struct settings *settings);

#endif

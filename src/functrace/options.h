/* The command line of functrace. */
#ifndef FT_FUNCTRACE_OPTIONS_H
#define FT_FUNCTRACE_OPTIONS_H

#include "engine/settings.h"

/* Fills *settings, which need not be initialised, from the command line. Returns -1 if the program is to go on; else
 * the exit status: 0 after --help and --version, 2 after a usage error, 1 after another error; errors have been
 * reported. -q and -d affect msg.h at once. settings->target.argv points into argv; settings_free() frees all other
 * memory, whatever was returned. */
int settings_parse(int argc, char **argv, struct settings *settings);
void settings_free(struct settings *settings);

#endif

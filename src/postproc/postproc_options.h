/* The command line of functrace-postproc. */
#ifndef FT_POSTPROC_POSTPROC_OPTIONS_H
#define FT_POSTPROC_POSTPROC_OPTIONS_H

#include "postproc/postproc_settings.h"

/* Sets *options from the command line. On wrong usage, prints a message and exits with EXIT_USAGE; after --help and
 * --version exits with 0. */
void postproc_options_parse(int argc, char **argv, struct postproc_options *options);

#endif

/* Checks which options of functrace-postproc do not go together. */
#ifndef FT_POSTPROC_POSTPROC_CHECKS_H
#define FT_POSTPROC_POSTPROC_CHECKS_H

#include "postproc/postproc_options.h"

#include <argp.h>

/* The format if -f is missing. */
#define POSTPROC_FORMAT "text"

/* To be called when all options are known: completes them with values that follow from others. On wrong usage, ends
 * the program with EXIT_USAGE and a message. */
void postproc_options_check(struct argp_state *state, struct postproc_options *options);

#endif

/* What of functrace-postproc's options does not go together. */
#ifndef FT_POSTPROC_POSTPROC_CHECKS_H
#define FT_POSTPROC_POSTPROC_CHECKS_H

#include "postproc/postproc_options.h"

#include <argp.h>

/* The format without -f. */
#define POSTPROC_FORMAT "text"

/* When all of them are known: sets what follows from others. Ends the program with EXIT_USAGE and a message on wrong
 * usage. */
void postproc_options_check(struct argp_state *state, struct postproc_options *options);

#endif

/* Checks that the options of functrace-postproc can be combined. */
#ifndef FT_POSTPROC_POSTPROC_CHECKS_H
#define FT_POSTPROC_POSTPROC_CHECKS_H

#include "postproc/postproc_settings.h"

#include <argp.h>

/* The format that is used without -f. */
#define POSTPROC_FORMAT "text"

/* Returns false after a message if the input contains figures of stacks (ENCODING_ESTIMATES), and the options ask for
 * something that is made of calls. name: of the input, for the message. */
bool postproc_options_fit(const struct postproc_options *options, const struct encoding *encoding, const char *name);

/* Checks the combination of the options, and sets options that follow from others. Must be called when all options have
 * been parsed. On wrong usage, prints a message and exits with EXIT_USAGE. */
void postproc_options_check(struct argp_state *state, struct postproc_options *options);

#endif

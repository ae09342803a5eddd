/* What StackTrack's program expand_events shows: the entries of a trace as XML, and what entries are made of. */
#ifndef FT_POSTPROC_STACKTRACK_EXPAND_H
#define FT_POSTPROC_STACKTRACK_EXPAND_H

#include <stdbool.h>
#include <stdio.h>

struct stacktrack_format;

struct expand_options {
	bool well_formed; /* a root element, and no attribute twice */
	bool pad_right;   /* the header's numbers as the document of 2005 shows them */
	/* How the entries are laid out, the caller's; NULL: as functrace writes them. */
	const struct stacktrack_format *layout;
};

/* Writes all entries of `in`, which may be packed, as elements. False after a message: the input is damaged, or cannot
 * be read; what is sound before that has been written. */
bool stacktrack_expand(int in, const char *name, FILE *out, const struct expand_options *options);
/* Writes the description of the format that functrace writes. */
void stacktrack_show_format(FILE *out);

#endif

/* Does the work of StackTrack's program expand_events: prints the entries of a trace as XML, and the layout of
 * entries. */
#ifndef FT_POSTPROC_STACKTRACK_EXPAND_H
#define FT_POSTPROC_STACKTRACK_EXPAND_H

#include <stdbool.h>
#include <stdio.h>

struct stacktrack_format;

struct expand_options {
	bool well_formed; /* add a root element, and rename attributes that would occur twice */
	bool pad_right;   /* pad the numbers in the head of an entry on the right, as in the document of 2005 */
	/* The layout of the entries, owned by the caller; NULL for functrace's own layout. */
	const struct stacktrack_format *layout;
};

/* Writes all entries of `in`, which may be compressed, as XML elements. Returns false after a message if the input is
 * damaged or cannot be read; earlier entries have been written. */
bool stacktrack_expand(int in, const char *name, FILE *out, const struct expand_options *options);
/* Writes the description of functrace's own layout. */
void stacktrack_show_format(FILE *out);

#endif

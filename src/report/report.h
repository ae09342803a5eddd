/* The report: shows people the sums of one or more traces. */
#ifndef FT_REPORT_REPORT_H
#define FT_REPORT_REPORT_H

#include "profile/profile.h"

#include <stdio.h>

/* What the report shows: a row of the table in report_views.c. */
struct report_view;

enum report_tree { TREE_NONE, TREE_DOWN /* from main */, TREE_UP /* from what allocates */ };

struct report_options {
	const struct report_view *view; /* NULL: what is lost, or else alive at the end */
	enum report_tree tree;
	uint32_t top; /* groups or rows that are shown; 0: as each part does by default */
	bool gen_suppressions;
	uint32_t min_count;  /* groups with fewer blocks are left out; 0: none are */
	const char *filters; /* words for the filters that chose what is reported; NULL: none */
	/* The words of a command that makes the same report: those before its options, and those after them; NULL: no
	 * command does. */
	const char *again, *again_behind;
	bool is_kept;   /* the traces are, or were, files that are kept */
	size_t columns; /* of the terminal; 0: lines are not shortened */
	bool colours;
	const char *sysroot; /* where source files are searched; NULL: / */
};

/* Returns the view with this name, or NULL. */
const struct report_view *report_view_find(const char *name);
/* Returns all names in the order of the table, with the separator between them. The caller frees it. */
char *report_view_names(const char *separator);
/* Returns true if the view shows stacks, from which trees can be made. */
bool report_view_has_stacks(const struct report_view *view);

/* Returns true if the report of leaks shows any: lost or chosen blocks of those that are alive, or growth since the old
 * processes. Of the options it uses only min_count. */
bool report_has_leaks(const struct profile *profile, const struct report_options *options);

/* Writes the report. The caller finds errors of the stream by ferror(). */
void report_write(const struct profile *profile, const struct report_options *options, FILE *out);

#endif

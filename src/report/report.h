/* The report: what a trace, or several, come to, for people. */
#ifndef FT_REPORT_REPORT_H
#define FT_REPORT_REPORT_H

#include "profile/profile.h"

#include <stdio.h>

/* What is shown: a row of the table in report_views.c. */
struct report_view;

enum report_tree { TREE_NONE, TREE_DOWN /* from main */, TREE_UP /* from what allocates */ };

struct report_options {
	const struct report_view *view; /* NULL: what is lost, or alive at the end */
	enum report_tree tree;
	uint32_t top; /* so many groups; 0: 10 */
	bool gen_suppressions;
	uint32_t min_count;  /* groups of fewer are left out; 0: none is */
	const char *filters; /* that have chosen what is reported, as words; NULL none */
	/* The words of a command that reports the same: those before its options, and behind them; NULL: none does. */
	const char *again, *again_behind;
	bool is_kept;   /* the traces are files that stay, or were */
	size_t columns; /* of the terminal; 0: lines are as long as they are */
	bool colours;
	const char *sysroot; /* where source files are looked for first; NULL / */
};

/* The view of that name; NULL none. */
const struct report_view *report_view_find(const char *name);
/* All names, in the order of the table, with the separator between; the caller frees it. */
char *report_view_names(const char *separator);
/* Whether it shows stacks, of which trees are made. */
bool report_view_has_stacks(const struct report_view *view);

/* Whether the report of leaks shows any: of what is alive, lost or chosen, or has grown since the old processes. Of the
 * options it asks min_count. */
bool report_has_leaks(const struct profile *profile, const struct report_options *options);

/* Writes the report. Errors of the stream are seen by ferror(). */
void report_write(const struct profile *profile, const struct report_options *options, FILE *out);

#endif

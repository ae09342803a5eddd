/* The report: shows the sums of one or more traces as text. */
#ifndef FT_REPORT_REPORT_H
#define FT_REPORT_REPORT_H

#include "profile/profile.h"

#include <stdio.h>

/* A view selects the sums that the report shows. It is one row of the table in report_views.c. */
struct report_view;

enum report_tree { TREE_NONE, TREE_DOWN /* from main down */, TREE_UP /* from the allocating function up */ };

struct report_options {
	const struct report_view *view; /* NULL: lost blocks or, without a scan, the blocks alive at the end */
	enum report_tree tree;
	uint32_t top; /* number of shown groups or rows; 0: the default of each section */
	bool gen_suppressions;
	uint32_t min_count;    /* smallest number of blocks of a group that is shown; 0: no minimum */
	const char *selection; /* the options that select the reported calls, as words; NULL or "": none */
	/* A command that makes the same report: its words before the options, and those after them. NULL: there is no
	 * such command. */
	const char *again, *again_after;
	bool is_kept;   /* the traces remain after the report, so commands may name them */
	size_t columns; /* width of the terminal; 0: lines are not shortened */
	bool colours;
	const char *sysroot; /* root folder of source files; NULL: / */
};

/* Returns the view with this name, or NULL. */
const struct report_view *report_view_find(const char *name);
/* Returns the names of all views in the order of the table, with the separator between them. The caller frees the
 * string. */
char *report_view_names(const char *separator);
/* Returns true if the view shows stacks, which can also be shown as a tree. */
bool report_view_has_stacks(const struct report_view *view);
/* Returns true if the view shows what only the calls of a trace contain: sizes, threads, or temporary blocks. */
bool report_view_needs_calls(const struct report_view *view);
/* Returns true if the view leaves out rows, so that --top applies to it. */
bool report_view_has_top(const struct report_view *view);
/* Returns true if the view shows leaks, with their suppressions. */
bool report_view_has_leaks(const struct report_view *view);

/* Returns true if the report of leaks would not be empty: if there are live blocks that are lost (without a scan, that
 * were allocated in the trace) or, in a comparison, growth since the older trace or since the time of --diff=@T. Of the
 * options, only min_count is used. */
bool report_has_leaks(const struct profile *profile, const struct report_options *options);

/* Writes the report. The caller detects errors of the stream by ferror(). */
void report_write(const struct profile *profile, const struct report_options *options, FILE *out);

#endif

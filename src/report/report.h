/* The report: what a trace, or several, come to, for people. */
#ifndef FT_REPORT_REPORT_H
#define FT_REPORT_REPORT_H

#include "profile/profile.h"

#include <stdio.h>

enum report_view {
	REPORT_LEAKS, /* what is alive at the end */
	REPORT_PEAK,
	REPORT_ALLOCATED,
	REPORT_TEMPORARY,
	REPORT_SIZE,
	REPORT_THREAD,
	REPORT_OBJECT,
};

enum report_tree { TREE_NONE, TREE_DOWN /* from main */, TREE_UP /* from what allocates */ };

struct report_options {
	enum report_view view;
	enum report_tree tree;
	uint32_t top; /* so many groups; 0: 10 */
	bool picks;   /* of what is alive, only what the account's wishes have picked */
	bool gen_suppressions;
	uint32_t min_count;  /* groups of fewer are left out; 0: none is */
	const char *filters; /* that have chosen what is reported, as words; NULL none */
	size_t columns;      /* of the terminal; 0: lines are as long as they are */
	bool colours;
	const char *sysroot; /* where source files are looked for first; NULL / */
};

/* leaks, peak, allocated, temporary, size, thread or object. False if it is another word. */
bool report_view_parse(const char *text, enum report_view *view);

/* Whether the report of leaks shows any: of what is alive, lost or chosen, or has grown since the old processes. Of the
 * options it asks min_count. */
bool report_has_leaks(const struct profile *profile, const struct report_options *options);

/* Writes the report. Errors of the stream are seen by ferror(). */
void report_write(const struct profile *profile, const struct report_options *options, FILE *out);

#endif

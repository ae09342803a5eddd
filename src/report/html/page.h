/* Writes the page: one HTML file that shows the sums of a profile. It needs no network and no other file. */
#ifndef FT_REPORT_HTML_PAGE_H
#define FT_REPORT_HTML_PAGE_H

#include "profile/profile.h"

#include <stdbool.h>
#include <stdio.h>

struct page_options {
	const char *sysroot;   /* root folder of source files; NULL: / */
	const char *selection; /* the options that select the shown calls, as words; NULL or "": none */
};

/* Writes the page, which has at most PAGE_MAX bytes. If there are too many stacks, the smallest groups are folded:
 * added to a row for their callers, so that all sums stay exact. Returns 0. The caller detects errors of the stream by
 * ferror(). */
int page_write(const struct profile *profile, const struct page_options *options, FILE *out);

/* Returns true if a page may replace the file at a path: it does not exist, or is empty, or is no regular file, or is a
 * page. Another file, for example a trace, is probably not meant to be replaced. */
bool page_may_replace(const char *path);

enum { PAGE_MAX = 5000000 };

#endif

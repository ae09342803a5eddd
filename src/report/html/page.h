/* The page: one file of HTML that shows the sums of a profile. It needs no network and no other file. */
#ifndef FT_REPORT_HTML_PAGE_H
#define FT_REPORT_HTML_PAGE_H

#include "profile/profile.h"

#include <stdbool.h>
#include <stdio.h>

struct page_options {
	const char *sysroot; /* where source files are searched; NULL: / */
};

/* Writes the page. It stays below PAGE_MAX bytes: if there are too many stacks, the smallest are folded into their
 * callers, and all sums stay exact. Returns 0, or a negative errno after a message. The caller finds errors of the
 * stream by ferror(). */
int page_write(const struct profile *profile, const struct page_options *options, FILE *out);

/* Returns true if a page may replace a file: there is no such file, or it is empty, or no regular file, or a page. The
 * user hardly wants to replace anything else, like a trace. */
bool page_may_replace(const char *path);

enum { PAGE_MAX = 5000000 };

#endif

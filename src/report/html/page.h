/* The page: one file of HTML that shows what a profile comes to, and needs nothing else: no network, no other file. */
#ifndef FT_REPORT_HTML_PAGE_H
#define FT_REPORT_HTML_PAGE_H

#include "profile/profile.h"

#include <stdbool.h>
#include <stdio.h>

struct page_options {
	const char *sysroot; /* where source files are looked for first; NULL / */
};

/* Writes the page. It stays below PAGE_MAX bytes: where the stacks are too many, the smallest are folded into their
 * callers, and all sums stay exact. 0, or a negative errno after a message; errors of the stream are seen by
 * ferror(). */
int page_write(const struct profile *profile, const struct page_options *options, FILE *out);

/* Whether a page may take that file's place: it is not there, is empty, is no regular file, or is a page. What else is
 * there, like a trace, was hardly meant. */
bool page_may_replace(const char *path);

enum { PAGE_MAX = 5000000 };

#endif

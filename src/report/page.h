/* The page: one file of HTML that shows what a profile comes to, and needs nothing else: no network, no other file. */
#ifndef FT_REPORT_PAGE_H
#define FT_REPORT_PAGE_H

#include "profile/profile.h"

#include <stdio.h>

struct page_options {
	const char *sysroot; /* where source files are looked for first; NULL / */
};

/* Writes the page. It stays below PAGE_MAX bytes: where the stacks are too many, the smallest are folded into their
 * callers, and all sums stay exact. 0, or a negative errno after a message; errors of the stream are seen by
 * ferror(). */
int page_write(const struct profile *profile, const struct page_options *options, FILE *out);

enum { PAGE_MAX = 5000000 };

#endif

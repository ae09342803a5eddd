/* The page without its data: page.html with what it names in it, made when functrace is built. */
#ifndef FT_REPORT_HTML_PAGE_TEMPLATE_H
#define FT_REPORT_HTML_PAGE_TEMPLATE_H

#include <stddef.h>

/* "@DATA@" stands in it once, where the data belong. */
extern const unsigned char page_template[];
extern const size_t page_template_size;

#endif

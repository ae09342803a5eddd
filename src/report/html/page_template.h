/* The page without its data: page.html with the files that it names, made when functrace is built. */
#ifndef FT_REPORT_HTML_PAGE_TEMPLATE_H
#define FT_REPORT_HTML_PAGE_TEMPLATE_H

#include <stddef.h>

/* contains "@DATA@" once, where the data belong. */
extern const unsigned char page_template[];
extern const size_t page_template_size;

#endif

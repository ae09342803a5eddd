/* The page without its data: page.html with the files that it refers to. It is generated when functrace is built. */
#ifndef FT_REPORT_HTML_PAGE_TEMPLATE_H
#define FT_REPORT_HTML_PAGE_TEMPLATE_H

#include <stddef.h>

/* Contains the mark "@DATA@" once, which page_write() replaces by the data. */
extern const unsigned char page_template[];
extern const size_t page_template_size;

#endif

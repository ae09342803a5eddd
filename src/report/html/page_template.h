/* The page without its data: page.html with the files that it refers to. It is generated when functrace is built. */
#ifndef FT_REPORT_HTML_PAGE_TEMPLATE_H
#define FT_REPORT_HTML_PAGE_TEMPLATE_H

#include <stddef.h>

/* Contains the text "@DATA@" once; page_write() replaces it by the data. */
extern const unsigned char page_template[];
extern const size_t page_template_size;

#endif

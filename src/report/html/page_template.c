#include "config.h"
#include "report/html/page_template.h"

const unsigned char page_template[] = {
#include "src/report/html/page_template.inc"
};
const size_t page_template_size = sizeof(page_template);

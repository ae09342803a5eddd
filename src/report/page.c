#include "config.h"
#include "report/page.h"
#include "report/page_data.h"
#include "report/page_template.h"

int page_write(const struct profile *profile, const struct page_options *options, FILE *out)
{
	static const char mark[] = "@DATA@";
	const unsigned char *data = memmem(page_template, page_template_size, mark, sizeof(mark) - 1);
	const size_t before = (size_t)(data - page_template), behind = before + sizeof(mark) - 1;
	struct buf json = {0};

	page_data_add(&json, profile, options, &page_data_limits);
	fwrite(page_template, 1, before, out);
	fwrite(json.data, 1, json.size, out);
	fwrite(page_template + behind, 1, page_template_size - behind, out);
	buf_free(&json);
	return 0;
}

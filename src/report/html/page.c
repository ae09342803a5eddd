#include "config.h"
#include "report/html/page.h"
#include "report/html/page_data.h"
#include "report/html/page_template.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool page_may_replace(const char *path)
{
	enum { BEGINNING = 15 /* <!doctype html> */ };
	char found[BEGINNING] = "";
	struct stat stat_buf;
	/* If the file cannot be read, it can hardly be written either. Returns true, so that writing the page reports
	 * the error. */
	const int fd = open_regular(path, &stat_buf);

	if (fd < 0)
		return true;
	const ssize_t size = read(fd, found, BEGINNING);

	close(fd);
	return !stat_buf.st_size || (size == BEGINNING && !memcmp(found, page_template, BEGINNING));
}

int page_write(const struct profile *profile, const struct page_options *options, FILE *out)
{
	static const char mark[] = "@DATA@";
	const unsigned char *data = memmem(page_template, page_template_size, mark, sizeof(mark) - 1);
	const size_t before = (size_t)(data - page_template), after = before + sizeof(mark) - 1;
	struct buf json = {0};

	page_data_add(&json, profile, options, &page_data_limits);
	fwrite(page_template, 1, before, out);
	buf_write(&json, out);
	fwrite(page_template + after, 1, page_template_size - after, out);
	buf_free(&json);
	return 0;
}

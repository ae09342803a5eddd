/* Changes the name that ps and top show for a process: see title.h. */
#include "config.h"
#include "base/title.h"
#include "base/util.h"

#include <string.h>
#include <sys/prctl.h>

static struct {
	char *start;
	size_t size;
	char **copy;
} title;

char **title_begin(int argc, char **argv)
{
	title.copy = xcalloc((size_t)argc + 1, sizeof(*title.copy));
	title.start = argv[0];
	for (int i = 0; i < argc; i++) {
		title.copy[i] = xstrdup(argv[i]);
		/* Adds up the sizes of the words that are adjacent in memory, as the kernel places them. If a word was
		 * replaced by another string, title_set() does not overwrite that string. */
		if (argv[i] == title.start + title.size)
			title.size += strlen(argv[i]) + 1;
	}
	return title.copy;
}

void title_set(const char *name)
{
	const size_t length = strlen(name);

	prctl(PR_SET_NAME, name);
	if (!title.size)
		return;
	memset(title.start, 0, title.size);
	memcpy(title.start, name, length < title.size ? length : title.size - 1);
}

/* Makes temporary files without names: see util.h. */
#include "config.h"
#include "base/util.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

int temporary_file(void)
{
	const char *folder = getenv("TMPDIR");

	if (!folder || !*folder)
		folder = "/tmp";
	int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	if (fd >= 0)
		return fd;
	char *const path = xasprintf("%s/functrace-XXXXXX", folder);

	fd = mkostemp(path, O_CLOEXEC);
	if (fd >= 0)
		unlink(path);
	free(path);
	return fd;
}

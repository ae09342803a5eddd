#include "config.h"
#include "trace/compression_kinds.h"
#include "base/util.h"

#include <string.h>

static const char *const suffixes[] = {[PACKING_NONE] = "", [PACKING_GZIP] = ".gz", [PACKING_ZSTD] = ".zst"};

enum packing packing_of_path(const char *path)
{
	const char *const name = path_name(path);
	const size_t length = strlen(name);

	for (enum packing packing = PACKING_GZIP; packing <= PACKING_ZSTD; packing++) {
		const size_t end = strlen(suffixes[packing]);

		if (length > end && !strcmp(name + length - end, suffixes[packing]))
			return packing;
	}
	return PACKING_NONE;
}

const char *packing_suffix(enum packing packing)
{
	return suffixes[packing];
}

bool packing_choose(const char *path, const char *wanted, enum packing *packing)
{
	enum packing chosen = PACKING_NONE;

	*packing = path ? packing_of_path(path) : PACKING_NONE;
	if (wanted && !strcmp(wanted, "gz"))
		chosen = PACKING_GZIP;
	else if (!wanted || !strcmp(wanted, "zst"))
		chosen = PACKING_ZSTD;
	if (!chosen || (wanted && *packing && *packing != chosen))
		return false;
	if (!*packing)
		*packing = chosen;
	return true;
}

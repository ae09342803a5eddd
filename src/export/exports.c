#include "config.h"
#include "export/export.h"

#include <string.h>

static const struct export *const exports[] = {
	&export_callgrind, &export_chrome, &export_collapsed, &export_dhat, &export_gperftools, &export_heaptrack,
	&export_json,      &export_massif, &export_pprof,     &export_rows, &export_speedscope, &export_xml,
};

const struct export *export_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(exports); i++)
		if (!strcmp(exports[i]->name, name))
			return exports[i];
	return NULL;
}

/* Joins the names of the exports that have the asked properties. */
static const char *exports_join_names(struct buf *names, bool compares, bool has_leaks)
{
	names->size = 0;
	for (size_t i = 0; i < ARRAY_SIZE(exports); i++)
		if (exports[i]->compares >= compares && exports[i]->has_leaks >= has_leaks)
			buf_printf(names, "%s%s", names->size ? ", " : "", exports[i]->name);
	return buf_str(names);
}

const char *export_names(void)
{
	static struct buf names;

	return exports_join_names(&names, false, false);
}

const char *export_names_that_compare(void)
{
	static struct buf names;

	return exports_join_names(&names, true, false);
}

const char *export_names_with_leaks(void)
{
	static struct buf names;

	return exports_join_names(&names, false, true);
}

bool export_weight_parse(const char *text, enum export_weight *weight)
{
	static const char *const words[] = {
		[WEIGHT_LIVE] = "live",   [WEIGHT_ALLOCATED] = "allocated", [WEIGHT_PEAK] = "peak",
		[WEIGHT_COUNT] = "count", [WEIGHT_LOST] = "lost",
	};

	const size_t found = word_find(words, ARRAY_SIZE(words), text);

	if (found < ARRAY_SIZE(words))
		*weight = (enum export_weight)found;
	return found < ARRAY_SIZE(words);
}

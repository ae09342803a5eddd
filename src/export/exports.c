#include "config.h"
#include "export/export.h"

#include <string.h>

static const struct export *const exports[] = {
	&export_callgrind, &export_chrome, &export_collapsed, &export_dhat,       &export_gperftools, &export_heaptrack,
	&export_json,      &export_massif, &export_pprof,     &export_speedscope, &export_xml,
};

const struct export *export_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(exports); i++)
		if (!strcmp(exports[i]->name, name))
			return exports[i];
	return NULL;
}

static bool is_any(const struct export *export)
{
	return export;
}

static bool does_compare(const struct export *export)
{
	return export->compares;
}

static bool has_leaks(const struct export *export)
{
	return export->has_leaks;
}

static const char *exports_join_names(struct buf *names, bool (*is_wanted)(const struct export *export))
{
	names->size = 0;
	for (size_t i = 0; i < ARRAY_SIZE(exports); i++)
		if (is_wanted(exports[i]))
			buf_printf(names, "%s%s", names->size ? ", " : "", exports[i]->name);
	return buf_str(names);
}

const char *export_names(void)
{
	static struct buf names;

	return exports_join_names(&names, is_any);
}

const char *export_names_that_compare(void)
{
	static struct buf names;

	return exports_join_names(&names, does_compare);
}

const char *export_names_with_leaks(void)
{
	static struct buf names;

	return exports_join_names(&names, has_leaks);
}

bool export_weight_parse(const char *text, enum export_weight *weight)
{
	static const char *const words[] = {
		[WEIGHT_LIVE] = "live",   [WEIGHT_ALLOCATED] = "allocated", [WEIGHT_PEAK] = "peak",
		[WEIGHT_COUNT] = "count", [WEIGHT_LOST] = "lost",
	};

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (!strcmp(text, words[i])) {
			*weight = (enum export_weight)i;
			return true;
		}
	return false;
}

/* The views of the report: a table with one row for each view. */
#include "config.h"
#include "report/report_parts.h"

#include <string.h>

/* ---- Sections ---- */

static const char grown[] = "growth, by stack";

const struct report_section report_section_leaks = {
	.figure = FIGURE_LEAKED,
	.title = "lost, by stack",
	.grown = grown,
	.nothing = "Nothing is lost.",
	.top = 10,
	.has_births = true,
};

static const struct report_section unscanned = {
	.figure = FIGURE_LEAKED,
	.title = "alive at the end, by stack",
	.grown = grown,
	.nothing = "Nothing.",
	.top = 10,
	.has_births = true,
	.ranks_growth = true,
};

static const struct report_section possibly = {
	.figure = FIGURE_POSSIBLY,
	.title = "possibly lost, by stack",
	.top = 5,
	.has_births = true,
};

static const struct report_section reachable = {
	.figure = FIGURE_REACHABLE,
	.title = "still reachable, by stack: the largest groups, and those that grew most at the end, come first",
	.top = 5,
	.has_births = true,
	.ranks_growth = true,
};

static const struct report_section alive = {
	.figure = FIGURE_ALIVE,
	.title = "alive at the end, by stack: the largest groups, and those that grew most at the end, come first",
	.grown = grown,
	.nothing = "Nothing.",
	.top = 10,
	.has_births = true,
	.ranks_growth = true,
};

static const struct report_section peak = {
	.figure = FIGURE_PEAK,
	.title = "alive at the peak, by stack",
	.grown = "growth of the resources alive at the peak, by stack",
	.nothing = "Nothing.",
	.top = 10,
};

static const struct report_section allocated = {
	.figure = FIGURE_ALLOCATED,
	.title = "allocated, by stack",
	.grown = "growth of the allocated resources, by stack",
	.nothing = "Nothing.",
	.top = 10,
};

static const struct report_section temporary = {
	.figure = FIGURE_TEMPORARY,
	.title = "temporary, by stack: released before the next allocation",
	.grown = "growth of the temporary resources, by stack",
	.nothing = "Nothing.",
	.top = 10,
};

#define SECTIONS(...)                                                                                                  \
	(const struct report_section *const[])                                                                         \
	{                                                                                                              \
		__VA_ARGS__, NULL                                                                                      \
	}

/* ---- Views ---- */

static const struct report_view views[] = {
	{
		.name = "leaks",
		.scanned = SECTIONS(&report_section_leaks, &possibly, &reachable),
		.sections = SECTIONS(&unscanned),
		.is_of_blocks = true,
		.has_next = true,
	},
	{.name = "alive", .scanned = SECTIONS(&alive), .sections = SECTIONS(&alive), .is_of_blocks = true},
	{.name = "peak", .scanned = SECTIONS(&peak), .sections = SECTIONS(&peak)},
	{.name = "allocated", .scanned = SECTIONS(&allocated), .sections = SECTIONS(&allocated)},
	{.name = "temporary", .scanned = SECTIONS(&temporary), .sections = SECTIONS(&temporary)},
	{.name = "size", .title = "by size", .table = report_sizes, .shows_all = true},
	{.name = "thread", .title = "by thread", .table = report_threads},
	{.name = "object", .title = "by object", .table = report_objects},
};

const struct report_view *report_view_default(void)
{
	return &views[0];
}

const struct report_view *report_view_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(views); i++)
		if (!strcmp(name, views[i].name))
			return &views[i];
	return NULL;
}

char *report_view_names(const char *separator)
{
	struct buf names = {0};

	for (size_t i = 0; i < ARRAY_SIZE(views); i++)
		buf_printf(&names, "%s%s", i ? separator : "", views[i].name);
	char *const text = xstrdup(buf_str(&names));

	buf_free(&names);
	return text;
}

bool report_view_has_stacks(const struct report_view *view)
{
	return !view || !view->table;
}

bool report_view_needs_calls(const struct report_view *view)
{
	return view && (view->table == report_sizes || view->table == report_threads ||
			(view->sections && view->sections[0] == &temporary));
}

bool report_view_has_top(const struct report_view *view)
{
	return !view || !view->shows_all;
}

bool report_view_has_leaks(const struct report_view *view)
{
	return !view || view->has_next;
}

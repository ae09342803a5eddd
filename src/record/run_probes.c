#include "config.h"
#include "record/run_probes.h"
#include "base/buf.h"
#include "base/msg.h"

#include <stdlib.h>
#include <string.h>

#define NAMES_SHOWN 3 /* most names of functions that are shown for one reason */

/* A function of an allocator. */
struct probed_function {
	char *name;
	const char *why; /* why it has a breakpoint; NULL: the kernel probes it */
};

void run_probes_note(struct run *run, const char *function, const char *why)
{
	struct run_probes *const probes = &run->probes;

	for (size_t i = 0; i < probes->count; i++)
		if (probes->functions[i].why == why && !strcmp(probes->functions[i].name, function))
			return;
	ARRAY_GROW(probes->functions, probes->capacity, probes->count);
	probes->functions[probes->count++] = (struct probed_function){xstrdup(function), why};
}

void run_probes_missing(struct run *run, const char *why)
{
	free(run->probes.missing);
	run->probes.missing = xstrdup(why);
}

/* Appends the functions that have this reason: "calloc and realloc (REASON)". */
static void add_probed(struct buf *b, const struct run_probes *probes, const char *why)
{
	size_t count = 0, shown = 0;

	for (size_t i = 0; i < probes->count; i++)
		count += probes->functions[i].why == why;
	for (size_t i = 0; i < probes->count && shown < NAMES_SHOWN; i++)
		if (probes->functions[i].why == why)
			buf_printf(b, "%s%s",
				   !shown++         ? ""
				   : shown == count ? " and "
						    : ", ",
				   probes->functions[i].name);
	if (count > shown)
		buf_printf(b, " and %zu more", count - shown);
	buf_printf(b, " (%s)", why);
}

static int by_probed_name(const void *a, const void *b)
{
	const struct probed_function *const one = a, *const other = b;

	return strcmp(one->name, other->name);
}

void run_probes_report(const struct run *run)
{
	const struct run_probes *const probes = &run->probes;
	struct buf b = {0};
	size_t probed = 0;

	if (probes->missing)
		msg_info("breakpoints saw all calls%s, because %s", probes->count ? " of some processes" : "",
			 probes->missing);
	/* They were found in the order of a hash. */
	if (probes->count)
		qsort(probes->functions, probes->count, sizeof(*probes->functions), by_probed_name);
	for (size_t i = 0; i < probes->count; i++) {
		bool is_new = probes->functions[i].why;

		probed += !probes->functions[i].why;
		for (size_t j = 0; j < i; j++)
			is_new &= probes->functions[j].why != probes->functions[i].why;
		if (!is_new)
			continue;
		buf_add_str(&b, b.size ? "; " : "; breakpoints those of ");
		add_probed(&b, probes, probes->functions[i].why);
	}
	if (probes->count)
		msg_info("probes in the kernel saw the calls of %zu function%s%s", probed, probed == 1 ? "" : "s",
			 b.size ? buf_str(&b) : "");
	if (probes->vforks)
		msg_info("not seen: calls of allocators, if any, by which %llu child%s of vfork prepared to execute a "
			 "program (--probes=kernel and --probes=breakpoints see them)",
			 (unsigned long long)probes->vforks, probes->vforks == 1 ? "" : "ren");
	buf_free(&b);
}

void run_probes_free(struct run *run)
{
	for (size_t i = 0; i < run->probes.count; i++)
		free(run->probes.functions[i].name);
	free(run->probes.functions);
	free(run->probes.missing);
}

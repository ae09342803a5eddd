/* Collapsed stacks, one a line: "root;caller;leaf 123". Read by flamegraph.pl, inferno and speedscope. */
#include "config.h"
#include "export/export.h"

#include <inttypes.h>

/* ';' and line ends have a meaning in the format. */
static void write_name(const char *name, FILE *out)
{
	for (; *name; name++)
		fputc(*name == ';' ? ':' : (unsigned char)*name < ' ' ? ' ' : *name, out);
}

static int collapsed_write(const struct profile *profile, const struct export_options *options, FILE *out)
{
	struct buf room = {0};

	for (size_t i = 0; i < profile->group_count; i++) {
		const struct profile_group *group = profile->groups[i];
		const uint64_t weight = export_weight_of(group, options->weight);

		if (!weight)
			continue;
		for (uint32_t k = group->frame_count; k-- > 0;) {
			write_name(export_frame_name(group->frames[k], &room), out);
			fputc(';', out);
		}
		write_name(group->function, out);
		fprintf(out, " %" PRIu64 "\n", weight);
	}
	buf_free(&room);
	return 0;
}

const struct export export_collapsed = {
	.name = "collapsed",
	.suffix = ".collapsed",
	.is_weighted = true,
	.write = collapsed_write,
};

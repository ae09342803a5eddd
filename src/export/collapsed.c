/* Writes collapsed stacks, one in each line: "root;caller;leaf 123". flamegraph.pl, inferno and speedscope can read
 * them. If the profile is compared to an older one, a line has the older and the present figure, as in the output of
 * difffolded.pl for differential flame graphs. */
#include "config.h"
#include "export/export.h"

#include <inttypes.h>

/* Writes a name; replaces ';' and line ends, which are separators in the format. */
static void collapsed_write_name(const char *name, FILE *out)
{
	struct buf plain = {0};

	plain_add(&plain, name);
	for (size_t i = 0; i < plain.size; i++)
		fputc(plain.data[i] == ';' ? ':' : plain.data[i], out);
	buf_free(&plain);
}

static int collapsed_write(const struct profile *profile, const struct export_options *options, FILE *out)
{
	struct buf room = {0};

	for (size_t i = 0; i < profile->group_count; i++) {
		const struct profile_group *group = profile->groups[i];
		struct profile_group now = *group;

		now.old = (struct figures){0};
		const struct profile_group before = {
			.allocated = group->old.allocated, .live = group->old.live, .at_peak = group->old.at_peak};
		const uint64_t weight = export_weight_of(&now, options->weight);
		const uint64_t old = export_weight_of(&before, options->weight);

		if ((!weight && !old) || group->is_uncompared)
			continue;
		for (uint32_t k = group->frame_count; k-- > 0;) {
			collapsed_write_name(export_frame_name(group->frames[k], &room), out);
			fputc(';', out);
		}
		collapsed_write_name(group->function, out);
		if (profile->has_old)
			fprintf(out, " %" PRIu64, old);
		fprintf(out, " %" PRIu64 "\n", weight);
	}
	buf_free(&room);
	return 0;
}

const struct export export_collapsed = {
	.name = "collapsed",
	.suffix = ".collapsed",
	.is_weighted = true,
	.compares = true,
	.write = collapsed_write,
};

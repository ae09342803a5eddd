/* Functions that several exports use. */
#include "config.h"
#include "export/export.h"
#include "base/terminal_escape.h"

#include <inttypes.h>

struct tally export_lost_of(const struct profile_group *group)
{
	struct tally lost = group->lost[LOST_DEFINITELY];

	tally_join(&lost, &group->lost[LOST_INDIRECTLY]);
	return lost;
}

static struct tally tally_growth(const struct tally *now, const struct tally *old)
{
	return (struct tally){now->calls > old->calls ? now->calls - old->calls : 0,
			      now->bytes > old->bytes ? now->bytes - old->bytes : 0};
}

struct figures export_figures(const struct profile_group *group)
{
	if (group->is_uncompared)
		return (struct figures){0};
	/* Without an older trace this is all. */
	return (struct figures){.allocated = tally_growth(&group->allocated, &group->old.allocated),
				.live = tally_growth(&group->live, &group->old.live),
				.temporary = tally_growth(&group->temporary, &group->old.temporary),
				.at_peak = tally_growth(&group->at_peak, &group->old.at_peak)};
}

uint64_t export_weight_of(const struct profile_group *group, enum export_weight weight)
{
	const struct figures figures = export_figures(group);

	switch (weight) {
	case WEIGHT_LIVE:
		return figures.live.bytes;
	case WEIGHT_ALLOCATED:
		return figures.allocated.bytes;
	case WEIGHT_PEAK:
		return figures.at_peak.bytes;
	case WEIGHT_COUNT:
		return figures.allocated.calls;
	case WEIGHT_LOST:
		return export_lost_of(group).bytes;
	}
	return 0;
}

const char *export_frame_name(const struct profile_frame *frame, struct buf *room)
{
	if (frame->function)
		return frame->function;
	room->size = 0;
	if (frame->module)
		buf_printf(room, "[%s+0x%" PRIx64 "]", path_name(frame->module), frame->offset);
	else
		buf_printf(room, "[0x%" PRIx64 "]", frame->address);
	return buf_str(room);
}

uint64_t export_call_address(uint64_t address)
{
	return address ? address - 1 : 0;
}

void export_add_text(struct buf *out, const char *text)
{
	plain_add(out, text);
}

void export_add_frame(struct buf *out, const struct profile_frame *frame)
{
	buf_printf(out, "0x%" PRIX64 ": ", export_call_address(frame->address));
	export_add_text(out, frame->function ? frame->function : "???");
	if (frame->file) {
		buf_add_str(out, " (");
		export_add_text(out, path_name(frame->file));
		buf_printf(out, ":%u)", frame->line);
	} else if (frame->module) {
		buf_add_str(out, " (in ");
		export_add_text(out, frame->module);
		buf_add_char(out, ')');
	}
}

const struct profile_resource *export_memory(const struct profile *profile)
{
	for (size_t i = 0; i < profile->resource_count; i++)
		if (is_heap_type(profile->resources[i]->type))
			return profile->resources[i];
	return NULL;
}

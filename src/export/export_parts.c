/* Functions that several exports use. */
#include "config.h"
#include "export/export.h"
#include "base/json.h"

#include <inttypes.h>

static struct tally tally_growth(const struct tally *now, const struct tally *old)
{
	return (struct tally){now->calls > old->calls ? now->calls - old->calls : 0,
			      now->bytes > old->bytes ? now->bytes - old->bytes : 0};
}

struct tally export_tally_of(const struct profile_group *group, enum export_weight weight)
{
	struct tally lost = group->lost[LOST_DEFINITELY];

	if (group->is_uncompared)
		return (struct tally){0};
	/* Without a comparison the older figures are 0, so the growth is the present figure. */
	switch (weight) {
	case WEIGHT_LIVE:
		return tally_growth(&group->live, &group->old.live);
	case WEIGHT_PEAK:
		return tally_growth(&group->at_peak, &group->old.at_peak);
	case WEIGHT_LOST:
		tally_join(&lost, &group->lost[LOST_INDIRECTLY]);
		return lost;
	case WEIGHT_ALLOCATED:
	case WEIGHT_COUNT:
		break;
	}
	return tally_growth(&group->allocated, &group->old.allocated);
}

uint64_t export_weight_of(const struct profile_group *group, enum export_weight weight)
{
	const struct tally tally = export_tally_of(group, weight);

	return weight == WEIGHT_COUNT ? tally.calls : tally.bytes;
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

void export_print_json(FILE *out, const char *before, const char *text)
{
	struct buf string = {0};

	json_add_string(&string, text);
	fputs(before, out);
	buf_write(&string, out);
	buf_free(&string);
}

void export_add_frame(struct buf *out, const struct profile_frame *frame)
{
	buf_printf(out, "0x%" PRIX64 ": ", export_call_address(frame->address));
	plain_add(out, frame->function ? frame->function : "???");
	if (frame->file) {
		buf_add_str(out, " (");
		plain_add(out, path_name(frame->file));
		buf_printf(out, ":%u)", frame->line);
	} else if (frame->module) {
		buf_add_str(out, " (in ");
		plain_add(out, frame->module);
		buf_add_char(out, ')');
	}
}

const char *export_command(const struct account *account)
{
	return account->command ? account->command : account->name;
}

const struct profile_resource *export_memory(const struct profile *profile)
{
	for (size_t i = 0; i < profile->resource_count; i++)
		if (is_heap_type(profile->resources[i]->type))
			return profile->resources[i];
	return NULL;
}

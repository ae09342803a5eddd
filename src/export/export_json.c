/* Writes lines of JSON, with one object in each: the processes, the resources, the groups. Readers can skip a "type"
 * that they do not know. */
#include "config.h"
#include "base/json.h"
#include "export/export.h"

#include <inttypes.h>

static void export_json_add_tally(struct buf *line, const char *name, const struct tally *tally)
{
	buf_printf(line, ",\"%s\":{\"bytes\":%" PRIu64 ",\"count\":%" PRIu64 "}", name, tally->bytes, tally->calls);
}

static void add_member(struct buf *line, const char *name, const char *text)
{
	buf_printf(line, ",\"%s\":", name);
	json_add_string(line, text);
}

static void end_line(struct buf *line, FILE *out)
{
	buf_add_str(line, "}\n");
	fwrite(line->data, 1, line->size, out);
	line->size = 0;
}

static void export_json_write_process(const struct profile_process *process, struct buf *line, FILE *out)
{
	const struct account *account = process->account;

	buf_printf(line, "{\"type\":\"process\",\"pid\":%" PRIu32, account->pid);
	add_member(line, "name", account->name);
	add_member(line, "command", account->command);
	add_member(line, "end", account->end);
	buf_printf(line, ",\"attached\":%s,\"compared\":%s,\"events\":%" PRIu64 ",\"start\":%" PRId64,
		   account->is_attached ? "true" : "false", process->is_old ? "true" : "false", account->events,
		   account->start_sec);
	buf_printf(line, ",\"%s\":%" PRIu64, account->has_times ? "duration_ns" : "calls", account->last.since);
	if (account->resident.is_known)
		buf_printf(line, ",\"resident\":%" PRIu64 ",\"resident_peak\":%" PRIu64, account->resident.last,
			   account->resident.peak);
	else
		buf_add_str(line, ",\"resident\":null,\"resident_peak\":null");
	end_line(line, out);
}

static void add_classes(struct buf *line, const struct tally lost[LOST_KINDS])
{
	static const char *const names[] = {
		[LOST_DEFINITELY] = "definitely", [LOST_INDIRECTLY] = "indirectly", [LOST_POSSIBLY] = "possibly"};

	for (unsigned i = 0; i < LOST_KINDS; i++)
		buf_printf(line, "%s\"%s\":{\"bytes\":%" PRIu64 ",\"count\":%" PRIu64 "}", i ? "," : ",\"lost\":{",
			   names[i], lost[i].bytes, lost[i].calls);
	buf_add_char(line, '}');
}

/* null if there was no scan. */
static void export_json_add_lost(struct buf *line, const struct profile_resource *resource)
{
	if (resource->scanned)
		add_classes(line, resource->lost);
	else
		buf_add_str(line, ",\"lost\":null");
}

/* Appends the figures of the older trace that the profile is compared to. */
static void export_json_add_old(struct buf *line, const struct figures *old)
{
	buf_add_str(line, ",\"old\":{\"of\":\"before\"");
	export_json_add_tally(line, "allocated", &old->allocated);
	export_json_add_tally(line, "live", &old->live);
	export_json_add_tally(line, "peak", &old->at_peak);
	export_json_add_tally(line, "temporary", &old->temporary);
	buf_add_char(line, '}');
}

static void write_resource(const struct profile *profile, const struct profile_resource *resource, struct buf *line,
			   FILE *out)
{
	buf_add_str(line, "{\"type\":\"resource\"");
	add_member(line, "name", resource->type);
	add_member(line, "description", resource->desc);
	export_json_add_tally(line, "allocated",
			      resource->flags & RESOURCE_CALL ? &resource->others : &resource->allocated);
	export_json_add_tally(line, "live", &resource->live);
	export_json_add_tally(line, "before", &resource->before_live);
	export_json_add_tally(line, "leaked", &resource->picked);
	export_json_add_lost(line, resource);
	export_json_add_tally(line, "suppressed", &resource->picked_suppressed);
	export_json_add_tally(line, "peak", &resource->peak);
	export_json_add_tally(line, "temporary", &resource->temporary);
	if (profile->has_old)
		export_json_add_old(line, &resource->old);
	buf_printf(line, ",\"releases\":%" PRIu64 ",\"unknown_releases\":%" PRIu64 ",\"unseen_releases\":%" PRIu64,
		   resource->releases, resource->unknown_releases, resource->reused);
	end_line(line, out);
}

static void export_json_add_frame(struct buf *line, const struct profile_frame *frame)
{
	buf_printf(line, "{\"address\":\"0x%" PRIx64 "\"", frame->address);
	add_member(line, "function", frame->function);
	add_member(line, "object", frame->module);
	if (frame->module)
		buf_printf(line, ",\"offset\":\"0x%" PRIx64 "\"", frame->offset);
	add_member(line, "file", frame->file);
	if (frame->file)
		buf_printf(line, ",\"line\":%u", frame->line);
	if (frame->inlined)
		buf_add_str(line, ",\"inlined\":true");
	buf_add_char(line, '}');
}

static void export_json_write_group(const struct profile *profile, const struct profile_group *group, struct buf *line,
				    FILE *out)
{
	static const char *const ends[] = {"whole", "cut", "lost"};

	buf_add_str(line, "{\"type\":\"group\"");
	add_member(line, "resource", group->resource->type);
	add_member(line, "function", group->function);
	export_json_add_tally(line, "allocated", &group->allocated);
	export_json_add_tally(line, "live", &group->live);
	export_json_add_tally(line, "leaked", &group->picked);
	if (group->resource->scanned)
		add_classes(line, group->lost);
	export_json_add_tally(line, "peak", &group->at_peak);
	export_json_add_tally(line, "temporary", &group->temporary);
	if (profile->has_old && !group->is_uncompared)
		export_json_add_old(line, &group->old);
	if (group->is_before)
		buf_add_str(line, ",\"before\":true");
	if (group->picked_is_suppressed)
		buf_add_str(line, ",\"suppressed\":true");
	if (group->first_since != UINT64_MAX)
		buf_printf(line, ",\"first\":%" PRIu64, group->first_since);
	if (group->live.calls)
		buf_printf(line, ",\"oldest\":%" PRIu64 ",\"newest\":%" PRIu64, group->oldest_since,
			   group->newest_since);
	if (group->has_stack) {
		buf_printf(line, ",\"end\":\"%s\",\"frames\":[", ends[group->end]);
		for (uint32_t i = 0; i < group->frame_count; i++) {
			if (i)
				buf_add_char(line, ',');
			export_json_add_frame(line, group->frames[i]);
		}
		buf_add_char(line, ']');
	}
	end_line(line, out);
}

static int json_write(const struct profile *profile, const struct export_options *options, FILE *out)
{
	struct buf line = {0};

	(void)options;
	for (size_t i = 0; i < profile->process_count; i++)
		export_json_write_process(&profile->processes[i], &line, out);
	for (size_t i = 0; i < profile->resource_count; i++)
		write_resource(profile, profile->resources[i], &line, out);
	for (size_t i = 0; i < profile->group_count; i++)
		export_json_write_group(profile, profile->groups[i], &line, out);
	buf_free(&line);
	return 0;
}

const struct export export_json = {
	.name = "json",
	.suffix = ".json",
	.compares = true,
	.write = json_write,
};

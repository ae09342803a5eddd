/* Writes JSON objects, one in each line: the processes, the kinds of resources, the groups. Readers can skip objects
 * whose "type" they do not know. */
#include "config.h"
#include "export/export.h"

#include <inttypes.h>
#include <math.h>

static void export_json_print_tally(FILE *out, const char *name, const struct tally *tally)
{
	fprintf(out, ",\"%s\":{\"bytes\":%" PRIu64 ",\"count\":%" PRIu64 "}", name, tally->bytes, tally->calls);
}

static void export_json_write_process(const struct profile_process *process, FILE *out)
{
	const struct account *account = process->account;

	fprintf(out, "{\"type\":\"process\",\"pid\":%" PRIu32, account->pid);
	export_print_json(out, ",\"name\":", account->name);
	export_print_json(out, ",\"command\":", account->command);
	export_print_json(out, ",\"end\":", account->end);
	fprintf(out, ",\"attached\":%s,\"compared\":%s,\"events\":%" PRIu64 ",\"start\":%" PRId64,
		account->is_attached ? "true" : "false", process->is_old ? "true" : "false", account->events,
		account->start_sec);
	fprintf(out, ",\"%s\":%" PRIu64, account->has_times ? "duration_ns" : "calls", account->last.since);
	if (account->resident.is_known)
		fprintf(out, ",\"resident\":%" PRIu64 ",\"resident_peak\":%" PRIu64, account->resident.last,
			account->resident.peak);
	else
		fputs(",\"resident\":null,\"resident_peak\":null", out);
	fputs("}\n", out);
}

static void export_json_print_classes(FILE *out, const struct tally lost[LOST_KINDS])
{
	static const char *const names[] = {
		[LOST_DEFINITELY] = "definitely", [LOST_INDIRECTLY] = "indirectly", [LOST_POSSIBLY] = "possibly"};

	for (unsigned i = 0; i < LOST_KINDS; i++)
		fprintf(out, "%s\"%s\":{\"bytes\":%" PRIu64 ",\"count\":%" PRIu64 "}", i ? "," : ",\"lost\":{",
			names[i], lost[i].bytes, lost[i].calls);
	fputc('}', out);
}

/* Prints the figures with which the profile is compared: those of the older trace, or those at second T (--diff=@T). */
static void export_json_print_old(FILE *out, const struct figures *old)
{
	fputs(",\"old\":{\"of\":\"before\"", out);
	export_json_print_tally(out, "allocated", &old->allocated);
	export_json_print_tally(out, "live", &old->live);
	export_json_print_tally(out, "peak", &old->at_peak);
	export_json_print_tally(out, "temporary", &old->temporary);
	fputc('}', out);
}

static void write_resource(const struct profile *profile, const struct profile_resource *resource, FILE *out)
{
	fputs("{\"type\":\"resource\"", out);
	export_print_json(out, ",\"name\":", resource->type);
	export_print_json(out, ",\"description\":", resource->desc);
	export_json_print_tally(out, "allocated",
				resource->flags & RESOURCE_CALL ? &resource->others : &resource->allocated);
	export_json_print_tally(out, "live", &resource->live);
	export_json_print_tally(out, "before", &resource->before_live);
	export_json_print_tally(out, "leaked", &resource->picked);
	if (resource->scanned)
		export_json_print_classes(out, resource->lost);
	else
		fputs(",\"lost\":null", out);
	export_json_print_tally(out, "suppressed", &resource->picked_suppressed);
	export_json_print_tally(out, "peak", &resource->peak);
	export_json_print_tally(out, "temporary", &resource->temporary);
	if (profile->has_old)
		export_json_print_old(out, &resource->old);
	fprintf(out, ",\"releases\":%" PRIu64 ",\"unknown_releases\":%" PRIu64 ",\"unseen_releases\":%" PRIu64,
		resource->releases, resource->unknown_releases, resource->reused);
	fputs("}\n", out);
}

static void export_json_print_frame(FILE *out, const struct profile_frame *frame)
{
	fprintf(out, "{\"address\":\"0x%" PRIx64 "\"", frame->address);
	export_print_json(out, ",\"function\":", frame->function);
	export_print_json(out, ",\"object\":", frame->module);
	if (frame->module)
		fprintf(out, ",\"offset\":\"0x%" PRIx64 "\"", frame->offset);
	export_print_json(out, ",\"file\":", frame->file);
	if (frame->file)
		fprintf(out, ",\"line\":%u", frame->line);
	if (frame->inlined)
		fputs(",\"inlined\":true", out);
	fputc('}', out);
}

static void export_json_print_figure(FILE *out, const char *before, double figure)
{
	fputs(before, out);
	if (isfinite(figure))
		fprintf(out, "%.6g", figure);
	else
		fputs("null", out);
}

/* Growth is in bytes a second. */
static void export_json_print_estimate(FILE *out, const struct site_estimate *estimate)
{
	export_json_print_figure(out, ",\"estimate\":{\"live_low\":", estimate->live_low);
	export_json_print_figure(out, ",\"live_high\":", estimate->live_high);
	export_json_print_figure(out, ",\"growth\":", estimate->growth);
	export_json_print_figure(out, ",\"growth_low\":", estimate->growth_low);
	export_json_print_figure(out, ",\"growth_high\":", estimate->growth_high);
	fprintf(out, ",\"verdict\":\"%s\"}", estimate_verdict_word(estimate->verdict));
}

static void export_json_write_group(const struct profile *profile, const struct profile_group *group, FILE *out)
{
	static const char *const ends[] = {"whole", "cut", "lost"};

	fputs("{\"type\":\"group\"", out);
	export_print_json(out, ",\"resource\":", group->resource->type);
	export_print_json(out, ",\"function\":", group->function);
	export_json_print_tally(out, "allocated", &group->allocated);
	export_json_print_tally(out, "live", &group->live);
	export_json_print_tally(out, "leaked", &group->picked);
	if (group->resource->scanned)
		export_json_print_classes(out, group->lost);
	export_json_print_tally(out, "peak", &group->at_peak);
	export_json_print_tally(out, "temporary", &group->temporary);
	if (profile->has_old && !group->is_uncompared)
		export_json_print_old(out, &group->old);
	if (group->is_before)
		fputs(",\"before\":true", out);
	if (group->is_estimated)
		export_json_print_estimate(out, &group->estimate);
	if (group->picked_is_suppressed)
		fputs(",\"suppressed\":true", out);
	if (group->first_since != UINT64_MAX)
		fprintf(out, ",\"first\":%" PRIu64, group->first_since);
	if (group->live.calls && !profile_has_intervals(profile))
		fprintf(out, ",\"oldest\":%" PRIu64 ",\"newest\":%" PRIu64, group->oldest_since, group->newest_since);
	if (group->has_stack) {
		fprintf(out, ",\"end\":\"%s\",\"frames\":[", ends[group->end]);
		for (uint32_t i = 0; i < group->frame_count; i++) {
			if (i)
				fputc(',', out);
			export_json_print_frame(out, group->frames[i]);
		}
		fputc(']', out);
	}
	fputs("}\n", out);
}

static int json_write(const struct profile *profile, const struct export_options *options, FILE *out)
{
	(void)options;
	for (size_t i = 0; i < profile->process_count; i++)
		export_json_write_process(&profile->processes[i], out);
	for (size_t i = 0; i < profile->resource_count; i++)
		write_resource(profile, profile->resources[i], out);
	for (size_t i = 0; i < profile->group_count; i++)
		export_json_write_group(profile, profile->groups[i], out);
	return 0;
}

const struct export export_json = {
	.name = "json",
	.suffix = ".json",
	.has_leaks = true,
	.compares = true,
	.write = json_write,
};

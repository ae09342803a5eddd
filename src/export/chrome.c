/* Writes counters in the trace event format of Chrome and Perfetto: the live bytes and blocks of each kind of resource
 * in each process, at the end of each span of the process's timeline and at the kind's peak. Times are microseconds, or
 * calls if the trace has no times. */
#include "config.h"
#include "export/export.h"

#include <inttypes.h>
#include <stdlib.h>

struct chrome {
	const struct profile *profile;
	const struct profile_process *process;
	const char *type;      /* type of the resource */
	const char *separator; /* text to write before the next event */
	FILE *out;
};

/* Writes the beginning of an event. since: time since the profile's beginning. */
static void begin_event(struct chrome *chrome, const char *phase, uint64_t since, const char *name)
{
	fprintf(chrome->out, "%s\n{\"ph\":\"%s\",\"pid\":%" PRIu32 ",\"tid\":0,\"ts\":", chrome->separator, phase,
		chrome->process->account->pid);
	chrome->separator = ",";
	if (chrome->profile->has_times)
		fprintf(chrome->out, "%" PRIu64 ".%03" PRIu64, since / 1000, since % 1000);
	else
		fprintf(chrome->out, "%" PRIu64, since);
	export_print_json(chrome->out, ",\"name\":", name);
}

/* Writes the value of a counter at a time. Bytes and blocks are separate counters, because the viewers stack the values
 * of one counter. */
static void add_counter(struct chrome *chrome, const char *what, uint64_t since, uint64_t figure)
{
	char *const name = xasprintf("%s: live %s", chrome->type, what);

	begin_event(chrome, "C", add_saturated(since, chrome->process->offset), name);
	fprintf(chrome->out, ",\"args\":{\"%s\":%" PRIu64 "}}", what, figure);
	free(name);
}

/* Writes the peak of the bytes; for a kind of resource without sizes, the peak of the number of blocks. */
static void add_peak(struct chrome *chrome, const struct resource_account *resource, uint64_t since)
{
	if (resource->at_peak.peak.bytes && !resource->counts_alone)
		add_counter(chrome, "bytes", since, resource->at_peak.peak.bytes);
	else
		add_counter(chrome, "blocks", since, resource->at_peak.peak.calls);
}

static void chrome_add_resource(struct chrome *chrome, const struct resource_account *resource)
{
	const struct timeline *timeline = &resource->timeline;
	const uint64_t last = chrome->process->account->last.since, peak = resource->at_peak.peak_at.since;
	struct tally before = {0};
	uint64_t start = 0;

	for (size_t i = 0; i < timeline->count; i++) {
		const struct timeline_span *span = &timeline->spans[i];
		const bool is_final = i + 1 == timeline->count;
		const uint64_t end = is_final ? last : (i + 1) * timeline->width;

		if (resource->at_peak.peak.calls && peak >= start && (peak < end || is_final) && start <= end)
			add_peak(chrome, resource, peak);
		start = end;
		if (i && !is_final && span->last.bytes == before.bytes && span->last.calls == before.calls &&
		    span->most_bytes == before.bytes)
			continue;
		before = span->last;
		add_counter(chrome, "bytes", end, span->last.bytes);
		add_counter(chrome, "blocks", end, span->last.calls);
	}
}

static int chrome_write(const struct profile *profile, const struct export_options *options, FILE *out)
{
	struct chrome chrome = {.profile = profile, .separator = "", .out = out};

	(void)options;
	fputs("{\"displayTimeUnit\":\"ms\",\"traceEvents\":[", out);
	for (size_t p = 0; p < profile->process_count; p++) {
		const struct account *account = profile->processes[p].account;

		if (profile->processes[p].is_old)
			continue;
		chrome.process = &profile->processes[p];
		begin_event(&chrome, "M", 0, "process_name");
		export_print_json(out, ",\"args\":{\"name\":", export_command(account));
		fputs("}}", out);
		for (size_t i = 0; i < profile->resource_count; i++) {
			const struct resource_account *resource =
				profile_resource_account(account, profile->resources[i]);

			if (!resource || profile->resources[i]->flags & RESOURCE_CALL)
				continue;
			chrome.type = profile->resources[i]->type;
			chrome_add_resource(&chrome, resource);
		}
	}
	fputs("]}\n", out);
	return 0;
}

const struct export export_chrome = {
	.name = "chrome",
	.suffix = ".chrome.json",
	.write = chrome_write,
};

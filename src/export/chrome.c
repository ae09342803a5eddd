/* Writes counters in the trace event format of Chrome and Perfetto: what each process had alive of each resource, at
 * the end of each span of its timeline and at its peak. Times are microseconds, or calls if the trace has no times. */
#include "config.h"
#include "base/json.h"
#include "export/export.h"

#include <inttypes.h>

struct chrome {
	const struct profile *profile;
	const struct profile_process *process;
	const char *type; /* of the resource */
	struct buf text;
	FILE *out;
	bool has_events;
};

/* since: from the profile's beginning. */
static void begin_event(struct chrome *chrome, const char *phase, uint64_t since)
{
	buf_add_str(&chrome->text, chrome->has_events ? ",\n{" : "\n{");
	chrome->has_events = true;
	buf_printf(&chrome->text, "\"ph\":\"%s\",\"pid\":%" PRIu32 ",\"tid\":0,\"ts\":", phase,
		   chrome->process->account->pid);
	if (chrome->profile->has_times)
		buf_printf(&chrome->text, "%" PRIu64 ".%03" PRIu64, since / 1000, since % 1000);
	else
		buf_printf(&chrome->text, "%" PRIu64, since);
	buf_add_str(&chrome->text, ",\"name\":");
}

static void end_event(struct chrome *chrome)
{
	buf_add_str(&chrome->text, "}}");
	fwrite(chrome->text.data, 1, chrome->text.size, chrome->out);
	chrome->text.size = 0;
}

/* Bytes and blocks are separate counters, because a common counter would draw one on top of the other. */
static void add_counter(struct chrome *chrome, const char *what, uint64_t since, uint64_t figure)
{
	struct buf name = {0};

	buf_printf(&name, "%s: live %s", chrome->type, what);
	begin_event(chrome, "C", since + chrome->process->offset);
	json_add_string(&chrome->text, buf_str(&name));
	buf_printf(&chrome->text, ",\"args\":{\"%s\":%" PRIu64, what, figure);
	end_event(chrome);
	buf_free(&name);
}

/* The peak of a resource without sizes is its greatest number of blocks. */
static void add_peak(struct chrome *chrome, const struct resource_account *resource, uint64_t since)
{
	if (resource->peak.bytes && !resource->counts_alone)
		add_counter(chrome, "bytes", since, resource->peak.bytes);
	else
		add_counter(chrome, "blocks", since, resource->peak.calls);
}

static void chrome_add_resource(struct chrome *chrome, const struct resource_account *resource)
{
	const struct timeline *timeline = &resource->timeline;
	const uint64_t last = chrome->process->account->last.since, peak = resource->peak_at.since;
	struct tally before = {0};
	uint64_t start = 0;

	for (size_t i = 0; i < timeline->count; i++) {
		const struct timeline_span *span = &timeline->spans[i];
		const bool is_final = i + 1 == timeline->count;
		const uint64_t end = is_final ? last : (i + 1) * timeline->width;

		if (resource->peak.calls && peak >= start && (peak < end || is_final) && start <= end)
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
	struct chrome chrome = {.profile = profile, .out = out};

	(void)options;
	fputs("{\"displayTimeUnit\":\"ms\",\"traceEvents\":[", out);
	for (size_t p = 0; p < profile->process_count; p++) {
		const struct account *account = profile->processes[p].account;

		if (profile->processes[p].is_old)
			continue;
		chrome.process = &profile->processes[p];
		begin_event(&chrome, "M", 0);
		buf_add_str(&chrome.text, "\"process_name\",\"args\":{\"name\":");
		json_add_string(&chrome.text, account->command ? account->command : account->name);
		end_event(&chrome);
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
	buf_free(&chrome.text);
	return 0;
}

const struct export export_chrome = {
	.name = "chrome",
	.suffix = ".chrome.json",
	.write = chrome_write,
};

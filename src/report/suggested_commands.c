/* Writes the commands to try next, in a form that can be copied. */
#include "config.h"
#include "report/report_parts.h"
#include "base/time_units.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Facts about the profile from which commands are suggested. */
struct clue {
	/* the group that grew most in the last tenth of the trace; NULL: none grew */
	const struct profile_group *grown;
	bool is_alive; /* there are live blocks that were allocated in the trace */
};

static double growth_share(const struct profile_group *group)
{
	const uint64_t live = report_key(group->resource, &group->live);
	const uint64_t earlier = report_key(group->resource, &group->earlier);
	const uint64_t whole = report_key(group->resource, &group->resource->live);

	return live > earlier && whole ? (double)(live - earlier) / (double)whole : 0;
}

static struct clue find_clue(const struct profile *profile)
{
	struct clue clue = {0};

	for (size_t i = 0; i < profile->group_count; i++) {
		const struct profile_group *group = profile->groups[i];

		if (group->resource->flags & RESOURCE_CALL || !group->live.calls || group->is_before)
			continue;
		clue.is_alive = true;
		if (growth_share(group) > (clue.grown ? growth_share(clue.grown) : 0))
			clue.grown = group;
	}
	return clue;
}

/* Returns the process in which the group grew most in the last tenth of the trace. The command --diff=@T can only have
 * the T of one process: T is counted from the first call of each trace, and the last tenths of several traces begin at
 * different T. */
static const struct account *grown_in(const struct profile *profile, const struct profile_group *group)
{
	const struct account *account = NULL;
	uint64_t most = 0;

	for (size_t i = 0; i < group->member_count; i++) {
		const struct site *site = group->members[i].site;
		const uint64_t live = report_key(group->resource, &site->live);
		const uint64_t earlier = report_key(group->resource, &site->earlier);

		if (account && live <= add_saturated(earlier, most))
			continue;
		account = profile->processes[group->members[i].process].account;
		most = live > earlier ? live - earlier : 0;
	}
	return account;
}

static void write_command(struct report *report, const char **label, const char *options, const char *what)
{
	struct lines *lines = &report->lines;

	if (**label)
		LINE(lines, "%s", "");
	report_add_label(report, *label);
	*label = "";
	lines_add(lines, "%s: ", what);
	lines_add_name(lines, report->options.again);
	if (*options)
		lines_add(lines, " %s", options);
	if (*report->options.again_after)
		lines_add(lines, " %s", report->options.again_after);
	lines_end(lines);
}

/* Returns the process that allocated the newest block of the group, if this process may still be running; else returns
 * NULL. */
static const struct account *runs_on(const struct profile *profile, const struct profile_group *group)
{
	for (size_t i = group->member_count; i-- > 0;) {
		const struct site *site = group->members[i].site;
		const struct profile_process *process = &profile->processes[group->members[i].process];
		const struct account *account = process->account;

		if (site->live.calls && site->newest_id == group->newest_id &&
		    add_saturated(process->offset, site->newest_since) == group->newest_since)
			return account->is_attached && account->has_pid && !account->end ? account : NULL;
	}
	return NULL;
}

/* Returns false if there is nothing to compare with: rows of one interval. (The beginning of the first one counts as an
 * interval, too.) */
static bool has_growth(const struct profile *profile)
{
	for (size_t i = 0; i < profile->process_count; i++)
		if (profile->processes[i].account->intervals.count > 2)
			return true;
	return !profile_has_intervals(profile);
}

/* Writes the commands to try next. They are not shortened, whatever the width of the terminal is. */
void report_next(struct report *report)
{
	const struct clue clue = find_clue(report->profile);
	const size_t columns = report->lines.columns;
	const char *label = "next";
	char options[64];

	report->lines.columns = 0;
	if (report->options.again && clue.is_alive)
		write_command(report, &label, "--report=alive", "all live resources");
	/* --diff=@T is suggested only if the traces are kept. Otherwise the command would run the program again, and
	 * that run may end before T, so that it has no growth since T. */
	if (report->options.again && report->options.is_kept && clue.grown && report->profile->has_times &&
	    has_growth(report->profile)) {
		const struct account *account = grown_in(report->profile, clue.grown);

		/* Times in options have a precision of a microsecond. */
		snprintf(options, sizeof(options), "--report --diff=@%" PRIu64 ".%06" PRIu64,
			 account->earlier_since / NS_PER_SECOND, account->earlier_since / 1000 % 1000000);
		write_command(report, &label, options, "growth at the end");
	}
	if (clue.grown && !profile_has_intervals(report->profile) && is_heap_type(clue.grown->resource->type)) {
		const struct account *account = runs_on(report->profile, clue.grown);

		if (account) {
			if (*label)
				LINE(&report->lines, "%s", "");
			report_add_label(report, label);
			LINE(&report->lines,
			     "the pointers that keep the newest block of the stack that grew most, while the process "
			     "runs: "
			     "functrace --scan -t %" PRIu32 " --why=0x%" PRIx64,
			     account->pid, clue.grown->newest_id);
		}
	}
	report->lines.columns = columns;
}

#include "config.h"
#include "scan_run.h"
#include "base/msg.h"
#include "proc/proc.h"
#include "scan/scan.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static volatile sig_atomic_t is_ended;

static void end(int sig)
{
	(void)sig;
	is_ended = 1;
}

/* Until then, or Ctrl-C. */
static void sleep_until(uint64_t ns)
{
	const struct timespec then = {(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)};

	while (!is_ended && clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &then, NULL) == EINTR)
		;
}

static void print(const struct settings *settings, struct scan_report *report)
{
	if (settings->scan.is_json)
		scan_report_json(stdout, report);
	else
		scan_report_text(stdout, report);
}

/* Of several scans, what the last two agree on: a block that was allocated in the pause's moment may have its pointer
 * nowhere yet. */
static bool is_lost(const struct scan_report *report)
{
	const struct scan_sum *sum = report->scan > 1 ? &report->groups->still_lost : &report->groups->sums[CLASS_LOST];

	return sum->blocks > 0;
}

static int scan_all(const struct settings *settings, struct scan *scan)
{
	const struct scan_wish *wish = &settings->scan;
	uint64_t next = clock_ns(CLOCK_MONOTONIC);
	struct scan_report *report = NULL;

	for (uint64_t i = 0; i < wish->count && !is_ended; i++) {
		if (scan_look(scan, wish->why, wish->why_count))
			return EXIT_FAILURE;
		report = scan_report_of(scan);
		report->scans = wish->count;
		report->top = wish->top;
		print(settings, report);
		next += wish->interval_ns;
		if (i + 1 < wish->count)
			sleep_until(next);
	}
	return report && is_lost(report) ? wish->error_exitcode : 0;
}

static struct scan *new_scan(const struct settings *settings)
{
	if (settings->scan.core)
		return scan_of_core(settings->scan.core, settings->scan.sysroot);
	const pid_t which = settings->pids[0], leader = proc_tgid(which);

	return scan_new(leader ? leader : which); /* it may be a thread's */
}

int scan_run(const struct settings *settings)
{
	struct scan *scan = new_scan(settings);
	struct sigaction action = {.sa_handler = end, .sa_flags = SA_RESETHAND};

	if (!scan)
		return EXIT_FAILURE;
	if (settings->scan.count > 1)
		sigaction(SIGINT, &action, NULL);
	const int status = scan_all(settings, scan);

	scan_free(scan);
	if (!fflush(stdout) && !ferror(stdout))
		return status;
	msg_error("cannot write standard output: %s; what is there is not complete", strerror(errno));
	return status ? status : EXIT_FAILURE;
}

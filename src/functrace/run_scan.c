#include "config.h"
#include "functrace/run_scan.h"
#include "base/hash.h"
#include "base/msg.h"
#include "proc/proc.h"
#include "proc/refusal.h"
#include "proc/process_search.h"
#include "scan/scan.h"
#include "base/time_units.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct target {
	struct scan *scan;
	bool is_named; /* given by -t or --core; false: a descendant of such a process */
	bool is_over;  /* the process is not scanned again */
};

struct run_scan_run {
	const struct settings *settings;
	struct target *items;
	size_t count, capacity;
	struct hash pids; /* pid of each process that was ever added -> its start time */
	uint64_t round;   /* number of the round, from 0 on */
	bool has_printed, has_failed;
	bool is_lost; /* a scan in this round has found lost blocks */
};

static volatile sig_atomic_t is_ended;

static void run_scan_end(int sig)
{
	(void)sig;
	is_ended = 1;
}

/* Sleeps until a time on the monotonic clock, or until Ctrl-C. SIGINT is blocked except while ppoll() sleeps, so that a
 * signal right before the sleep ends the sleep, too. */
static void run_scan_sleep_until(uint64_t ns)
{
	sigset_t interrupt, before;
	uint64_t now;

	sigemptyset(&interrupt);
	sigaddset(&interrupt, SIGINT);
	sigprocmask(SIG_BLOCK, &interrupt, &before);
	while (!is_ended && (now = clock_ns(CLOCK_MONOTONIC)) < ns) {
		const struct timespec left = {(time_t)((ns - now) / NS_PER_SECOND), (long)((ns - now) % NS_PER_SECOND)};

		ppoll(NULL, 0, &left, &before);
	}
	sigprocmask(SIG_SETMASK, &before, NULL);
}

/* ---- The list of processes ---- */

/* Returns the start time of a process, in clock ticks since boot; 0: there is no such process. */
static uint64_t run_scan_start_of(pid_t pid)
{
	struct proc_stat stat;

	return proc_stat(pid, &stat) ? stat.start : 0;
}

static void run_scan_add(struct run_scan_run *run, struct scan *scan, bool is_named)
{
	ARRAY_GROW(run->items, run->capacity, run->count);
	run->items[run->count++] = (struct target){.scan = scan, .is_named = is_named};
	hash_set(&run->pids, (uint64_t)scan_pid(scan), run_scan_start_of(scan_pid(scan)));
}

/* Returns true if the process is or was in the list. Compares the start times, too, because the pid of a process that
 * has ended may belong to another process now. */
static bool run_scan_knows(const struct run_scan_run *run, pid_t pid)
{
	const uint64_t *const start = hash_get(&run->pids, (uint64_t)pid);

	return start && *start == run_scan_start_of(pid);
}

static void add_named(struct run_scan_run *run, pid_t which)
{
	const pid_t leader = proc_tgid(which), pid = leader ? leader : which; /* `which` may be the id of a thread */

	if (!run_scan_knows(run, pid))
		run_scan_add(run, scan_new(pid), true);
}

static bool run_scan_is_new_child(const struct run_scan_run *run, pid_t pid)
{
	const pid_t parent = run_scan_knows(run, pid) ? 0 : proc_parent(pid);

	return parent && run_scan_knows(run, parent) && proc_live_thread(pid);
}

/* Adds the descendants of all processes in the list (--children). Each pass adds the children of listed processes,
 * until a pass finds no new ones. */
static void add_children(struct run_scan_run *run)
{
	bool more = true;

	while (more) {
		size_t count;
		pid_t *const pids = processes_all(&count);

		more = false;
		for (size_t i = 0; i < count; i++) {
			if (!run_scan_is_new_child(run, pids[i]))
				continue;
			run_scan_add(run, scan_new(pids[i]), false);
			more = true;
		}
		free(pids);
	}
}

/* ---- One scan ---- */

/* Prints the result of a scan. Returns 0, or 1 after a message. */
static int run_scan_print(struct run_scan_run *run, struct scan_report *report)
{
	const bool is_json = run->settings->scan.is_json;

	if (run->has_printed && !is_json)
		fputc('\n', stdout);
	if (is_json)
		scan_report_json(stdout, report);
	else
		scan_report_text(stdout, report);
	run->has_printed = true;
	if (!fflush(stdout) && !ferror(stdout))
		return 0;
	msg_error("cannot write standard output: %s; the output is incomplete. Redirect it to another place.",
		  strerror(errno));
	return 1;
}

/* Returns true if blocks are lost. After several scans, the same blocks must be lost in both of the last two: in a
 * single scan a new block may look lost, because its pointer has not been stored yet. */
static bool run_scan_is_lost(const struct scan_report *report)
{
	const struct scan_sum *sum =
		report->is_compared ? &report->groups->still_lost : &report->groups->sums[CLASS_LOST];

	return sum->blocks > 0;
}

static void explain_end(struct run_scan_run *run, const struct target *target)
{
	const struct scan *scan = target->scan;
	const uint64_t count = scan_count(scan);

	run->has_failed |= target->is_named;
	if (count && target->is_named)
		msg_error("process %d (%s) has ended after %llu scan%s.", scan_pid(scan), scan_program(scan),
			  (unsigned long long)count, count == 1 ? "" : "s");
	else if (count)
		msg_info("process %d (%s) has ended after %llu scan%s", scan_pid(scan), scan_program(scan),
			 (unsigned long long)count, count == 1 ? "" : "s");
	else if (target->is_named)
		refusal_of_attach(scan_pid(scan), ENOENT);
}

/* Scans one process. Returns 0, or 1 after a message if the result could not be written. */
static int scan_one(struct run_scan_run *run, struct target *target)
{
	const struct scan_settings *options = &run->settings->scan;
	scan_continues(target->scan, run->round + 1 < options->count);
	/* Between two scans the process may have ended, and another one may have got its pid. */
	const bool has_ended = run->round && !run_scan_knows(run, scan_pid(target->scan));
	const enum scan_result result =
		has_ended ? SCAN_ENDED : scan_look(target->scan, options->why, options->why_count);
	int error = 0;

	if (result == SCAN_DONE) {
		struct scan_report *report = scan_report_of(target->scan);

		report->scan = run->round + 1;
		report->scans = options->count;
		report->top = options->top;
		run->is_lost |= run_scan_is_lost(report);
		error = run_scan_print(run, report);
	} else if (result == SCAN_ENDED) {
		explain_end(run, target);
	}
	run->has_failed |= result == SCAN_FAILED;
	target->is_over = result != SCAN_DONE;
	if (run->count > 1)
		scan_rest(target->scan);
	return error;
}

/* ---- Scans of all processes ---- */

static void drop_those_over(struct run_scan_run *run)
{
	size_t kept = 0;

	for (size_t i = 0; i < run->count; i++) {
		if (run->items[i].is_over)
			scan_free(run->items[i].scan);
		else
			run->items[kept++] = run->items[i];
	}
	run->count = kept;
}

/* Scans all processes once. Returns 0, or 1 after a message. */
static int run_scan_look_at_all(struct run_scan_run *run)
{
	if (run->settings->target.children)
		add_children(run);
	run->is_lost = false;
	for (size_t i = 0; i < run->count && (!i || !is_ended); i++)
		if (scan_one(run, &run->items[i]))
			return 1;
	drop_those_over(run);
	return 0;
}

static int scan_all(struct run_scan_run *run)
{
	const struct scan_settings *options = &run->settings->scan;
	uint64_t next = clock_ns(CLOCK_MONOTONIC);

	for (run->round = 0; run->round < options->count && run->count && !is_ended; run->round++) {
		if (run_scan_look_at_all(run))
			return EXIT_FAILURE;
		const uint64_t now = clock_ns(CLOCK_MONOTONIC);

		/* After a delay, as by Ctrl-Z, scans that were due meanwhile are not made up for. */
		next = next + options->interval_ns > now ? next + options->interval_ns : now;
		if (run->round + 1 < options->count && run->count)
			run_scan_sleep_until(next);
	}
	return run->is_lost && options->error_exitcode ? options->error_exitcode : run->has_failed;
}

int scan_run(const struct settings *settings)
{
	struct run_scan_run run = {.settings = settings};
	struct sigaction action = {.sa_handler = run_scan_end, .sa_flags = SA_RESETHAND};
	int status = EXIT_FAILURE;

	standard_fds_reserve();
	if (settings->scan.core) {
		struct scan *scan = scan_of_core(settings->scan.core, settings->scan.sysroot);

		if (!scan)
			return status;
		run_scan_add(&run, scan, true);
	}
	for (size_t i = 0; i < settings->target.pid_count; i++)
		add_named(&run, settings->target.pids[i]);
	if (settings->scan.count > 1)
		sigaction(SIGINT, &action, NULL);
	status = scan_all(&run);
	for (size_t i = 0; i < run.count; i++)
		scan_free(run.items[i].scan);
	free(run.items);
	hash_free(&run.pids);
	return status;
}

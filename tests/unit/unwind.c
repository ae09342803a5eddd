/* The unwinder against stacks that are known by construction: unwind_target.c stops itself with
 * them. Both methods have to find exactly those frames, and agree on the frames beyond. */
#include "config.h"
#include "unwind_target.h"
#include "unwind_tracee.h"
#include "base/util.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define FRAMES_MAX   700
#define TARGET(name) BUILD_DIR "/tests/unit/" name

static struct target_report *report;

struct walk {
	struct unwind_frame frames[FRAMES_MAX];
	size_t count;
	bool cut;
};

static struct walk rows, reference;

static struct tracee *start(const char *target, const char *scenario)
{
	char *argv[] = {(char *)target, (char *)scenario, NULL};
	struct tracee *tracee;

	memset(report, 0, sizeof(*report));
	tracee = tracee_start(argv, -1);
	assert_non_null(tracee);
	return tracee;
}

static void run_to_stop(struct tracee *tracee)
{
	do {
		assert_true(tracee_continue(tracee));
	} while (WSTOPSIG(tracee->status) != SIGTRAP);
}

static void take(struct unwinder *unwinder, const struct stack_snapshot *snapshot,
		 struct walk *walk)
{
	memset(walk, 0xee, sizeof(*walk));
	walk->count = unwind_stack(unwinder, snapshot, walk->frames, FRAMES_MAX, 0, &walk->cut);
}

static void print_walk(struct tracee *tracee, const char *name, const struct walk *walk)
{
	print_message("%s: %zu frames%s\n", name, walk->count, walk->cut ? ", cut" : "");
	for (size_t i = 0; i < walk->count && i < 60; i++)
		print_message("  %zu %s cfa %lx%s\n", i, tracee_where(tracee, walk->frames[i].pc),
			      (unsigned long)walk->frames[i].cfa,
			      walk->frames[i].signal ? " signal" : "");
}

/* Whether the frames 1... are those of the report, innermost first. */
static bool is_as_reported(const struct walk *walk)
{
	if (walk->count < report->count + 1 || walk->frames[0].signal)
		return false;
	for (size_t i = 1; i <= report->count; i++) {
		const struct target_frame *known = &report->frames[report->count - i];

		if ((known->pc && walk->frames[i].pc != known->pc) ||
		    (known->cfa && walk->frames[i - 1].cfa != known->cfa) ||
		    walk->frames[i].signal != (known->signal != 0))
			return false;
	}
	return true;
}

static bool is_same_walk(const struct walk *a, const struct walk *b)
{
	if (a->count != b->count || a->cut != b->cut)
		return false;
	for (size_t i = 0; i < a->count; i++)
		if (a->frames[i].pc != b->frames[i].pc ||
		    a->frames[i].signal != b->frames[i].signal ||
		    (i + 1 < a->count && a->frames[i].cfa != b->frames[i].cfa))
			return false;
	return true;
}

enum expected_end {
	END_START,  /* at the program's entry, at most 3 frames beyond those known */
	END_THREAD, /* complete, at most 2 frames beyond */
	END_CUT,    /* cut at the frame whose pc is report->extra */
	END_ANY,
};

static bool is_end(const struct walk *walk, enum expected_end end)
{
	const uint64_t last = walk->frames[walk->count - 1].pc;

	switch (end) {
	case END_START:
		return !walk->cut && last >= report->start && last < report->start_end &&
		       walk->count <= report->count + 4;
	case END_THREAD:
		return !walk->cut && walk->count <= report->count + 3;
	case END_CUT:
		return walk->cut && last == report->extra;
	default:
		return true;
	}
}

/* What is to be found at a stop, by rows and (unless it cannot) by libunwind. */
static void check(struct tracee *tracee, const char *what, enum expected_end end,
		  bool libunwind_can)
{
	if (end == END_CUT) {
		/* Nothing below the code without CFI is to be found. */
		uint64_t kept = 0;

		for (uint64_t i = 0; i < report->count; i++)
			if (report->frames[i].pc == report->extra)
				kept = report->count - i;
		assert_true(kept > 0);
		memmove(report->frames, report->frames + report->count - kept,
			kept * sizeof(*report->frames));
		report->count = kept;
	}
	take(tracee->rows, &tracee->snapshot, &rows);
	take(tracee->libunwind, &tracee->snapshot, &reference);
	const bool good = is_as_reported(&rows) && is_end(&rows, end) &&
			  (!libunwind_can || is_same_walk(&rows, &reference)) &&
			  !unwinder_counts(tracee->rows).fallbacks;

	if (!good) {
		print_message("%s: reported %lu, fallbacks %lu\n", what,
			      (unsigned long)report->count,
			      (unsigned long)unwinder_counts(tracee->rows).fallbacks);
		for (uint64_t i = report->count; i-- > 0;)
			print_message("  known %s cfa %lx%s\n",
				      tracee_where(tracee, report->frames[i].pc),
				      (unsigned long)report->frames[i].cfa,
				      report->frames[i].signal ? " signal" : "");
		print_walk(tracee, "rows", &rows);
		print_walk(tracee, "libunwind", &reference);
	}
	assert_true(good);
}

static void check_scenario(const char *target, const char *scenario, enum expected_end end,
			   bool libunwind_can)
{
	struct tracee *tracee = start(target, scenario);

	run_to_stop(tracee);
	/* The whole stack, a little of it, nothing: the rest is read when it is wanted. */
	for (size_t size = TRACEE_STACK;; size /= 64) {
		char *what = xasprintf("%s %s, snapshot of %zu", target, scenario, size);

		tracee_snapshot(tracee, size, true);
		check(tracee, what, end, libunwind_can);
		free(what);
		if (!size)
			break;
	}
	tracee_end(tracee);
}

static const char *const common[] = {"plain",  "deep",     "leaf",   "alloca", "realigned", "big",
				     "signal", "altstack", "nested", "first",  "assembly"};

static void check_target(const char *target, bool libunwind_can)
{
	for (size_t i = 0; i < ARRAY_SIZE(common); i++)
		check_scenario(target, common[i], END_START, libunwind_can);
	/* libunwind 1.6.2 knows no return address in a register but at frame 0. */
	check_scenario(target, "register", END_START, false);
	check_scenario(target, "jit", END_CUT, libunwind_can);
	check_scenario(target, "thread", END_THREAD, libunwind_can);
	check_scenario(target, "context", END_THREAD, libunwind_can);
}

static void test_o0(void **state)
{
	(void)state;
	check_target(TARGET("unwind-target-O0"), true);
	check_scenario(TARGET("unwind-target-O0"), "cleanup", END_START, true);
}

static void test_o2(void **state)
{
	(void)state;
	check_target(TARGET("unwind-target-O2"), true);
	check_scenario(TARGET("unwind-target-O2"), "cleanup", END_START, true);
}

static void test_frame_pointers(void **state)
{
	(void)state;
	check_target(TARGET("unwind-target-fp"), true);
}

int main(void)
{
	const int fd = memfd_create("report", 0);
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_o0),
		cmocka_unit_test(test_o2),
		cmocka_unit_test(test_frame_pointers),
	};

	if (fd < 0 || ftruncate(fd, sizeof(*report)) || dup2(fd, 100) != 100)
		return 1;
	report = mmap(NULL, sizeof(*report), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (report == MAP_FAILED)
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}

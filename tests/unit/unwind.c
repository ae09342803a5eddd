/* Compares the unwinder's frames with known ones: unwind_target.c records its frames before it stops itself.
 * functrace's own unwinder and libunwind must find exactly those frames, and agree on the frames beyond. */
#include "config.h"
#include "unwind_target.h"
#include "unwind_tracee.h"
#include "base/util.h"
#include "unwind/unwinder.h"
#include "unit_test.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define FRAMES_MAX   700
#define TARGET(name) BUILD_DIR "/tests/unit/" name

static struct target_report *report;

struct walk {
	struct unwind_frame frames[FRAMES_MAX];
	size_t count;
	bool cut;
};

static struct walk rows, reference;

/* Starts a target for a scenario. If `stopped` is given, the target also stops before the scenario. */
static struct tracee *start_target(const char *target, const char *scenario, const char *stopped)
{
	const char *const argv[] = {target, scenario, stopped, NULL};
	struct tracee *tracee;

	memset(report, 0, sizeof(*report));
	tracee = tracee_start(argv, -1);
	assert_non_null(tracee);
	return tracee;
}

static struct tracee *start(const char *target, const char *scenario)
{
	return start_target(target, scenario, NULL);
}

/* Returns true if the target has the scenario on this processor: some scenarios are code of x86-64. The target ends
 * with status 2 if it lacks the scenario. */
static bool has_scenario(const char *target, const char *scenario)
{
	struct tracee *tracee = start(target, scenario);
	const bool has = tracee_continue(tracee) || !WIFEXITED(tracee->status) || WEXITSTATUS(tracee->status) != 2;

	tracee_end(tracee);
	if (!has)
		print_message("%s has no %s on this processor\n", target, scenario);
	return has;
}

static void run_to_stop(struct tracee *tracee)
{
	do {
		assert_true(tracee_continue(tracee));
	} while (WSTOPSIG(tracee->status) != SIGTRAP);
}

#ifdef __i386__
static const bool is_i386 = true;
#else
static const bool is_i386 = false;
#endif

static void walk_stack(struct unwinder *unwinder, const struct stack_snapshot *snapshot, struct walk *walk)
{
	memset(walk, 0xee, sizeof(*walk));
	walk->count = unwind_stack(unwinder, snapshot, walk->frames, FRAMES_MAX, 0, &walk->cut);
}

static void print_walk(struct tracee *tracee, const char *name, const struct walk *walk)
{
	print_message("%s: %zu frames%s\n", name, walk->count, walk->cut ? ", cut" : "");
	for (size_t i = 0; i < walk->count && i < 60; i++)
		print_message("  %zu %s cfa %lx%s\n", i, tracee_where(tracee, walk->frames[i].pc),
			      (unsigned long)walk->frames[i].cfa, walk->frames[i].signal ? " signal" : "");
}

enum expected_end {
	END_START,   /* at the program's entry, at most 3 frames beyond the known ones */
	END_THREAD,  /* complete, at most 2 frames beyond */
	END_CUT,     /* cut at the frame whose pc is report->extra */
	END_CALLER,  /* cut at the caller of main: a C library without CFI */
	END_UNSHOWN, /* cut just before the outermost frame */
};

/* Compares frames 1... with those of the report, innermost first. */
static bool is_as_reported(const struct walk *walk, enum expected_end end)
{
	const size_t count = report->count - (end == END_UNSHOWN);

	if (walk->count < count + 1 || walk->frames[0].signal)
		return false;
	for (size_t i = 1; i <= count; i++) {
		const struct target_frame *known = &report->frames[report->count - i];

		if ((known->pc && walk->frames[i].pc != known->pc) ||
		    (known->cfa && walk->frames[i - 1].cfa != known->cfa) ||
		    walk->frames[i].signal != (known->signal != 0))
			return false;
	}
	return true;
}

/* Returns true if the walks are the same. Walk a, of functrace's own unwinder, may continue where code without tables
 * ends walk b. */
static bool is_same_walk(const struct walk *a, const struct walk *b)
{
	const bool goes_on = b->cut && a->count > b->count;

	if (!goes_on && (a->count != b->count || a->cut != b->cut))
		return false;
	for (size_t i = 0; i < b->count; i++)
		if (a->frames[i].pc != b->frames[i].pc || a->frames[i].signal != b->frames[i].signal ||
		    (i + 1 < b->count && a->frames[i].cfa != b->frames[i].cfa))
			return false;
	return true;
}

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
	case END_UNSHOWN:
		return walk->cut && walk->count == report->count;
	default:
		return walk->cut && walk->count == report->count + 1;
	}
}

/* Fails unless functrace's own unwinder, and libunwind if libunwind_can, find the expected frames at a stop. */
static void check(struct tracee *tracee, const char *what, enum expected_end end, bool libunwind_can)
{
	if (end == END_CUT) {
		/* No caller of the code without CFI is expected. */
		uint64_t kept = 0;

		for (uint64_t i = 0; i < report->count; i++)
			if (report->frames[i].pc == report->extra)
				kept = report->count - i;
		assert_true(kept > 0);
		memmove(report->frames, report->frames + report->count - kept, kept * sizeof(*report->frames));
		report->count = kept;
	}
	walk_stack(tracee->rows, &tracee->snapshot, &rows);
	walk_stack(tracee->libunwind, &tracee->snapshot, &reference);
	const bool good = is_as_reported(&rows, end) && is_end(&rows, end) &&
			  (!libunwind_can || is_same_walk(&rows, &reference)) && !tracee->rows->fallbacks;

	if (!good) {
		print_message("%s: reported %lu, fallbacks %lu\n", what, (unsigned long)report->count,
			      (unsigned long)tracee->rows->fallbacks);
		for (uint64_t i = report->count; i-- > 0;)
			print_message("  known %s cfa %lx%s\n", tracee_where(tracee, report->frames[i].pc),
				      (unsigned long)report->frames[i].cfa, report->frames[i].signal ? " signal" : "");
		print_walk(tracee, "rows", &rows);
		print_walk(tracee, "libunwind", &reference);
	}
	assert_true(good);
}

static void check_scenario(const char *target, const char *scenario, enum expected_end end, bool libunwind_can)
{
	if (!has_scenario(target, scenario))
		return;
	struct tracee *tracee = start(target, scenario);

	run_to_stop(tracee);
	/* The snapshot has the whole stack, a part of it, or nothing; the unwinder reads the rest when it needs it. */
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
				     "signal", "altstack", "nested", "first",  "assembly",  "plt"};

static void need_target(const char *target)
{
	if (!tracee_is_native(target)) {
		print_message("%s could not be built on this machine\n", target);
		skip();
	}
}

static void check_target(const char *target, bool libunwind_can)
{
	for (size_t i = 0; i < ARRAY_SIZE(common); i++)
		check_scenario(target, common[i], END_START, libunwind_can);
	/* libunwind 1.6.2 accepts a return address in a register only at frame 0. */
	check_scenario(target, "register", END_START, false);
	check_scenario(target, "jit", END_CUT, libunwind_can);
	check_scenario(target, "switched", END_CUT, libunwind_can);
	check_scenario(target, "pushed", END_CUT, libunwind_can);
	check_scenario(target, "data", END_CUT, libunwind_can);
	check_scenario(target, "thread", END_THREAD, libunwind_can);
}

/* Returns the expected end of walks in the scenario "context". On i386 the function that makecontext() starts returns
 * to code that has no CFI and does not follow a call. */
static enum expected_end context_end(void)
{
	return is_i386 ? END_UNSHOWN : END_THREAD;
}

static void test_unoptimised_stacks_are_walked(void **state)
{
	check_target(TARGET("unwind-target-O0"), true);
	check_scenario(TARGET("unwind-target-O0"), "cleanup", END_START, true);
	check_scenario(TARGET("unwind-target-O0"), "context", context_end(), true);
}

static void test_optimised_stacks_are_walked(void **state)
{
	check_target(TARGET("unwind-target-O2"), true);
	check_scenario(TARGET("unwind-target-O2"), "cleanup", END_START, true);
	check_scenario(TARGET("unwind-target-O2"), "context", context_end(), true);
}

/* Steps from the stop before a library's function is called, directly or through the PLT, to the function's first
 * instruction, the first one outside of the program. Fails unless the caller is found, even if the function has no
 * CFI. */
static void check_entry(const char *target, bool has_rules)
{
	struct tracee *tracee = start(target, "vdso");

	run_to_stop(tracee);
	tracee_snapshot(tracee, TRACEE_STACK, true);
	walk_stack(tracee->rows, &tracee->snapshot, &reference);
	do {
		assert_true(tracee_step(tracee));
		tracee_snapshot(tracee, TRACEE_STACK, false);
		walk_stack(tracee->rows, &tracee->snapshot, &rows);
	} while (!strstr(tracee_where(tracee, rows.frames[0].pc), ".so"));
	if (rows.count != reference.count + 1) {
		print_walk(tracee, "at the entry", &rows);
		print_walk(tracee, "before", &reference);
	}
	assert_int_equal(rows.count, reference.count + 1);
	assert_int_equal(rows.frames[1].cfa, reference.frames[0].cfa);
	for (size_t i = 1; i < reference.count; i++) {
		assert_int_equal(rows.frames[i + 1].pc, reference.frames[i].pc);
		assert_int_equal(rows.frames[i + 1].cfa, reference.frames[i].cfa);
	}
	/* If the snapshot was taken inside of the function, the word at sp is not taken for a return address. */
	if (!has_rules) {
		tracee->snapshot.inside = true;
		walk_stack(tracee->rows, &tracee->snapshot, &rows);
		assert_int_equal(rows.count, 1);
		assert_true(rows.cut);
	}
	tracee_end(tracee);
}

static void test_stacks_of_static_programs_are_walked(void **state)
{
	need_target(TARGET("unwind-target-static"));
	check_target(TARGET("unwind-target-static"), true);
}

/* musl has no CFI; but the caller of a musl function is found if the thread is stopped at the function's entry. */
static void test_stacks_of_musl_programs_are_walked(void **state)
{
	static const char *const scenarios[] = {"plain", "deep", "leaf", "alloca", "realigned", "big", "assembly"};

	need_target(TARGET("unwind-target-musl"));
	for (size_t i = 0; i < ARRAY_SIZE(scenarios); i++)
		check_scenario(TARGET("unwind-target-musl"), scenarios[i], END_CALLER, false);
	check_entry(TARGET("unwind-target-musl"), false);
}

static void test_stacks_with_frame_pointers_are_walked(void **state)
{
	check_target(TARGET("unwind-target-fp"), true);
}

/* Checks the walk from an indirect function's resolver, which _dl_fixup and _dl_runtime_resolve have called. The CFA of
 * _dl_runtime_resolve is in rbx. */
static void check_lazy(const char *target)
{
	struct tracee *tracee = start(target, "lazy");
	static struct walk resolving;
	size_t skip = 1;

	run_to_stop(tracee);
	tracee_snapshot(tracee, TRACEE_STACK, true);
	walk_stack(tracee->rows, &tracee->snapshot, &resolving);
	walk_stack(tracee->libunwind, &tracee->snapshot, &reference);
	assert_true(is_same_walk(&resolving, &reference));
	assert_false(resolving.cut);
	run_to_stop(tracee);
	tracee_snapshot(tracee, TRACEE_STACK, true);
	walk_stack(tracee->rows, &tracee->snapshot, &rows);
	assert_int_equal(tracee->rows->fallbacks, 0);
	/* Frame 2 of the second stop is lazy_caller. From there on the frames of both stops are equal. */
	while (skip < resolving.count && resolving.frames[skip].pc != rows.frames[2].pc)
		skip++;
	assert_int_equal(resolving.count - skip, rows.count - 2);
	assert_in_range(skip, 4, 6);
	for (size_t i = 0; i + 2 < rows.count; i++) {
		assert_int_equal(resolving.frames[skip + i].pc, rows.frames[2 + i].pc);
		assert_int_equal(resolving.frames[skip + i].cfa, rows.frames[2 + i].cfa);
	}
	tracee_end(tracee);
}

static void test_stack_through_lazy_binding_is_walked(void **state)
{
	if (!has_scenario(TARGET("unwind-target-O2"), "lazy"))
		skip();
	check_lazy(TARGET("unwind-target-O0"));
	check_lazy(TARGET("unwind-target-O2"));
}

/* Takes up to `max` steps. Fails unless functrace's own unwinder and libunwind agree after each step. Returns the
 * number of steps that ended in [vdso]. */
static size_t check_steps(struct tracee *tracee, size_t max, size_t *steps)
{
	size_t in_vdso = 0;

	for (*steps = 0; *steps < max; ++*steps) {
		if (!tracee_step(tracee))
			break;
		tracee_snapshot(tracee, TRACEE_STACK, *steps % 256 == 0);
		walk_stack(tracee->rows, &tracee->snapshot, &rows);
		walk_stack(tracee->libunwind, &tracee->snapshot, &reference);
		if (!is_same_walk(&rows, &reference)) {
			print_walk(tracee, "rows", &rows);
			print_walk(tracee, "libunwind", &reference);
			fail();
		}
		if (strstr(tracee_where(tracee, rows.frames[0].pc), "[vdso]")) {
			in_vdso++;
			if (is_i386)
				continue; /* its vdso has CFI only for system calls */
			assert_false(rows.cut);
			assert_true(rows.count >= 5);
		}
	}
	return in_vdso;
}

static void test_stacks_in_the_vdso_are_walked(void **state)
{
	struct tracee *tracee = start(TARGET("unwind-target-O2"), "vdso");
	size_t steps;

	run_to_stop(tracee);
	tracee_snapshot(tracee, TRACEE_STACK, true);
	assert_non_null(strstr(tracee->maps, "[vdso]"));
	const size_t in_vdso = check_steps(tracee, 4000, &steps);

	if (!in_vdso) {
		print_message("clock_gettime of this machine does not use the vdso\n");
		tracee_end(tracee);
		skip();
	}
	tracee_end(tracee);
}

/* Steps through up to 4000 instructions of each scenario (an exception with a cleanup, a signal, frames of variable
 * size), among them prologues, epilogues and landing pads. */
static void test_walks_agree_at_each_instruction(void **state)
{
	static const char *const scenarios[] = {"cleanup", "altstack", "realigned", "alloca"};

	for (size_t i = 0; i < ARRAY_SIZE(scenarios); i++) {
		struct tracee *tracee = start_target(TARGET("unwind-target-O2"), scenarios[i], "stopped");
		size_t steps;

		check_steps(tracee, 20, &steps);
		run_to_stop(tracee);
		check_steps(tracee, tracee_steps(4000), &steps);
		print_message("%s: %zu steps\n", scenarios[i], steps);
		assert_true(steps > 100);
		tracee_end(tracee);
	}
}

static void test_walks_stop_at_their_limits(void **state)
{
	struct tracee *tracee = start(TARGET("unwind-target-O2"), "plain");
	struct unwind_frame frames[4] = {{.pc = 1}};
	bool cut = true;

	run_to_stop(tracee);
	tracee_snapshot(tracee, TRACEE_STACK, true);
	walk_stack(tracee->rows, &tracee->snapshot, &rows);
	struct unwinder *both[] = {tracee->rows, tracee->libunwind};

	for (size_t k = 0; k < 2; k++) {
		assert_int_equal(unwind_stack(both[k], &tracee->snapshot, frames, 0, 0, &cut), 0);
		assert_false(cut);
		memset(frames, 0, sizeof(frames));
		assert_int_equal(unwind_stack(both[k], &tracee->snapshot, frames, 3, 0, &cut), 3);
		assert_false(cut);
		assert_memory_equal(&frames[2].pc, &rows.frames[2].pc, sizeof(frames[2].pc));
		assert_int_equal(frames[2].cfa, rows.frames[2].cfa);
		assert_int_equal(frames[3].pc, 0);
		/* A walk stops as soon as a frame's cfa is at or beyond the limit. */
		assert_int_equal(unwind_stack(both[k], &tracee->snapshot, frames, 4, rows.frames[1].cfa, &cut), 2);
		assert_false(cut);
		assert_int_equal(frames[1].cfa, rows.frames[1].cfa);
		assert_int_equal(unwind_stack(both[k], &tracee->snapshot, frames, 4, rows.frames[1].cfa + 1, &cut), 3);
		assert_int_equal(unwind_stack(both[k], &tracee->snapshot, frames, 4, 1, &cut), 1);
		assert_false(cut);
	}
	tracee_end(tracee);
}

/* The test maps and unmaps objects in a copy of the unwinder, as a fork's child has it. The original does not
 * change. */
static void test_unmapped_objects_end_the_walk(void **state)
{
	struct tracee *tracee = start(TARGET("unwind-target-O2"), "plain");
	static struct walk other;

	run_to_stop(tracee);
	tracee_snapshot(tracee, TRACEE_STACK, true);
	walk_stack(tracee->rows, &tracee->snapshot, &rows);
	struct unwinder *clone = unwinder_clone(tracee->rows, tracee->pid);

	walk_stack(clone, &tracee->snapshot, &other);
	assert_true(is_same_walk(&rows, &other));
	/* The program's object is unmapped: frame 0 can no longer be unwound, whatever was cached. */
	const uint64_t pc = rows.frames[0].pc;

	unwinder_remove(clone, pc, pc + 1);
	walk_stack(clone, &tracee->snapshot, &other);
	assert_int_equal(other.count, 1);
	assert_true(other.cut);
	walk_stack(tracee->rows, &tracee->snapshot, &other);
	assert_true(is_same_walk(&rows, &other));
	/* The object is mapped again; then a device, which has no rules, takes its place. */
	tracee_add_objects(tracee, clone);
	walk_stack(clone, &tracee->snapshot, &other);
	assert_true(is_same_walk(&rows, &other));
	unwinder_add(clone, pc & ~0xfffull, (pc & ~0xfffull) + 4096, 0, "/dev/null", NULL);
	walk_stack(clone, &tracee->snapshot, &other);
	assert_int_equal(other.count, 1);
	assert_true(other.cut);
	unwinder_remove(clone, 0, UINT64_MAX);
	walk_stack(clone, &tracee->snapshot, &other);
	assert_int_equal(other.count, 1);
	unwinder_free(clone);
	tracee_end(tracee);
}

/* Files that can no longer be opened are read from memory. */
static void test_files_are_read_from_memory(void **state)
{
	struct tracee *tracee = start(TARGET("unwind-target-O2"), "signal");
	static struct walk other;

	run_to_stop(tracee);
	tracee_snapshot(tracee, TRACEE_STACK, true);
	walk_stack(tracee->rows, &tracee->snapshot, &rows);
	/* On i386 the reference is libdw, which reads no such file. */
	for (enum unwind_method method = UNWIND_ROWS; method <= (is_i386 ? UNWIND_ROWS : UNWIND_LIBUNWIND); method++) {
		struct unwinder *unwinder = unwinder_new(tracee->pid, arch_native(), method);

		tracee_add_objects_without_files(tracee, unwinder);
		walk_stack(unwinder, &tracee->snapshot, &other);
		if (!is_same_walk(&rows, &other))
			print_walk(tracee, "from memory", &other);
		assert_true(is_same_walk(&rows, &other));
		unwinder_free(unwinder);
	}
	tracee_end(tracee);
}

#define SIGNATURE (UINT64_C(0x5aa5) << 48)

static uint64_t strip_signature(uint64_t return_address)
{
	return return_address & ~SIGNATURE;
}

static uint64_t *stack_word(struct tracee *tracee, uint64_t address)
{
	return (uint64_t *)(void *)(tracee->stack + (address - tracee->snapshot.address));
}

/* Signs the return addresses in the snapshot as AArch64's programs do on their stacks. */
static unsigned sign(struct tracee *tracee, const struct walk *walk)
{
	unsigned count = 0;

	for (size_t i = 0; i + 1 < walk->count; i++) {
		uint64_t *word = stack_word(tracee, walk->frames[i].cfa - sizeof(*word));

		if (*word == walk->frames[i + 1].pc) {
			*word |= SIGNATURE;
			count++;
		}
	}
	return count;
}

/* If the port's strip() removes signatures, the frames have the return addresses without signatures. */
static void test_signatures_of_return_addresses_are_stripped(void **state)
{
	static const char *const scenarios[] = {"plain", "signal"};
	struct arch signing = *arch_native();
	static struct walk other;

	if (signing.pointer_size != sizeof(uint64_t)) {
		print_message("pointers of this processor have no room for a signature\n");
		skip();
	}
	if (signing.unwind.strip) {
		print_message("this processor has signatures of its own: unwind_core walks such frames\n");
		skip();
	}
	signing.unwind.strip = strip_signature;
	for (size_t i = 0; i < ARRAY_SIZE(scenarios); i++) {
		struct tracee *tracee = start(TARGET("unwind-target-O2"), scenarios[i]);
		struct unwinder *unwinder = unwinder_new(tracee->process, &signing, UNWIND_ROWS);

		run_to_stop(tracee);
		tracee_snapshot(tracee, TRACEE_STACK, true);
		tracee_add_objects(tracee, unwinder);
		walk_stack(tracee->rows, &tracee->snapshot, &rows);
		assert_true(sign(tracee, &rows) >= 3);
		walk_stack(tracee->rows, &tracee->snapshot, &other);
		assert_true(other.cut && other.count < rows.count);
		tracee->snapshot.arch = &signing;
		walk_stack(unwinder, &tracee->snapshot, &other);
		assert_true(is_same_walk(&rows, &other));
		/* The thread is now at the first instruction of code without rules. */
		signing.registers.set_pc(&tracee->snapshot.regs, 0x1000);
		signing.registers.set_sp(&tracee->snapshot.regs, rows.frames[0].cfa - sizeof(uint64_t));
		rows.frames[0].pc = 0x1000;
		walk_stack(unwinder, &tracee->snapshot, &other);
		assert_true(is_same_walk(&rows, &other));
		unwinder_free(unwinder);
		tracee_end(tracee);
	}
}

/* If a program has no .eh_frame, its .debug_frame is used. */
static void test_debug_frame_replaces_a_missing_eh_frame(void **state)
{
	static const char *const scenarios[] = {"plain", "deep", "leaf", "alloca", "realigned", "big"};

	for (size_t i = 0; i < ARRAY_SIZE(scenarios); i++)
		check_scenario(TARGET("unwind-target-debug"), scenarios[i], END_START, false);
}

int main(void)
{
	const int fd = memfd_create("report", 0);
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_unoptimised_stacks_are_walked),
		cmocka_unit_test(test_optimised_stacks_are_walked),
		cmocka_unit_test(test_stacks_with_frame_pointers_are_walked),
		cmocka_unit_test(test_stack_through_lazy_binding_is_walked),
		cmocka_unit_test(test_stacks_of_static_programs_are_walked),
		cmocka_unit_test(test_stacks_of_musl_programs_are_walked),
		cmocka_unit_test(test_stacks_in_the_vdso_are_walked),
		cmocka_unit_test(test_walks_agree_at_each_instruction),
		cmocka_unit_test(test_walks_stop_at_their_limits),
		cmocka_unit_test(test_unmapped_objects_end_the_walk),
		cmocka_unit_test(test_files_are_read_from_memory),
		cmocka_unit_test(test_debug_frame_replaces_a_missing_eh_frame),
		cmocka_unit_test(test_signatures_of_return_addresses_are_stripped),
	};

	/* The rules of ARM's index of functions hold only after calls, so they cannot be compared at each instruction;
	 * libunwind does not read such an index. unwind_exidx and unwind_core test these rules. */
	if (arch_native()->unwind.index_segment) {
		puts("1..0 # SKIP the rules of an index hold only after calls: unwind_exidx and unwind_core test it");
		return 77;
	}

	if (fd < 0 || ftruncate(fd, sizeof(*report)) || dup2(fd, 100) != 100)
		return 1;
	report = mmap(NULL, sizeof(*report), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (report == MAP_FAILED)
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}

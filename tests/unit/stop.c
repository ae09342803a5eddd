/* Tests how recorded wait statuses are understood for a task in each phase. */
#include "config.h"
#include "ptrace/wait_status.h"
#include "ptrace/pending_stops.h"
#include "ptrace/tasks.h"
#include "unit_test.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/ptrace.h>

#define STOPPED(sig)      (((sig) << 8) | 0x7f)
#define EVENT(event, sig) (((event) << 16) | STOPPED(sig))
#define EXITED(code)      ((code) << 8)
#define KILLED(sig)       (sig)

struct row {
	int status;
	enum task_phase phase;
	enum stop_kind kind;
	int signal;
};

static const struct row rows[] = {
	/* the first is the trap of a breakpoint, the others are signals */
	{STOPPED(SIGTRAP), PHASE_LIVE, STOP_TRAP, SIGTRAP},
	{STOPPED(SIGUSR1), PHASE_LIVE, STOP_SIGNAL, SIGUSR1},
	{STOPPED(SIGSTOP), PHASE_LIVE, STOP_SIGNAL, SIGSTOP}, /* the signal is delivered before the group stops */
	{STOPPED(SIGSEGV), PHASE_LIVE, STOP_SIGNAL, SIGSEGV},
	/* group-stops and interruptions */
	{EVENT(PTRACE_EVENT_STOP, SIGSTOP), PHASE_LIVE, STOP_GROUP, SIGSTOP},
	{EVENT(PTRACE_EVENT_STOP, SIGTSTP), PHASE_LIVE, STOP_GROUP, SIGTSTP},
	{EVENT(PTRACE_EVENT_STOP, SIGTTIN), PHASE_LIVE, STOP_GROUP, SIGTTIN},
	{EVENT(PTRACE_EVENT_STOP, SIGTTOU), PHASE_LIVE, STOP_GROUP, SIGTTOU},
	{EVENT(PTRACE_EVENT_STOP, SIGTRAP), PHASE_LIVE, STOP_INTERRUPT, SIGTRAP},
	/* the child of clone() stops before its parent has reported the event, or after it */
	{EVENT(PTRACE_EVENT_STOP, SIGTRAP), PHASE_UNKNOWN, STOP_BORN_EARLY, SIGTRAP},
	{EVENT(PTRACE_EVENT_STOP, SIGTRAP), PHASE_EXPECTED, STOP_BORN, SIGTRAP},
	/* the task was created in a stopped group */
	{EVENT(PTRACE_EVENT_STOP, SIGSTOP), PHASE_EXPECTED, STOP_BORN, SIGSTOP},
	{EVENT(PTRACE_EVENT_STOP, SIGSTOP), PHASE_UNKNOWN, STOP_BORN_EARLY, SIGSTOP},
	/* the parent's events */
	{EVENT(PTRACE_EVENT_CLONE, SIGTRAP), PHASE_LIVE, STOP_NEW_TASK, SIGTRAP},
	{EVENT(PTRACE_EVENT_FORK, SIGTRAP), PHASE_LIVE, STOP_NEW_TASK, SIGTRAP},
	{EVENT(PTRACE_EVENT_VFORK, SIGTRAP), PHASE_LIVE, STOP_NEW_TASK, SIGTRAP},
	{EVENT(PTRACE_EVENT_VFORK_DONE, SIGTRAP), PHASE_LIVE, STOP_VFORK_DONE, SIGTRAP},
	/* exec by a thread that is not the leader: the leader may be in any phase */
	{EVENT(PTRACE_EVENT_EXEC, SIGTRAP), PHASE_LIVE, STOP_EXEC, SIGTRAP},
	{EVENT(PTRACE_EVENT_EXEC, SIGTRAP), PHASE_UNKNOWN, STOP_EXEC, SIGTRAP},
	/* the task was killed before it ran: its exit event is not taken for its first stop */
	{EVENT(PTRACE_EVENT_EXIT, SIGTRAP), PHASE_EXPECTED, STOP_EXIT, SIGTRAP},
	{EVENT(PTRACE_EVENT_EXIT, SIGTRAP), PHASE_UNKNOWN, STOP_EXIT, SIGTRAP},
	{EVENT(PTRACE_EVENT_EXIT, SIGTRAP), PHASE_LIVE, STOP_EXIT, SIGTRAP},
	/* an event of a later kernel */
	{EVENT(77, SIGTRAP), PHASE_LIVE, STOP_INTERRUPT, SIGTRAP},
	/* ends */
	{EXITED(0), PHASE_LIVE, STOP_GONE, 0},
	{EXITED(42), PHASE_EXPECTED, STOP_GONE, 0},
	{KILLED(SIGKILL), PHASE_LIVE, STOP_GONE, 0},
	{KILLED(SIGSEGV) | 0x80, PHASE_HELD, STOP_GONE, 0},
	{EXITED(0), PHASE_UNKNOWN, STOP_STRANGER, 0}, /* a wake-up */
};

static void test_statuses_are_decoded_by_phase(void **state)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct stop stop = stop_decode(7, rows[i].status, rows[i].phase);

		if (stop.kind != rows[i].kind || stop.signal != rows[i].signal)
			print_error("row %zu: kind %d, signal %d\n", i, (int)stop.kind, stop.signal);
		assert_int_equal(stop.kind, rows[i].kind);
		assert_int_equal(stop.signal, rows[i].signal);
		assert_int_equal(stop.tid, 7);
		assert_int_equal(stop.status, rows[i].status);
	}
}

/* The stops of two tasks of one process come and go many times, while a stop of another process waits: the queue must
 * stay small. */
static void test_queue_of_stops_stays_small(void **state)
{
	struct tracer t = {0};
	struct process held = {0}, other = {0};
	struct task tasks[] = {{.tid = 10, .process = &held, .phase = PHASE_LIVE, .stopped = true},
			       {.tid = 20, .process = &other, .phase = PHASE_LIVE, .stopped = true},
			       {.tid = 21, .process = &other, .phase = PHASE_LIVE, .stopped = true}};
	struct stop stop;

	for (size_t i = 0; i < sizeof(tasks) / sizeof(tasks[0]); i++)
		hash_set_ptr(&t.tasks, (uint64_t)tasks[i].tid, &tasks[i]);
	stops_put_back(&t, &(struct stop){.kind = STOP_TRAP, .tid = 10, .status = STOPPED(SIGTRAP)});
	for (int i = 0; i < 1000; i++) {
		for (pid_t tid = 20; tid <= 21; tid++)
			stops_put_back(&t, &(struct stop){.kind = STOP_TRAP, .tid = tid, .status = STOPPED(SIGTRAP)});
		for (pid_t tid = 20; tid <= 21; tid++) {
			assert_true(stops_take_but(&t, &held, &stop));
			assert_int_equal(stop.tid, tid);
		}
		assert_false(stops_take_but(&t, &held, &stop));
	}
	assert_true(t.stops.capacity < 100);
	assert_true(stops_take_but(&t, NULL, &stop));
	assert_int_equal(stop.tid, 10);
	assert_false(stops_take_but(&t, NULL, &stop));
	free(t.stops.items);
	hash_free(&t.tasks);
}

/* A stop that was put back is returned later, when its task may have been forgotten. Of a forgotten task only an exit
 * stop is returned, because the task ends only after the tracer has resumed it; other stops are dropped. */
static const struct forgotten_row {
	int status;
	bool is_given;
} forgotten_rows[] = {
	{EVENT(PTRACE_EVENT_EXIT, SIGTRAP), true}, /* the task does not end before it is resumed */
	{STOPPED(SIGTRAP), false},
	{STOPPED(SIGUSR1), false},
	{EVENT(PTRACE_EVENT_STOP, SIGTRAP), false}, /* not a new task's first stop, because the task was known */
	{EVENT(PTRACE_EVENT_CLONE, SIGTRAP), false},
	{EXITED(0), false}, /* there is no task left to resume */
};

/* Puts back the row's stop between the stops of two known tasks, forgets the row's task, and takes the stops again.
 * stops_take_but() skips the tasks of the process `held`, and, unless `held` is NULL, the forgotten task, because its
 * process is unknown. */
static void put_back_and_forget(const struct forgotten_row *row, const struct process *held)
{
	struct tracer t = {0};
	struct task tasks[] = {
		{.tid = 10, .phase = PHASE_LIVE}, {.tid = 20, .phase = PHASE_LIVE}, {.tid = 30, .phase = PHASE_LIVE}};
	struct stop stop;
	bool given = false;

	for (size_t i = 0; i < sizeof(tasks) / sizeof(tasks[0]); i++) {
		hash_set_ptr(&t.tasks, (uint64_t)tasks[i].tid, &tasks[i]);
		stop = stop_decode(tasks[i].tid, i == 1 ? row->status : STOPPED(SIGUSR1), PHASE_LIVE);
		stops_keep(&t, &tasks[i], &stop);
	}
	hash_remove(&t.tasks, 20, NULL);
	t.last_found = NULL;
	for (pid_t tid = 10; tid <= 30; tid += 20) {
		assert_true(stops_take_but(&t, held, &stop));
		if (stop.tid == 20 && !given) {
			given = true;
			assert_int_equal(stop.kind, STOP_EXIT);
			assert_true(stops_take_but(&t, held, &stop));
		}
		assert_int_equal(stop.tid, tid);
		assert_int_equal(stop.kind, STOP_SIGNAL);
	}
	assert_false(given && held);
	if (stops_take(&t, &stop)) {
		given = true;
		assert_int_equal(stop.tid, 20);
		assert_int_equal(stop.kind, STOP_EXIT);
		assert_false(stops_take(&t, &stop));
	}
	if (given != row->is_given)
		print_error("status %#x: %s\n", row->status, given ? "given out" : "dropped");
	assert_int_equal(given, row->is_given);
	free(t.stops.items);
	hash_free(&t.tasks);
}

static void test_only_exit_stops_of_forgotten_tasks_are_returned(void **state)
{
	const struct process held = {0};

	for (size_t i = 0; i < sizeof(forgotten_rows) / sizeof(forgotten_rows[0]); i++) {
		put_back_and_forget(&forgotten_rows[i], NULL);
		put_back_and_forget(&forgotten_rows[i], &held);
	}
}

/* A stop that was taken from the middle, or dropped, is not returned again, whatever stop it was. */
static void test_stops_are_returned_once(void **state)
{
	struct tracer t = {0};
	struct process held = {0}, other = {0};
	struct task tasks[] = {{.tid = 10, .process = &held, .phase = PHASE_LIVE},
			       {.tid = 20, .process = &other, .phase = PHASE_LIVE},
			       {.tid = 30, .process = &held, .phase = PHASE_LIVE}};
	struct stop stop;

	for (size_t i = 0; i < sizeof(tasks) / sizeof(tasks[0]); i++) {
		hash_set_ptr(&t.tasks, (uint64_t)tasks[i].tid, &tasks[i]);
		stop = stop_decode(tasks[i].tid, EVENT(PTRACE_EVENT_EXIT, SIGTRAP), PHASE_LIVE);
		stops_keep(&t, &tasks[i], &stop);
	}
	assert_true(stops_take_but(&t, &held, &stop));
	assert_int_equal(stop.tid, 20);
	stops_forget(&t, 30);
	assert_true(stops_take(&t, &stop));
	assert_int_equal(stop.tid, 10);
	assert_false(stops_take(&t, &stop));
	free(t.stops.items);
	hash_free(&t.tasks);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_statuses_are_decoded_by_phase),
					   cmocka_unit_test(test_queue_of_stops_stays_small),
					   cmocka_unit_test(test_only_exit_stops_of_forgotten_tasks_are_returned),
					   cmocka_unit_test(test_stops_are_returned_once)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

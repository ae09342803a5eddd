/* Tests how a task's CPUs are restored. A fake kernel has eight CPUs and one task. */
#include "config.h"
#include "engine/cpus.h"
#include "unit_test.h"

#include <errno.h>
#include <string.h>

#define TASK  4711
#define MAKER 4710 /* the task's maker; functrace only reads its CPUs */

static unsigned cpuset, mask, asked; /* masks of the CPUs that the task may use, that it uses, and that were set last */
static unsigned maker_mask;
static bool forbidden;

static unsigned bits_of(const cpu_set_t *set)
{
	unsigned bits = 0;

	for (int cpu = 0; cpu < 8; cpu++)
		bits |= CPU_ISSET(cpu, set) ? 1u << cpu : 0;
	return bits;
}

static cpu_set_t set_of(unsigned bits)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	for (int cpu = 0; cpu < 8; cpu++)
		if (bits & 1u << cpu)
			CPU_SET(cpu, &set);
	return set;
}

int sched_getaffinity(pid_t tid, size_t size, cpu_set_t *set)
{
	if (tid != TASK && tid != MAKER) {
		errno = ESRCH;
		return -1;
	}
	const cpu_set_t now = set_of(tid == TASK ? mask : maker_mask);

	memcpy(set, &now, size);
	return 0;
}

int sched_setaffinity(pid_t tid, size_t size, const cpu_set_t *set)
{
	(void)size;
	errno = tid != TASK ? ESRCH : forbidden ? EPERM : EINVAL;
	if (tid != TASK || forbidden || !(bits_of(set) & cpuset))
		return -1;
	asked = bits_of(set);
	mask = asked & cpuset;
	return 0;
}

/* Puts a task with the CPUs `own` on CPU 2, sets its CPUs to `then` as another process might, and lets functrace
 * restore them. Returns the result of cpus_put_back(). */
static int narrow_and_restore(unsigned own, unsigned then)
{
	const cpu_set_t set = set_of(own);

	cpuset = 0x0f;
	mask = asked = own;
	forbidden = false;
	assert_int_equal(cpus_narrow(TASK, 2), 0);
	assert_true(cpus_are_only(TASK, 2));
	mask = then;
	return cpus_put_back(TASK, 2, &set);
}

static void test_cpus_are_restored_unless_changed_meanwhile(void **state)
{
	/* The task had all CPUs of its cpuset, so it must also get CPUs that are added to the cpuset later. */
	assert_int_equal(narrow_and_restore(0x0f, 0x04), 0);
	assert_int_equal(mask, 0x0f);
	assert_int_equal(asked, 0xff);
	/* The task had chosen some of the CPUs. */
	assert_int_equal(narrow_and_restore(0x06, 0x04), 0);
	assert_int_equal(mask, 0x06);
	assert_int_equal(asked, 0x06);
	/* The task has chosen other CPUs meanwhile, so they are not changed. */
	assert_int_equal(narrow_and_restore(0x0f, 0x02), 0);
	assert_int_equal(mask, 0x02);
	assert_int_equal(narrow_and_restore(0x0f, 0x06), 0);
	assert_int_equal(mask, 0x06);
	/* The task had only that CPU, so it must get no others. */
	assert_int_equal(narrow_and_restore(0x04, 0x04), 0);
	assert_int_equal(asked, 0x04);
}

/* Lets functrace adjust the CPUs of a new task that was created with the CPUs `own`, and whose maker has the CPUs
 * `makers`. Returns the task's CPUs. */
static unsigned inherited(unsigned own, unsigned makers)
{
	cpuset = 0x0f;
	mask = own;
	maker_mask = makers;
	forbidden = false;
	cpus_inherit(TASK, MAKER);
	return mask;
}

/* functrace had put the maker on one CPU when the maker created the task, and has restored the maker's CPUs before it
 * sees the task. */
static void test_child_gets_the_cpus_of_a_restored_maker(void **state)
{
	assert_int_equal(inherited(0x04, 0x0f), 0x0f);
	assert_int_equal(inherited(0x01, 0x06), 0x06);
	/* The program has chosen one CPU for both, or several for the task. */
	assert_int_equal(inherited(0x04, 0x04), 0x04);
	assert_int_equal(inherited(0x04, 0x02), 0x04);
	assert_int_equal(inherited(0x06, 0x0f), 0x06);
}

static void test_errors_of_affinity_calls_are_returned(void **state)
{
	const cpu_set_t set = set_of(0x0f);

	mask = 0x04;
	cpuset = 0x0f;
	forbidden = true;
	assert_int_equal(cpus_narrow(TASK, 2), -EPERM);
	assert_int_equal(cpus_put_back(TASK, 2, &set), -EPERM);
	assert_int_equal(cpus_narrow(TASK + 1, 2), -ESRCH);
	assert_false(cpus_are_only(TASK + 1, 2));
	assert_int_equal(cpus_put_back(TASK + 1, 2, &set), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_cpus_are_restored_unless_changed_meanwhile),
					   cmocka_unit_test(test_child_gets_the_cpus_of_a_restored_maker),
					   cmocka_unit_test(test_errors_of_affinity_calls_are_returned)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

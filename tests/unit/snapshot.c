/* Tests the snapshot of a live process: its content, and that the process continues afterwards. */
#include "config.h"
#include "scan/capture/snapshot.h"
#include "scan/capture/copy_workers.h"
#include "scan/capture/mapping_choice.h"
#include "base/util.h"
#include "proc/proc.h"
#include "unit_test.h"

#include <pthread.h>
#include <sched.h>
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define THREADS 4
#define PAGES   8
#define WIDE    12001 /* pages that several threads copy */

/* Memory that this process and its child share, at the same address. */
static struct {
	atomic_uint ready;
	atomic_ulong rounds[THREADS], signals;
} * shared;
static unsigned char *pages; /* the first and the third page have data, the last page can only be read */
static unsigned char *wide;  /* the second page of each three is empty */
static char in_data[] = "these bytes are in .data";

static unsigned char *map(size_t size, int how)
{
	unsigned char *at = mmap(NULL, size, PROT_READ | PROT_WRITE, how | MAP_ANONYMOUS, -1, 0);

	assert_ptr_not_equal(at, MAP_FAILED);
	return at;
}

/* Runs in each thread: thread 0 sleeps, the other threads count rounds. */
static void *work(void *argument)
{
	const size_t number = (size_t)argument;

	atomic_fetch_add(&shared->ready, 1);
	while (!number)
		pause();
	while (true)
		atomic_fetch_add(&shared->rounds[number], 1);
	return NULL;
}

static void count_signal(int sig)
{
	(void)sig;
	atomic_fetch_add(&shared->signals, 1);
}

static void run_child(void)
{
	pthread_t thread;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* Huge pages, which some kernels always use, are switched off, because with them untouched pages are in memory,
	 * too. */
	prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
	signal(SIGUSR1, count_signal);
	memset(pages, 0x5a, page_size());
	memset(pages + 2 * page_size(), 0xa5, page_size());
	mprotect(pages + (PAGES - 1) * page_size(), page_size(), PROT_READ);
	for (size_t i = 0; i < WIDE; i++)
		if (i % 3 != 1)
			memset(wide + i * page_size(), (int)(i % 251 + 1), page_size());
	in_data[0] = 'T';
	for (size_t i = 1; i < THREADS; i++)
		pthread_create(&thread, NULL, work, (void *)i);
	work(NULL);
}

static pid_t start(void)
{
	atomic_store(&shared->ready, 0);
	const pid_t pid = fork();

	if (pid == 0) {
		run_child();
		_exit(0);
	}
	while (atomic_load(&shared->ready) < THREADS)
		usleep(1000);
	struct proc_stat stat;

	/* The first thread counts itself before it sleeps. */
	while (!proc_stat(pid, &stat) || stat.state != 'S')
		usleep(1000);
	return pid;
}

static void end(pid_t pid, int signal)
{
	int status;

	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), signal);
}

/* Waits until each of the threads that do not sleep has run on. */
static void expect_running(void)
{
	for (size_t i = 1; i < THREADS; i++) {
		const unsigned long before = atomic_load(&shared->rounds[i]);

		while (atomic_load(&shared->rounds[i]) == before)
			usleep(1000);
	}
}

static const unsigned char *bytes_in_image(const struct heap_image *image, const void *address, size_t *size)
{
	return image->bytes(image, (uintptr_t)address, size);
}

static void expect_bytes(const struct heap_image *image)
{
	const size_t page = page_size();
	size_t size;

	for (size_t i = 0; i < PAGES; i++) {
		const unsigned char *bytes = bytes_in_image(image, pages + i * page + 1, &size);

		if (i != 0 && i != 2) {
			assert_null(bytes);
			continue;
		}
		assert_non_null(bytes);
		assert_int_equal(size, page - 1);
		for (size_t k = 0; k < size; k++)
			assert_int_equal(bytes[k], i ? 0xa5 : 0x5a);
	}
	const unsigned char *bytes = bytes_in_image(image, in_data, &size);

	assert_non_null(bytes);
	assert_true(size >= sizeof(in_data));
	assert_string_equal((const char *)bytes, "These bytes are in .data");
	assert_null(bytes_in_image(image, NULL, &size));
	assert_null(bytes_in_image(image, (void *)UINTPTR_MAX, &size));
}

static const struct heap_mapping *mapping_of(const struct heap_image *image, uint64_t address)
{
	for (size_t i = 0; i < image->n_mappings; i++)
		if (address >= image->mappings[i].start && address < image->mappings[i].end)
			return &image->mappings[i];
	return NULL;
}

static void expect_threads(const struct heap_image *image, pid_t pid)
{
	assert_int_equal(image->n_threads, THREADS);
	for (size_t i = 0; i < THREADS; i++) {
		const struct heap_thread *thread = &image->threads[i];
		const struct heap_mapping *stack = mapping_of(image, thread->sp);
		size_t size, found = 0;

		assert_int_equal(thread->in_syscall, thread->tid == pid);
		assert_non_null(stack);
		assert_true(stack->writable);
		assert_non_null(image->bytes(image, thread->sp, &size));
		assert_true(mapping_of(image, thread->pc)->executable);
		for (size_t k = 0; k < thread->n_words; k++)
			found += thread->words[k] == thread->sp;
		assert_true(found > 0);
		assert_non_null(image->bytes(image, thread->thread_pointer, &size));
		for (size_t k = 0; k < i; k++) {
			assert_int_not_equal(thread->thread_pointer, image->threads[k].thread_pointer);
			assert_ptr_not_equal(stack, mapping_of(image, image->threads[k].sp));
		}
	}
}

static const struct snapshot_allocator out_of_c = {.leaves_c = true};

static void take(struct snapshot *snapshot, const struct snapshot_allocator *allocator)
{
	assert_int_equal(snapshot_warm(snapshot), 0);
	assert_int_equal(snapshot_take(snapshot, allocator), 0);
}

static void test_snapshot_contains_memory_and_threads(void **state)
{
	const pid_t pid = start();
	struct snapshot *snapshot = snapshot_new(pid);

	for (unsigned i = 0; i < 6; i++) {
		take(snapshot, i % 2 ? &out_of_c : NULL);
		const struct heap_image *image = snapshot_image(snapshot);
		const struct snapshot_figures *figures = snapshot_figures(snapshot);

		assert_int_equal(image->arch->pointer_size, sizeof(void *));
		expect_bytes(image);
		expect_threads(image, pid);
		assert_int_equal(figures->threads, THREADS);
		assert_int_equal(figures->moving, 0);
		assert_int_equal(figures->unreadable, 0);
		assert_true(figures->bytes >= 2 * page_size());
		assert_true(figures->pause_ns > 0);
		assert_false(figures->is_stopped);
		expect_running();
	}
	assert_int_equal(proc_tracer(pid), 0);
	snapshot_free(snapshot);
	end(pid, SIGKILL);
}

static void test_stopped_process_stays_stopped(void **state)
{
	const pid_t pid = start();
	struct snapshot *snapshot = snapshot_new(pid);
	struct proc_stat stat;
	int status;

	kill(pid, SIGSTOP);
	assert_int_equal(waitpid(pid, &status, WUNTRACED), pid);
	for (unsigned i = 0; i < 4; i++) {
		take(snapshot, i % 2 ? &out_of_c : NULL);
		expect_bytes(snapshot_image(snapshot));
		assert_true(snapshot_figures(snapshot)->is_stopped);
		do
			assert_true(proc_stat(pid, &stat));
		while (stat.state != 'T');
	}
	kill(pid, SIGCONT);
	expect_running();
	snapshot_free(snapshot);
	end(pid, SIGKILL);
}

static void test_no_signal_is_lost(void **state)
{
	const pid_t pid = start();
	struct snapshot *snapshot = snapshot_new(pid);
	const pid_t sender = fork();
	unsigned long sent = 0;

	if (!sender)
		for (;; sent++) {
			while (atomic_load(&shared->signals) < sent)
				;
			kill(pid, SIGUSR1);
		}
	for (unsigned i = 0; i < 30; i++)
		take(snapshot, i % 2 ? &out_of_c : NULL);
	/* The sender waits for each handler: if a signal were lost, it would wait for ever. */
	const unsigned long before = atomic_load(&shared->signals);

	while (atomic_load(&shared->signals) < before + 10)
		usleep(1000);
	kill(sender, SIGKILL);
	waitpid(sender, NULL, 0);
	snapshot_free(snapshot);
	end(pid, SIGKILL);
}

static void expect_wide(const struct heap_image *image)
{
	const size_t page = page_size();

	for (size_t i = 0; i < WIDE; i++) {
		size_t size;
		const unsigned char *const bytes = bytes_in_image(image, wide + i * page, &size);

		if (i % 3 == 1) {
			assert_null(bytes);
			continue;
		}
		assert_non_null(bytes);
		assert_true(size >= page);
		for (size_t k = 0; k < page; k += 97)
			assert_int_equal(bytes[k], i % 251 + 1);
	}
}

/* In the pause only the bytes are copied: the memory for them is allocated before. */
static void test_memory_is_allocated_before_the_pause(void **state)
{
	const pid_t pid = start();
	struct snapshot *snapshot = snapshot_new(pid);
	struct rusage before, after;

	prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(snapshot_warm(snapshot), 0);
		getrusage(RUSAGE_SELF, &before);
		assert_int_equal(snapshot_take(snapshot, NULL), 0);
		getrusage(RUSAGE_SELF, &after);
		assert_in_range(after.ru_minflt - before.ru_minflt, 0, WIDE / 20);
		expect_wide(snapshot_image(snapshot));
	}
	prctl(PR_SET_THP_DISABLE, 0, 0, 0, 0);
	snapshot_free(snapshot);
	end(pid, SIGKILL);
}

struct shares {
	atomic_uint there, wanted;
	atomic_uint_fast64_t sum;
	uint64_t end, piece;
};

/* Adds up the numbers of a range. Each thread first waits until all threads have started. */
static void share(void *context, uint64_t from, uint64_t to)
{
	struct shares *const shares = context;

	assert_int_equal(from % shares->piece, 0);
	assert_true(to == shares->end || to == from + shares->piece);
	atomic_fetch_add(&shares->there, 1);
	while (atomic_load(&shares->there) < shares->wanted)
		sched_yield();
	for (; from < to; from++)
		atomic_fetch_add(&shares->sum, from + 1);
}

static uint64_t sum_up_to(uint64_t number)
{
	return number * (number + 1) / 2;
}

/* There are as many threads as processors, at most 16, if there is enough work; each number is in exactly one range. */
static void test_workers_share_all_pieces_once(void **state)
{
	cpu_set_t set;
	struct shares shares = {.piece = 10};

	assert_int_equal(sched_getaffinity(0, sizeof(set), &set), 0);
	const unsigned count = (unsigned)CPU_COUNT(&set) < 16 ? (unsigned)CPU_COUNT(&set) : 16;

	for (shares.end = 0; shares.end < count * 10 + 30; shares.end++) {
		const uint64_t pieces = (shares.end + 9) / 10;

		shares.there = 0;
		shares.sum = 0;
		shares.wanted = pieces < WORKERS_LEAST ? !!pieces : pieces < count ? (unsigned)pieces : count;
		workers_share(shares.end, shares.piece, share, &shares);
		assert_int_equal(shares.there, pieces);
		assert_int_equal(shares.sum, sum_up_to(shares.end));
	}
}

/* The address of a lock is given for one program: there, a word at this address that is not 0 is a held lock. In
 * another program, the word means something else, so it is ignored. */
static void test_locks_of_another_program_are_ignored(void **state)
{
	const pid_t pid = start();
	struct snapshot *snapshot = snapshot_new(pid);
	const uint64_t lock = (uintptr_t)in_data;
	struct snapshot_allocator allocator = {.locks = &lock, .lock_count = 1, .marks_locks = true};

	take(snapshot, NULL);
	allocator.program = snapshot_program(snapshot);
	assert_int_not_equal(allocator.program, 0);
	take(snapshot, &allocator);
	assert_int_equal(snapshot_figures(snapshot)->inside, 1);
	assert_int_equal(snapshot_program(snapshot), allocator.program);
	allocator.program++;
	take(snapshot, &allocator);
	assert_int_equal(snapshot_figures(snapshot)->inside, 0);
	expect_bytes(snapshot_image(snapshot));
	snapshot_free(snapshot);
	end(pid, SIGKILL);
}

static void test_ended_process_is_an_error(void **state)
{
	const pid_t pid = start();
	struct snapshot *snapshot = snapshot_new(pid);

	assert_int_equal(snapshot_warm(snapshot), 0);
	kill(pid, SIGKILL);
	assert_int_equal(snapshot_take(snapshot, NULL), -ESRCH);
	/* The task is a child of this process, so the thread of the scan may reap it: if it has seized the task before
	 * the task died, its waitpid() returns the task's end. A: kill() | B: SEIZE, waitpid: the end | A: ECHILD. */
	if (waitpid(pid, NULL, 0) != pid)
		assert_int_equal(errno, ECHILD);
	assert_int_equal(snapshot_take(snapshot, NULL), -ESRCH);
	assert_int_equal(snapshot_warm(snapshot), -ESRCH);
	snapshot_free(snapshot);
}

/* The scanning process is killed in the pause: the kernel resumes all threads. */
static void test_process_runs_on_if_the_scanner_is_killed(void **state)
{
	const pid_t pid = start();

	for (unsigned i = 0; i < 40; i++) {
		const pid_t scanner = fork();

		if (!scanner) {
			struct snapshot *snapshot = snapshot_new(pid);

			snapshot_warm(snapshot);
			for (;;)
				snapshot_take(snapshot, &out_of_c);
		}
		usleep(2000 + i * 137);
		kill(scanner, SIGKILL);
		assert_int_equal(waitpid(scanner, NULL, 0), scanner);
		expect_running();
	}
	end(pid, SIGKILL);
}

/* Memory that is mapped only for writing is copied, but not if it may be a device's. */
static void test_write_only_mappings_are_copied(void **state)
{
	static const struct {
		const char *maps;
		bool is_wanted;
	} rows[] = {
		{"1000-2000 rw-p 0 0:0 0\n", true},
		{"1000-2000 -w-p 0 0:0 0\n", true},
		{"1000-2000 r--p 0 0:0 0\n", false},
		{"1000-2000 -w-s 0 0:1 7 /dev/zero (deleted)\n", true},
		{"1000-2000 rw-s 0 0:5 7 /dev/mem\n", false},
		{"1000-2000 -w-s 0 0:5 7 /sys/devices/resource0\n", false},
		{"1000-2000 -w-s 0 0:5 7 anon_inode:[vfio-device]\n", false},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct maps maps;

		assert_int_equal(maps_parse(xstrdup(rows[i].maps), &maps), 0);
		assert_int_equal(mapping_is_wanted(&maps.items[0]), rows[i].is_wanted);
		maps_free(&maps);
	}
}

/* Pages that the program can only read or execute are copied if they may be in a block: if private memory of the
 * program is next to them, and they are not more than 64 GiB. */
static void test_protected_pages_beside_memory_are_recognised(void **state)
{
	static const struct {
		const char *maps;
		size_t which;
		bool is_protected;
	} rows[] = {
		{"1000-2000 rw-p 0 0:0 0\n2000-3000 r--p 0 0:0 0\n", 1, true},
		{"1000-2000 rw-p 0 0:0 0\n2000-3000 r-xp 0 0:0 0\n", 1, true},
		{"1000-2000 r--p 0 0:0 0\n2000-3000 rw-p 0 0:0 0 [heap]\n", 0, true},
		{"1000-2000 rw-p 0 0:0 0 [anon:pool]\n2000-3000 r--p 0 0:0 0 [anon:pool]\n", 1, true},
		{"1000-2000 rw-p 0 0:0 0\n2000-1000002000 r--p 0 0:0 0\n", 1, true},
		{"1000-2000 rw-p 0 0:0 0\n2000-1000003000 r--p 0 0:0 0\n", 1, false},
		{"1000-2000 rw-p 0 0:0 0\n2000-3000 ---p 0 0:0 0\n", 1, false},
		{"1000-2000 rw-p 0 0:0 0\n3000-4000 r--p 0 0:0 0\n", 1, false},
		{"1000-2000 rw-s 0 0:1 7 /dev/zero\n2000-3000 r--p 0 0:0 0\n", 1, false},
		{"1000-2000 rw-p 0 0:0 0\n2000-3000 r--p 0 8:1 7 /lib/x.so\n", 1, false},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct maps maps;

		assert_int_equal(maps_parse(xstrdup(rows[i].maps), &maps), 0);
		assert_int_equal(mapping_is_protected(&maps, rows[i].which), rows[i].is_protected);
		maps_free(&maps);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_snapshot_contains_memory_and_threads),
		cmocka_unit_test(test_stopped_process_stays_stopped),
		cmocka_unit_test(test_no_signal_is_lost),
		cmocka_unit_test(test_ended_process_is_an_error),
		cmocka_unit_test(test_process_runs_on_if_the_scanner_is_killed),
		cmocka_unit_test(test_locks_of_another_program_are_ignored),
		cmocka_unit_test(test_memory_is_allocated_before_the_pause),
		cmocka_unit_test(test_workers_share_all_pieces_once),
		cmocka_unit_test(test_protected_pages_beside_memory_are_recognised),
		cmocka_unit_test(test_write_only_mappings_are_copied),
	};

	shared = (void *)map(page_size(), MAP_SHARED);
	pages = map(PAGES * page_size(), MAP_PRIVATE);
	wide = map(WIDE * page_size(), MAP_PRIVATE);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

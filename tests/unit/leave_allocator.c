/* Tests that functrace marks a lock as waited for only if no running thread can release it between functrace's read and
 * functrace's write of the lock's word. Usually only a microsecond passes between them, so the test itself releases the
 * lock, inside the call that writes. */
#include "config.h"
#include "scan/scan.h"
#include "scan/capture/snapshot.h"
#include "base/util.h"
#include "heap/heap.h"
#include "unit_test.h"

#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

enum word { FREE, HELD, CONTENDED };

/* Memory that this process and its child share, at the same address. */
static struct {
	atomic_uint lock; /* like a lock of the C library; its address is that of the struct */
	atomic_uint ready, born;
	_Atomic(atomic_uint *) arena; /* the main arena's lock, which hold_arena() takes; NULL: not yet */
} * shared;

/* ---- functrace's writes to the lock ---- */

ssize_t __real_process_vm_writev(pid_t pid, const struct iovec *local, unsigned long local_count,
				 const struct iovec *remote, unsigned long remote_count, unsigned long flags);
ssize_t __wrap_process_vm_writev(pid_t pid, const struct iovec *local, unsigned long local_count,
				 const struct iovec *remote, unsigned long remote_count, unsigned long flags);

static unsigned writes, wrong;
static bool is_let_go_of; /* the lock is released just before functrace's write, as by a thread that is not stopped */

ssize_t __wrap_process_vm_writev(pid_t pid, const struct iovec *local, unsigned long local_count,
				 const struct iovec *remote, unsigned long remote_count, unsigned long flags)
{
	writes++;
	if (remote->iov_base == (void *)&shared->lock)
		wrong += atomic_load(&shared->lock) != HELD;
	if (is_let_go_of)
		atomic_store(&shared->lock, FREE);
	return __real_process_vm_writev(pid, local, local_count, remote, remote_count, flags);
}

/* ---- The program ---- */

static char stack[65536];

static void release_lock(atomic_uint *lock)
{
	if (atomic_exchange(lock, FREE) == CONTENDED)
		syscall(SYS_futex, lock, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

/* Reads the lock. Meanwhile the lock's address is in the caller's frame, as in frames of malloc's functions. */
static __attribute__((noinline)) unsigned load_lock(atomic_uint *lock)
{
	__asm__ volatile("" ::: "memory");
	return atomic_load(lock);
}

static void count_ready(void)
{
	atomic_fetch_add(&shared->ready, 1);
}

static void *hold_lock(void *argument)
{
	atomic_uint *volatile mine = &shared->lock;

	count_ready();
	while (load_lock(mine))
		;
	return argument;
}

/* Waits until functrace has marked the lock as waited for, then releases it. */
static void *hold_and_release(void *argument)
{
	atomic_uint *volatile mine = &shared->lock;

	count_ready();
	while (load_lock(mine) != CONTENDED)
		;
	release_lock(mine);
	while (true)
		pause();
	return argument;
}

static void *count_born(void *argument)
{
	atomic_fetch_add(&shared->born, 1);
	while (true)
		pause();
	return argument;
}

static void *hold_and_make_thread(void *argument)
{
	atomic_uint *volatile mine = &shared->lock;
	pthread_t thread;

	count_ready();
	while (load_lock(mine) != CONTENDED)
		;
	pthread_create(&thread, NULL, count_born, NULL);
	while (load_lock(mine))
		;
	return argument;
}

static void *hold_arena(void *argument)
{
	atomic_uint *volatile mine;

	count_ready();
	while (!(mine = atomic_load(&shared->arena)))
		;
	atomic_store(mine, HELD);
	count_ready();
	while (load_lock(mine) != CONTENDED)
		;
	release_lock(mine);
	while (true)
		pause();
	return argument;
}

static void begin_thread(void *(*run)(void *))
{
	pthread_t thread;

	pthread_create(&thread, NULL, run, NULL);
}

static int wait_for_ever(void *argument)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	count_ready();
	while (!argument)
		pause();
	return 0;
}

static void with_vfork(void)
{
	begin_thread(hold_lock);
	if (!vfork())
		wait_for_ever(NULL);
}

static void with_waiters(void)
{
	begin_thread(hold_lock);
	begin_thread(hold_lock);
	begin_thread(hold_and_release);
	begin_thread(hold_lock);
	begin_thread(hold_lock);
}

static void with_maker(void)
{
	begin_thread(hold_and_make_thread);
}

static void with_arena(void)
{
	free(malloc(100));
	begin_thread(hold_arena);
}

static void with_arena_and_child(void)
{
	with_arena();
	clone(wait_for_ever, stack + sizeof(stack), CLONE_VM | SIGCHLD, NULL);
}

static pid_t start(void (*begin)(void), unsigned ready)
{
	atomic_store(&shared->lock, HELD);
	atomic_store(&shared->ready, 0);
	atomic_store(&shared->born, 0);
	atomic_store(&shared->arena, NULL);
	writes = wrong = 0;
	is_let_go_of = false;
	const pid_t pid = fork();

	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		begin();
		while (true)
			pause();
	}
	while (atomic_load(&shared->ready) < ready)
		usleep(1000);
	return pid;
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

/* Takes a snapshot. Before the copy functrace lets the holder of shared->lock release it; functrace finds possible
 * holders by the lock's address in their frames. */
static struct snapshot *take_snapshot(pid_t pid)
{
	struct snapshot *const snapshot = snapshot_new(pid);
	const uint64_t lock = (uintptr_t)&shared->lock;

	assert_int_equal(snapshot_warm(snapshot), 0);
	assert_int_equal(snapshot_take(snapshot, NULL), 0);
	const struct snapshot_allocator allocator = {
		.locks = &lock, .lock_count = 1, .marks_locks = true, .program = snapshot_program(snapshot)};

	assert_int_equal(snapshot_take(snapshot, &allocator), 0);
	return snapshot;
}

/* ---- Tests ---- */

/* On a busy machine a thread may not run within the time that functrace gives it, so the tests try again. */
#define TRIES 50

/* A thread holds the lock (HELD) | functrace writes CONTENDED | the thread runs, writes FREE, and calls futex |
 * functrace copies the memory. Two threads created before the holder and two created after it also have the lock's
 * address in their frames, but only read the lock. */
static void test_marked_lock_is_released_by_its_holder(void **state)
{
	size_t inside = 1;

	for (unsigned i = 0; i < TRIES && inside; i++) {
		const pid_t pid = start(with_waiters, 5);
		struct snapshot *const snapshot = take_snapshot(pid);

		inside = snapshot_figures(snapshot)->inside;
		assert_int_equal(wrong, 0);
		if (!inside) {
			assert_true(writes > 0);
			assert_int_equal(atomic_load(&shared->lock), FREE);
		}
		snapshot_free(snapshot);
		end(pid);
	}
	assert_int_equal(inside, 0);
}

/* This must not happen: functrace reads: 1 | a vfork child, which shares the memory, releases: 0 | functrace: 2, and
 * all threads wait for ever. So functrace writes nothing if a thread cannot be stopped: here the child's parent,
 * which waits in the kernel. */
static void test_lock_is_not_marked_while_a_thread_runs(void **state)
{
	const pid_t pid = start(with_vfork, 2);

	is_let_go_of = true;
	struct snapshot *const snapshot = take_snapshot(pid);

	/* The thread in vfork(2), and its child. */
	assert_int_equal(snapshot_figures(snapshot)->moving, 1);
	assert_int_equal(snapshot_figures(snapshot)->sharers, 1);
	/* Their registers may have the only pointer to a block. */
	assert_true(snapshot_image(snapshot)->is_partial);
	assert_int_equal(writes, 0);
	assert_int_equal(atomic_load(&shared->lock), HELD);
	snapshot_free(snapshot);
	end(pid);
}

/* The holder is stopped at the beginning of clone. functrace must not let it run, because a thread that it creates
 * would not be stopped. */
static void test_holder_that_creates_a_thread_is_not_run(void **state)
{
	for (unsigned i = 0; i < TRIES && (!i || !writes); i++) {
		const pid_t pid = start(with_maker, 1);
		struct snapshot *const snapshot = take_snapshot(pid);
		const struct heap_image *const image = snapshot_image(snapshot);
		size_t size;
		const atomic_uint *const born = image->bytes(image, (uintptr_t)&shared->born, &size);

		assert_non_null(born);
		assert_in_range(writes, 0, 1);
		assert_int_equal(snapshot_figures(snapshot)->inside, 1);
		assert_int_equal(*born, 0);
		while (writes && !atomic_load(&shared->born))
			usleep(1000);
		snapshot_free(snapshot);
		end(pid);
	}
	assert_int_equal(writes, 1);
}

/* Returns how often functrace marks a lock of malloc. */
static unsigned count_arena_marks(void (*begin)(void), unsigned ready)
{
	const pid_t pid = start(begin, ready);
	struct snapshot *const snapshot = snapshot_new(pid);
	struct scan *const scan = scan_new(pid);
	uint64_t lock;

	assert_int_equal(snapshot_warm(snapshot), 0);
	assert_int_equal(snapshot_take(snapshot, NULL), 0);
	assert_true(heap_locks(snapshot_image(snapshot), &lock, 1, NULL) == 1);
	assert_int_equal(scan_look(scan, NULL, 0), SCAN_DONE);
	assert_int_equal(writes, 0);
	atomic_store(&shared->arena, (atomic_uint *)(uintptr_t)lock);
	while (atomic_load(&shared->ready) < ready + 1)
		usleep(1000);
	assert_int_equal(scan_look(scan, NULL, 0), SCAN_DONE);
	scan_free(scan);
	snapshot_free(snapshot);
	end(pid);
	return writes;
}

/* A child has the same memory as its parent without being a thread, like a vfork child, but its parent runs on. */
static void test_lock_is_not_marked_if_a_process_shares_memory(void **state)
{
	unsigned marked = 0;

	for (unsigned i = 0; i < TRIES && !marked; i++)
		marked = count_arena_marks(with_arena, 1);
	assert_true(marked > 0);
	assert_int_equal(count_arena_marks(with_arena_and_child, 2), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_marked_lock_is_released_by_its_holder),
					   cmocka_unit_test(test_lock_is_not_marked_while_a_thread_runs),
					   cmocka_unit_test(test_holder_that_creates_a_thread_is_not_run),
					   cmocka_unit_test(test_lock_is_not_marked_if_a_process_shares_memory)};

	shared = mmap(NULL, page_size(), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(shared, MAP_FAILED);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

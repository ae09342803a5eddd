#include "config.h"
#include "uprobe/uprobes.h"
#include "uprobe/link_closer.h"
#include "uprobe/uprobe_helper.h"
#include "base/msg.h"
#include "base/util.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PIDFD_OF_THREAD O_EXCL /* PIDFD_THREAD of include/uapi/linux/pidfd.h */

struct uprobes {
	struct uprobe_program *program; /* NULL: the helper has the program */
	struct uprobe_helper *helper;
	int maps[UPROBE_MAPS]; /* the program's, or the helper's, which are closed in the end */
	struct uprobe_row *rows;
	struct uprobe_shared *shared;
	/* the ring: kernel/bpf/ringbuf.c */
	uint64_t size, *consumer;
	const uint64_t *producer;
	const unsigned char *data;
	uint64_t taken; /* position after the record that uprobe_ring_next() has returned */
};

static void *map_memory(int fd, size_t size, int protection, off_t offset)
{
	void *const memory = mmap(NULL, size, protection, MAP_SHARED, fd, offset);

	return memory == MAP_FAILED ? NULL : memory;
}

static bool map_all(struct uprobes *u)
{
	const size_t page = page_size();
	const int ring = u->maps[UPROBE_MAP_RING];

	u->rows = map_memory(u->maps[UPROBE_MAP_ROWS], UPROBE_ROWS * sizeof(*u->rows), PROT_READ | PROT_WRITE, 0);
	u->shared = map_memory(u->maps[UPROBE_MAP_SHARED], sizeof(*u->shared), PROT_READ | PROT_WRITE, 0);
	u->consumer = map_memory(ring, page, PROT_READ | PROT_WRITE, 0);
	const unsigned char *const produced = map_memory(ring, page + 2 * u->size, PROT_READ, (off_t)page);

	u->producer = (const void *)produced;
	u->data = produced ? produced + page : NULL;
	return u->rows && u->shared && u->consumer && produced;
}

/* Loads the program, or lets the helper load it. */
static bool uprobes_load(struct uprobes *u, const struct uprobes_options *options, char *why, size_t why_size)
{
	char message[256];
	int error;

	u->program = uprobe_program_load(options, NULL, &error, message, sizeof(message));
	if (u->program) {
		for (unsigned i = 0; i < UPROBE_MAPS; i++)
			u->maps[i] = uprobe_program_map(u->program, i);
		return true;
	}
	/* -EACCES would be the answer of the kernel's check of the program. */
	if (error == -EPERM) {
		u->helper = uprobe_helper_start(options, u->maps, why, why_size);
		return u->helper != NULL;
	}
	snprintf(why, why_size, "the kernel does not load functrace's programs: %s%s%s", strerror(-error),
		 message[0] ? ": " : "", message);
	return false;
}

struct uprobes *uprobes_open(const struct uprobes_options *options, char *why, size_t why_size)
{
	struct uprobes *const u = xcalloc(1, sizeof(*u));

	u->size = options->ring_size;
	if (uprobes_load(u, options, why, why_size)) {
		if (map_all(u))
			return u;
		snprintf(why, why_size, "functrace cannot map the memory of its probes: %s", strerror(errno));
	}
	uprobes_close(u);
	return NULL;
}

void uprobes_close(struct uprobes *u)
{
	const size_t page = page_size();

	if (!u)
		return;
	link_close_wait();
	if (u->rows)
		munmap(u->rows, UPROBE_ROWS * sizeof(*u->rows));
	if (u->shared)
		munmap(u->shared, sizeof(*u->shared));
	if (u->consumer)
		munmap(u->consumer, page);
	if (u->producer)
		munmap((void *)(uintptr_t)u->producer, page + 2 * u->size);
	for (unsigned i = 0; i < UPROBE_MAPS && u->helper; i++)
		close(u->maps[i]);
	uprobe_helper_free(u->helper);
	uprobe_program_free(u->program);
	free(u);
}

/* ---- Links ---- */

static int create_link(const struct uprobes *u, bool at_return, pid_t pid, int file, const struct uprobe_site *sites,
		       size_t count)
{
	if (u->helper)
		return uprobe_helper_link(u->helper, at_return, pid, file, sites, count);
	return uprobe_program_link(u->program, at_return, pid, file, sites, count);
}

/* Probes the returns of those functions that have UPROBE_RETURN. Returns 0 or -errno. */
static int link_returns(const struct uprobes *u, pid_t pid, int file, const struct uprobe_site *sites, size_t count,
			struct uprobe_link *link)
{
	struct uprobe_site *const returning = xreallocarray(NULL, count, sizeof(*returning));
	size_t number = 0;

	for (size_t i = 0; i < count; i++)
		if (sites[i].cookie & UPROBE_RETURN)
			returning[number++] = sites[i];
	if (number)
		link->fds[1] = create_link(u, true, pid, file, returning, number);
	free(returning);
	return number && link->fds[1] < 0 ? link->fds[1] : 0;
}

int uprobe_link(struct uprobes *u, pid_t pid, int file, const struct uprobe_site *sites, size_t count,
		struct uprobe_link *link)
{
	*link = UPROBE_LINK_NONE;
	/* The probes of the returns first: a call whose return is probed and whose entry is not is no loss. */
	int error = link_returns(u, pid, file, sites, count, link);

	if (error)
		return error;
	link->fds[0] = create_link(u, false, pid, file, sites, count);
	if (link->fds[0] >= 0)
		return 0;
	error = link->fds[0];
	uprobe_unlink(link);
	return error;
}

void uprobe_unlink(struct uprobe_link *link)
{
	for (unsigned i = 0; i < 2; i++)
		if (link->fds[i] >= 0)
			link_close(link->fds[i]);
	*link = UPROBE_LINK_NONE;
}

void uprobe_unlink_wait(void)
{
	link_close_wait();
}

bool uprobe_unlink_is_done(void)
{
	return link_close_is_done();
}

/* ---- The ring ---- */

#define BUSY    (1u << 31)
#define DISCARD (1u << 30)
#define HEADER  8u

uint64_t uprobe_ring_end(const struct uprobes *u)
{
	return __atomic_load_n(u->producer, __ATOMIC_ACQUIRE);
}

void uprobe_ring_done(struct uprobes *u)
{
	__atomic_store_n(u->consumer, u->taken, __ATOMIC_RELEASE);
}

uint64_t uprobe_ring_position(const struct uprobes *u)
{
	return *u->consumer;
}

const struct uprobe_record *uprobe_ring_next(struct uprobes *u, uint64_t until)
{
	uint64_t at = *u->consumer;

	while (at < until) {
		const uint32_t *const header = (const uint32_t *)(const void *)(u->data + (at & (u->size - 1)));
		uint32_t length;

		/* A thread that has begun this record finishes it within its probe, which does not sleep. */
		while ((length = __atomic_load_n(header, __ATOMIC_ACQUIRE)) & BUSY)
			sched_yield();
		u->taken = at + ((HEADER + (length & ~(BUSY | DISCARD)) + 7) & ~7ull);
		if (!(length & DISCARD))
			return (const struct uprobe_record *)(header + HEADER / sizeof(*header));
		at = u->taken;
		uprobe_ring_done(u);
	}
	return NULL;
}

/* ---- Rows ---- */

static void write_kernel_row(struct uprobe_row *to, const struct uprobe_row *row)
{
	/* The program checks the key before and after it reads the row. */
	__atomic_store_n(&to->pc, 0, __ATOMIC_SEQ_CST);
	to->space = row->space;
	to->cfa_offset = row->cfa_offset;
	to->bp_offset = row->bp_offset;
	to->rule = row->rule;
	__atomic_store_n(&to->pc, row->pc, __ATOMIC_SEQ_CST);
}

void uprobe_row_set(struct uprobes *u, const struct uprobe_row *row)
{
	const uint32_t at = uprobe_row_hash(row->pc, row->space);
	struct uprobe_row *const one = &u->rows[at], *const other = &u->rows[at ^ 1];

	if ((one->pc == row->pc && one->space == row->space) || !one->pc)
		write_kernel_row(one, row);
	else if ((other->pc == row->pc && other->space == row->space) || !other->pc)
		write_kernel_row(other, row);
	else
		write_kernel_row(row->pc & 1 ? one : other, row);
}

void uprobe_rows_forget(struct uprobes *u, uint32_t space, uint64_t start, uint64_t end)
{
	for (size_t i = 0; i < UPROBE_ROWS; i++) {
		const uint64_t pc = u->rows[i].pc & ~UPROBE_EXACT;

		if (pc && u->rows[i].space == space && pc >= start && pc <= end)
			__atomic_store_n(&u->rows[i].pc, 0, __ATOMIC_SEQ_CST);
	}
}

/* ---- Threads, losses and signals ---- */

void uprobe_set_outer(struct uprobes *u, pid_t tid, bool has_outer)
{
	const uint32_t key = (uint32_t)tid, value = 1;
	const int error = has_outer ? bpf_map_update_elem(u->maps[UPROBE_MAP_OUTERS], &key, &value, BPF_NOEXIST)
				    : bpf_map_delete_elem(u->maps[UPROBE_MAP_OUTERS], &key);

	if (!error)
		__atomic_add_fetch(&u->shared->outer_count, has_outer ? 1 : -1, __ATOMIC_SEQ_CST);
}

bool uprobe_take_lost(struct uprobes *u, struct uprobe_lost_key *key, struct uprobe_lost *sum)
{
	while (bpf_map_get_next_key(u->maps[UPROBE_MAP_LOST], NULL, key) == 0) {
		const bool is_there = bpf_map_lookup_elem(u->maps[UPROBE_MAP_LOST], key, sum) == 0;

		bpf_map_delete_elem(u->maps[UPROBE_MAP_LOST], key);
		if (is_there)
			return true;
	}
	return false;
}

/* Gets the program's data of a thread. Returns a descriptor of the thread, which is its key in the map of threads, or
 * -1 if there are no data. The caller ends with thread_data_put(). */
static int thread_data_get(const struct uprobes *u, pid_t tid, struct uprobe_thread *thread)
{
	const long fd = syscall(SYS_pidfd_open, tid, PIDFD_OF_THREAD);
	const int key = (int)(fd >= 0 ? fd : syscall(SYS_pidfd_open, tid, 0));

	if (key < 0 || bpf_map_lookup_elem(u->maps[UPROBE_MAP_THREADS], &key, thread) == 0)
		return key;
	close(key);
	return -1;
}

static void thread_data_put(const struct uprobes *u, int key, const struct uprobe_thread *thread, bool is_changed)
{
	if (is_changed)
		bpf_map_update_elem(u->maps[UPROBE_MAP_THREADS], &key, thread, BPF_EXIST);
	close(key);
}

bool uprobe_calls_in_flight(struct uprobes *u, pid_t tid, struct uprobe_call calls[UPROBE_CALLS], bool begin)
{
	struct uprobe_thread thread;
	const int key = thread_data_get(u, tid, &thread);
	bool is_new = false;

	if (key < 0)
		return false;
	memcpy(calls, thread.calls, sizeof(thread.calls));
	for (unsigned i = 0; begin && i < UPROBE_CALLS; i++) {
		is_new |= thread.calls[i].return_sp && !thread.calls[i].is_entered;
		thread.calls[i].is_entered = true;
	}
	thread_data_put(u, key, &thread, is_new);
	return true;
}

static size_t take_in_flight(struct uprobes *u, pid_t tid, uint64_t return_sp, struct uprobe_call calls[UPROBE_CALLS])
{
	struct uprobe_thread thread;
	const int key = thread_data_get(u, tid, &thread);
	size_t count = 0;

	if (key < 0)
		return 0;
	for (unsigned i = 0; i < UPROBE_CALLS; i++) {
		struct uprobe_call *const one = &thread.calls[i];

		if (one->return_sp != return_sp || one->jumps >= UPROBE_CALLS)
			continue;
		calls[one->jumps] = *one;
		count = count > one->jumps ? count : one->jumps + 1;
		one->return_sp = 0;
		thread.used--;
	}
	thread_data_put(u, key, &thread, count);
	return count;
}

size_t uprobe_take_returned(struct uprobes *u, pid_t tid, uint64_t return_sp, struct uprobe_call calls[UPROBE_CALLS])
{
	const int map = u->maps[UPROBE_MAP_FORGOTTEN];
	size_t count = 0;

	memset(calls, 0, UPROBE_CALLS * sizeof(*calls));
	for (uint32_t jumps = 0; jumps < UPROBE_CALLS; jumps++) {
		const struct uprobe_forgotten_key key = {return_sp, (uint32_t)tid, jumps};

		if (bpf_map_lookup_elem(map, &key, &calls[jumps]) < 0)
			break;
		bpf_map_delete_elem(map, &key);
		count = jumps + 1;
	}
	return count ? count : take_in_flight(u, tid, return_sp, calls);
}

const volatile struct uprobe_shared *uprobe_counters(const struct uprobes *u)
{
	return u->shared;
}

bool uprobe_sent_signal(struct uprobes *u, pid_t tid)
{
	const uint32_t key = (uint32_t)tid;

	return bpf_map_delete_elem(u->maps[UPROBE_MAP_SIGNALLED], &key) == 0;
}

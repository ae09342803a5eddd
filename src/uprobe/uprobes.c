#include "config.h"
#include "uprobe/uprobes.h"
#include "uprobe/link_closer.h"
#include "base/msg.h"
#include "base/util.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Numbers of include/uapi/linux/bpf.h that the C library's kernel headers may not have yet. */
#define LINK_CREATE  28
#define UPROBE_MULTI 48
#define MULTI_RETURN 1u
#define PIDFD_OF_THREAD O_EXCL /* PIDFD_THREAD of include/uapi/linux/pidfd.h */

/* The object of hot_calls.bpf.c, as embed.sh makes it. */
static const unsigned char hot_calls_object[] __attribute__((aligned(8))) = {
#include "uprobe/hot_calls.inc"
};

struct uprobes {
	struct bpf_object *object;
	int program;
	int threads, outers, signalled, forgotten, lost; /* maps */
	struct uprobe_row *rows;
	struct uprobe_shared *shared;
	/* the ring: kernel/bpf/ringbuf.c */
	uint64_t size, *consumer;
	const uint64_t *producer;
	const unsigned char *data;
	uint64_t taken; /* position after the record that uprobe_ring_next() has returned */
};

static char load_error[256];

/* Keeps the first message of libbpf about an error. */
static int keep_message(enum libbpf_print_level level, const char *format, va_list list)
{
	if (level == LIBBPF_WARN && !load_error[0])
		vsnprintf(load_error, sizeof(load_error), format, list);
	return 0;
}

static void *map_memory(int fd, size_t size, int protection, off_t offset)
{
	void *const memory = mmap(NULL, size, protection, MAP_SHARED, fd, offset);

	return memory == MAP_FAILED ? NULL : memory;
}

static int map_fd(const struct uprobes *u, const char *name)
{
	return bpf_object__find_map_fd_by_name(u->object, name);
}

static bool map_all(struct uprobes *u)
{
	const size_t page = page_size();
	const int ring = map_fd(u, "ring");

	u->outers = map_fd(u, "outers");
	u->lost = map_fd(u, "lost");
	u->threads = map_fd(u, "threads");
	u->signalled = map_fd(u, "signalled");
	u->forgotten = map_fd(u, "forgotten");
	u->rows = map_memory(map_fd(u, "rows"), UPROBE_ROWS * sizeof(*u->rows), PROT_READ | PROT_WRITE, 0);
	u->shared = map_memory(map_fd(u, "shared"), sizeof(*u->shared), PROT_READ | PROT_WRITE, 0);
	u->consumer = map_memory(ring, page, PROT_READ | PROT_WRITE, 0);
	const unsigned char *const produced = map_memory(ring, page + 2 * u->size, PROT_READ, (off_t)page);

	u->producer = (const void *)produced;
	u->data = produced ? produced + page : NULL;
	return u->rows && u->shared && u->consumer && produced;
}

static bool is_first_namespace(struct uprobe_config *config)
{
	struct stat info;

	if (stat("/proc/self/ns/pid", &info) < 0)
		return false;
	/* include/linux/proc_ns.h: PROC_PID_INIT_INO */
	if (info.st_ino == 0xeffffffcu)
		return true;
	config->ns_dev = info.st_dev;
	config->ns_ino = info.st_ino;
	return true;
}

static int load_program(struct uprobes *u, const struct uprobes_options *options)
{
	const struct bpf_object_open_opts open = {.sz = sizeof(open), .object_name = "functrace"};
	struct bpf_map *map;
	size_t size;

	u->object = bpf_object__open_mem(hot_calls_object, sizeof(hot_calls_object), &open);
	if (!u->object)
		return -errno;
	struct bpf_program *const program = bpf_object__find_program_by_name(u->object, "on_call");

	/* libbpf 1.1 does not know this kind of link. */
	bpf_program__set_expected_attach_type(program, UPROBE_MULTI);

	bpf_object__for_each_map(map, u->object)
	{
		if (!strcmp(bpf_map__name(map), "ring"))
			bpf_map__set_max_entries(map, (uint32_t)options->ring_size);
		if (!strstr(bpf_map__name(map), ".rodata"))
			continue;
		struct uprobe_config *const config = (struct uprobe_config *)bpf_map__initial_value(map, &size);

		config->ring_size = options->ring_size;
		config->frames_wanted = options->frames;
		config->entry_stacks = options->entry_stacks;
		config->full_signal = (uint32_t)options->signal;
		if (!is_first_namespace(config))
			return -ENOENT;
	}
	const int error = bpf_object__load(u->object);

	u->program = error ? -1 : bpf_program__fd(program);
	return error;
}

static void explain(char *why, size_t size, int error)
{
	if (error == -EPERM || error == -EACCES)
		snprintf(why, size, "functrace lacks the capabilities CAP_BPF and CAP_PERFMON");
	else
		snprintf(why, size, "the kernel does not load functrace's programs: %s%s%.*s", strerror(-error),
			 load_error[0] ? ": " : "", (int)strcspn(load_error, "\n"), load_error);
}

struct uprobes *uprobes_open(const struct uprobes_options *options, char *why, size_t why_size)
{
	struct uprobes *const u = xcalloc(1, sizeof(*u));

	load_error[0] = '\0';
	libbpf_set_print(keep_message);
	u->size = options->ring_size;
	int error = load_program(u, options);

	if (!error && map_all(u))
		return u;
	explain(why, why_size, error ? error : -ENOMEM);
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
	bpf_object__close(u->object);
	free(u);
}

/* ---- Links ---- */

/* BPF_LINK_CREATE for uprobe_multi. libbpf 1.1 has no function for it. */
struct create {
	uint32_t program, target, type, flags;
	uint64_t path, offsets, reference_counters, cookies;
	uint32_t count, multi_flags, pid;
	uint32_t unused;
};

static int create_link(const struct uprobes *u, bool at_return, pid_t pid, const char *path,
		       const struct uprobe_site *sites, size_t count)
{
	uint64_t *const values = xreallocarray(NULL, count, 2 * sizeof(*values));
	struct create create = {.program = (uint32_t)u->program,
				.type = UPROBE_MULTI,
				.path = (uintptr_t)path,
				.offsets = (uintptr_t)values,
				.cookies = (uintptr_t)(values + count),
				.count = (uint32_t)count,
				.multi_flags = at_return ? MULTI_RETURN : 0,
				.pid = (uint32_t)pid};

	for (size_t i = 0; i < count; i++) {
		values[i] = sites[i].offset;
		values[count + i] = sites[i].cookie | (at_return ? UPROBE_AT_RETURN : 0);
	}
	const long fd = syscall(SYS_bpf, LINK_CREATE, &create, sizeof(create));
	const int error = errno;

	free(values);
	return fd < 0 ? -error : (int)fd;
}

int uprobe_link(struct uprobes *u, pid_t pid, const char *path, const struct uprobe_site *sites, size_t count,
		bool returns, struct uprobe_link *link)
{
	*link = UPROBE_LINK_NONE;
	/* The probe of the return first: a call whose return is probed and whose entry is not is no loss. */
	if (returns) {
		link->fds[1] = create_link(u, true, pid, path, sites, count);
		if (link->fds[1] < 0)
			return link->fds[1];
	}
	link->fds[0] = create_link(u, false, pid, path, sites, count);
	if (link->fds[0] >= 0)
		return 0;
	const int error = link->fds[0];

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
	const int error = has_outer ? bpf_map_update_elem(u->outers, &key, &value, BPF_NOEXIST)
				    : bpf_map_delete_elem(u->outers, &key);

	if (!error)
		__atomic_add_fetch(&u->shared->outer_count, has_outer ? 1 : -1, __ATOMIC_SEQ_CST);
}

bool uprobe_take_lost(struct uprobes *u, struct uprobe_lost_key *key, struct uprobe_lost *sum)
{
	while (bpf_map_get_next_key(u->lost, NULL, key) == 0) {
		const bool is_there = bpf_map_lookup_elem(u->lost, key, sum) == 0;

		bpf_map_delete_elem(u->lost, key);
		if (is_there)
			return true;
	}
	return false;
}

bool uprobe_calls_in_flight(struct uprobes *u, pid_t tid, struct uprobe_call calls[UPROBE_CALLS], bool begin)
{
	struct uprobe_thread thread;
	long fd = syscall(SYS_pidfd_open, tid, PIDFD_OF_THREAD);

	if (fd < 0)
		fd = syscall(SYS_pidfd_open, tid, 0);
	if (fd < 0)
		return false;
	const int key = (int)fd;
	const bool is_known = bpf_map_lookup_elem(u->threads, &key, &thread) == 0;

	if (is_known)
		memcpy(calls, thread.calls, sizeof(thread.calls));
	bool is_new = false;

	for (unsigned i = 0; is_known && begin && i < UPROBE_CALLS; i++) {
		is_new |= thread.calls[i].return_sp && !thread.calls[i].is_entered;
		thread.calls[i].is_entered = true;
	}
	if (is_new)
		bpf_map_update_elem(u->threads, &key, &thread, BPF_EXIST);
	close((int)fd);
	return is_known;
}

bool uprobe_take_forgotten(struct uprobes *u, pid_t tid, uint64_t return_sp, struct uprobe_call *call)
{
	const struct uprobe_forgotten_key key = {return_sp, (uint32_t)tid, 0};

	return bpf_map_lookup_elem(u->forgotten, &key, call) == 0 && bpf_map_delete_elem(u->forgotten, &key) == 0;
}

const volatile struct uprobe_shared *uprobe_counters(const struct uprobes *u)
{
	return u->shared;
}

bool uprobe_sent_signal(struct uprobes *u, pid_t tid)
{
	const uint32_t key = (uint32_t)tid;

	return bpf_map_delete_elem(u->signalled, &key) == 0;
}

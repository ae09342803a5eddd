#include "config.h"
#include "scan/capture/snapshot.h"
#include "scan/capture/mapping_choice.h"
#include "scan/capture/process_mappings.h"
#include "scan/capture/leave_allocator.h"
#include "scan/capture/pages.h"
#include "scan/capture/shared_pages.h"
#include "scan/capture/thread_registers.h"
#include "base/hash.h"
#include "base/msg.h"
#include "proc/proc.h"
#include "proc/refusal.h"
#include "symbols/objects/maps.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

/* The share of the free memory that the copy may take; the analysis needs some, too. */
#define SHARE_OF_FREE(bytes) ((bytes) - (bytes) / 4)
/* SPARE: bytes by which the process may grow between the preparation of a copy and the pause. READY: how many of these
 * bytes get their pages before the pause. */
#define SPARE(bytes) ((bytes) / 8 + (16u << 20))
#define READY(bytes) ((bytes) / 64 + (1u << 20))
#define HOLE_MAX     (1u << 30)
#define REFUSED_MAX  20 /* number of further attempts if the kernel refuses to trace the process: snapshot_take() */

struct snapshot {
	pid_t pid;
	struct maps maps;
	struct process_mappings learned;
	struct heap_mapping *mappings;
	struct page_runs runs;
	struct scan_threads threads;
	bool has_blocks_only; /* true if shared memory is not copied */
	bool is_untagged;     /* no memory had tags before the pause; an allocator uses tags from its start, or never */
	unsigned char *bytes; /* the copy: the bytes of all runs */
	uint64_t capacity;    /* size of `bytes` */
	uint64_t touched;     /* number of bytes from the start of `bytes` whose pages the kernel has provided */
	uint64_t limit;       /* maximum size of a copy in bytes; 0 if there is none */
	struct heap_image image;
	struct snapshot_figures figures;
	uint64_t program;
	struct freeze_waits waits;
};

/* ---- The memory to copy ---- */

/* Reads which mappings have memory tags. On most machines there are none, and nothing is read. Returns 0 or -errno. */
static int read_tags(const struct snapshot *s, pid_t tid, const struct arch *arch, struct maps *maps)
{
	const bool may_have = arch && (getauxval(AT_HWCAP2) & arch->tags.hwcap2) && !s->is_untagged;

	return may_have ? maps_read_tags(tid, maps) : 0;
}

static bool snapshot_has_tags(const struct maps *maps)
{
	for (size_t i = 0; i < maps->count; i++)
		if (maps->items[i].has_tags)
			return true;
	return false;
}

static void add_wanted(struct snapshot *s, int fd, const struct mapping *m, struct shared *shared)
{
	if (m->shared && s->has_blocks_only)
		return;
	if (m->end - m->start > SNAPSHOT_MAPPING_MAX)
		s->figures.left_out += m->end - m->start;
	else if (m->shared)
		shared_add(shared, fd, m);
	else
		pages_add(&s->runs, fd, m);
}

static void add_runs(struct snapshot *s, int fd, pid_t tid)
{
	struct shared shared = shared_begin(tid, &s->maps, &s->runs);

	s->runs.count = 0;
	s->runs.bytes = s->figures.left_out = 0;
	for (size_t i = 0; i < s->maps.count; i++) {
		const struct mapping *m = &s->maps.items[i];

		if (mapping_is_wanted(m))
			add_wanted(s, fd, m, &shared);
		else if (mapping_is_constant(&s->maps, i))
			pages_add_changed(&s->runs, fd, m);
		else if (mapping_is_protected(&s->maps, i))
			pages_add(&s->runs, fd, m);
	}
	s->figures.shared_left_out = shared.missed;
	shared_end(&shared);
}

/* Reads the mappings, and finds the pages to be copied. Returns 0 or -errno. */
static int read_layout(struct snapshot *s, pid_t tid, const struct arch *arch)
{
	struct maps maps;
	int error = maps_read(tid, &maps);

	if (error)
		return error;
	maps_free(&s->maps);
	s->maps = maps;
	error = read_tags(s, tid, arch, &s->maps);
	if (error)
		return error;
	const int fd = pages_open(tid);

	if (fd < 0)
		return fd;
	add_runs(s, fd, tid);
	close(fd);
	return 0;
}

/* Returns the number of free bytes according to /proc/meminfo; UINT64_MAX if it is unknown. */
static uint64_t free_memory(void)
{
	char *text = read_file("/proc/meminfo", 65536, NULL);
	uint64_t kib;
	const bool known = proc_status_number(text, "MemAvailable", 0, 10, &kib);

	free(text);
	return known ? kib * 1024 : UINT64_MAX;
}

/* Allocates memory for a copy of this size. Returns 0 or -ENOMEM. */
static int snapshot_make_room(struct snapshot *s, uint64_t bytes)
{
	if (bytes <= s->capacity)
		return 0;
	const uint64_t free_bytes = add_saturated(free_memory(), s->figures.bytes);

	if (bytes > SIZE_MAX / 2 || bytes > SHARE_OF_FREE(free_bytes))
		return -ENOMEM;
	if (s->bytes)
		munmap(s->bytes, s->capacity);
	s->capacity = s->touched = 0;
	s->bytes = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (s->bytes == MAP_FAILED) {
		s->bytes = NULL;
		return -ENOMEM;
	}
	madvise(s->bytes, bytes, MADV_HUGEPAGE);
	s->capacity = bytes;
	return 0;
}

/* Returns true if the process has ended. A kernel thread has no memory, just like an ended process, but it has not
 * ended. */
static bool snapshot_has_ended(pid_t pid)
{
	struct proc_stat stat;

	return !proc_stat(pid, &stat) || (!(stat.flags & PROC_KERNEL_THREAD) && !proc_live_thread(pid));
}

static int snapshot_explain(const struct snapshot *s, int error)
{
	char needed[32], is_free[32];

	if (error == -ESRCH || error == -ENOENT || (error != -ENOMEM && snapshot_has_ended(s->pid)))
		return -ESRCH;
	if (error == -EBUSY) {
		msg_error("cannot scan process %d: none of its threads can be stopped, because they wait deep in the "
			  "kernel (for a disk, or in vfork until the child executes a program or ends). Scan again "
			  "later.",
			  s->pid);
		return 1;
	}
	if (error != -ENOMEM)
		return refusal_of_attach(s->pid, -error);
	msg_error("a scan of process %d needs a copy of all its writable memory, %s bytes, and only %s bytes are free "
		  "here. Scan when more memory is free, or trace the process (functrace -t %d --report) instead.",
		  s->pid, number_grouped(s->runs.bytes, needed), number_grouped(free_memory(), is_free), s->pid);
	return 1;
}

/* Does all slow work that is possible while the process runs: makes the kernel allocate the pages of the copy, finds
 * the variables of objects, and brings into memory those pages of the process that are swapped out or have no page
 * table entry. Returns 0 or -errno. */
static int snapshot_prepare(struct snapshot *s, pid_t tid, const struct arch *arch)
{
	int error = read_layout(s, tid, arch);
	const uint64_t bytes = s->runs.bytes;

	if (!error && s->limit && bytes > s->limit)
		error = -EFBIG;
	if (!error)
		error = snapshot_make_room(s, bytes + (bytes > s->capacity ? SPARE(bytes) : 0));
	if (error)
		return error;
	const uint64_t ready = bytes + READY(bytes) < s->capacity ? bytes + READY(bytes) : s->capacity;

	if (ready > s->touched) {
		error = pages_touch(s->bytes + s->touched, ready - s->touched);
		s->touched = error ? s->touched : ready;
	}
	/* Roots are not looked for in a copy for the blocks only. */
	if (!error && arch && !s->has_blocks_only)
		process_mappings_learn(&s->learned, &s->maps, tid, arch);
	return error ? error : pages_bring(&s->runs, tid, s->bytes);
}

int snapshot_warm(struct snapshot *s)
{
	const pid_t tid = proc_live_thread(s->pid);
	struct proc_stat stat;
	int error = proc_stat(s->pid, &stat) ? refusal_before_attach(s->pid) : -ESRCH;

	if (error)
		return error;
	scan_threads_find_others(&s->threads, s->pid);
	s->is_untagged = false;
	error = tid ? snapshot_prepare(s, tid, task_arch(tid)) : -ENOENT; /* the process is a zombie */
	s->is_untagged = !error && !snapshot_has_tags(&s->maps);
	return error ? snapshot_explain(s, error) : 0;
}

bool snapshot_is_shared(const struct snapshot *s)
{
	return s->threads.other_count > 0;
}

int snapshot_warm_ending(struct snapshot *s, pid_t tid, const struct arch *arch)
{
	return snapshot_prepare(s, tid, arch);
}

/* ---- The image ---- */

static const void *image_bytes(const struct heap_image *image, uint64_t address, size_t *size)
{
	const struct snapshot *s = image->context;
	const struct page_run *run = pages_find(&s->runs, address);

	if (!run) {
		const uint64_t hole = pages_next(&s->runs, address) - address;

		*size = hole < HOLE_MAX ? (size_t)hole : HOLE_MAX;
		return NULL;
	}
	*size = run->end - address;
	return s->bytes + run->at + (address - run->start);
}

static void make_image(struct snapshot *s, const struct arch *arch)
{
	s->mappings = process_mappings_list(&s->learned, &s->maps, s->mappings);
	s->image = (struct heap_image){.mappings = s->mappings,
				       .n_mappings = s->maps.count,
				       .threads = s->threads.items,
				       .n_threads = s->threads.count,
				       .arch = arch,
				       .is_partial = snapshot_is_partial(&s->figures),
				       .bytes = image_bytes,
				       .context = s};
}

/* ---- The pause ---- */

struct snapshot_pause {
	struct snapshot *snapshot;
	const struct arch *arch;
	const struct snapshot_allocator *allocator;
	int error;
};

/* Copies the process's memory through its thread `tid`, which must still have this memory. Returns 0 or -errno. */
static int snapshot_copy(struct snapshot *s, pid_t tid, const struct arch *arch)
{
	int error = read_layout(s, tid, arch);

	if (!error && s->limit && s->runs.bytes > s->limit)
		error = -EFBIG;
	if (!error)
		error = snapshot_make_room(s, s->runs.bytes);
	if (error)
		return error;
	const int64_t unreadable = pages_copy(&s->runs, tid, s->bytes);

	if (unreadable < 0)
		return (int)unreadable;
	s->figures.unreadable = (uint64_t)unreadable;
	s->figures.bytes = s->runs.bytes;
	return 0;
}

static int copy_held(struct snapshot *s, const struct arch *arch, struct frozen_process *frozen)
{
	const pid_t tid = proc_live_thread(s->pid);

	scan_threads_read(&s->threads, frozen);
	return tid ? snapshot_copy(s, tid, arch) : -ENOENT;
}

int snapshot_take_ending(struct snapshot *s, pid_t tid, const struct arch *arch, struct scan_threads *threads)
{
	const int error = snapshot_copy(s, tid, arch);

	scan_threads_free(&s->threads);
	s->threads = *threads;
	*threads = (struct scan_threads){0};
	s->figures.moving = scan_threads_unknown(&s->threads);
	if (!error)
		make_image(s, arch);
	return error;
}

/* Returns a hash of data that the kernel puts on the stack of a new program: the auxiliary vector and 16 random
 * bytes. */
static uint64_t read_program(pid_t tid, const struct arch *arch)
{
	const unsigned width = arch->pointer_size;
	unsigned char random[16] = {0};
	size_t size = 0;
	char *vector = proc_read(tid, "auxv", &size);
	const unsigned char *const bytes = (const unsigned char *)vector;

	for (size_t at = 0; vector && at + 2 * width <= size; at += 2 * width) {
		struct iovec local = {random, sizeof(random)}, remote = {NULL, sizeof(random)};

		if (arch_pointer(arch, bytes + at) != AT_RANDOM)
			continue;
		remote.iov_base = (void *)(uintptr_t)arch_pointer(arch, bytes + at + width);
		if (process_vm_readv(tid, &local, 1, &remote, 1, 0) != (ssize_t)sizeof(random))
			memset(random, 0, sizeof(random));
	}
	const uint64_t hash = hash_mix(vector ? hash_bytes(vector, size) : 0) ^ hash_bytes(random, sizeof(random));

	free(vector);
	return hash;
}

/* Moves the threads out of the allocator. Returns the number of threads or locks for which this failed. Does not use
 * allocator->locks if the process has executed another program since, because their addresses may contain other
 * data. */
static size_t snapshot_leave_allocator(const struct snapshot *s, struct frozen_process *frozen,
				       const struct snapshot_allocator *allocator)
{
	const bool has_locks = allocator->lock_count && allocator->program == s->program;

	if (has_locks && frozen->process.task_count > 1)
		return (allocator->marks_locks ? leave_allocator_locks : leave_allocator_wait)(frozen, allocator->locks,
											       allocator->lock_count);
	return allocator->leaves_c ? leave_allocator_code(frozen, allocator->object) : 0;
}

static void *pause_thread(void *context)
{
	struct snapshot_pause *pause = context;
	struct snapshot *s = pause->snapshot;
	struct frozen_process frozen;
	int error = freeze_begin(&frozen, s->pid, pause->arch);
	const uint64_t began = clock_ns(CLOCK_MONOTONIC);

	frozen.waits = &s->waits;
	if (!error)
		error = freeze_stop(&frozen);
	if (!error)
		s->program = read_program(proc_live_thread(s->pid), pause->arch);
	if (!error && pause->allocator)
		s->figures.inside = snapshot_leave_allocator(s, &frozen, pause->allocator);
	if (!error)
		error = copy_held(s, pause->arch, &frozen);
	s->figures.threads = frozen.stopped + frozen.moving;
	s->figures.moving = frozen.moving;
	s->figures.sharers = s->threads.sharers;
	s->figures.asleep = s->threads.asleep;
	s->figures.is_stopped = freeze_is_grouped(&frozen);
	freeze_end(&frozen);
	s->figures.pause_ns = clock_ns(CLOCK_MONOTONIC) - began;
	pause->error = error;
	return NULL;
}

/* Makes the pause in a thread of its own. When this thread exits, the kernel detaches the tasks that are still
 * attached. No signal interrupts the pause: Ctrl-C waits until the process continues. */
static int run_pause(struct snapshot_pause *pause)
{
	sigset_t all, before;
	pthread_t thread;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	const int error = pthread_create(&thread, NULL, pause_thread, pause);

	if (!error)
		pthread_join(thread, NULL);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return error ? -error : pause->error;
}

int snapshot_take(struct snapshot *s, const struct snapshot_allocator *allocator)
{
	struct snapshot_pause pause = {
		.snapshot = s, .arch = task_arch(proc_live_thread(s->pid)), .allocator = allocator};

	s->figures = (struct snapshot_figures){.bytes = s->figures.bytes};
	s->image = (struct heap_image){0};
	if (!pause.arch && errno == ENOEXEC) {
		msg_error("cannot scan process %d: its program is made for a processor that this functrace does not "
			  "know.",
			  s->pid);
		return 1;
	}
	if (!pause.arch)
		return snapshot_explain(s, -errno);
	int error = run_pause(&pause);
	bool was_traced = false;

	/* Another functrace may be scanning the process, and will detach soon. */
	for (unsigned i = 0; error == -EPERM && i < REFUSED_MAX; i++) {
		was_traced |= proc_tracer(s->pid) != 0;
		nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
		error = run_pause(&pause);
	}
	if (error)
		return snapshot_explain(s, error == -EPERM && was_traced ? -REFUSED_BY_TRACER : error);
	make_image(s, pause.arch);
	return 0;
}

/* ---- Other functions ---- */

struct snapshot *snapshot_new(pid_t pid)
{
	struct snapshot *s = xcalloc(1, sizeof(*s));

	s->pid = pid;
	return s;
}

void snapshot_blocks_only(struct snapshot *s)
{
	s->has_blocks_only = true;
}

void snapshot_limit(struct snapshot *s, uint64_t bytes)
{
	s->limit = bytes;
}

const struct heap_image *snapshot_image(const struct snapshot *s)
{
	return &s->image;
}

const struct snapshot_figures *snapshot_figures(const struct snapshot *s)
{
	return &s->figures;
}

uint64_t snapshot_program(const struct snapshot *s)
{
	return s->program;
}

void snapshot_free(struct snapshot *s)
{
	if (!s)
		return;
	if (s->bytes)
		munmap(s->bytes, s->capacity);
	scan_threads_free(&s->threads);
	maps_free(&s->maps);
	free(s->runs.items);
	process_mappings_free(&s->learned);
	free(s->mappings);
	freeze_waits_free(&s->waits);
	free(s);
}

#include "config.h"
#include "scan/capture/heap_capture.h"
#include "scan/capture/snapshot.h"
#include "proc/proc.h"

#include <errno.h>
#include <stdlib.h>

struct heap_capture {
	struct scan_threads threads;
	struct snapshot *snapshot;
	uint64_t limit;
	bool has_blocks_only;
	struct heap *heap;
	enum heap_status status;
	struct heap_extent *known;
	size_t known_count, known_capacity;
};

struct heap_capture *heap_capture_new(void)
{
	return xcalloc(1, sizeof(struct heap_capture));
}

void heap_capture_free(struct heap_capture *ending)
{
	if (!ending)
		return;
	heap_free(ending->heap);
	free(ending->known);
	scan_threads_free(&ending->threads);
	if (ending->snapshot)
		snapshot_free(ending->snapshot);
	free(ending);
}

void heap_capture_limit(struct heap_capture *ending, uint64_t bytes)
{
	ending->limit = bytes;
}

void heap_capture_blocks_only(struct heap_capture *ending)
{
	ending->has_blocks_only = true;
}

uint64_t heap_capture_unknown_bytes(const struct heap_capture *ending)
{
	const struct snapshot_figures *const figures = snapshot_figures(ending->snapshot);

	return figures->left_out + figures->unreadable + figures->shared_left_out;
}

void heap_capture_add(struct heap_capture *ending, struct task *task)
{
	uint64_t pc;
	long number;

	if (!proc_syscall(task->tid, &number, &pc) || number != task->process->arch->syscalls.exit)
		scan_threads_add(&ending->threads, task);
}

void heap_capture_add_exiting(struct heap_capture *ending, struct task *task, uint64_t sp, const uint64_t *words,
			      size_t count)
{
	scan_threads_add(&ending->threads, task);
	scan_threads_replace(&ending->threads, sp, words, count);
}

void heap_capture_add_alive(struct heap_capture *ending, struct task *task, uint64_t caller)
{
	scan_threads_add(&ending->threads, task);
	if (caller)
		ending->threads.items[ending->threads.count - 1].pc = caller;
}

static void heap_capture_begin(struct heap_capture *ending, const struct task *task)
{
	if (!ending->snapshot)
		ending->snapshot = snapshot_new(task->process->pid);
	snapshot_limit(ending->snapshot, ending->limit);
	if (ending->has_blocks_only)
		snapshot_blocks_only(ending->snapshot);
}

static const char too_large[] = "a copy of its memory would be too large for these figures alone; --scan makes the "
				"copy anyway";

const char *heap_capture_warm(struct heap_capture *ending, const struct task *task)
{
	heap_capture_begin(ending, task);
	return snapshot_warm_ending(ending->snapshot, task->tid, task->process->arch) == -EFBIG ? too_large : NULL;
}

const char *heap_capture_copy(struct heap_capture *ending, const struct task *task)
{
	heap_capture_begin(ending, task);
	const int error = snapshot_take_ending(ending->snapshot, task->tid, task->process->arch, &ending->threads);

	return !error             ? NULL
	       : error == -EFBIG  ? too_large
	       : error == -ENOMEM ? "there was not enough memory for a copy of its memory"
				  : "its memory could not be read";
}

bool heap_capture_is_locked(const struct heap_capture *ending)
{
	return heap_is_locked(snapshot_image(ending->snapshot));
}

void heap_capture_know(struct heap_capture *ending, uint64_t address, uint64_t size)
{
	ARRAY_GROW(ending->known, ending->known_capacity, ending->known_count);
	ending->known[ending->known_count++] = (struct heap_extent){address, size};
}

bool heap_capture_is_unknown(const struct heap_capture *ending)
{
	return ending->status == HEAP_NOT_FOUND || ending->status == HEAP_UNSUPPORTED;
}

const struct heap *heap_capture_heap(const struct heap_capture *ending)
{
	return ending->heap;
}

static int heap_capture_compare_extents(const void *one, const void *two)
{
	const struct heap_extent *a = one, *b = two;

	return a->address < b->address ? -1 : a->address > b->address;
}

/* Keeps only those known blocks that are inside the heap's blocks. */
static void know_all(struct heap_capture *ending)
{
	size_t inside = 0;

	for (size_t i = 0; i < ending->known_count; i++)
		if (heap_know(ending->heap, ending->known[i].address))
			ending->known[inside++] = ending->known[i];
	ending->known_count = inside;
	if (inside)
		qsort(ending->known, inside, sizeof(*ending->known), heap_capture_compare_extents);
}

const char *heap_capture_classify(struct heap_capture *ending)
{
	if (ending->heap) {
		know_all(ending);
	} else {
		ending->heap = heap_of_blocks(snapshot_image(ending->snapshot), ending->known, ending->known_count);
		ending->known_count = 0;
	}
	if (!ending->heap)
		return "it has too many blocks";
	heap_classify(ending->heap);
	return NULL;
}

const char *heap_capture_read(struct heap_capture *ending, bool *is_passing)
{
	const char *reason = NULL;

	ending->status = heap_read(snapshot_image(ending->snapshot), &ending->heap, &reason);
	*is_passing = ending->status == HEAP_INCONSISTENT || ending->status == HEAP_NOT_FOUND;
	switch (ending->status) {
	case HEAP_READ:
		return NULL;
	case HEAP_NOT_FOUND:
		return "no heap was found: it has allocated nothing so far, or its allocator is unknown";
	case HEAP_UNSUPPORTED:
		return "functrace does not understand its allocator";
	case HEAP_TOO_LARGE:
		return "it has too many blocks";
	case HEAP_INCONSISTENT:
		break;
	}
	return reason ? reason : "its heap is inconsistent";
}

const struct heap_figures *heap_capture_figures(const struct heap_capture *ending)
{
	const struct heap_figures *figures = heap_figures(ending->heap);

	return figures->arenas ? figures : NULL;
}

bool heap_capture_has(const struct heap_capture *ending, uint64_t address)
{
	return heap_has(ending->heap, address);
}

void heap_capture_forget(struct heap_capture *ending)
{
	heap_free(ending->heap);
	ending->heap = NULL;
	ending->status = HEAP_NOT_FOUND;
}

void heap_capture_again(struct heap_capture *ending)
{
	heap_capture_forget(ending);
	scan_threads_free(&ending->threads);
	ending->threads = (struct scan_threads){0};
	ending->known_count = 0;
}

void heap_capture_each_lost(const struct heap_capture *ending,
			    void (*callback)(void *context, uint64_t address, enum heap_class class), void *context)
{
	for (size_t i = 0, count = heap_count(ending->heap); i < count; i++) {
		const struct heap_block block = heap_block(ending->heap, i);

		if (block.class != HEAP_REACHABLE)
			callback(context, block.address, block.class);
	}
	for (size_t i = 0; i < ending->known_count; i++) {
		const uint64_t address = ending->known[i].address;
		const struct heap_block block = heap_block(ending->heap, heap_find(ending->heap, address));

		if (block.class != HEAP_REACHABLE)
			callback(context, address, block.class);
	}
}

#include "config.h"
#include "scan/capture/heap_capture.h"
#include "scan/capture/snapshot.h"
#include "proc/proc.h"
#include "base/util.h"

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

void heap_capture_free(struct heap_capture *capture)
{
	if (!capture)
		return;
	heap_free(capture->heap);
	free(capture->known);
	scan_threads_free(&capture->threads);
	if (capture->snapshot)
		snapshot_free(capture->snapshot);
	free(capture);
}

void heap_capture_limit(struct heap_capture *capture, uint64_t bytes)
{
	capture->limit = bytes;
}

void heap_capture_blocks_only(struct heap_capture *capture)
{
	capture->has_blocks_only = true;
}

uint64_t heap_capture_unknown_bytes(const struct heap_capture *capture)
{
	const struct snapshot_figures *const figures = snapshot_figures(capture->snapshot);

	return figures->left_out + figures->unreadable + figures->shared_left_out;
}

size_t heap_capture_unknown_threads(const struct heap_capture *capture)
{
	return snapshot_figures(capture->snapshot)->moving;
}

void heap_capture_add(struct heap_capture *capture, struct task *task)
{
	uint64_t pc;
	long number;

	if (!proc_syscall(task->tid, &number, &pc) || number != task->process->arch->syscalls.exit)
		scan_threads_add(&capture->threads, task);
}

void heap_capture_add_exiting(struct heap_capture *capture, struct task *task, uint64_t sp, const uint64_t *words,
			      size_t count)
{
	scan_threads_add(&capture->threads, task);
	scan_threads_replace(&capture->threads, sp, words, count);
}

void heap_capture_add_alive(struct heap_capture *capture, struct task *task, uint64_t caller)
{
	scan_threads_add(&capture->threads, task);
	if (caller)
		capture->threads.items[capture->threads.count - 1].pc = caller;
}

static void heap_capture_begin(struct heap_capture *capture, const struct task *task)
{
	if (!capture->snapshot)
		capture->snapshot = snapshot_new(task->process->pid);
	snapshot_limit(capture->snapshot, capture->limit);
	if (capture->has_blocks_only)
		snapshot_blocks_only(capture->snapshot);
}

static const char too_large[] = "a copy of the process's memory would be too large for these figures alone; --scan "
				"makes the copy anyway";

const char *heap_capture_warm(struct heap_capture *capture, const struct task *task)
{
	heap_capture_begin(capture, task);
	return snapshot_warm_ending(capture->snapshot, task->tid, task->process->arch) == -EFBIG ? too_large : NULL;
}

const char *heap_capture_copy(struct heap_capture *capture, const struct task *task)
{
	heap_capture_begin(capture, task);
	const int error = snapshot_take_ending(capture->snapshot, task->tid, task->process->arch, &capture->threads);

	return !error             ? NULL
	       : error == -EFBIG  ? too_large
	       : error == -ENOMEM ? "there was not enough memory for a copy of the process's memory"
				  : "the process's memory could not be read";
}

bool heap_capture_is_locked(const struct heap_capture *capture)
{
	return heap_is_locked(snapshot_image(capture->snapshot));
}

void heap_capture_note_block(struct heap_capture *capture, uint64_t address, uint64_t size)
{
	ARRAY_GROW(capture->known, capture->known_capacity, capture->known_count);
	capture->known[capture->known_count++] = (struct heap_extent){address, size};
}

bool heap_capture_is_unknown(const struct heap_capture *capture)
{
	return capture->status == HEAP_NOT_FOUND || capture->status == HEAP_UNSUPPORTED;
}

const struct heap *heap_capture_heap(const struct heap_capture *capture)
{
	return capture->heap;
}

/* Passes the blocks of heap_capture_note_block() to the heap. Keeps only those that begin inside a block of the heap,
 * but not at its start: the others are blocks of the heap themselves, or are outside of all blocks. */
static void note_all_blocks(struct heap_capture *capture)
{
	size_t inside = 0;

	for (size_t i = 0; i < capture->known_count; i++)
		if (heap_note_block(capture->heap, capture->known[i].address))
			capture->known[inside++] = capture->known[i];
	capture->known_count = inside;
}

static const char too_many_blocks[] = "the process has too many blocks, or too much memory with blocks";

const char *heap_capture_classify(struct heap_capture *capture)
{
	if (!capture->heap)
		capture->heap = heap_without_blocks(snapshot_image(capture->snapshot));
	if (!heap_add_blocks(capture->heap, capture->known, capture->known_count))
		return too_many_blocks;
	note_all_blocks(capture);
	heap_classify(capture->heap);
	return NULL;
}

const char *heap_capture_read(struct heap_capture *capture, bool *is_passing)
{
	const char *reason = NULL;

	capture->status = heap_read(snapshot_image(capture->snapshot), &capture->heap, &reason);
	*is_passing = heap_status_is_passing(capture->status);
	switch (capture->status) {
	case HEAP_READ:
		return NULL;
	case HEAP_NOT_FOUND:
		return "no heap was found: the process has allocated nothing so far, or its allocator is unknown";
	case HEAP_UNSUPPORTED:
		return "functrace does not understand the program's allocator";
	case HEAP_TOO_LARGE:
		return too_many_blocks;
	case HEAP_INCONSISTENT:
		break;
	}
	return reason ? reason : "the heap is inconsistent";
}

const struct heap_figures *heap_capture_figures(const struct heap_capture *capture)
{
	const struct heap_figures *figures = heap_figures(capture->heap);

	return figures->arenas ? figures : NULL;
}

bool heap_capture_has(const struct heap_capture *capture, uint64_t address)
{
	return heap_has(capture->heap, address);
}

void heap_capture_forget(struct heap_capture *capture)
{
	heap_free(capture->heap);
	capture->heap = NULL;
	capture->status = HEAP_NOT_FOUND;
}

void heap_capture_again(struct heap_capture *capture)
{
	heap_capture_forget(capture);
	scan_threads_free(&capture->threads);
	capture->threads = (struct scan_threads){0};
	capture->known_count = 0;
}

void heap_capture_each_lost(const struct heap_capture *capture,
			    void (*callback)(void *context, uint64_t address, enum heap_class class), void *context)
{
	for (size_t i = 0, count = heap_count(capture->heap); i < count; i++) {
		const struct heap_block block = heap_block(capture->heap, i);

		if (block.class != HEAP_REACHABLE)
			callback(context, block.address, block.class);
	}
	for (size_t i = 0; i < capture->known_count; i++) {
		const uint64_t address = capture->known[i].address;
		const struct heap_block block = heap_block(capture->heap, heap_find(capture->heap, address));

		if (block.class != HEAP_REACHABLE)
			callback(context, address, block.class);
	}
}

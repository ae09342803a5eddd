#include "config.h"
#include "breakpoints/fork_text.h"
#include "breakpoints/breakpoints.h"
#include "ptrace/target_memory.h"
#include "base/util.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- functrace's bytes in the text ---- */

struct patch {
	uint64_t address;
	const unsigned char *ours, *original;
	size_t size, original_size;
	bool there;
	struct breakpoint *breakpoint; /* NULL: the patch is a slot */
	struct slot *slot;
};

/* Returns an unsorted array of the breakpoints and slots in the process's tables, except those that cannot be in the
 * text. The caller frees the array. run_find() sets `there` of its elements. */
static struct patch *fork_text_of(const struct process *p, size_t *count)
{
	struct patch *patches = xcalloc(p->text->breakpoints.count + p->text->slots.count + 1, sizeof(*patches));

	*count = 0;
	HASH_EACH_PTR(struct breakpoint, b, &p->text->breakpoints) {
		/* The kernel itself writes its probes into the child's text, and removes them. */
		if (b->size && !b->in_kernel && memcmp(b->original, b->trap, b->size))
			patches[(*count)++] = (struct patch){.address = b->address,
							     .ours = b->trap,
							     .original = b->original,
							     .size = b->size,
							     .original_size = b->size,
							     .breakpoint = b};
	}
	HASH_EACH_PTR(struct slot, slot, &p->text->slots) {
		if (slot->written)
			patches[(*count)++] = (struct patch){.address = slot->address,
							     .ours = slot->copy.bytes,
							     .original = slot->saved,
							     .size = slot->copy.size,
							     .original_size = sizeof(slot->saved),
							     .slot = slot};
	}
	return patches;
}

static int by_address(const void *a, const void *b)
{
	const struct patch *left = a, *right = b;

	return compare_u64(left->address, right->address);
}

/* A run consists of patches so close together that one system call can read or write all of them. It has at most
 * RUN_MAX bytes, and at most GAP_MAX bytes between two patches. */
#define RUN_MAX 8192u
#define GAP_MAX 4096u

/* Returns how many patches, from `first` on, form one run. *size: bytes of the run, from the start of the first patch
 * to the end of the last. */
static size_t run_of(const struct patch *first, size_t count, size_t *size)
{
	size_t n = 0;

	*size = 0;
	for (; n < count; n++) {
		const uint64_t offset = first[n].address - first->address;
		const size_t end = (size_t)offset + first[n].original_size;

		if (n && (offset > *size + GAP_MAX || end > RUN_MAX))
			break;
		*size = end > *size ? end : *size;
	}
	return n;
}

static bool fork_text_read_all(int mem_fd, uint64_t address, void *data, size_t size)
{
	return pread(mem_fd, data, size, (off_t)address) == (ssize_t)size;
}

/* Sets `there` of each of `count` adjacent patches: true if the child's text contains the patch. Returns false if one
 * system call could not read the whole run; then `bytes` is invalid. */
static bool run_find(int mem_fd, pid_t tid, struct patch *first, size_t count, unsigned char *bytes, size_t size)
{
	const bool whole = fork_text_read_all(mem_fd, first->address, bytes, size);
	unsigned char now[ARCH_SLOT_SIZE];

	for (size_t i = 0; i < count; i++) {
		struct patch *patch = &first[i];

		if (whole)
			patch->there = !memcmp(bytes + (patch->address - first->address), patch->ours, patch->size);
		else
			patch->there = memory_read_stopped(mem_fd, tid, patch->address, now, patch->size) == 0 &&
				       !memcmp(now, patch->ours, patch->size);
	}
	return whole;
}

static int run_clean(int mem_fd, pid_t tid, struct patch *first, size_t count, size_t size)
{
	unsigned char bytes[RUN_MAX];
	const bool whole = run_find(mem_fd, tid, first, count, bytes, size);
	uint64_t start = UINT64_MAX, end = 0;
	int error = 0;

	for (size_t i = 0; i < count; i++) {
		const struct patch *patch = &first[i];

		if (!patch->there)
			continue;
		start = patch->address < start ? patch->address : start;
		end = patch->address + patch->original_size > end ? patch->address + patch->original_size : end;
		if (whole)
			memcpy(bytes + (patch->address - first->address), patch->original, patch->original_size);
	}
	if (start >= end || (whole && pwrite(mem_fd, bytes + (start - first->address), end - start, (off_t)start) ==
					      (ssize_t)(end - start)))
		return 0;
	for (size_t i = 0; i < count; i++)
		if (first[i].there)
			error |= memory_write_stopped(mem_fd, tid, first[i].address, first[i].original,
						      first[i].original_size);
	return error;
}

int fork_text_restore(int mem_fd, pid_t tid, uint64_t address, const void *original, size_t size)
{
	return memory_write_stopped(mem_fd, tid, address, original, size);
}

int fork_text_clean(const struct process *tables, int mem_fd, pid_t tid)
{
	size_t count, size;
	struct patch *patches = fork_text_of(tables, &count);
	int error = 0;

	qsort(patches, count, sizeof(*patches), by_address);
	for (size_t i = 0, n; i < count; i += n) {
		n = run_of(patches + i, count - i, &size);
		error |= run_clean(mem_fd, tid, patches + i, n, size);
	}
	free(patches);
	return error;
}

/* ---- The child's own tables ---- */

static void copy_slots(const struct text *from, struct process *p)
{
	const struct hash_entry *entry;

	struct text *text = p->text;

	text->tail_count = text->tail_capacity = from->tail_count;
	text->tails = xreallocarray(NULL, text->tail_count, sizeof(*text->tails));
	for (size_t i = 0; i < from->tail_count; i++) {
		text->tails[i] = from->tails[i];
		text->tails[i].object = objects_find(&p->objects, text->tails[i].start);
	}
	for (size_t i = 0; (entry = hash_next(&from->slots, &i));) {
		struct slot *slot = xmalloc(sizeof(*slot));

		*slot = *(const struct slot *)(uintptr_t)entry->value;
		slot->users = 0;
		slot->owner = NULL;
		slot->object = objects_find(&p->objects, slot->address);
		hash_set_ptr(&p->text->slots, slot->address, slot);
	}
}

static struct breakpoint *copy_breakpoint(struct process *p, const struct breakpoint *from)
{
	struct breakpoint *b = xmalloc(sizeof(*b));

	*b = *from;
	b->journal_index = -1;
	b->path = NULL;
	b->prepared = false;
	b->probe = NULL;
	b->calls = NULL;
	if (from->slot) {
		b->slot = hash_get_ptr(&p->text->slots, from->slot->address);
		b->slot->owner = b;
	}
	p->text->inserted += b->inserted;
	hash_set_ptr(&p->text->breakpoints, b->address, b);
	return b;
}

void fork_text_copy(const struct process *from, struct process *p,
		    void (*copied)(struct process *p, struct breakpoint *b, const struct breakpoint *from))
{
	p->text->syscall_copies = from->text->syscall_copies;
	copy_slots(from->text, p);
	HASH_EACH_PTR(const struct breakpoint, b, &from->text->breakpoints)
		copied(p, copy_breakpoint(p, b), b);
}

/* ---- The child's text ---- */

void fork_text_trust(struct process *p)
{
	HASH_EACH_PTR(struct breakpoint, b, &p->text->breakpoints)
		if (b->inserted)
			breakpoint_note(p, b);
}

void fork_text_compare(struct process *p, pid_t tid)
{
	unsigned char bytes[RUN_MAX];
	size_t count, size;
	struct patch *patches = fork_text_of(p, &count);

	qsort(patches, count, sizeof(*patches), by_address);
	for (size_t i = 0, n; i < count; i += n) {
		n = run_of(patches + i, count - i, &size);
		run_find(p->mem_fd, tid, patches + i, n, bytes, size);
	}
	for (size_t i = 0; i < count; i++)
		if (patches[i].slot && !patches[i].there)
			text_write(p, patches[i].address, patches[i].ours, patches[i].size);
	for (size_t i = 0; i < count; i++) {
		struct breakpoint *b = patches[i].breakpoint;

		if (!b)
			continue;
		const bool wanted = b->inserted, there = patches[i].there;

		p->text->inserted += (size_t)there - (size_t)wanted;
		b->inserted = there;
		if (there)
			breakpoint_note(p, b);
		if (wanted && !there)
			breakpoint_insert(p, breakpoint_code(b));
		else if (!wanted && there)
			breakpoint_remove(p, b);
	}
	free(patches);
}

#include "config.h"
#include "tracer/model.h"
#include "base/msg.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <unistd.h>

/* A fork's child has all that its parent has: the text with our breakpoints and copies in it, the objects, the
 * blocks. Most children execute something else or end before they make a traced call, so nothing is copied at first:
 * the child borrows its parent's tables. It gets its own at its first hit, or before the lender's change in a way
 * that the child's text does not:
 *
 *	child: runs | lender: dlclose(), a breakpoint is taken out | child: hits what it has still
 *
 * What is planted in the lender after the fork does no harm: the child's text is compared with its tables when it
 * gets them. Nor does a slot that is used anew, for no task of a borrower can be in one. But what was planted since
 * the maker last ran, perhaps between the copying of its text and its event, the child would never hit: it gets
 * tables before it runs.
 *
 * No file is made for a child that makes no traced call, its memory is not opened, no descriptor is sent. The
 * tracer's system calls, counted by strace (tests/scenarios/steady.py holds the bounds):
 *
 *			   a bare fork	with -F
 *	wait4		       6	   3	the maker's event, the birth, the exit, SIGCHLD, the end; now and then for more
 *	ptrace		       6	   5	CONT after each stop but the last; GETEVENTMSG, GETREGS; DETACH
 *	kcmp, tgkill	       2	   2	whether it has memory and a group of its own
 *	/proc/TID/stat	      1.2	 1.2	three where the child is seen before its maker's event
 *	/proc/TID/mem	       -	   2
 *	pread, pwrite	       -	  10	two for each group of breakpoints that lie close together, of the C library five
 *
 * vfork and the execution of a small program take some 165: its objects are read, and eleven functions are probed. */

/* ---- What of ours may be in a text ---- */

struct patch {
	uint64_t address;
	const unsigned char *ours, *original;
	size_t size, original_size;
	bool there;
	struct breakpoint *breakpoint; /* or */
	struct slot *slot;
};

/* All that the tables know, by address; the caller frees it. What stands there in truth is another question. */
static struct patch *patches_of(const struct process *p, size_t *count)
{
	struct patch *patches = xcalloc(p->breakpoints.count + p->slots.count + 1, sizeof(*patches));
	const struct hash_entry *entry;

	*count = 0;
	for (size_t i = 0; (entry = hash_next(&p->breakpoints, &i));) {
		struct breakpoint *b = (struct breakpoint *)(uintptr_t)entry->value;

		if (b->size && memcmp(b->original, b->trap, b->size))
			patches[(*count)++] = (struct patch){.address = b->address,
							     .ours = b->trap,
							     .original = b->original,
							     .size = b->size,
							     .original_size = b->size,
							     .breakpoint = b};
	}
	for (size_t i = 0; (entry = hash_next(&p->slots, &i));) {
		struct slot *slot = (struct slot *)(uintptr_t)entry->value;

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

	return left->address < right->address ? -1 : left->address > right->address;
}

/* Those that lie close together are read, and written, in one go. */
#define RUN_MAX 8192u
#define GAP_MAX 4096u

/* How many from the first on; *size: the bytes from its beginning to the last one's end. */
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

static bool read_all(int mem_fd, uint64_t address, void *data, size_t size)
{
	return pread(mem_fd, data, size, (off_t)address) == (ssize_t)size;
}

/* Finds out which of a run are there; false if it could not be read in one go: then `bytes` are not known. */
static bool run_find(int mem_fd, pid_t tid, struct patch *first, size_t count, unsigned char *bytes, size_t size)
{
	const bool whole = read_all(mem_fd, first->address, bytes, size);
	unsigned char now[ARCH_SLOT_SIZE];

	for (size_t i = 0; i < count; i++) {
		struct patch *patch = &first[i];

		if (whole)
			patch->there = !memcmp(bytes + (patch->address - first->address), patch->ours, patch->size);
		else
			patch->there = text_read_stopped(mem_fd, tid, patch->address, now, patch->size) == 0 &&
				       !memcmp(now, patch->ours, patch->size);
	}
	return whole;
}

/* ---- Children that are not followed ---- */

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
			error |= text_write_stopped(mem_fd, tid, first[i].address, first[i].original,
						    first[i].original_size);
	return error;
}

void clean_child(struct process *p, pid_t tid)
{
	const int fd = p->mem_fd >= 0 ? p->mem_fd : memory_open(tid);
	size_t count, size;
	struct patch *patches = patches_of(p->lender ? p->lender : p, &count);
	int error = 0;

	qsort(patches, count, sizeof(*patches), by_address);
	for (size_t i = 0, n; i < count; i += n) {
		n = run_of(patches + i, count - i, &size);
		error |= run_clean(fd, tid, patches + i, n, size);
	}
	free(patches);
	if (fd >= 0 && fd != p->mem_fd)
		close(fd);
	if (error && error != -ESRCH)
		msg_warn("could not clean the text of process %d, which may end with SIGTRAP", tid);
}

/* ---- Tables of its own ---- */

static void copy_slots(const struct process *lender, struct process *p)
{
	const struct hash_entry *entry;

	p->tail_count = p->tail_capacity = lender->tail_count;
	p->tails = xreallocarray(NULL, p->tail_count, sizeof(*p->tails));
	for (size_t i = 0; i < lender->tail_count; i++) {
		p->tails[i] = lender->tails[i];
		p->tails[i].object = objects_find(&p->objects, p->tails[i].start);
	}
	for (size_t i = 0; (entry = hash_next(&lender->slots, &i));) {
		struct slot *slot = xmalloc(sizeof(*slot));

		*slot = *(const struct slot *)(uintptr_t)entry->value;
		slot->users = 0;
		slot->owner = NULL;
		slot->object = objects_find(&p->objects, slot->address);
		hash_set_ptr(&p->slots, slot->address, slot);
	}
}

static void copy_breakpoint(struct process *p, const struct breakpoint *from)
{
	struct breakpoint *b = xmalloc(sizeof(*b));

	*b = *from;
	b->ticket = -1;
	/* The child is on no CPU by us. What was watched for that only is a return site that no call comes to, and
	 * retires. */
	b->is_return |= b->watched && !b->probe;
	b->watched = 0;
	b->path = NULL;
	b->in_flight = 0;
	b->wanted = false;
	if (from->probe) {
		b->probe = xmalloc(sizeof(*b->probe));
		*b->probe = *from->probe;
		b->probe->object = objects_find(&p->objects, b->address);
		ARRAY_GROW(p->probes, p->probe_capacity, p->probe_count);
		p->probes[p->probe_count++] = b->probe;
	}
	if (from->slot) {
		b->slot = hash_get_ptr(&p->slots, from->slot->address);
		b->slot->owner = b;
	}
	p->inserted += b->inserted;
	hash_set_ptr(&p->breakpoints, b->address, b);
}

static void copy_tables(const struct process *lender, struct process *p, pid_t tid)
{
	const struct hash_entry *entry;

	objects_clone(&lender->objects, &p->objects);
	for (size_t i = 0; i < p->objects.count; i++)
		p->objects.items[i]->probed = lender->planted;
	p->program = lender->program ? objects_find(&p->objects, lender->program->start) : NULL;
	p->release_probes = lender->release_probes;
	p->syscall_copies = lender->syscall_copies;
	p->unwinder = unwinder_clone(lender->unwinder, tid);
	copy_slots(lender, p);
	for (size_t i = 0; (entry = hash_next(&lender->breakpoints, &i));)
		copy_breakpoint(p, (const struct breakpoint *)(uintptr_t)entry->value);
	ledger_init(p);
	ledger_fork(lender, p);
	p->planted = lender->planted;
}

/* ---- Its text ---- */

static void note_breakpoint(struct process *p, struct breakpoint *b)
{
	b->ticket = guard_note(p->tracer->engine, p->guard, b->address, b->original, b->trap, b->size);
}

/* The text is what it was when the tables were: nothing of ours was written to the lender's in between. */
static void text_trust(struct process *p)
{
	const struct hash_entry *entry;

	for (size_t i = 0; (entry = hash_next(&p->breakpoints, &i));) {
		struct breakpoint *b = (struct breakpoint *)(uintptr_t)entry->value;

		if (b->inserted)
			note_breakpoint(p, b);
	}
}

/* A breakpoint that was planted in the lender after the fork is not there yet; one that was taken out since is there
 * still; a slot may hold another copy. */
static void text_compare(struct process *p, pid_t tid)
{
	unsigned char bytes[RUN_MAX];
	size_t count, size;
	struct patch *patches = patches_of(p, &count);

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

		p->inserted += (size_t)there - (size_t)wanted;
		b->inserted = there;
		if (there)
			note_breakpoint(p, b);
		if (wanted && !there)
			breakpoint_insert(p, b->address);
		else if (!wanted && there)
			breakpoint_remove(p, b);
	}
	free(patches);
}

/* ---- Borrowing ---- */

struct process *process_fork(struct process *parent, struct task *child)
{
	struct process *lender = parent->lender ? parent->lender : parent;

	/* The parent was attached to just when it was executing another program, and has never been looked at. */
	if (!lender->objects.count && !lender->tracer->paused)
		return process_new(lender->tracer, child->tid, child->tgid);
	struct process *p = process_alloc(lender->tracer, child->tgid, lender->arch);

	p->exe = xstrdup(parent->exe);
	p->name = xstrdup(parent->name);
	p->foreign_mounts = parent->foreign_mounts;
	p->shadow_stack = parent->shadow_stack;
	p->r_debug = parent->r_debug;
	p->attached = parent->attached;
	/* Its memory was copied a moment before the fork was reported: another thread may have released something
	 * since. */
	p->may_miss = parent->may_miss || parent->tasks > 1;
	p->forked_by = parent->pid;
	sigtrap_fork(parent, p);
	output_start(p);
	p->text_serial = child->text_serial;
	p->lender = lender;
	p->next_borrower = lender->borrowers;
	lender->borrowers = p;
	p->behind = p->text_serial != lender->text_serial;
	p->loan = guard_lend(p->tracer->engine, lender->guard, child->tid);
	/* The journal is full. */
	if (p->loan < 0)
		process_own(p);
	return p;
}

void borrow_no_more(struct process *p)
{
	struct process **link;

	if (!p->lender)
		return;
	for (link = &p->lender->borrowers; *link != p; link = &(*link)->next_borrower)
		;
	*link = p->next_borrower;
	p->lender = p->next_borrower = NULL;
	guard_lend_end(p->tracer->engine, p->loan);
	p->loan = -1;
}

void process_own(struct process *p)
{
	struct process *const lender = p->lender;

	if (!lender)
		return;
	const pid_t tid = process_proc(p);
	const bool same = p->text_serial == lender->text_serial;
	/* ESRCH: it has been killed. Where there are no descriptors left, its next hit tries again. */
	const int error = process_open(p, tid);

	copy_tables(lender, p, tid);
	if (same || error)
		text_trust(p);
	else
		text_compare(p, tid);
	p->text_serial++;
	borrow_no_more(p);
}

void lend_no_more(struct process *lender)
{
	while (lender->borrowers)
		process_own(lender->borrowers);
}

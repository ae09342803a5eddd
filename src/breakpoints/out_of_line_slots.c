#include "config.h"
#include "breakpoints/out_of_line_slots.h"
#include "ptrace/target_memory.h"
#include "ptrace/tasks.h"

#include <stdlib.h>
#include <string.h>

/* Puts out-of-line copies into the tails of text mappings. A tail consists of the bytes of the last page after the end
 * of the segment, which no code uses. The old bytes are saved, and restored later. A slot serves one breakpoint.
 * Another breakpoint can get the slot only when no task can be in it. */

void slots_add_object(struct process *p, struct object *object)
{
	for (size_t i = 0; i < object->text_count; i++) {
		const struct text_range *text = &object->text[i];
		const uint64_t start = align_up(text->tail_start, ARCH_SLOT_SIZE);

		if (text->shared || start + ARCH_SLOT_SIZE > text->tail_end)
			continue;
		ARRAY_GROW(p->text->tails, p->text->tail_capacity, p->text->tail_count);
		p->text->tails[p->text->tail_count++] =
			(struct tail){.start = start, .end = text->tail_end, .next = start, .object = object};
	}
}

struct slot *slot_at(struct process *p, uint64_t pc)
{
	return hash_get_ptr(&p->text->slots, align_down(pc, ARCH_SLOT_SIZE));
}

static int slot_write(struct process *p, struct slot *slot)
{
	if (!slot->written && memory_read(p, slot->address, slot->saved, sizeof(slot->saved)) < 0)
		return -1;
	if (text_write(p, slot->address, slot->copy.bytes, slot->copy.size) < 0)
		return -1;
	slot->written = true;
	return 0;
}

/* Returns true if the slot contains its copy. After a dlclose and a new mapping at the same address it does not. */
static bool slot_holds(struct process *p, const struct slot *slot)
{
	unsigned char now[ARCH_SLOT_SIZE];

	return memory_read(p, slot->address, now, slot->copy.size) == 0 &&
	       !memcmp(now, slot->copy.bytes, slot->copy.size);
}

bool slot_renew(struct process *p, struct slot *slot)
{
	if (slot->written && slot_holds(p, slot))
		return true;
	slot->written = false;
	if (slot_write(p, slot) == 0)
		return true;
	slot_release(slot);
	return false;
}

bool slot_prepare(struct process *p, struct breakpoint *b)
{
	const struct object *object = b->slot ? b->slot->object : NULL;

	return b->slot && ((object && object->lasting) || slot_renew(p, b->slot));
}

static bool slot_try(struct process *p, struct breakpoint *b, struct slot *slot)
{
	const struct insn_copy before = slot->copy;

	if (p->arch->insns.relocate(&b->insn, slot->address, &slot->copy) < 0 || slot_write(p, slot) < 0) {
		slot->copy = before; /* the owner of this used slot still needs the old copy */
		return false;
	}
	slot->owner = b;
	p->text->syscall_copies += b->insn.is_syscall;
	slot->insn = b->insn;
	b->slot = slot;
	return true;
}

static struct slot *slot_new(struct process *p, struct tail *tail)
{
	struct slot *slot;

	if (tail->next + ARCH_SLOT_SIZE > tail->end)
		return NULL;
	slot = xcalloc(1, sizeof(*slot));
	slot->address = tail->next;
	slot->object = tail->object;
	tail->next += ARCH_SLOT_SIZE;
	hash_set_ptr(&p->text->slots, slot->address, slot);
	return slot;
}

/* Returns true if the tail stays mapped for as long as the breakpoint's code: its object is never unloaded, or contains
 * that code, too. After a dlclose, other threads run on until the dynamic linker hits the breakpoint that reports the
 * dlclose to functrace. Such a thread must not jump to a copy that is no longer mapped. */
static bool outlives(const struct process *p, const struct tail *tail, const struct breakpoint *b)
{
	return tail->object && (tail->object->lasting || tail->object == objects_find(&p->objects, b->address));
}

/* Assigns a slot that was never used, in the nearest tail into which the instruction can be relocated. */
static bool assign_fresh(struct process *p, struct breakpoint *b)
{
	uint64_t beyond = 0;

	for (;;) {
		struct tail *best = NULL;
		uint64_t best_distance = UINT64_MAX;

		for (size_t i = 0; i < p->text->tail_count; i++) {
			struct tail *tail = &p->text->tails[i];
			const uint64_t distance =
				tail->start > b->address ? tail->start - b->address : b->address - tail->start;

			if (distance > beyond && distance < best_distance && tail->next + ARCH_SLOT_SIZE <= tail->end &&
			    outlives(p, tail, b)) {
				best = tail;
				best_distance = distance;
			}
		}
		if (!best)
			return false;
		struct insn_copy copy;

		if (p->arch->insns.relocate(&b->insn, best->next, &copy) == 0)
			return slot_try(p, b, slot_new(p, best));
		beyond = best_distance;
	}
}

/* Assigns to `b` a slot of this tail that was used before and that no task is in. Takes last the slots whose breakpoint
 * is inserted and that a task has entered lately. */
static bool take_from(struct process *p, struct breakpoint *b, struct tail *tail)
{
	const size_t count = (tail->next - tail->start) / ARCH_SLOT_SIZE;

	/* The first pass over the slots clears used_lately, so that the second pass can take any of them. */
	for (size_t i = 0; i < 2 * count; i++) {
		struct slot *slot = slot_at(p, tail->start + tail->hand * ARCH_SLOT_SIZE);

		tail->hand = (tail->hand + 1) % count;
		/* A child that was forked inside a slot is not counted as a user of the slot before birth_adopt(). So a
		 * slot with a copy of a system call, which may be a fork, is not reused. */
		if (!slot || slot->users || slot->insn.is_syscall)
			continue;
		if (slot->used_lately && slot->owner && slot->owner->inserted) {
			slot->used_lately = false;
			continue;
		}
		struct breakpoint *old = slot->owner;

		if (!slot_try(p, b, slot))
			continue;
		if (old)
			old->slot = NULL;
		return true;
	}
	return false;
}

/* Assigns a slot that another breakpoint has or had. If a program has more call sites than slots (a browser has
 * thousands), breakpoints take slots from each other, because writing a slot anew is far cheaper than a step with all
 * threads stopped. */
static bool assign_used(struct process *p, struct breakpoint *b)
{
	struct insn_copy copy;

	for (size_t i = 0; i < p->text->tail_count; i++) {
		struct tail *tail = &p->text->tails[p->text->tail_turn++ % p->text->tail_count];

		if (tail->next > tail->start && outlives(p, tail, b) &&
		    p->arch->insns.relocate(&b->insn, tail->start, &copy) == 0 && take_from(p, b, tail))
			return true;
	}
	return false;
}

bool slot_assign(struct process *p, struct breakpoint *b)
{
	return assign_fresh(p, b) || assign_used(p, b);
}

void slot_release(struct slot *slot)
{
	if (slot->owner)
		slot->owner->slot = NULL;
	slot->owner = NULL;
}

void slots_forget_range(struct process *p, uint64_t start, uint64_t end)
{
	size_t count;
	uint64_t *const gone = hash_keys_between(&p->text->slots, start, end, &count);

	for (size_t i = 0; i < p->text->tail_count;) {
		if (p->text->tails[i].start >= start && p->text->tails[i].start < end)
			p->text->tails[i] = p->text->tails[--p->text->tail_count];
		else
			i++;
	}
	for (size_t i = 0; i < count; i++) {
		struct slot *slot = hash_get_ptr(&p->text->slots, gone[i]);

		hash_remove(&p->text->slots, gone[i], NULL);
		slot_release(slot);
		/* No task can be in unmapped memory, but a task may still be counted as inside. */
		FOR_EACH_TASK(task, p)
			if (task_slot(task) == slot)
				slot_left(task);
		free(slot);
	}
	free(gone);
}

/* Restores all slots of a tail. They are adjacent, so one write suffices. */
static void tail_restore(struct process *p, const struct tail *tail)
{
	const size_t size = tail->next - tail->start;
	unsigned char *bytes;

	if (!size)
		return;
	bytes = xmalloc(size);
	if (memory_read(p, tail->start, bytes, size) == 0) {
		for (uint64_t at = tail->start; at < tail->next; at += ARCH_SLOT_SIZE) {
			struct slot *slot = slot_at(p, at);

			if (slot && slot->written &&
			    !memcmp(bytes + (at - tail->start), slot->copy.bytes, slot->copy.size))
				memcpy(bytes + (at - tail->start), slot->saved, sizeof(slot->saved));
			if (slot)
				slot->written = false;
		}
		text_write(p, tail->start, bytes, size);
	}
	free(bytes);
}

void slots_restore(struct process *p)
{
	text_about_to_change(p); /* a child that borrows the tables has the copies in its text */
	for (size_t i = 0; i < p->text->tail_count; i++)
		tail_restore(p, &p->text->tails[i]);
}

/* ---- Tasks ---- */

struct task_hits *task_hits_new(struct task *task)
{
	task->hits = xcalloc(1, sizeof(*task->hits));
	return task->hits;
}

void slot_enter(struct task *task, struct slot *slot)
{
	task_set_pc(task, slot->address);
	slot->used_lately = true;
	slot_joined(task, slot);
}

void task_leave_slot(struct task *task)
{
	struct slot *slot = task_slot(task);

	if (!slot)
		return;
	slot_left(task);
	if (task_regs(task) < 0)
		return;
	const struct arch *arch = task->process->arch;
	const uint64_t pc = arch->registers.pc(&task->regs);

	if (pc < slot->address || pc >= slot->address + ARCH_SLOT_SIZE)
		return;
	const uint64_t original = insn_original_pc(&slot->insn, &slot->copy, slot->address, pc);

	if (slot->owner && original == slot->insn.address)
		hit_undo(task, slot->owner);
	task_set_pc(task, original);
}

void hit_undo(struct task *task, const struct breakpoint *b)
{
	if (!b->probe || task_regs(task) < 0)
		return;
	struct task_hits *hits = task_hits(task);
	struct undone *undone = &hits->undone[hits->next++ % UNDONE_MAX];

	hits->any_undone = true;
	undone->breakpoint = b;
	undone->sp = task->process->arch->registers.sp(&task->regs);
	task_args(task, undone->args);
}

bool hit_redo(struct task *task, const struct breakpoint *b, const uint64_t args[CALL_ARGS], unsigned arguments)
{
	const struct arch *arch = task->process->arch;
	const unsigned compared =
		arguments > arch->convention.argument_registers ? arguments : arch->convention.argument_registers;
	const size_t count = compared < CALL_ARGS ? compared : CALL_ARGS;
	struct task_hits *hits = task->hits;
	const uint64_t sp = arch->registers.sp(&task->regs);
	struct undone *found = NULL;
	bool others = false;

	for (size_t i = 0; i < UNDONE_MAX; i++) {
		struct undone *undone = &hits->undone[i];

		if (!found && undone->breakpoint == b && undone->sp == sp)
			found = undone;
		else
			others |= undone->breakpoint != NULL;
	}
	hits->any_undone = others;
	if (found)
		found->breakpoint = NULL;
	return found && !memcmp(found->args, args, count * sizeof(*args));
}

void hits_forget(struct task *task, const struct breakpoint *b)
{
	for (size_t i = 0; task->hits && i < UNDONE_MAX; i++)
		if (task->hits->undone[i].breakpoint == b)
			task->hits->undone[i].breakpoint = NULL;
}

void hits_free(struct task *task)
{
	slot_left(task);
	free(task->hits);
	task->hits = NULL;
}

#include "config.h"
#include "breakpoints/breakpoints.h"
#include "breakpoints/out_of_line_slots.h"
#include "ptrace/target_memory.h"
#include "ptrace/tasks.h"
#include "proc/proc.h"
#include "base/msg.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void breakpoints_hide(struct process *p, uint64_t address, unsigned char *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		/* Does not use breakpoint_find(), which would clear a state bit of the address. */
		const struct breakpoint *b = hash_get_ptr(&p->text->breakpoints, address + i);

		if (b && b->inserted)
			for (size_t j = 0; j < b->size && i + j < size; j++)
				bytes[i + j] = b->original[j];
	}
}

int breakpoints_read(void *process, uint64_t address, void *data, size_t size)
{
	const int error = memory_read(process, address, data, size);

	if (!error)
		breakpoints_hide(process, address, data, size);
	return error;
}

/* Reads the code at the address: ARCH_INSN_MAX bytes, or only the rest of the page if the next page cannot be read.
 * Returns the number of bytes, or -errno. Hides the breakpoints in these bytes, except one at the address itself. */
static ssize_t own_bytes(struct process *p, uint64_t address, unsigned char code[ARCH_INSN_MAX])
{
	size_t size = ARCH_INSN_MAX;
	int error = memory_read(p, address, code, size);

	if (error < 0) {
		/* The instruction may be the last of its page. */
		size = page_size() - address % page_size();
		if (size >= ARCH_INSN_MAX)
			return error;
		error = memory_read(p, address, code, size);
		if (error < 0)
			return error;
	}
	/* The bytes after the first one may contain other breakpoints. */
	breakpoints_hide(p, address + 1, code + 1, size - 1);
	return (ssize_t)size;
}

/* Returns the text mapping of an object that contains the address; NULL if the code there was generated at run time.
 * The address range of an object does not suffice, because other memory may be mapped between its segments (AArch64's
 * segments are 64 KiB apart). */
static const struct text_range *text_of_object(const struct process *p, uint64_t address)
{
	const struct object *object = objects_find(&p->objects, address);

	return object ? object_text_at(object, address) : NULL;
}

/* Returns true if the memory is shared with other processes, which would hit a breakpoint written there. */
static bool is_shared(struct process *p, uint64_t address)
{
	const struct text_range *range = text_of_object(p, address);
	struct maps maps;

	if (range)
		return range->shared;
	if (maps_read(process_proc_task(p), &maps) < 0)
		return false;
	const struct mapping *mapping = maps_find(&maps, address);
	const bool shared = mapping && mapping->shared;

	maps_free(&maps);
	return shared;
}

/* Returns true if another breakpoint covers some of these bytes. If the processor runs code in two states, symbols can
 * name addresses that are closer together than a breakpoint is long. Then each breakpoint would save the other's bytes
 * as the program's own, and restore them in the end. */
static bool overlaps_another(const struct process *p, uint64_t address, unsigned size)
{
	for (uint64_t at = address - (ARCH_BREAKPOINT_MAX - 1); p->arch->code_state.bits && at < address + size; at++) {
		const struct breakpoint *other = at == address ? NULL : breakpoint_find(p, at);

		if (other && other->address == at && !other->unusable && at + other->size > address)
			return true;
	}
	return false;
}

/* Reads code from an object's file. Returns the number of bytes, or -1. */
static ssize_t file_bytes(struct process *p, uint64_t address, unsigned char code[ARCH_INSN_MAX])
{
	const struct object *const object = objects_find(&p->objects, address);
	ssize_t got = -1;
	struct maps maps;

	if (!object || !object->open_path || maps_read(process_proc_task(p), &maps) < 0)
		return -1;
	const struct mapping *const mapping = maps_find(&maps, address);
	const int fd = mapping ? open(object->open_path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;

	if (fd >= 0) {
		got = pread(fd, code, ARCH_INSN_MAX, (off_t)(address - mapping->start + mapping->offset));
		close(fd);
	}
	maps_free(&maps);
	return got;
}

/* Returns true if the process has the kernel's page of probes, which stays for the process's life. In such a process
 * the kernel takes a breakpoint for a probe, and functrace does not see its hit, wherever any process has a probe
 * now. */
static bool has_had_probes(struct process *p)
{
	struct maps maps;

	if (p->text->probes_known || !p->arch->breakpoint.second || maps_read(process_proc_task(p), &maps) < 0)
		return p->text->had_probes;
	for (size_t i = 0; i < maps.count; i++)
		p->text->had_probes |= !strcmp(maps.items[i].path, "[uprobes]");
	p->text->probes_known = true;
	maps_free(&maps);
	return p->text->had_probes;
}

/* Reads and decodes the instruction at the breakpoint's address. Returns -errno if no breakpoint can be there. */
static int breakpoint_prepare(struct process *p, struct breakpoint *b)
{
	unsigned char code[ARCH_INSN_MAX];
	ssize_t size = own_bytes(p, b->address, code);

	if (size < 0)
		return (int)size;
	if (is_shared(p, b->address))
		return -EACCES;
	const unsigned trap_size = p->arch->breakpoint.encode(breakpoint_code(b), b->trap);

	/* A probe of another program, or what a killed tracer has left. The kernel can have its probe there, too. */
	b->is_covered = !memcmp(code, b->trap, trap_size) && p->tracer->uprobes && p->text->planting;
	if (b->is_covered)
		size = file_bytes(p, b->address, code);
	if (size <= 0)
		return -EEXIST;
	b->is_made = !text_of_object(p, b->address);
	if (!p->arch->insns.decode(breakpoint_code(b), code, (size_t)size, p->shadow_stack, &b->insn))
		return -EILSEQ;
	if (b->insn.kind == INSN_STEP && p->arch->insns.cannot_step)
		return -ENOTSUP;
	if (b->insn.literal_size) {
		const int error = memory_read(p, b->insn.literal_at, b->insn.literal, b->insn.literal_size);

		if (error < 0)
			return error;
	}
	if (overlaps_another(p, b->address, trap_size))
		return -EBUSY;
	b->size = (unsigned char)trap_size;
	memcpy(b->original, code, b->size);
	if (!memcmp(b->original, b->trap, b->size))
		return -EEXIST; /* the target's own breakpoint, or another tracer's */
	if (has_had_probes(p))
		b->trap[0] = p->arch->breakpoint.second;
	return 0;
}

/* Returns true if the decoded instruction is still in place. If code was generated anew or patched since, the old
 * instruction must not be run. */
static bool is_current(struct process *p, const struct breakpoint *b)
{
	unsigned char code[ARCH_INSN_MAX];
	const ssize_t size = own_bytes(p, b->address, code);

	if (size < b->insn.length || size < b->size)
		return true; /* the code is unmapped, or about to be: a write will fail */
	if (!memcmp(code, b->trap, b->size))
		memcpy(code, b->original, b->size);
	return !memcmp(code, b->original, b->size) && !memcmp(code, b->insn.bytes, b->insn.length);
}

void breakpoint_note(struct process *p, struct breakpoint *b)
{
	b->journal_index = guard_note(p->tracer->engine, p->guard, b->address, b->original, b->trap, b->size);
}

static int breakpoint_write(struct process *p, struct breakpoint *b)
{
	if (b->is_covered)
		return -EEXIST;
	breakpoint_note(p, b);
	const int error = text_write(p, b->address, b->trap, b->size);

	if (error < 0) {
		guard_clear(p->tracer->engine, b->journal_index);
		b->journal_index = -1;
		return error;
	}
	b->inserted = true;
	p->text->inserted++;
	return 0;
}

static struct breakpoint *breakpoint_unusable(struct breakpoint *b, int error)
{
	msg_debug(DBG_BREAKPOINT, 1, "no breakpoint at 0x%llx: %s", (unsigned long long)b->address, strerror(-error));
	b->unusable = error != -ESRCH && error != -EAGAIN;
	return NULL;
}

struct breakpoint *breakpoint_add(struct process *p, uint64_t code)
{
	struct breakpoint *b = breakpoint_find(p, code);

	if (b)
		return b;
	b = xcalloc(1, sizeof(*b));
	b->address = arch_text_address(p->arch, code);
	b->state = code & p->arch->code_state.bits;
	b->journal_index = -1;
	hash_set_ptr(&p->text->breakpoints, b->address, b);
	return b;
}

struct breakpoint *breakpoint_insert(struct process *p, uint64_t code)
{
	struct breakpoint *const b = breakpoint_add(p, code);
	int error;

	if (b->inserted || b->unusable || b->in_kernel)
		return b->unusable ? NULL : b;
	if (!b->size || !is_current(p, b)) {
		if (b->slot)
			slot_release(b->slot);
		error = breakpoint_prepare(p, b);
		if (error < 0)
			return breakpoint_unusable(b, error);
	} else if (has_had_probes(p)) {
		b->trap[0] = p->arch->breakpoint.second;
	}
	/* The slot for stepping over is assigned before the breakpoint is written. Without a slot, the instruction has
	 * to be emulated or stepped in place. If neither is possible, no breakpoint is written. */
	if (b->insn.kind == INSN_COPY && !(b->slot && slot_renew(p, b->slot)) && !slot_assign(p, b) &&
	    !b->insn.can_emulate && (p->arch->insns.cannot_step || b->insn.cannot_step))
		return breakpoint_unusable(b, -EAGAIN);
	if (p->text->planting) {
		b->prepared = true;
		return b;
	}
	error = breakpoint_write(p, b);
	return error < 0 ? breakpoint_unusable(b, error) : b;
}

void breakpoints_plant(struct process *p, void (*failed)(struct process *p, const struct breakpoint *b))
{
	p->text->planting = false;
	HASH_EACH_PTR(struct breakpoint, b, &p->text->breakpoints) {
		int error;

		if (!b->prepared)
			continue;
		b->prepared = false;
		error = b->inserted ? 0 : breakpoint_write(p, b);
		if (error < 0) {
			breakpoint_unusable(b, error);
			failed(p, b);
		}
	}
}

void breakpoint_remove(struct process *p, struct breakpoint *b)
{
	unsigned char now[ARCH_BREAKPOINT_MAX];

	if (!b->inserted)
		return;
	text_about_to_change(p);
	b->inserted = false;
	p->text->inserted--;
	/* Restores the program's bytes only if the breakpoint is still there. After a dlclose and a new mapping at this
	 * address, or after the target has patched its code, the bytes are no longer functrace's. */
	if (memory_read(p, b->address, now, b->size) == 0 && !memcmp(now, b->trap, b->size))
		text_write(p, b->address, b->original, b->size);
	guard_clear(p->tracer->engine, b->journal_index);
	b->journal_index = -1;
}

bool breakpoint_refresh(struct process *p, struct breakpoint *b)
{
	unsigned char now[ARCH_BREAKPOINT_MAX];

	if (!b->inserted || !b->is_made)
		return b->inserted;
	if (memory_read(p, b->address, now, b->size) == 0 && !memcmp(now, b->trap, b->size) && is_current(p, b))
		return true;
	breakpoint_remove(p, b);
	return false;
}

size_t breakpoints_remove_some(struct process *p, bool entries, size_t most)
{
	const struct hash_entry *entry;
	size_t removed = 0;

	/* letgo.c removes breakpoints in small parts. For each part it calls this function for one process after
	 * another, until one has inserted breakpoints left. So a process without any must not cost a search of its
	 * table. */
	if (!p->text->inserted)
		return 0;
	for (size_t i = 0; removed < most && (entry = hash_next(&p->text->breakpoints, &i));) {
		struct breakpoint *b = (struct breakpoint *)(uintptr_t)entry->value;

		if (!b->inserted || (entries && !b->probe))
			continue;
		breakpoint_remove(p, b);
		removed++;
	}
	return removed;
}

static void breakpoint_delete(struct process *p, struct breakpoint *b)
{
	p->text->inserted -= b->inserted;
	if (b->slot)
		slot_release(b->slot);
	if (b->journal_index >= 0)
		guard_clear(p->tracer->engine, b->journal_index);
	free(b->path);
	free(b);
}

void breakpoint_free(struct process *p, struct breakpoint *b)
{
	hash_remove(&p->text->breakpoints, b->address, NULL);
	breakpoint_delete(p, b);
	p->text->forgotten++;
}

void text_free(struct process *p)
{
	struct text *text = p->text;

	HASH_EACH_PTR(struct breakpoint, b, &text->breakpoints)
		breakpoint_delete(p, b);
	hash_free(&text->breakpoints);
	hash_free_all(&text->slots);
	free(text->tails);
	free(text);
	p->text = NULL;
}

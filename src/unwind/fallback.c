/* Walks stacks by a library, for rules that rows cannot contain, or for --unwinder=libunwind, by which users check
 * rows. The library is libunwind if it supports the processor, else libdw (libdw_walk.c). libunwind reads the snapshot,
 * the object's copy of .eh_frame, and other memory by the snapshot's read(); it never calls ptrace. */
#include "config.h"
#include "unwind/steps.h"
#include "base/util.h"

#include <libunwind.h>
#include <stdlib.h>

#define REGISTER_STATES 1024 /* number of register states that libunwind caches */

/* Maximum number of memory accesses in a walk, so that rules that loop for ever end. A walk of 257 frames that
 * libunwind has not cached takes about 100,000 accesses. */
#define ACCESS_MAX 500000

struct fallback {
	unw_addr_space_t space;

	/* The current walk. */
	struct unwinder *unwinder;
	const struct stack_snapshot *snapshot;
	uint64_t first_pc;
	unsigned accesses;
	bool no_rule;                      /* true if libunwind has asked for a pc that has no rule */
	const struct unwind_mapping *last; /* the mapping whose .eh_frame was last read */
};

/* libunwind's function for searching a binary table like that in .eh_frame_hdr. The function is exported, but no header
 * of libunwind declares it; other remote unwinders (perf) use it, too. */
#define dwarf_search_unwind_table UNW_OBJ(dwarf_search_unwind_table)
int dwarf_search_unwind_table(unw_addr_space_t space, unw_word_t ip, unw_dyn_info_t *di, unw_proc_info_t *pi,
			      int need_unwind_info, void *arg);

static int find_proc_info(unw_addr_space_t space, unw_word_t ip, unw_proc_info_t *pi, int need_unwind_info, void *arg)
{
	struct fallback *fallback = arg;
	struct unwinder *unwinder = fallback->unwinder;
	const struct unwind_mapping *mapped = unwinder_find(unwinder, ip);
	int result = -UNW_ENOINFO;

	if (mapped && object_open(mapped->object, &unwinder->memory, mapped->start)) {
		const struct eh_frame *eh = cfi_eh_frame(&mapped->object->cfi);
		unw_dyn_info_t di = {
			.format = UNW_INFO_FORMAT_REMOTE_TABLE,
			.start_ip = mapped->start,
			.end_ip = mapped->end,
			.u.rti.segbase = eh->header + mapped->bias,
			.u.rti.table_data = eh->table + mapped->bias,
			.u.rti.table_len = eh->count * 8 / sizeof(unw_word_t),
		};

		if (eh->bytes && eh->count)
			result = dwarf_search_unwind_table(space, ip, &di, pi, need_unwind_info, arg);
	}
	if (result == -UNW_ENOINFO)
		fallback->no_rule = true;
	return result;
}

static void put_unwind_info(unw_addr_space_t space, unw_proc_info_t *pi, void *arg)
{
	(void)space, (void)pi, (void)arg;
}

static int get_dyn_info_list_addr(unw_addr_space_t space, unw_word_t *list, void *arg)
{
	(void)space, (void)list, (void)arg;
	return -UNW_ENOINFO;
}

static bool eh_frame_word(const struct unwind_mapping *mapped, uint64_t address, unw_word_t *value)
{
	const struct eh_frame *eh = &mapped->object->cfi.eh;
	const uint64_t offset = address - mapped->bias - eh->address;

	if (mapped->object->state != OBJECT_OPEN || !eh->bytes || offset >= eh->size ||
	    eh->size - offset < sizeof(*value))
		return false;
	memcpy(value, eh->bytes + offset, sizeof(*value));
	return true;
}

static int access_mem(unw_addr_space_t space, unw_word_t address, unw_word_t *value, int write, void *arg)
{
	struct fallback *fallback = arg;
	struct stack_memory *memory = &fallback->unwinder->memory;
	const uint64_t offset = address - memory->start;

	(void)space;
	if (write || ++fallback->accesses > ACCESS_MAX)
		return -UNW_EINVAL;
	if (offset < memory->size && memory->size - offset >= sizeof(*value)) {
		memcpy(value, memory->bytes + offset, sizeof(*value));
		return 0;
	}
	if (fallback->last && eh_frame_word(fallback->last, address, value))
		return 0;
	const struct unwind_mapping *mapped = unwinder_find(fallback->unwinder, address);

	if (mapped && eh_frame_word(mapped, address, value)) {
		fallback->last = mapped;
		return 0;
	}
	return unwind_memory_read(memory, address, value, sizeof(*value)) ? 0 : -UNW_EINVAL;
}

static int access_reg(unw_addr_space_t space, unw_regnum_t reg, unw_word_t *value, int write, void *arg)
{
	const struct fallback *fallback = arg;
	const struct stack_snapshot *snapshot = fallback->snapshot;
	const struct arch *arch = snapshot->arch;

	(void)space;
	if (write)
		return -UNW_EREADONLYREG;
	if (reg >= 0 && (unsigned)reg == arch->dwarf.pc)
		*value = (unw_word_t)fallback->first_pc;
	else if (reg == UNW_REG_SP)
		*value = (unw_word_t)arch->registers.sp(&snapshot->regs);
	else if (reg >= 0 && (unsigned)reg < arch->dwarf.registers)
		*value = (unw_word_t)arch->dwarf.get(&snapshot->regs, (unsigned)reg);
	else
		return -UNW_EBADREG;
	return 0;
}

static int access_fpreg(unw_addr_space_t space, unw_regnum_t reg, unw_fpreg_t *value, int write, void *arg)
{
	(void)space, (void)reg, (void)value, (void)write, (void)arg;
	return -UNW_EBADREG;
}

static int fallback_resume(unw_addr_space_t space, unw_cursor_t *cursor, void *arg)
{
	(void)space, (void)cursor, (void)arg;
	return -UNW_EINVAL;
}

static int get_proc_name(unw_addr_space_t space, unw_word_t address, char *name, size_t size, unw_word_t *offset,
			 void *arg)
{
	(void)space, (void)address, (void)name, (void)size, (void)offset, (void)arg;
	return -UNW_EINVAL;
}

static struct fallback *fallback_new(struct unwinder *unwinder)
{
	static unw_accessors_t accessors = {
		.find_proc_info = find_proc_info,
		.put_unwind_info = put_unwind_info,
		.get_dyn_info_list_addr = get_dyn_info_list_addr,
		.access_mem = access_mem,
		.access_reg = access_reg,
		.access_fpreg = access_fpreg,
		.resume = fallback_resume,
		.get_proc_name = get_proc_name,
	};
	struct fallback *fallback;
	unw_addr_space_t space;

	space = unw_create_addr_space(&accessors, 0);
	if (!space)
		return NULL;
	unw_set_caching_policy(space, UNW_CACHE_GLOBAL);
	unw_set_cache_size(space, REGISTER_STATES, 0);
	fallback = xcalloc(1, sizeof(*fallback));
	fallback->space = space;
	fallback->unwinder = unwinder;
	return fallback;
}

void fallback_free(struct fallback *fallback)
{
	if (!fallback)
		return;
	unw_destroy_addr_space(fallback->space);
	free(fallback);
}

void fallback_flush(struct fallback *fallback)
{
	unw_flush_cache(fallback->space, 0, 0);
}

static bool fallback_begin(struct unwinder *unwinder, const struct walk_request *request, unw_cursor_t *cursor)
{
	struct fallback *fallback = unwinder->fallback;

	if (!fallback)
		fallback = unwinder->fallback = fallback_new(unwinder);
	if (!fallback)
		return false;
	fallback->snapshot = request->snapshot;
	/* libunwind looks up the first pc without subtracting 1. */
	fallback->first_pc = request->snapshot->arch->registers.pc(&request->snapshot->regs) - !request->exact;
	fallback->accesses = 0;
	fallback->last = NULL;
	return unw_init_remote(cursor, fallback->space, fallback) >= 0;
}

static enum walk_end fallback_walk_frames(struct unwinder *unwinder, unw_cursor_t *cursor, struct walk_request *request)
{
	struct fallback *fallback = unwinder->fallback;
	struct steps steps;
	unw_word_t pc, sp;
	int result;

	steps_begin(&steps, unwinder, request);
	do {
		if (!steps_may_go_on(&steps))
			break;
		fallback->no_rule = false;
		result = unw_step(cursor);
		/* For a pc without a rule, libunwind guesses a caller. */
		if (fallback->no_rule)
			return steps_without_rule(&steps);
		if (result < 0)
			return WALK_CUT;
		pc = sp = 0;
		unw_get_reg(cursor, UNW_REG_SP, &sp);
		unw_get_reg(cursor, UNW_REG_IP, &pc);
	} while (steps_to_caller(&steps, result ? pc : 0, sp));
	return steps.end;
}

static enum walk_end walk_by_library(struct unwinder *unwinder, struct walk_request *request)
{
	unw_cursor_t cursor;

	if (unwinder->arch != arch_native() || unwinder->arch->unwind.libunwind_numbers)
		return libdw_walk(unwinder, request);
	if (fallback_begin(unwinder, request, &cursor))
		return fallback_walk_frames(unwinder, &cursor, request);
	return WALK_OTHER;
}

enum walk_end fallback_walk(struct unwinder *unwinder, struct walk_request *request)
{
	const struct stack_snapshot *snapshot = request->snapshot;
	const size_t kept_count = request->count;
	struct unwind_frame *kept = xreallocarray(NULL, kept_count + 1, sizeof(*kept));

	memcpy(kept, request->frames, kept_count * sizeof(*kept));
	enum walk_end end = walk_by_library(unwinder, request);

	if (end == WALK_OTHER) {
		request->frames[0] = (struct unwind_frame){.pc = snapshot->arch->registers.pc(&snapshot->regs),
							   .cfa = snapshot->arch->registers.sp(&snapshot->regs)};
		request->count = 1;
		end = WALK_CUT;
	}
	if (end == WALK_CUT && request->count < kept_count) {
		memcpy(request->frames, kept, kept_count * sizeof(*kept));
		request->count = kept_count;
	}
	free(kept);
	return end;
}

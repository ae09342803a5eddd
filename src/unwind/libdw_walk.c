/* Walks stacks by libdw's unwinder, for processors that this build's libunwind does not support. libdw reads the
 * snapshot and other memory by the snapshot's read(); it reads the objects from copies of their files, and never
 * calls ptrace. */
#include "config.h"
#include "unwind/steps.h"
#include "base/util.h"
#include "symbols/elf/private_copy.h"

#include <elfutils/libdwfl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define REGISTERS_MAX 64

/* The state of libdw, which is kept until objects change. */
struct libdw {
	Dwfl *dwfl;
	struct unwinder *unwinder;

	/* The current walk. */
	const struct walk_request *request;
	struct steps steps;
	bool is_first;
};

/* The thread id that libdw gets: a snapshot is the stack of one thread, and its id does not matter. */
#define THREAD 1

static pid_t next_thread(Dwfl *dwfl, void *libdw, void **thread)
{
	(void)dwfl;
	if (*thread)
		return 0;
	*thread = libdw;
	return THREAD;
}

static bool get_thread(Dwfl *dwfl, pid_t tid, void *libdw, void **thread)
{
	(void)dwfl;
	*thread = libdw;
	return tid == THREAD;
}

static bool libdw_walk_read_word(Dwfl *dwfl, Dwarf_Addr address, Dwarf_Word *value, void *context)
{
	struct libdw *libdw = context;
	uint64_t word;

	(void)dwfl;
	if (!unwind_memory_word(&libdw->unwinder->memory, address, &word))
		return false;
	*value = word;
	return true;
}

static bool set_registers(Dwfl_Thread *thread, void *context)
{
	const struct libdw *libdw = context;
	const struct stack_snapshot *snapshot = libdw->request->snapshot;
	const struct arch *arch = snapshot->arch;
	Dwarf_Word words[REGISTERS_MAX];

	if (arch->dwarf.registers > REGISTERS_MAX)
		return false;
	for (unsigned i = 0; i < arch->dwarf.registers; i++)
		words[i] = arch->dwarf.get(&snapshot->regs, i);
	/* libdw looks up the first pc without subtracting 1. */
	if (arch->dwarf.pc < arch->dwarf.registers)
		words[arch->dwarf.pc] = arch->registers.pc(&snapshot->regs) - !libdw->request->exact;
	return dwfl_thread_state_registers(thread, 0, arch->dwarf.registers, words);
}

static const Dwfl_Thread_Callbacks thread_callbacks = {
	.next_thread = next_thread,
	.get_thread = get_thread,
	.memory_read = libdw_walk_read_word,
	.set_initial_registers = set_registers,
};

static int no_debuginfo(Dwfl_Module *module, void **data, const char *name, Dwarf_Addr base, const char *file,
			const char *link, GElf_Word crc, char **found)
{
	(void)module, (void)data, (void)name, (void)base, (void)file, (void)link, (void)crc, (void)found;
	return -1;
}

static const Dwfl_Callbacks callbacks = {
	.find_elf = dwfl_linux_proc_find_elf,
	.find_debuginfo = no_debuginfo,
	.section_address = dwfl_offline_section_address,
};

void libdw_free(struct libdw *libdw)
{
	if (!libdw)
		return;
	dwfl_end(libdw->dwfl);
	free(libdw);
}

/* Passes a copy of the file to libdw, because libdw maps the file. If another process truncated the original,
 * functrace would be killed by SIGBUS. */
static void report_file(Dwfl *dwfl, const char *path, uint64_t bias)
{
	const int copy = private_copy_in_time(path, -1, COPY_FRAMES);

	if (copy >= 0 && !dwfl_report_elf(dwfl, path, path, copy, bias, true))
		close(copy);
}

static struct libdw *libdw_new(struct unwinder *unwinder)
{
	struct libdw *libdw = xcalloc(1, sizeof(*libdw));

	libdw->unwinder = unwinder;
	libdw->dwfl = dwfl_begin(&callbacks);
	if (!libdw->dwfl)
		goto failed;
	dwfl_report_begin(libdw->dwfl);
	for (size_t i = 0; i < unwinder->count; i++) {
		const struct unwind_mapping *mapping = &unwinder->items[i];
		const char *path = mapping->object->path;
		char name[32];

		/* With this name libdw reads the module from the process's memory. */
		snprintf(name, sizeof(name), "[vdso: %d]", (int)unwinder->pid);
		if (path)
			report_file(libdw->dwfl, path, mapping->bias);
		else
			dwfl_report_module(libdw->dwfl, name, mapping->start, mapping->end);
	}
	dwfl_report_end(libdw->dwfl, NULL, NULL);
	if (dwfl_attach_state(libdw->dwfl, NULL, THREAD, &thread_callbacks, libdw))
		return libdw;
failed:
	libdw_free(libdw);
	return NULL;
}

/* Called by libdw with each frame; the first frame is the snapshot's. */
static int on_frame(Dwfl_Frame *state, void *context)
{
	struct libdw *libdw = context;
	struct steps *steps = &libdw->steps;
	Dwarf_Word sp = 0;
	Dwarf_Addr pc = 0;

	if (!libdw->is_first) {
		const struct stack_memory *memory = &libdw->unwinder->memory;

		dwfl_frame_pc(state, &pc, NULL);
		if (dwfl_frame_reg(state, libdw->unwinder->arch->dwarf.sp, &sp) ||
		    !steps_to_caller(steps, unwind_memory_sum(memory, pc, 0), unwind_memory_sum(memory, sp, 0)))
			return DWARF_CB_ABORT;
	}
	libdw->is_first = false;
	if (!steps_may_go_on(steps))
		return DWARF_CB_ABORT;
	/* Stop at a pc without a rule: there libdw would guess a caller by the frame pointer. */
	if (steps->row && steps->row->kind == ROW_NONE) {
		steps->end = steps_without_rule(steps);
		return DWARF_CB_ABORT;
	}
	return DWARF_CB_OK;
}

enum walk_end libdw_walk(struct unwinder *unwinder, struct walk_request *request)
{
	if (!unwinder->libdw)
		unwinder->libdw = libdw_new(unwinder);
	struct libdw *libdw = unwinder->libdw;

	if (!libdw)
		return WALK_OTHER;
	libdw->request = request;
	libdw->is_first = true;
	steps_begin(&libdw->steps, unwinder, request);
	const int result = dwfl_getthread_frames(libdw->dwfl, THREAD, on_frame, libdw);

	if (result == DWARF_CB_ABORT)
		return libdw->steps.end;
	/* 0: libdw found the end of the stack; else a frame without a rule. */
	return result == 0 ? WALK_COMPLETE : steps_without_rule(&libdw->steps);
}

/* Tests probes and calls of a made-up process: its text is a file, and no program runs. */
#include "config.h"
#include "calls/probes/alias.h"
#include "calls/probes/probe_spec.h"
#include "calls/calls.h"
#include "engine/shared_state.h"
#include "record/ledger.h"
#include "record/run.h"
#include "breakpoints/breakpoints.h"
#include "breakpoints/fork_text.h"
#include "breakpoints/out_of_line_slots.h"
#include "symbols/elf/elf_file.h"
#include "tracer/process.h"
#include "unit_test.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define TEXT  0x400000u
#define SITE  (TEXT + 0x100)
#define STACK 0x700000u

static const struct resource kinds[] = {{.type = "memory"}};
static struct object program = {.path = (char *)(uintptr_t) "/bin/prog", .start = TEXT, .end = TEXT + 0x1000};

enum { PUBLISH, ALLOC, ALLOC_TOO, FREE, FREE_OR_NOT, SIZED };
static const struct function functions[] = {
	[PUBLISH] = {.symbol = "publish", .role = ROLE_ALLOC, .publishes_early = true, .family = "publish"},
	[ALLOC] = {.symbol = "alloc", .role = ROLE_ALLOC, .family = "alloc"},
	[ALLOC_TOO] = {.symbol = "alloc_too", .role = ROLE_ALLOC, .family = "alloc"},
	[FREE] = {.symbol = "free", .role = ROLE_RELEASE},
	[FREE_OR_NOT] = {.symbol = "free_or_not", .role = ROLE_RELEASE, .can_fail = true},
	[SIZED] = {.symbol = "sized", .role = ROLE_ALLOC, .id = RESULT, .size = ARG(0)},
};
static const struct module module = {MODULE_TABLES(kinds, functions)};
static const struct module *modules[] = {&module};

static struct settings settings;
static struct engine engine;
static struct run run;
static struct tracer tracer;
static struct process *p;

static int setup(void **state)
{
	static struct shared_state *shared;
	const struct arch *arch = arch_for_elf(EM_X86_64, ELFCLASS64);

	if (!arch)
		return 0;
	if (!shared)
		shared = xcalloc(1, sizeof(*shared));
	settings = (struct settings){.traced.modules = modules, .traced.module_count = 1};
	engine = (struct engine){.settings = &settings, .shared = shared, .socket = -1, .link = -1, .wake_fd = -1};
	guard_init(&engine);
	run = (struct run){.set = &settings, .engine = &engine};
	tracer = (struct tracer){.set = &settings, .engine = &engine, .run = &run, .wanted = probe_spec_new(&settings)};
	p = process_alloc(&tracer, getpid(), arch);
	process_ref(p);
	ledger_init(p->trace);
	p->trace->reported = true; /* no message about it is wanted */
	p->mem_fd = memfd_create("memory", MFD_CLOEXEC);
	return ftruncate(p->mem_fd, STACK) < 0;
}

static int teardown(void **state)
{
	if (!p)
		return 0;
	p->objects = (struct object_list){0}; /* so that the objects are not freed with the process */
	process_unref(p, NULL);
	p = NULL;
	hash_free(&tracer.tasks);
	free(tracer.spare_call);
	probe_spec_free(tracer.wanted);
	guard_free(&engine);
	return 0;
}

static void needs_x86_64(void)
{
	if (p)
		return;
	print_message("the made-up process is one of x86-64, which this functrace does not know\n");
	skip();
}

static const struct probe_spec *wanted(int row)
{
	return probe_spec_exact(tracer.wanted, functions[row].symbol);
}

static const struct probe *probe(int row, uint64_t at)
{
	probe_at(p, &(struct probe){.wanted = wanted(row),
				    .traced.shown = functions[row].symbol,
				    .start = at,
				    .size = 16,
				    .object = &program});
	return breakpoint_find(p, at)->probe;
}

static struct breakpoint *site_at(uint64_t at)
{
	struct breakpoint *site = breakpoint_insert(p, at);

	assert_non_null(site);
	site->is_return = true;
	return site;
}

static void end_task(struct task *task)
{
	task_calls_free(task, false);
	struct process *const its = task_part(task);

	task_delete(&tracer, task);
	process_unref(its, NULL);
}

/* ---- Text ---- */

/* Tests that functrace hides its breakpoints in bytes of the program's text, on a processor whose code addresses
 * contain a state bit (Thumb). */
static void test_breakpoints_in_thumb_code_are_hidden(void **state)
{
	needs_x86_64();
	const struct arch *const arch = p->arch;
	struct arch thumb = *arch;
	struct breakpoint *b = breakpoint_insert(p, TEXT);
	unsigned char bytes[6];

	thumb.code_state.bits = 1;
	p->arch = &thumb;
	memcpy(b->original, "\x11\x22", 2);
	b->size = 2;
	memset(bytes, 0xcc, sizeof(bytes));
	breakpoints_hide(p, TEXT, bytes, sizeof(bytes));
	assert_memory_equal(bytes, "\x11\x22\xcc\xcc\xcc\xcc", 6);
	/* From TEXT + 1 on, no byte is changed: here TEXT + 1 is the second byte of the breakpoint, not TEXT with the
	 * state bit. */
	memset(bytes, 0xcc, sizeof(bytes));
	breakpoints_hide(p, TEXT + 1, bytes, sizeof(bytes));
	assert_memory_equal(bytes, "\xcc\xcc\xcc\xcc\xcc\xcc", 6);
	p->arch = arch;
	b->size = 1;
}

static bool decode_watched_load(uint64_t address, const unsigned char *code, size_t size, bool shadow_stack,
				struct insn *insn)
{
	(void)size, (void)shadow_stack;
	*insn = (struct insn){.kind = INSN_COPY, .length = 1, .address = address, .cannot_step = true};
	insn->bytes[0] = code[0];
	return true;
}

/* An instruction whose effect a step would undo gets a breakpoint only if there is room for its copy. */
static void test_unsteppable_instructions_need_a_slot(void **state)
{
	needs_x86_64();
	const struct arch *const arch = p->arch;
	struct arch watched = *arch;
	struct tail tail = {.start = TEXT + 0x800, .next = TEXT + 0x800, .end = TEXT + 0x840};

	watched.insns.decode = decode_watched_load;
	p->arch = &watched;
	assert_null(breakpoint_insert(p, TEXT));
	p->text->tails = xcalloc(1, sizeof(tail));
	p->text->tails[0] = tail;
	p->text->tail_count = p->text->tail_capacity = 1;
	assert_null(breakpoint_insert(p, TEXT)); /* the only tail has no object, so it may be unmapped */
	p->text->tails[0].object = &program;
	program.lasting = true;
	assert_non_null(breakpoint_insert(p, TEXT));
	program.lasting = false;
	p->arch = arch;
}

/* The range of an object may have a hole with generated code. This code may change, so it is read again. */
static void test_code_in_a_hole_of_an_object_counts_as_generated(void **state)
{
	needs_x86_64();
	struct text_range text = {.start = TEXT, .end = TEXT + 0x800};
	struct object *const only = &program;

	program.text = &text;
	program.text_count = 1;
	p->objects = (struct object_list){.items = (struct object **)(uintptr_t)&only, .count = 1};
	assert_false(breakpoint_insert(p, TEXT)->is_made);
	assert_true(breakpoint_insert(p, TEXT + 0x900)->is_made);
	program.text = NULL;
	program.text_count = 0;
}

/* ---- Names ---- */

static void test_names_of_one_kind_share_a_probe(void **state)
{
	needs_x86_64();
	const struct probe *const both = probe(ALLOC_TOO, TEXT);

	assert_ptr_equal(probe(ALLOC, TEXT), both);
	assert_ptr_equal(both->function, &functions[ALLOC]); /* the first row */
	assert_string_equal(both->traced.shown, "alloc");
	assert_non_null(both->aliases);
	assert_int_equal(p->probes->count, 1);
}

#define LIBRARY     0x500000u
#define SLOT        (LIBRARY + 0x1800)
#define LIBRARY_END (LIBRARY + 0x2000)

/* The library's file has one slot. */
static struct call_slot slot = {.address = SLOT - LIBRARY};
static struct elf_file file = {.slots = {.call_slots = &slot, .call_slot_count = 1, .call_slots_read = true}};
static struct object library = {.start = LIBRARY, .end = LIBRARY_END, .bias = LIBRARY, .file = &file};
static struct object *mapped = &library;

/* Maps a library that makes one call, `call *SLOT(%rip)`. Returns the address after the call. */
static uint64_t map_library(const char *symbol)
{
	const uint64_t call = LIBRARY + 0x100;
	unsigned char code[6] = {0xff, 0x15};
	const uint32_t distance = (uint32_t)(SLOT - (call + sizeof(code)));

	memcpy(code + 2, &distance, sizeof(distance));
	assert_int_equal(pwrite(p->mem_fd, code, sizeof(code), (off_t)call), sizeof(code));
	slot.name = symbol;
	p->objects.items = &mapped;
	p->objects.count = 1;
	callers_add(p, mapped);
	return call + sizeof(code);
}

/* functrace remembers for a return address by which name the call before it calls, but only until the library is
 * unloaded, because then another library may have the same address and the same slot. */
static void test_callers_are_forgotten_when_unloaded(void **state)
{
	needs_x86_64();
	const struct probe *const known = probe(ALLOC, TEXT);

	assert_ptr_equal(probe(ALLOC_TOO, TEXT), known);
	const uint64_t site = map_library("alloc_too");

	assert_true(known->asks_caller);
	assert_string_equal(alias_called(p, known, site)->shown, "alloc_too");
	/* Another library at its place calls by the first name. */
	callers_forget_range(p->probes, LIBRARY, LIBRARY_END);
	map_library("alloc");
	assert_string_equal(alias_called(p, known, site)->shown, "alloc");
	/* The third library at this place calls by the second name. The fourth one has the same call, but the symbol of
	 * its slot is not traced, so the first name is shown. */
	callers_forget_range(p->probes, LIBRARY, LIBRARY_END);
	map_library("alloc_too");
	callers_forget_range(p->probes, LIBRARY, LIBRARY_END);
	map_library("somebody_else");
	assert_string_equal(alias_called(p, known, site)->shown, "alloc");
}

/* If several rows describe a function by different names, the earliest row decides, in whatever order the names are
 * found. This holds before breakpoints are inserted: no call can have used the other name yet, and later calls do not
 * show by which name they were made. */
static void test_earlier_row_decides_between_two_kinds(void **state)
{
	needs_x86_64();
	p->text->planting = true;
	for (unsigned turn = 0; turn < 2; turn++) {
		const uint64_t at = TEXT + turn * 0x40;
		const struct probe *known = NULL;

		for (int i = 0; i < 3; i++)
			known = probe(turn ? i : 2 - i, at);
		assert_ptr_equal(known->function, &functions[PUBLISH]);
		assert_ptr_equal(known->traced.function, &functions[PUBLISH]);
		assert_string_equal(known->traced.shown, "publish");
		assert_false(known->traced.any_family);
		for (const struct alias *alias = known->aliases; alias; alias = alias->next)
			assert_ptr_equal(alias->wanted->function, &functions[PUBLISH]);
	}
}

/* call: enters alloc() | an IFUNC's resolver chooses alloc()'s code for publish(), which has an earlier row | call:
 * returns. If a publisher were counted only at its entry, or only at its return, it would block releases for ever. */
static void test_publisher_found_during_a_call_is_not_counted(void **state)
{
	needs_x86_64();
	struct task *task = task_new(&tracer, getpid(), getpid(), p, PHASE_LIVE);
	const struct probe *const known = probe(ALLOC_TOO, TEXT);
	struct breakpoint *site = site_at(SITE);

	probe(ALLOC, TEXT);
	struct call *const call = call_add(task, known, &known->aliases->traced, site, STACK);

	probe(PUBLISH, TEXT);
	call_unlink(p, call);
	call_free(p, call);
	assert_int_equal(p->trace->ledger.live[1].publishers, 0);
	assert_ptr_equal(known->function, &functions[ALLOC]);
	end_task(task);
}

/* p->probes->releases is the number of functions whose releases are written at the entry. A function that can fail, a
 * resolver, and a function whose object was unmapped are not counted. */
static void test_only_releases_written_at_the_entry_are_counted(void **state)
{
	needs_x86_64();
	probe(FREE_OR_NOT, TEXT);
	probe_at(p, &(struct probe){
			    .wanted = wanted(FREE), .start = TEXT + 0x40, .object = &program, .is_resolver = true});
	assert_int_equal(p->probes->releases, 0);
	probe(FREE, TEXT + 0x80);
	assert_int_equal(p->probes->releases, 1);
	probe_forget(p, breakpoint_find(p, TEXT));
	assert_int_equal(p->probes->releases, 1);
	probe_forget(p, breakpoint_find(p, TEXT + 0x80));
	assert_int_equal(p->probes->releases, 0);
	/* The function gets another name, from an earlier row, by which its releases are written at the entry. */
	p->text->planting = true;
	probe(FREE_OR_NOT, TEXT + 0xc0);
	probe(FREE, TEXT + 0xc0);
	assert_int_equal(p->probes->releases, 1);
}

/* On a processor whose arguments are all on the stack, the caller's variables follow them. task: hits malloc(24), runs
 * the copy in the slot | a signal: the hit is undone | its handler: changes the caller's variable | task: hits again */
static void test_undone_hits_are_recognised_by_stack_arguments(void **state)
{
	needs_x86_64();
	const struct arch *const arch = p->arch;
	struct task *task = task_new(&tracer, getpid(), getpid(), p, PHASE_LIVE);
	uint64_t words[] = {0, 24, 1, 2, 3, 4, 5}, *const args = words + 1;
	struct arch stacked = *arch;

	stacked.convention.argument_registers = 0;
	stacked.convention.argument_stack = sizeof(*words);
	p->arch = &stacked;
	task->regs_known = true;
	arch->registers.set_sp(&task->regs, STACK - 0x100);
	const struct probe *const known = probe(SIZED, TEXT);
	const struct breakpoint *const b = breakpoint_find(p, TEXT);

	assert_int_equal(probe_arguments(known), 1);
	assert_int_equal(pwrite(p->mem_fd, words, sizeof(words), STACK - 0x100), sizeof(words));
	hit_undo(task, b);
	args[1]++;
	assert_true(task_has_undone_hits(task) && hit_redo(task, b, args, probe_arguments(known)));
	assert_false(task_has_undone_hits(task));
	/* Another call from the same place has another argument. */
	hit_undo(task, b);
	args[0]++;
	assert_false(hit_redo(task, b, args, probe_arguments(known)));
	p->arch = arch;
	hits_free(task);
	end_task(task);
}

/* The events of one return have the same order in a fork's child. */
static void test_fork_keeps_the_order_of_calls(void **state)
{
	needs_x86_64();
	struct task *maker = task_new(&tracer, getpid(), getpid(), p, PHASE_LIVE);
	const struct probe *const known[] = {probe(PUBLISH, TEXT), probe(ALLOC, TEXT + 0x40), probe(FREE, TEXT + 0x80)};
	struct process *const fork = process_alloc(&tracer, getpid() + 1, p->arch);
	struct task *child = task_new(&tracer, fork->pid, fork->pid, fork, PHASE_LIVE);
	struct breakpoint *site = site_at(SITE);

	ledger_init(fork->trace);
	fork->trace->reported = true;
	fork->mem_fd = dup(p->mem_fd);
	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		call_add(maker, known[i], &known[i]->traced, site, STACK);
	call_add(maker, known[1], &known[1]->traced, site, STACK - 16);
	fork_text_copy(p, fork, probe_copy);
	calls_fork(maker, child);
	const struct call *mine = call_find(p, STACK), *its = call_find(fork, STACK);

	for (; mine && its; mine = mine->older, its = its->older) {
		assert_ptr_equal(its->traced->function, mine->traced->function);
		assert_true(!its->older || its->older->newer == its);
	}
	assert_true(!mine && !its);
	mine = task_newest_call(maker);
	for (its = task_newest_call(child); mine && its; mine = mine->next, its = its->next)
		assert_true(its->return_sp == mine->return_sp && its->traced->function == mine->traced->function);
	assert_true(!mine && !its);
	end_task(child);
	end_task(maker);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_breakpoints_in_thumb_code_are_hidden, setup, teardown),
		cmocka_unit_test_setup_teardown(test_unsteppable_instructions_need_a_slot, setup, teardown),
		cmocka_unit_test_setup_teardown(test_code_in_a_hole_of_an_object_counts_as_generated, setup, teardown),
		cmocka_unit_test_setup_teardown(test_names_of_one_kind_share_a_probe, setup, teardown),
		cmocka_unit_test_setup_teardown(test_callers_are_forgotten_when_unloaded, setup, teardown),
		cmocka_unit_test_setup_teardown(test_earlier_row_decides_between_two_kinds, setup, teardown),
		cmocka_unit_test_setup_teardown(test_publisher_found_during_a_call_is_not_counted, setup, teardown),
		cmocka_unit_test_setup_teardown(test_only_releases_written_at_the_entry_are_counted, setup, teardown),
		cmocka_unit_test_setup_teardown(test_undone_hits_are_recognised_by_stack_arguments, setup, teardown),
		cmocka_unit_test_setup_teardown(test_fork_keeps_the_order_of_calls, setup, teardown),
	};

	return cmocka_run_group_tests_name("calls", tests, NULL, NULL);
}

/* Tests the contexts of a made-up process: its memory is a file with the library's table, and no program runs. */
#include "config.h"
#include "calls/contexts.h"
#include "engine/shared_state.h"
#include "record/ledger.h"
#include "record/trace_output.h"
#include "record/run.h"
#include "record/trace_life.h"
#include "breakpoints/breakpoints.h"
#include "symbols/elf/elf_file.h"
#include "tracer/process.h"
#include "unit_test.h"

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define FIRST  0x400000u
#define SECOND 0x500000u
#define DATA   0x8000u /* offset of the table from an object's beginning */
#define NAME   0x600000u
#define END    0x700000u

static const struct probe_spec hooks[] = {{.hook = HOOK_CONTEXT_CREATE, .symbol = "sp_context_create"},
					  {.hook = HOOK_CONTEXT_ENTER, .symbol = "sp_context_enter"},
					  {.hook = HOOK_CONTEXT_EXIT, .symbol = "sp_context_exit"}};
static struct elf_file file;
static struct object objects[2] = {
	{.path = (char *)(uintptr_t) "/bin/prog", .start = FIRST, .end = FIRST + 0x1000, .file = &file},
	{.path = (char *)(uintptr_t) "/lib/l.so", .start = SECOND, .end = SECOND + 0x1000, .file = &file}};

static struct settings settings;
static struct engine engine;
static struct run run;
static struct tracer tracer;
static struct process *p;
static struct task *task;
static struct arch arch;
static uint64_t result;
static struct context_table table;
static int own_stderr; /* while stderr is a file */
static char warning[400];

/* Begins to collect in a file what functrace writes to stderr. */
static void messages_collect(void)
{
	const int fd = memfd_create("warning", MFD_CLOEXEC);

	fflush(stderr);
	own_stderr = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0);
	assert_true(own_stderr >= 0 && dup2(fd, STDERR_FILENO) == STDERR_FILENO);
	close(fd);
}

/* Returns what was written since messages_collect(), and restores stderr. */
static const char *messages_collected(void)
{
	const ssize_t size = pread(STDERR_FILENO, warning, sizeof(warning) - 1, 0);

	assert_int_equal(dup2(own_stderr, STDERR_FILENO), STDERR_FILENO);
	close(own_stderr);
	assert_true(size >= 0);
	warning[size] = '\0';
	return warning;
}

static uint64_t fake_result(const struct arch_regs *regs)
{
	(void)regs;
	return result;
}

static int setup(void **state)
{
	static struct shared_state *shared;
	const struct arch *own = arch_for_elf(EM_X86_64, ELFCLASS64);

	if (!own)
		return 0;
	if (!shared)
		shared = xcalloc(1, sizeof(*shared));
	arch = *own;
	arch.convention.result = fake_result;
	settings = (struct settings){0};
	engine = (struct engine){.settings = &settings, .shared = shared, .socket = -1, .link = -1, .wake_fd = -1};
	guard_init(&engine);
	run = (struct run){.set = &settings, .engine = &engine};
	tracer = (struct tracer){.set = &settings, .engine = &engine, .run = &run};
	p = process_alloc(&tracer, getpid(), &arch);
	process_ref(p);
	ledger_init(p->trace);
	p->trace->reported = true;
	p->trace->origin.attached = true;
	p->mem_fd = memfd_create("memory", MFD_CLOEXEC);
	task = task_new(&tracer, getpid(), getpid(), NULL, PHASE_LIVE);
	task_join(task, p);
	task->at_stop = 1;
	for (size_t i = 0; i < ARRAY_SIZE(objects); i++)
		objects[i].bias = objects[i].start;
	file.contexts = DATA;
	table = (struct context_table){.magic = CONTEXT_TABLE_MAGIC, .version = CONTEXT_TABLE_VERSION};
	return ftruncate(p->mem_fd, END) < 0 || pwrite(p->mem_fd, &table, sizeof(table), FIRST + DATA) != sizeof(table);
}

static void end_task(struct task *gone)
{
	task_calls_free(gone, false);
	struct process *const its = task_part(gone);

	task_delete(&tracer, gone);
	process_unref(its, NULL);
}

static int teardown(void **state)
{
	if (!p)
		return 0;
	end_task(task);
	p->objects = (struct object_list){0};
	process_unref(p, NULL);
	p = NULL;
	hash_free(&tracer.tasks);
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

static const struct probe *probe(enum hook hook, const struct object *object)
{
	const struct probe_spec *const wanted = &hooks[hook - HOOK_CONTEXT_CREATE];
	const uint64_t at = object->start + 0x10u * hook;

	probe_at(p, &(struct probe){.wanted = wanted, .start = at, .size = 16, .object = object});
	return breakpoint_find(p, at)->probe;
}

static void write_table(const struct object *object)
{
	assert_int_equal(pwrite(p->mem_fd, &table, sizeof(table), object->start + DATA), sizeof(table));
}

/* Simulates that a thread of the program creates a context: writes the context to the table. */
static void create(unsigned index, const char *name)
{
	table.contexts[index].state = CONTEXT_READY;
	strncpy(table.contexts[index].name, name, CONTEXT_NAME_SIZE);
	table.created |= 1u << index;
	write_table(&objects[0]);
}

static void write_mask(pid_t tid, uint32_t mask)
{
	table.threads[17] = (struct context_thread){(uint32_t)tid, mask};
	write_table(&objects[0]);
}

/* Simulates the return of sp_context_create() in a traced thread. */
static void create_traced(const struct object *object, uint32_t id, const char *name)
{
	const struct call call = {.probe = probe(HOOK_CONTEXT_CREATE, object), .args = {NAME}};

	assert_int_equal(pwrite(p->mem_fd, name, strlen(name) + 1, NAME), strlen(name) + 1);
	result = id;
	contexts_created(task, &call);
}

static void enter(const struct object *object, uint32_t id)
{
	contexts_hit(task, probe(HOOK_CONTEXT_ENTER, object), id);
}

static void leave(const struct object *object, uint32_t id)
{
	contexts_hit(task, probe(HOOK_CONTEXT_EXIT, object), id);
}

static void assert_contexts(uint32_t mask)
{
	task->at_stop++;
	assert_int_equal(contexts_of(task), mask);
}

static void assert_names(const char *first, const char *second)
{
	assert_int_equal(p->trace->contexts.count, !!first + !!second);
	if (first)
		assert_string_equal(p->trace->contexts.names[0], first);
	if (second)
		assert_string_equal(p->trace->contexts.names[1], second);
}

static void attach(void)
{
	probe(HOOK_CONTEXT_CREATE, &objects[0]);
	contexts_find(p, true);
}

/* T: create(a), create(b), enter(b) | functrace attaches | T: malloc, enter(a), exit(b). */
static void test_contexts_from_before_the_trace_are_read(void **state)
{
	needs_x86_64();
	create(0, "a");
	create(1, "b");
	write_mask(task->tid, 2);
	attach();
	assert_names("a", "b");
	assert_contexts(2);
	write_mask(task->tid, 0xffff); /* this mask is not read: a thread's mask is read once */
	enter(&objects[0], 1);
	assert_contexts(3);
	leave(&objects[0], 2);
	assert_contexts(1);
}

/* T: enter(a) begins | the breakpoints are inserted, the table is read | T: writes its mask | T: malloc. A task that is
 * stopped at the entry of exit(a) still has a in its mask. */
static void test_attach_during_enter_sees_the_context(void **state)
{
	needs_x86_64();
	create(0, "a");
	attach();
	write_mask(task->tid, 1);
	assert_contexts(1);
	contexts_find(p, true);
	leave(&objects[0], 1);
	assert_contexts(0);
}

/* T: create(a) begins | the breakpoints are inserted, the table is read | T: create() = a, not traced | T: enter(a). */
static void test_context_created_untraced_is_found(void **state)
{
	needs_x86_64();
	attach();
	assert_names(NULL, NULL);
	create(0, "a");
	enter(&objects[0], 1);
	assert_names("a", NULL);
	assert_contexts(1);
	enter(&objects[0], 6); /* these ids were never created */
	assert_contexts(1);
}

/* A launched program has entered no context before the trace. */
static void test_launched_program_begins_in_no_context(void **state)
{
	needs_x86_64();
	p->trace->origin.attached = false;
	create(0, "a");
	write_mask(task->tid, 1);
	attach();
	assert_contexts(0);
	create_traced(&objects[0], 2, "b");
	enter(&objects[0], 2);
	assert_names("a", "b");
	assert_contexts(2);
}

/* functrace pauses | T: create(b), enter(b), exit(a) | functrace resumes. */
static void test_contexts_changed_in_a_pause_are_read_again(void **state)
{
	needs_x86_64();
	create(0, "a");
	attach();
	enter(&objects[0], 1);
	assert_contexts(1);
	create(1, "b");
	write_mask(task->tid, 2);
	contexts_find(p, true);
	assert_names("a", "b");
	assert_contexts(2);
}

/* T, which has made no traced call: enter(a) | T: fork() | child: malloc. The child's table still has the parent's
 * tid. */
static void test_child_inherits_contexts_of_its_maker(void **state)
{
	struct process *child;
	struct task *forked;

	needs_x86_64();
	create(0, "a");
	write_mask(task->tid, 1);
	attach();
	child = process_alloc(&tracer, 2, &arch);
	child->trace->reported = child->trace->origin.attached = true;
	process_ref(child);
	contexts_fork(p, child);
	trace_copy_contexts(p->trace, child->trace);
	forked = task_new(&tracer, 2, 2, NULL, PHASE_LIVE);
	task_join(forked, child);
	contexts_fork_task(task, forked);
	forked->at_stop = 1;
	assert_int_equal(contexts_of(forked), 1);
	assert_string_equal(child->trace->contexts.names[0], "a");
	end_task(forked);
	process_unref(child, NULL);
}

/* The program contains the library, and so does an object that it has loaded: each has ids of its own. */
static void test_each_library_has_ids_of_its_own(void **state)
{
	needs_x86_64();
	write_table(&objects[1]);
	probe(HOOK_CONTEXT_CREATE, &objects[1]);
	attach();
	create_traced(&objects[0], 1, "a");
	create_traced(&objects[1], 1, "b");
	create_traced(&objects[1], 2, "a");
	assert_names("a", "b");
	enter(&objects[1], 1);
	assert_contexts(2);
	enter(&objects[1], 2);
	leave(&objects[0], 1);
	assert_contexts(2);
	/* The object is unloaded; another one is mapped at its place. */
	contexts_forget_range(p, SECOND, SECOND + 0x1000);
	enter(&objects[1], 2);
	assert_contexts(2);
	contexts_find(p, false);
	create_traced(&objects[1], 1, "a");
	enter(&objects[1], 1);
	assert_contexts(3);
}

static void test_contexts_beyond_32_are_warned_about_once(void **state)
{
	char name[16];

	needs_x86_64();
	attach();
	for (unsigned i = 0; i < 31; i++) {
		snprintf(name, sizeof(name), "f%u", i);
		assert_int_equal(output_context(p->trace, name), 1u << i);
	}
	messages_collect();
	create_traced(&objects[0], 1, "last");
	assert_string_equal(messages_collected(), "");
	messages_collect();
	create_traced(&objects[0], 2, "one more");
	assert_non_null(strstr(messages_collected(), "warning: "));
	assert_non_null(strstr(warning, "has more than 32 contexts"));
	messages_collect();
	create_traced(&objects[0], 4, "and more");
	assert_string_equal(messages_collected(), ""); /* reported once */
	enter(&objects[0], 7);
	assert_contexts(UINT32_C(1) << 31);
	create_traced(&objects[0], 8, "f7");
	enter(&objects[0], 8);
	assert_contexts(UINT32_C(1) << 31 | 1 << 7);
}

/* Data that is not a table, or a table of another version, is not read. Names have a limited length, and ids are single
 * bits. */
static void test_invalid_tables_are_not_read(void **state)
{
	needs_x86_64();
	memset(&table, 0xff, sizeof(table));
	write_table(&objects[0]);
	attach();
	assert_names(NULL, NULL);
	contexts_forget_range(p, 0, END);
	table.magic = CONTEXT_TABLE_MAGIC;
	write_table(&objects[0]);
	messages_collect();
	contexts_find(p, true);
	assert_non_null(strstr(messages_collected(), "warning: "));
	assert_non_null(strstr(warning, "a context library of a version that this functrace does not know"));
	contexts_forget_range(p, 0, END);
	table.version = CONTEXT_TABLE_VERSION;
	table.created = 1;
	table.contexts[0].state = 0;
	memset(table.contexts[0].name, 'n', CONTEXT_NAME_SIZE);
	write_mask(task->tid, UINT32_MAX);
	contexts_find(p, true);
	assert_int_equal(strlen(p->trace->contexts.names[0]), CONTEXT_NAME_SIZE - 1);
	assert_contexts(1);
	create_traced(&objects[0], 6, "two bits");
	create_traced(&objects[0], 0, "none");
	assert_int_equal(p->trace->contexts.count, 1);
	objects[0].bias = END; /* the object's table cannot be read at this address */
	contexts_forget_range(p, 0, END);
	contexts_find(p, true);
	assert_contexts(0);
	file.contexts = 0;
	contexts_forget_range(p, 0, END);
	contexts_find(p, true);
	assert_contexts(0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_contexts_from_before_the_trace_are_read, setup, teardown),
		cmocka_unit_test_setup_teardown(test_attach_during_enter_sees_the_context, setup, teardown),
		cmocka_unit_test_setup_teardown(test_context_created_untraced_is_found, setup, teardown),
		cmocka_unit_test_setup_teardown(test_launched_program_begins_in_no_context, setup, teardown),
		cmocka_unit_test_setup_teardown(test_contexts_changed_in_a_pause_are_read_again, setup, teardown),
		cmocka_unit_test_setup_teardown(test_child_inherits_contexts_of_its_maker, setup, teardown),
		cmocka_unit_test_setup_teardown(test_each_library_has_ids_of_its_own, setup, teardown),
		cmocka_unit_test_setup_teardown(test_contexts_beyond_32_are_warned_about_once, setup, teardown),
		cmocka_unit_test_setup_teardown(test_invalid_tables_are_not_read, setup, teardown)};

	return cmocka_run_group_tests_name("contexts", tests, NULL, NULL);
}

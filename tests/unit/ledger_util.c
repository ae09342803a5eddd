/* A ledger with a few kinds of resource, and a trace of its events. */
#include "config.h"
#include "ledger_util.h"
#include "engine/shared_state.h"
#include "record/released_blocks.h"
#include "record/resource_ids.h"
#include "record/ledger.h"
#include "record/put_records.h"
#include "record/run.h"
#include "record/trace_life.h"
#include "records.h"
#include "unit_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Two kinds of resource, so that ids of one are not taken for those of the other. */
static const struct resource kinds[] = {{.type = "memory"}, {.type = "file", .existing = EXISTING_DESCRIPTORS}};
const struct module ledger_module = {.resources = kinds, .resource_count = 2};
/* A module with a kind with reference counts, and one whose records are calls. */
static const struct resource more_kinds[] = {{.type = "object", .flags = RESOURCE_REFCOUNT},
					     {.type = "visit", .flags = RESOURCE_CALL}};
const struct module ledger_more = {.resources = more_kinds, .resource_count = 2};
/* A module with two kinds of ranges, and a kind that a fork's child does not inherit. */
static const struct resource range_kinds[] = {{.type = "map", .is_range = true, .unit = "byte"},
					      {.type = "shared", .is_range = true, .unit = "byte"},
					      {.type = "thread", .ends_in_child = true}};
static const struct module ranges = {.resources = range_kinds, .resource_count = 3};
static const struct module *const modules[] = {&ledger_module, &ledger_more, &ranges};
struct settings settings;
static struct engine engine = {.tick_wanted = true}; /* so that no thread is woken */
static struct run run;
struct trace *trace;

static const struct function functions[] = {
	[MALLOC] = {.symbol = "malloc", .role = ROLE_ALLOC, .family = "malloc"},
	[FREE] = {.symbol = "free", .role = ROLE_RELEASE, .family = "malloc"},
	[REALLOC] = {.symbol = "realloc", .role = ROLE_REALLOC, .can_fail = true, .family = "malloc"},
	[NEW] = {.symbol = "new", .role = ROLE_ALLOC, .family = "new"},
	[OPEN] = {.symbol = "open", .role = ROLE_ALLOC},
	[CLOSE] = {.symbol = "close", .role = ROLE_RELEASE, .can_fail = true},
	[SHUT] = {.symbol = "shut", .role = ROLE_RELEASE, .fails_unknown = true},
	[REF] = {.symbol = "ref", .role = ROLE_ALLOC},
	[UNREF] = {.symbol = "unref", .role = ROLE_RELEASE, .can_fail = true},
	[VISIT] = {.symbol = "visit", .role = ROLE_ALLOC},
	[LEAVE] = {.symbol = "leave", .role = ROLE_RELEASE},
	[MAP] = {.symbol = "map", .role = ROLE_ALLOC},
	[UNMAP] = {.symbol = "unmap", .role = ROLE_RELEASE, .can_fail = true},
	[REMAP] = {.symbol = "remap", .role = ROLE_REALLOC, .can_fail = true},
	[SHARE] = {.symbol = "share", .role = ROLE_ALLOC},
	[UNSHARE] = {.symbol = "unshare", .role = ROLE_RELEASE, .can_fail = true},
	[BEGIN] = {.symbol = "begin", .role = ROLE_ALLOC},
	[JOIN] = {.symbol = "join", .role = ROLE_RELEASE, .can_fail = true},
};
#define FUNCTIONS (sizeof(functions) / sizeof(functions[0]))
static struct traced traced[FUNCTIONS];

int ledger_setup(void **state)
{
	const struct writer_options options = {0};

	settings = (struct settings){.traced.modules = (const struct module **)modules, .traced.module_count = 3};
	settings.trace.encoding = encoding_find("text");
	run = (struct run){.set = &settings, .engine = &engine};
	trace = trace_new(&run, 1, NULL);
	trace->output.next_index = 1;
	trace->output.fd = memfd_create("trace", 0);
	ledger_init(trace);
	trace->output.writer = writer_new(settings.trace.encoding, trace->output.fd, &options);
	for (size_t i = 0; i < FUNCTIONS; i++)
		traced[i] = (struct traced){.function = &functions[i],
					    .resource = i >= BEGIN   ? 7
							: i >= SHARE ? 6
							: i >= MAP   ? 5
							: i >= VISIT ? 4
							: i >= REF   ? 3
							: i >= OPEN  ? 2
								     : 1,
					    .shown = functions[i].symbol};
	writer_put(trace->output.writer,
		   &(struct record){PROCESS_RECORD(.pid = 1, .has_pid = true, .no_timestamps = true)});
	for (uint32_t id = 1; id < kinds_end(&settings); id++) {
		const struct resource *kind = kind_of(&settings, id);

		writer_put(trace->output.writer,
			   &(struct record){.type = RECORD_RESOURCE,
					    .resource = {id, kind->flags, kind->type, kind->type}});
	}
	return 0;
}

/* Returns the counters of unusual calls, summed over all kinds of resources. */
struct kind_counts odd(void)
{
	struct kind_counts sum = {0};

	for (uint32_t id = 1; id < kinds_end(&settings); id++) {
		const struct kind_counts counts = ledger_counts(trace, id);

		kind_counts_add(&sum, &counts);
	}
	return sum;
}

int ledger_teardown(void **state)
{
	put_undefer(trace);
	writer_close(trace->output.writer);
	close(trace->output.fd);
	ledger_free(trace);
	trace_free(trace);
	functions_free(&run);
	return 0;
}

struct event event(int kind, uint64_t id, uint64_t size)
{
	return (struct event){.function = &traced[kind], .id = id, .size = size, .time_ns = TIME_NONE};
}

void allocated(int kind, uint64_t id, uint64_t size)
{
	const struct event e = event(kind, id, size);

	ledger_allocated(trace, &e);
}

void released(uint64_t id)
{
	const struct event e = event(FREE, id, 0);

	ledger_released(trace, &e);
}

void reserve(struct reservation *reservation, int kind, uint64_t id)
{
	const struct event e = event(kind, id, 0);

	ledger_reserve(trace, reservation, &e, NULL);
}

/* Compares the lines of calls in the trace, without index and blank lines. */
void assert_trace(const char *expected)
{
	char text[4096], calls[4096] = "";

	writer_flush(trace->output.writer);
	const ssize_t size = pread(trace->output.fd, text, sizeof(text) - 1, 0);

	assert_true(size > 0);
	text[size] = '\0';
	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
		char *name = strstr(line, ". ");

		if (line[0] >= '0' && line[0] <= '9' && name)
			strcat(strcat(calls, name + 2), "\n");
	}
	assert_string_equal(calls, expected);
}

/* Compares the lines that begin with `beginning`, without it. */
static void assert_lines(const char *beginning, const char *expected)
{
	char text[8192], found[8192] = "";

	writer_flush(trace->output.writer);
	const ssize_t size = pread(trace->output.fd, text, sizeof(text) - 1, 0);

	assert_true(size > 0);
	text[size] = '\0';
	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
		if (!strncmp(line, beginning, strlen(beginning)))
			strcat(strcat(found, line + strlen(beginning)), "\n");
	assert_string_equal(found, expected);
}

void assert_notes(const char *expected)
{
	assert_lines("## ", expected);
}

void assert_arguments(const char *expected)
{
	assert_lines("\t$", expected);
}

/* Made-up modules for functrace-kinds, which test what the tracer does for kinds other than memory. Their functions are
 * those of kinds_target.c, and some of the C library. */
#include "config.h"
#include "modules/builtin.h"
#include "modules/known.h"
#include "trace/event.h"

#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Descriptors: small numbers, including 0, in int arguments and results; releases that can fail. */

static const struct resource file_kinds[] = {
	{.type = "fd", .desc = "file descriptor", .noun = "descriptor", .zero_is_id = true},
};

#define OPENS(name)                                                                                                    \
	{                                                                                                              \
		.symbol = name, .role = ROLE_ALLOC, .id = RESULT, .result = TYPE_INT, .success = OK_NOT_MINUS_1        \
	}
#define CLOSES(name)                                                                                                   \
	{                                                                                                              \
		.symbol = name, .role = ROLE_RELEASE, .id = ARG_INT(0), .result = TYPE_INT, .success = OK_ZERO,        \
		.can_fail = true                                                                                       \
	}

static const struct function file_functions[] = {
	OPENS("open"),
	OPENS("wide_open"),
	CLOSES("close"),
	CLOSES("wide_close"),
	{.symbol = "dup2",
	 .role = ROLE_REALLOC,
	 .id = RESULT,
	 .released = ARG_INT(1),
	 .result = TYPE_INT,
	 .success = OK_NOT_MINUS_1,
	 .can_fail = true,
	 .may_release_none = true},
	{.symbol = "second_of_pair",
	 .role = ROLE_ALLOC,
	 .id = POINTEE_INT(0, 1),
	 .result = TYPE_INT,
	 .success = OK_ZERO},
	/* The function cannot fail, so it has no return breakpoint, and its event is written at its entry. */
	{.symbol = "forget_fd", .role = ROLE_RELEASE, .id = ARG_INT(0)},
};

/* This module traces some functions of the other modules as another kind, and functions that jump to such functions. */
static const struct resource again_kinds[] = {
	{.type = "again",
	 .desc = "descriptor or block, once more",
	 .noun = "thing",
	 .unit = "unit",
	 .zero_is_id = true},
};

static const struct function again_functions[] = {
	OPENS("open"),
	OPENS("jump_to_open"),
	CLOSES("close"),
	CLOSES("jump_to_close"),
	{.symbol = "outer_make", .role = ROLE_ALLOC, .id = RESULT, .size = ARG(0)},
	{.symbol = "inner_make", .role = ROLE_ALLOC, .id = RESULT, .size = ARG(0)},
	{.symbol = "deep_make", .role = ROLE_ALLOC, .id = RESULT, .size = ARG(0)},
	{.symbol = "jump_to_loop", .role = ROLE_ALLOC, .id = RESULT, .size = ARG(0)},
	{.symbol = "resolved_make", .role = ROLE_ALLOC, .id = RESULT, .size = ARG(0)},
	{.symbol = "outer_end", .role = ROLE_RELEASE, .id = ARG(0)},
	{.symbol = "inner_end", .role = ROLE_RELEASE, .id = ARG(0)},
};

static const struct resource made_kinds[] = {
	{.type = "made", .desc = "made by functions that call each other", .noun = "piece", .unit = "byte"},
};

static const struct function made_functions[] = {
	{.symbol = "outer_make", .role = ROLE_ALLOC, .id = RESULT, .size = ARG(0)},
	{.symbol = "inner_make", .role = ROLE_ALLOC, .id = RESULT, .size = ARG(0)},
	{.symbol = "deep_make", .role = ROLE_ALLOC, .id = RESULT, .size = ARG(0)},
	{.symbol = "middle_make", .role = ROLE_ALLOC, .id = RESULT, .size = ARG(0)},
	{.symbol = "low_make", .role = ROLE_ALLOC, .id = RESULT, .size = ARG(0)},
	{.symbol = "loop_make", .role = ROLE_ALLOC, .id = RESULT, .size = ARG(0)},
	{.symbol = "resolved_make", .role = ROLE_ALLOC, .id = RESULT, .size = ARG(0)},
	{.symbol = "outer_end", .role = ROLE_RELEASE, .id = ARG(0)},
	{.symbol = "inner_end", .role = ROLE_RELEASE, .id = ARG(0)},
};

static const struct resource counted_kinds[] = {
	{.type = "object", .desc = "counted object", .flags = RESOURCE_REFCOUNT, .noun = "object"},
};

static const struct function counted_functions[] = {
	{.symbol = "object_ref", .role = ROLE_ALLOC, .id = ARG(0)},
	{.symbol = "object_unref", .role = ROLE_RELEASE, .id = ARG(0)},
};

static const struct resource called_kinds[] = {
	{.type = "visit", .desc = "calls", .flags = RESOURCE_CALL, .noun = "visit"},
};

static const struct function called_functions[] = {
	{.symbol = "visit", .role = ROLE_CALL, .id = ARG(0), .success = OK_ALWAYS},
};

/* The patterns of these rows match functions that allocate or release, local functions, too, or no function. */
static const struct resource pattern_kinds[] = {
	{.type = "made", .desc = "made by functions of any name", .noun = "piece", .unit = "byte"},
};

static const struct function pattern_functions[] = {
	{.symbol = "[ol]*er_make", .is_pattern = true, .role = ROLE_ALLOC, .id = RESULT, .size = ARG(0)},
	{.symbol = "hidden_make*@kinds-target",
	 .is_pattern = true,
	 .name = "shown_make",
	 .role = ROLE_ALLOC,
	 .id = RESULT,
	 .size = ARG(0)},
	{.symbol = "i?n*_make@libc.so", .is_pattern = true, .role = ROLE_ALLOC, .id = RESULT, .size = ARG(0)},
	{.symbol = "inner_make", .role = ROLE_ALLOC, .id = RESULT, .size = ARG(0)},
	{.symbol = "*_end", .is_pattern = true, .role = ROLE_RELEASE, .id = ARG(0)},
	{.symbol = "nowhere_*", .is_pattern = true, .role = ROLE_RELEASE, .id = ARG(0)},
};

/* Each call is an event of its own. */
static const struct resource every_kinds[] = {
	{.type = "call", .desc = "calls", .flags = RESOURCE_CALL, .noun = "call", .is_nested = true},
};

static const struct function every_functions[] = {
	{.symbol = "[!c]*_make", .is_pattern = true, .role = ROLE_CALL, .id = RESULT, .success = OK_ALWAYS},
	{.symbol = "jump_to_*", .is_pattern = true, .role = ROLE_CALL, .id = RESULT, .success = OK_ALWAYS},
};

#define MODULE(short_name, prefix_list)                                                                                \
	{                                                                                                              \
		.api = MODULE_API, .name = #short_name, .version_major = 1, .resources = short_name##_kinds,           \
		.resource_count = COUNT(short_name##_kinds), .functions = short_name##_functions,                      \
		.function_count = COUNT(short_name##_functions), .prefixes = prefix_list                               \
	}

static const struct module modules[] = {MODULE(file, NULL),    MODULE(again, NULL),  MODULE(made, NULL),
					MODULE(counted, NULL), MODULE(called, NULL), MODULE(pattern, NULL),
					MODULE(every, NULL)};

const struct module *module_known(size_t index)
{
	return index == 0 ? builtin_module("memory") : index <= COUNT(modules) ? &modules[index - 1] : NULL;
}

const struct module *module_find(const char *name)
{
	if (!strcmp(name, "memory"))
		return builtin_module("memory");
	for (size_t i = 0; i < COUNT(modules); i++)
		if (!strcmp(modules[i].name, name))
			return &modules[i];
	return NULL;
}

const char *module_names(void)
{
	return "memory, file, again, made, counted, called, pattern, every";
}

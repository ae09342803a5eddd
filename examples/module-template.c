/* A module of one's own in C, for what a text (pool.conf) cannot say: a start to copy from.
 *
 *     cc -g -shared -fPIC -o module-template.so module-template.c
 * (before functrace is installed with -I and the folder include of its build)
 *
 *     functrace -e ./module-template.so -f text -o - ./pool
 *
 * It is about the same pool as pool.conf is, and says more: with each parcel the trace shows the label that it was
 * given, and parcels with the label "?" are counted twice as large.  All fields are described in functrace/module.h,
 * which functrace has installed.
 *
 * The code runs in functrace, not in the program: addresses of the program are no pointers here, and call->read() is
 * the only way to its memory.  It must neither wait nor crash.
 */
#include <functrace/module.h>

static const struct resource resources[] = {
	{.type = "parcel", .desc = "parcels of the pool", .noun = "parcel", .unit = "byte", .left = "never put back"},
};

/* The string at that address of the program, cut to `size`; "" if there is none. */
static void read_string(const struct module_call *call, uint64_t address, char *to, size_t size)
{
	size_t length = 0;

	while (length < size - 1 && call->read(call, address + length, to + length, 1) && to[length])
		length++;
	to[length] = '\0';
}

/* Called at the return of a call that has succeeded, before it is written. */
static bool look_at_label(const struct module_call *call, struct module_details *details)
{
	details->arg_name = "label";
	read_string(call, call->args[2], details->arg_value, sizeof(details->arg_value));
	if (details->arg_value[0] == '?')
		details->size *= 2;
	return true; /* false: it is not written */
}

static const struct function functions[] = {
	{.symbol = "pool_get",
	 .role = ROLE_ALLOC,
	 .id = RESULT,
	 .size = ARG(1),
	 .look = look_at_label,
	 .params = {{"from", PARAM_POINTER}, {"size", PARAM_SIZE}, {"label", PARAM_STRING}},
	 .returns = {"return", PARAM_POINTER}},
	{.symbol = "pool_copy",
	 .role = ROLE_ALLOC,
	 .id = POINTEE(1, 0),
	 /* count is an unsigned int, each a size_t */
	 .size = {.kind = VALUE_ARG_TIMES, .a = 3, .type = TYPE_UINT, .b = 4, .number = TYPE_WORD},
	 .result = TYPE_INT,
	 .success = OK_ZERO,
	 .params = {{"from", PARAM_POINTER},
		    {"to", PARAM_INDIRECT, .is_result = true},
		    {"of", PARAM_POINTER},
		    {"count", PARAM_UINT},
		    {"each", PARAM_SIZE}},
	 .returns = {"return", PARAM_INT}},
	{.symbol = "pool_put",
	 .role = ROLE_RELEASE,
	 .id = ARG(1),
	 .params = {{"to", PARAM_POINTER}, {"object", PARAM_POINTER}}},
};

static const struct module module = {
	.api = MODULE_API,
	.name = "pool",
	.summary = "parcels of pool.c, with their labels",
	.version_major = 1,
	.resources = resources,
	.resource_count = sizeof(resources) / sizeof(resources[0]),
	.functions = functions,
	.function_count = sizeof(functions) / sizeof(functions[0]),
};

/* What functrace looks for. */
extern const struct module *const functrace_module;
const struct module *const functrace_module = &module;

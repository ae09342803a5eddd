/* A template for a module of your own in C. Such a module can do what a description (pool.conf) cannot express.
 *
 *     cc -g -shared -fPIC -o module-template.so module-template.c
 * (if functrace is not installed yet, add -I and the folder `include` of its build)
 *
 *     functrace -e ./module-template.so -f text -o - ./pool
 *
 * The module traces the same pool as pool.conf, and does more: the trace shows the label of each parcel, and a parcel
 * whose label begins with "?" has twice its size. The header functrace/module.h, which is installed with functrace,
 * describes all fields.
 *
 * The module's code runs in functrace and not in the program, so the program's addresses are not pointers here. Only
 * call->read() can read the program's memory. The code must neither wait nor crash.
 */
#include <functrace/module.h>

static const struct resource resources[] = {
	{.type = "parcel", .desc = "parcels of the pool", .noun = "parcel", .unit = "byte", .left = "never put back"},
};

/* Copies the string at this address of the program, cut to `size` bytes; "" if the address cannot be read. */
static void read_string(const struct module_call *call, uint64_t address, char *to, size_t size)
{
	size_t length = 0;

	while (length < size - 1 && call->read(call, address + length, to + length, 1) && to[length])
		length++;
	to[length] = '\0';
}

/* functrace calls this function when a call has returned with success, before it writes the event. */
static bool look_at_label(const struct module_call *call, struct module_details *details)
{
	details->arg_name = "label";
	read_string(call, call->args[2], details->arg_value, sizeof(details->arg_value));
	if (details->arg_value[0] == '?')
		details->size *= 2;
	return true; /* false: the event is not written */
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

/* functrace looks for this symbol. */
extern const struct module *const functrace_module;
const struct module *const functrace_module = &module;

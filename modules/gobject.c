/* Objects of GLib's type system, with their references; their types' names and sizes.
 *
 * An object's class leads to its type's node in GLib, whose layout (struct _TypeNode of gobject/gtype.c) is no
 * interface: it is believed only where it fits in itself. The names are those with which types are registered, so those
 * of types from before functrace attached are not known.
 *
 * Semantics: GObject's manual. g_object_ref_sink() takes a reference if the object is not floating; else it makes the
 * floating one the caller's, by a reference and a release of its own. */
#include "config.h"
#include "modules/words.h"
#include "trace/event.h"

#include <string.h>

static const struct resource resources[] = {
	{.type = "gobject", .desc = "GObject instance", .flags = RESOURCE_REFCOUNT, .noun = "GObject", .unit = "byte"},
};

#define TYPE_OBJECT 80u /* G_TYPE_OBJECT, the fundamental type of all */
#define NAME_MAX    127

static bool read_word(const struct module_call *call, uint64_t address, uint64_t *to)
{
	uint32_t half = 0;

	*to = 0;
	if (call->pointer_size == 8)
		return call->read(call, address, to, 8);
	if (!call->read(call, address, &half, sizeof(half)))
		return false;
	*to = half;
	return true;
}

/* The size of an instance, as the node of its type says it: 0 where that is none. */
static uint64_t node_size(const struct module_call *call, uint64_t node, uint64_t class)
{
	const unsigned word = call->pointer_size;
	uint64_t own, fundamental, data, of_class;
	uint16_t size;
	unsigned char supers;

	/* supers[0] is the type itself, and the last one its fundamental type. */
	if (!call->read(call, node + 2 * word + 4, &supers, 1) || !supers ||
	    !read_word(call, node + 8 * word + 8, &own) || own != node ||
	    !read_word(call, node + 8 * word + 8 + supers * word, &fundamental) || fundamental != TYPE_OBJECT)
		return 0;
	/* Its data name the class. */
	if (!read_word(call, node + 3 * word + 8, &data) || !read_word(call, data + 6 * word + 8, &of_class) ||
	    of_class != class || !call->read(call, data + 7 * word + 8, &size, sizeof(size)))
		return 0;
	return size >= 3 * word ? size : 0;
}

static bool look_object(const struct module_call *call, struct module_details *details)
{
	uint64_t class, type;
	const char *name = NULL;

	details->size = 0;
	if (!read_word(call, details->id, &class) || !read_word(call, class, &type))
		return true;
	if (type == TYPE_OBJECT) {
		details->size = 3 * call->pointer_size;
		name = "GObject";
	} else if ((details->size = node_size(call, type, class))) {
		name = call->kept_text(call, type);
	}
	if (!name)
		return true;
	details->arg_name = "type";
	strncpy(details->arg_value, name, sizeof(details->arg_value) - 1);
	return true;
}

/* A type is registered: its name is kept for its objects, and nothing is written. */
static bool look_type(const struct module_call *call, struct module_details *details)
{
	char name[NAME_MAX + 1];
	size_t length = 0;

	while (length < NAME_MAX && call->read(call, call->args[1] + length, name + length, 1) && name[length])
		length++;
	name[length] = '\0';
	if (length && length == strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_+"))
		call->keep_text(call, details->id, name);
	return false;
}

#define OBJECT                                                                                                         \
	{                                                                                                              \
		P_POINTER("object")                                                                                    \
	}
#define TYPE(name)                                                                                                     \
	{                                                                                                              \
		name, PARAM_HEX_LONG                                                                                   \
	}
#define CREATES(from, ...)                                                                                             \
	{                                                                                                              \
		.symbol = (from), .role = ROLE_ALLOC, .id = RESULT, .look = look_object, R(PARAM_POINTER), .params = { \
			TYPE("object_type"),                                                                           \
			__VA_ARGS__                                                                                    \
		}                                                                                                      \
	}
#define REGISTERS(from, ...)                                                                                           \
	{                                                                                                              \
		.symbol = (from), .role = ROLE_ALLOC, .id = RESULT, .look = look_type, R(PARAM_HEX_LONG), .params = {  \
			TYPE("parent_type"),                                                                           \
			{P_STRING("type_name")},                                                                       \
			__VA_ARGS__,                                                                                   \
			{P_FLAGS("flags", words_type)}                                                                 \
		}                                                                                                      \
	}
#define FIRST                                                                                                          \
	{                                                                                                              \
		P_STRING("first_property_name")                                                                        \
	}

static const struct param_word words_type[] = {{.name = "G_TYPE_FLAG_NONE", .value = 0},
					       {.name = "G_TYPE_FLAG_ABSTRACT", .value = 16},
					       {.name = "G_TYPE_FLAG_VALUE_ABSTRACT", .value = 32},
					       {.name = "G_TYPE_FLAG_FINAL", .value = 64},
					       {.name = "G_TYPE_FLAG_DEPRECATED", .value = 128},
					       {.name = NULL}};

static const struct function functions[] = {
	CREATES("g_object_new", FIRST),
	CREATES("g_object_new_valist", FIRST),
	CREATES("g_object_new_with_properties", {P_UINT("n_properties")}, {P_POINTER("names")}, {P_POINTER("values")}),
	CREATES("g_object_newv", {P_UINT("n_parameters")}, {P_POINTER("parameters")}),
	{.symbol = "g_object_ref",
	 .role = ROLE_ALLOC,
	 .id = ARG(0),
	 .look = look_object,
	 R(PARAM_POINTER),
	 .params = {OBJECT}},
	/* Floating is a bit of the third word. */
	{.symbol = "g_object_ref_sink",
	 .role = ROLE_ALLOC,
	 .conditions = {{.test = TEST_LACKS, .value = POINTEE(0, 2), .other = CONST(2)}},
	 .id = ARG(0),
	 .look = look_object,
	 R(PARAM_POINTER),
	 .params = {OBJECT}},
	{.symbol = "g_object_unref", .role = ROLE_RELEASE, .id = ARG(0), .params = {OBJECT}},
	REGISTERS("g_type_register_static", {P_POINTER("info")}),
	REGISTERS("g_type_register_static_simple", {P_UINT("class_size")}, {"class_init", PARAM_FUNCTION},
		  {P_UINT("instance_size")}, {"instance_init", PARAM_FUNCTION}),
	REGISTERS("g_type_register_dynamic", {P_POINTER("plugin")}),
};

const struct module module_gobject = {
	.api = MODULE_API,
	.name = "gobject",
	.summary = "objects of GLib, with their references and types",
	.version_major = 1,
	.version_minor = 0,
	MODULE_TABLES(resources, functions),
};

/* Finds the types of GLib's objects.
 *
 * An object's class points to GLib's node for the object's type. The layout of a node (struct _TypeNode of
 * gobject/gtype.c) is not a public interface, so a node is used only if its fields agree with each other. functrace
 * stores a type's name when the program registers the type. So types that were registered before functrace attached
 * have no name. */
#include "config.h"
#include "modules/row_code.h"

#include <string.h>

#define TYPE_OBJECT 80u /* G_TYPE_OBJECT, from which the types of all objects are derived */
#define NAME_MAX    127

static bool row_code_gobject_read_word(const struct module_call *call, uint64_t address, uint64_t *to)
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

/* Returns the size of an instance from the node of its type, or 0 if the node is not valid. */
static uint64_t node_size(const struct module_call *call, uint64_t node, uint64_t class)
{
	const unsigned word = call->pointer_size;
	uint64_t own, fundamental, data, of_class;
	uint16_t size;
	unsigned char supers;

	/* supers[0] is the type itself, and the last element is the fundamental type. */
	if (!call->read(call, node + 2 * word + 4, &supers, 1) || !supers ||
	    !row_code_gobject_read_word(call, node + 8 * word + 8, &own) || own != node ||
	    !row_code_gobject_read_word(call, node + 8 * word + 8 + supers * word, &fundamental) ||
	    fundamental != TYPE_OBJECT)
		return 0;
	/* The node's data contains the class. */
	if (!row_code_gobject_read_word(call, node + 3 * word + 8, &data) ||
	    !row_code_gobject_read_word(call, data + 6 * word + 8, &of_class) || of_class != class ||
	    !call->read(call, data + 7 * word + 8, &size, sizeof(size)))
		return 0;
	return size >= 3 * word ? size : 0;
}

bool row_code_object(const struct module_call *call, struct module_details *details)
{
	uint64_t class, type;
	const char *name = NULL;

	details->size = 0;
	if (!row_code_gobject_read_word(call, details->id, &class) || !row_code_gobject_read_word(call, class, &type))
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

/* Stores the name of a type that is being registered, so that the type's objects can be named. Returns false,
 * because no event is written. */
bool row_code_type(const struct module_call *call, struct module_details *details)
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

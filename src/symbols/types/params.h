/* Lists a function's parameters and their places, from debug information. */
#ifndef FT_SYMBOLS_TYPES_PARAMS_H
#define FT_SYMBOLS_TYPES_PARAMS_H

#include "symbols/types/param_place.h"

struct listed_param {
	struct signature_param item;
	Dwarf_Die die;
	/* address of the parameter's DIE; if the function has copies, of the DIE that all copies share */
	void *origin;
	bool is_artificial;
	bool is_ambiguous; /* several of the declared parameters may be this one */
};

struct params {
	struct listed_param *items;
	size_t count, capacity;
	bool is_variadic;
};

/* Reads all declared parameters of the function, in order. Updates *entry if their places show that the code is
 * optimised. The compiler may leave out parameters in the list of the function itself. Such parameters are taken from
 * the function of which this function is a copy, or from the declaration in a class. Without a declaration, the mangled
 * name ("": unknown) shows whether parameters are missing; if so, the listed ones are marked as ambiguous. */
void params_read(struct type_reader *reader, Dwarf_Die *function, const char *mangled, struct param_entry *entry,
		 struct params *params);
void params_free(struct params *params);

#endif

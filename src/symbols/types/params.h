/* The parameters that debug information lists for a function, with their places. */
#ifndef FT_SYMBOLS_TYPES_PARAMS_H
#define FT_SYMBOLS_TYPES_PARAMS_H

#include "symbols/types/param_place.h"

struct param {
	struct signature_param item;
	Dwarf_Die die;
	void *origin; /* the entry that says what all copies of the function have in common; the parameter's own */
	bool is_artificial;
	bool is_ambiguous; /* which of the declared ones it is cannot be said */
};

struct params {
	struct param *items;
	size_t count, capacity;
	bool is_variadic;
};

/* All that the function is declared with, in order; *entry is the function's, and learns what they show. What the
 * compiler does not list, and where it has been, tells the function that this is a copy of, its declaration in a class,
 * or its mangled name ("" unknown). */
void params_read(struct type_reader *reader, Dwarf_Die *function, const char *mangled, struct param_entry *entry,
		 struct params *params);
void params_free(struct params *params);

#endif

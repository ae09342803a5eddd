/* The parameters that debug information lists for a function, with their places. */
#ifndef FT_SYMBOLS_TYPES_PARAMS_H
#define FT_SYMBOLS_TYPES_PARAMS_H

#include "symbols/types/param_place.h"

struct listed_param {
	struct signature_param item;
	Dwarf_Die die;
	void *origin; /* the entry that all copies of the function share, or the parameter's own */
	bool is_artificial;
	bool is_ambiguous; /* it may be one of several declared parameters */
};

struct params {
	struct listed_param *items;
	size_t count, capacity;
	bool is_variadic;
};

/* Reads all parameters with which the function is declared, in order, and updates *entry with what they show. Those
 * that the compiler does not list come from the function of which this is a copy, or from the declaration in a class;
 * or the mangled name ("" unknown) shows that some are missing. */
void params_read(struct type_reader *reader, Dwarf_Die *function, const char *mangled, struct param_entry *entry,
		 struct params *params);
void params_free(struct params *params);

#endif

/* Reads the list of a function's parameters. */
#include "config.h"
#include "symbols/types/params.h"
#include "symbols/names/names.h"

#include <stdlib.h>
#include <string.h>

#define PARAMS_MAX 256

/* ---- Lists ---- */

static void add_param(struct type_reader *reader, Dwarf_Die *die, Dwarf_Die *pack, struct params *params)
{
	const struct data_type *type = type_read_of(reader, die, 0);
	Dwarf_Die origin;

	ARRAY_GROW(params->items, params->capacity, params->count);
	struct listed_param *param = &params->items[params->count++];

	*param = (struct listed_param){
		.item.name = die_string(reader, die, DW_AT_name),
		.item.type = type ? type : &type_unknown,
		.item.place = PLACE_NOWHERE,
		.die = *die,
		.origin = die_reference(die, DW_AT_abstract_origin, &origin) ? origin.addr : die->addr,
		.is_artificial = die_flag(die, DW_AT_artificial),
	};
	if (pack && !param->item.name[0])
		param->item.name = die_string(reader, pack, DW_AT_name);
}

/* Adds the parameters that are children of a DIE. is_pack: the DIE is a template's parameter pack, whose name all these
 * parameters get. */
static void read_params(struct type_reader *reader, Dwarf_Die *parent, bool is_pack, struct params *params)
{
	Dwarf_Die child = {0};

	while (params->count < PARAMS_MAX && die_next_child(reader, parent, &child)) {
		switch (dwarf_tag(&child)) {
		case DW_TAG_formal_parameter:
			add_param(reader, &child, is_pack ? parent : NULL, params);
			break;
		case DW_TAG_unspecified_parameters:
			params->is_variadic = true;
			break;
		case DW_TAG_GNU_formal_parameter_pack:
			if (!is_pack)
				read_params(reader, &child, true, params);
			break;
		default:
			break;
		}
	}
}

/* Replaces the parameters of a function's copy by those of the original function (`all`). A parameter that the copy
 * still has keeps its place. */
static void complete_params(struct params *params, struct params *all)
{
	size_t count = 0;

	for (size_t i = 0; i < all->count; i++) {
		size_t k = 0;

		while (k < params->count && params->items[k].origin != all->items[i].origin)
			k++;
		/* An artificial parameter may exist only in some copies, for example of a constructor. */
		if (k == params->count && all->items[i].is_artificial)
			continue;
		all->items[count++] = k < params->count ? params->items[k] : all->items[i];
	}
	all->count = count;
	if (count < params->count)
		return;
	free(params->items);
	*params = *all;
	all->items = NULL;
}

/* ---- Parameters that LLVM does not list ---- */

static bool is_same_type(const struct data_type *type, const struct data_type *other)
{
	return type == other || (type->kind == other->kind && type->size == other->size &&
				 type->target == other->target && !strcmp(type->name, other->name));
}

static bool params_is_same(const struct listed_param *param, const struct listed_param *declared)
{
	return is_same_type(param->item.type, declared->item.type);
}

/* Finds for each listed parameter the last declared parameter with which it can be matched, leaving matches for the
 * listed parameters after it. Returns false if they cannot all be matched. */
static bool find_last(const struct params *params, const struct params *declared, size_t *last)
{
	size_t k = declared->count;

	for (size_t i = params->count; i-- > 0;) {
		do {
			if (!k)
				return false;
			k--;
		} while (!params_is_same(&params->items[i], &declared->items[k]));
		last[i] = k;
	}
	return true;
}

/* Replaces the list by the declared parameters. Each listed parameter replaces the first declared one with which it can
 * be matched, and is ambiguous if it can also be matched with a later one. If some parameter cannot be matched, changes
 * nothing. */
static void add_declared(struct params *params, struct params *declared)
{
	size_t *last = xcalloc(params->count + 1, sizeof(*last));
	const bool is_one_of_them = find_last(params, declared, last);

	for (size_t i = 0, k = 0; is_one_of_them && i < params->count; i++, k++) {
		while (!params_is_same(&params->items[i], &declared->items[k]))
			k++;
		declared->items[k] = params->items[i];
		declared->items[k].is_ambiguous = last[i] != k;
	}
	free(last);
	if (!is_one_of_them)
		return;
	free(params->items);
	params->items = declared->items;
	params->count = declared->count;
	params->capacity = declared->capacity;
	declared->items = NULL;
}

static void see_mangled(struct params *params, const char *mangled)
{
	const int count = names_parameters(mangled);
	int listed = 0;

	for (size_t i = 0; i < params->count; i++)
		listed += !params->items[i].is_artificial;
	for (size_t i = 0; i < params->count && count > listed; i++)
		params->items[i].is_ambiguous = true;
}

/* Adds parameters that LLVM does not list in code that is not optimised: C++ parameters that are passed by their
 * address and not used. */
static void add_unlisted(struct type_reader *reader, Dwarf_Die *function, const char *mangled, struct params *params)
{
	struct params declared = {0};
	Dwarf_Die declaration;

	if (!die_reference(function, DW_AT_specification, &declaration)) {
		see_mangled(params, mangled);
		return;
	}
	read_params(reader, &declaration, false, &declared);
	if (declared.count > params->count)
		add_declared(params, &declared);
	free(declared.items);
}

/* ---- Reading ---- */

void params_read(struct type_reader *reader, Dwarf_Die *function, const char *mangled, struct param_entry *entry,
		 struct params *params)
{
	struct params all = {0};
	Dwarf_Die origin;

	read_params(reader, function, false, params);
	for (size_t i = 0; i < params->count; i++)
		param_place_read(reader, entry, &params->items[i].die, &params->items[i].item);
	if (die_reference(function, DW_AT_abstract_origin, &origin)) {
		read_params(reader, &origin, false, &all);
		complete_params(params, &all);
		free(all.items);
	} else if (language_is_cxx(reader->language) && !entry->is_gcc && !entry->is_optimised) {
		add_unlisted(reader, function, mangled, params);
	}
}

void params_free(struct params *params)
{
	free(params->items);
}

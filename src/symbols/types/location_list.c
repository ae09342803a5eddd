#include "config.h"
#include "symbols/types/location_list.h"
#include "base/util.h"

#include <dwarf.h>
#include <gelf.h>
#include <stdint.h>
#include <string.h>

#define ENTRIES_MAX 1000000

struct list {
	const unsigned char *at, *end;
	size_t address_size;
};

static bool location_list_skip(struct list *list, uint64_t size)
{
	if (size > (uint64_t)(list->end - list->at))
		return false;
	list->at += size;
	return true;
}

static bool location_list_number(struct list *list, uint64_t *value)
{
	*value = 0;
	for (unsigned shift = 0; list->at < list->end && shift < 64; shift += 7) {
		const unsigned char byte = *list->at++;

		*value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return true;
	}
	return false;
}

static bool skip_expression(struct list *list)
{
	uint64_t size;

	return location_list_number(list, &size) && location_list_skip(list, size);
}

/* Skips one entry of a list (DWARF 5, 7.7.3). Returns false if its kind is unknown, or if it extends beyond the
 * section. */
static bool skip_entry(struct list *list, unsigned kind)
{
	uint64_t value;

	switch (kind) {
	case DW_LLE_base_addressx:
		return location_list_number(list, &value);
	case DW_LLE_startx_endx:
	case DW_LLE_startx_length:
	case DW_LLE_offset_pair:
		return location_list_number(list, &value) && location_list_number(list, &value) &&
		       skip_expression(list);
	case DW_LLE_default_location:
		return skip_expression(list);
	case DW_LLE_base_address:
		return location_list_skip(list, list->address_size);
	case DW_LLE_start_end:
		return location_list_skip(list, 2 * list->address_size) && skip_expression(list);
	case DW_LLE_start_length:
		return location_list_skip(list, list->address_size) && location_list_number(list, &value) &&
		       skip_expression(list);
	case DW_LLE_GNU_view_pair:
		return location_list_number(list, &value) && location_list_number(list, &value);
	default:
		return false;
	}
}

static const Elf_Data *find_section(Elf *elf)
{
	size_t names;
	GElf_Shdr shdr;

	if (!elf || elf_getshdrstrndx(elf, &names))
		return NULL;
	for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section));) {
		const char *name = gelf_getshdr(section, &shdr) ? elf_strptr(elf, names, shdr.sh_name) : NULL;

		if (name && shdr.sh_type != SHT_NOBITS &&
		    (!strcmp(name, ".debug_loclists") || !strcmp(name, ".debug_loclists.dwo")))
			return elf_rawdata(section, NULL);
	}
	return NULL;
}

/* Finds the offset of list `index` from the unit's table of lists (DWARF 5, 7.29). */
static bool find_list(const Elf_Data *data, Dwarf_Die *unit, size_t offset_size, uint64_t index, uint64_t *offset)
{
	const bool is_64 = offset_size == 8;
	Dwarf_Attribute attribute;
	Dwarf_Word base = is_64 ? 20 : 12; /* a .dwo file has one table; this is the end of its header */
	uint32_t narrow;
	uint64_t wide;

	if (dwarf_attr(unit, DW_AT_loclists_base, &attribute) && dwarf_formudata(&attribute, &base))
		return false;
	if (base > data->d_size || index > (data->d_size - base) / offset_size ||
	    data->d_size - base - index * offset_size < offset_size)
		return false;
	const char *const at = (const char *)data->d_buf + base + index * offset_size;

	memcpy(is_64 ? (void *)&wide : (void *)&narrow, at, offset_size);
	*offset = add_saturated(base, is_64 ? wide : narrow);
	return true;
}

bool location_is_list(Dwarf_Attribute *location)
{
	switch (dwarf_whatform(location)) {
	case DW_FORM_exprloc:
	case DW_FORM_block:
	case DW_FORM_block1:
	case DW_FORM_block2:
	case DW_FORM_block4:
		return false;
	default:
		return true;
	}
}

bool location_is_sound(Dwarf_Attribute *location)
{
	Dwarf_Half version;
	Dwarf_Die unit;
	uint8_t address_size, offset_size;
	Dwarf_Word offset;

	if (!location_is_list(location))
		return true;
	if (!dwarf_cu_die(location->cu, &unit, &version, NULL, &address_size, &offset_size, NULL, NULL) || version < 5)
		return true;
	const Elf_Data *const data = find_section(dwarf_getelf(dwarf_cu_getdwarf(location->cu)));

	if (!data || !data->d_buf || (offset_size != 4 && offset_size != 8) || dwarf_formudata(location, &offset))
		return false;
	if (dwarf_whatform(location) == DW_FORM_loclistx && !find_list(data, &unit, offset_size, offset, &offset))
		return false;
	if (offset > data->d_size)
		return false;
	struct list list = {
		.at = (const unsigned char *)data->d_buf + offset,
		.end = (const unsigned char *)data->d_buf + data->d_size,
		.address_size = address_size,
	};

	for (unsigned i = 0; i < ENTRIES_MAX && list.at < list.end; i++) {
		const unsigned kind = *list.at++;

		if (kind == DW_LLE_end_of_list)
			return true;
		if (!skip_entry(&list, kind))
			return false;
	}
	return false;
}

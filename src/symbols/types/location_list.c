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

/* Returns the section of lists with this name, or with this name and ".dwo". */
static const Elf_Data *find_section(Elf *elf, const char *wanted)
{
	const size_t length = strlen(wanted);
	size_t names;
	GElf_Shdr shdr;

	if (!elf || elf_getshdrstrndx(elf, &names))
		return NULL;
	for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section));) {
		const char *name = gelf_getshdr(section, &shdr) ? elf_strptr(elf, names, shdr.sh_name) : NULL;

		if (name && shdr.sh_type != SHT_NOBITS && !strncmp(name, wanted, length) &&
		    (!name[length] || !strcmp(name + length, ".dwo")))
			return elf_rawdata(section, NULL);
	}
	return NULL;
}

/* Finds the beginning of the unit's table of lists (DWARF 5, 7.29). */
static bool find_list_table(Dwarf_Die *unit, size_t offset_size, Dwarf_Word *base)
{
	Dwarf_Attribute attribute;

	*base = offset_size == 8 ? 20 : 12; /* a .dwo file has one table, which begins after a header of this size */
	return !dwarf_attr(unit, DW_AT_loclists_base, &attribute) || !dwarf_formudata(&attribute, base);
}

/* Gets, from the unit's table of lists, the offset of list `index` in the section. Returns false if the table or the
 * entry is missing. */
static bool find_list(const Elf_Data *data, Dwarf_Die *unit, size_t offset_size, uint64_t index, uint64_t *offset)
{
	const bool is_64 = offset_size == 8;
	Dwarf_Word base;
	uint32_t narrow;
	uint64_t wide;

	if (!find_list_table(unit, offset_size, &base))
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
	const Elf_Data *const data = find_section(dwarf_getelf(dwarf_cu_getdwarf(location->cu)), ".debug_loclists");

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

/* Finds GCC's views for a variable's list. A view is the number of a source position among those that have the same
 * address. Each entry of the list has two views: one of its start address, from which the entry is valid, and one of
 * its end address, up to which the entry is valid. In a .dwo file the offset of the views is relative to the table of
 * lists. Returns false if there are no views. */
static bool find_views(Dwarf_Die *variable, Dwarf_Attribute *location, struct list *views)
{
	Dwarf_Attribute attribute;
	Dwarf_Half version;
	Dwarf_Die unit;
	uint8_t offset_size;
	Dwarf_Word offset, base = 0;

	if (!dwarf_attr(variable, DW_AT_GNU_locviews, &attribute) || dwarf_formudata(&attribute, &offset) ||
	    !dwarf_cu_die(location->cu, &unit, &version, NULL, NULL, &offset_size, NULL, NULL) ||
	    (dwarf_whatform(location) == DW_FORM_loclistx && !find_list_table(&unit, offset_size, &base)))
		return false;
	offset = add_saturated(offset, base);
	const Elf_Data *const data = find_section(dwarf_getelf(dwarf_cu_getdwarf(location->cu)),
						  version < 5 ? ".debug_loc" : ".debug_loclists");

	if (!data || !data->d_buf || offset > data->d_size)
		return false;
	*views = (struct list){
		.at = (const unsigned char *)data->d_buf + offset,
		.end = (const unsigned char *)data->d_buf + data->d_size,
	};
	return true;
}

int location_at_entry(Dwarf_Die *variable, Dwarf_Attribute *location, Dwarf_Addr address, Dwarf_Op **operations,
		      size_t *count)
{
	Dwarf_Addr base, start, end;
	struct list views;
	uint64_t begin_view, end_view;
	ptrdiff_t offset = 0;

	if (!location_is_sound(location))
		return -1;
	if (!location_is_list(location) || !find_views(variable, location, &views))
		return dwarf_getlocation_addr(location, address, operations, count, 1);
	for (unsigned i = 0; i < ENTRIES_MAX; i++) {
		offset = dwarf_getlocations(location, offset, &base, &start, &end, operations, count);
		if (offset <= 0)
			return (int)offset;
		if (!location_list_number(&views, &begin_view) || !location_list_number(&views, &end_view))
			return -1;
		if (start == address ? !begin_view : start < address && address < end)
			return 1;
	}
	return -1;
}

/* Finds functions, inlined functions and lines by address in DWARF, with libdw.
 *
 * libdw finds a unit by .debug_aranges, which clang does not write, and searches the whole unit for each function.
 * Therefore this file makes a table of the ranges of all units and, when a unit is first needed, a table of the ranges
 * of that unit's functions. */
#include "config.h"
#include "symbols/names/name_file.h"
#include "symbols/names/dwo_file.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <stdlib.h>

#define DIES_MAX        ((size_t)64 << 20) /* maximum number of DIEs that are read of one file */
#define DEPTH_MAX       256
#define RANGES_MAX      65536             /* ranges of one DIE */
#define FILE_RANGES_MAX ((size_t)8 << 20) /* maximum number of ranges that are read of one file */
#define OVERLAPS_MAX    64

struct name_dwarf_range {
	uint64_t start, end;
	size_t index; /* index of the unit or function */
};

struct name_dwarf_ranges {
	struct name_dwarf_range *items;
	size_t count, capacity;
	uint64_t longest;
};

struct unit {
	Dwarf_Die die; /* the unit's DIE, which has the ranges and the lines */
	const char *folder;
	bool is_skeleton;
	bool is_indexed;
	/* These are set when the unit is indexed. */
	Dwarf_Die split; /* the DIE that has the functions: the same DIE, or that of the unit in the .dwo file */
	bool is_mangled; /* its language mangles names */
	bool has_types;
	Dwarf_Die *functions;
	size_t function_count, function_capacity;
	struct name_dwarf_ranges ranges; /* ranges of the functions */
};

struct dwarf_index {
	uint64_t bias;
	struct unit *units;
	size_t unit_count, unit_capacity;
	struct name_dwarf_ranges ranges; /* ranges of the units */
	size_t dies_left, ranges_left;
	char *beside;
};

static int name_dwarf_by_start(const void *a, const void *b)
{
	const struct name_dwarf_range *left = a, *right = b;

	if (left->start != right->start)
		return left->start < right->start ? -1 : 1;
	/* Of ranges with the same start the shortest comes last, so a search backwards finds it first. */
	return left->end > right->end ? -1 : left->end < right->end;
}

/* Adds the ranges of a DIE. index: the number of the DIE's unit or function. Returns false if the DIE has no ranges. In
 * a damaged file many DIEs can share one long list, so *left limits the ranges of all DIEs. */
static bool add_ranges(struct name_dwarf_ranges *ranges, Dwarf_Die *die, size_t index, size_t *left)
{
	Dwarf_Addr base, start, end;
	ptrdiff_t offset = 0;
	size_t count = 0;

	while (count < RANGES_MAX && *left && (offset = dwarf_ranges(die, offset, &base, &start, &end)) > 0) {
		--*left;
		/* A range of code that the linker has dropped begins at 0 or 1, or does not end after its start. */
		if (start >= end || start <= 1)
			continue;
		ARRAY_GROW(ranges->items, ranges->capacity, ranges->count);
		ranges->items[ranges->count++] = (struct name_dwarf_range){start, end, index};
		if (end - start > ranges->longest)
			ranges->longest = end - start;
		count++;
	}
	return count;
}

static void sort_ranges(struct name_dwarf_ranges *ranges)
{
	if (ranges->count)
		qsort(ranges->items, ranges->count, sizeof(*ranges->items), name_dwarf_by_start);
}

/* Returns the innermost range that contains the address, or NULL. */
static const struct name_dwarf_range *find_range(const struct name_dwarf_ranges *ranges, uint64_t address)
{
	const size_t low = COUNT_UP_TO(ranges->items, ranges->count, .start, address);

	for (size_t i = low, n = 0; i-- > 0 && n < OVERLAPS_MAX; n++) {
		const struct name_dwarf_range *range = &ranges->items[i];

		if (address < range->end)
			return range;
		if (address - range->start >= ranges->longest)
			break;
	}
	return NULL;
}

/* ---- Units ---- */

static bool has_mangled_names(Dwarf_Die *die)
{
	switch (dwarf_srclang(die)) {
	case DW_LANG_C:
	case DW_LANG_C89:
	case DW_LANG_C99:
	case DW_LANG_C11:
	case LANG_C17:
	case DW_LANG_Cobol74:
	case DW_LANG_Cobol85:
	case DW_LANG_Fortran77:
	case DW_LANG_Pascal83:
	case DW_LANG_PLI:
	case DW_LANG_UPC:
	case DW_LANG_Mips_Assembler:
		return false;
	default:
		return true;
	}
}

static const char *unit_folder(Dwarf_Die *die)
{
	Dwarf_Attribute attribute;

	return dwarf_formstring(dwarf_attr(die, DW_AT_comp_dir, &attribute));
}

static void add_unit(struct dwarf_index *index, Dwarf_Die *die, bool is_skeleton)
{
	if (!add_ranges(&index->ranges, die, index->unit_count, &index->ranges_left))
		return;
	ARRAY_GROW(index->units, index->unit_capacity, index->unit_count);
	struct unit *unit = &index->units[index->unit_count++];

	*unit = (struct unit){.die = *die, .is_skeleton = is_skeleton, .folder = unit_folder(die)};
}

struct dwarf_index *dwarf_index_new(Dwarf *dwarf, Dwarf_Addr bias, const char *path)
{
	Dwarf_CU *cu = NULL;
	uint8_t type;
	Dwarf_Die die;

	if (!dwarf)
		return NULL;
	struct dwarf_index *index = xcalloc(1, sizeof(*index));

	index->bias = bias;
	index->beside = xstrdup(path);
	index->dies_left = DIES_MAX;
	index->ranges_left = FILE_RANGES_MAX;
	while (index->dies_left && !dwarf_get_units(dwarf, cu, &cu, NULL, &type, &die, NULL)) {
		index->dies_left--;
		if (type == DW_UT_compile || type == DW_UT_skeleton)
			add_unit(index, &die, type == DW_UT_skeleton);
	}
	sort_ranges(&index->ranges);
	return index;
}

void dwarf_index_free(struct dwarf_index *index)
{
	if (!index)
		return;
	for (size_t i = 0; i < index->unit_count; i++) {
		free(index->units[i].functions);
		free(index->units[i].ranges.items);
	}
	free(index->units);
	free(index->beside);
	free(index->ranges.items);
	free(index);
}

/* ---- Functions of a unit ---- */

/* Returns true if a DIE with this tag shows that its unit describes types: a frequent kind of type, or the import of
 * another unit. */
static bool name_dwarf_is_type(int tag)
{
	return tag == DW_TAG_base_type || tag == DW_TAG_pointer_type || tag == DW_TAG_structure_type ||
	       tag == DW_TAG_imported_unit;
}

/* Adds the functions below a DIE to the unit. index->dies_left limits the search: in a damaged file, a link to the next
 * sibling can point backwards, because libdw only checks that the DIE is in its unit. */
static void index_children(struct dwarf_index *index, struct unit *unit, Dwarf_Die *parent, unsigned depth)
{
	Dwarf_Die die;

	if (depth == DEPTH_MAX || dwarf_child(parent, &die))
		return;
	do {
		if (!index->dies_left || !index->ranges_left)
			return;
		index->dies_left--;
		const int tag = dwarf_tag(&die);

		unit->has_types |= name_dwarf_is_type(tag);
		if (tag == DW_TAG_subprogram) {
			if (add_ranges(&unit->ranges, &die, unit->function_count, &index->ranges_left)) {
				ARRAY_GROW(unit->functions, unit->function_capacity, unit->function_count);
				unit->functions[unit->function_count++] = die;
			}
		}
		if (dwarf_haschildren(&die) > 0)
			index_children(index, unit, &die, depth + 1);
	} while (!dwarf_siblingof(&die, &die));
}

static struct unit *find_unit(struct dwarf_index *index, uint64_t address)
{
	const struct name_dwarf_range *range = find_range(&index->ranges, address);

	if (!range)
		return NULL;
	struct unit *unit = &index->units[range->index];

	if (!unit->is_indexed) {
		unit->split = unit->is_skeleton ? split_unit(&unit->die, index->beside) : unit->die;
		unit->is_mangled = has_mangled_names(&unit->split);
		index_children(index, unit, &unit->split, 0);
		sort_ranges(&unit->ranges);
		unit->is_indexed = true;
	}
	return unit;
}

/* Gets the address of a function's entry: the address in the DIE or, if it has none, the start of the first range. */
static bool find_entry(Dwarf_Die *function, Dwarf_Addr *entry)
{
	Dwarf_Addr base, end;

	return !dwarf_entrypc(function, entry) || dwarf_ranges(function, 0, &base, entry, &end) > 0;
}

bool dwarf_index_function(struct dwarf_index *index, uint64_t address, struct dwarf_function *function)
{
	const uint64_t at = address - index->bias;
	struct unit *unit = find_unit(index, at);
	const struct name_dwarf_range *range = unit ? find_range(&unit->ranges, at) : NULL;

	if (!range)
		return false;
	*function = (struct dwarf_function){
		.die = unit->functions[range->index],
		.language = dwarf_srclang(&unit->split),
		.has_types = unit->has_types,
	};
	return find_entry(&function->die, &function->entry) && function->entry == at;
}

/* ---- Inlined functions at an address ---- */

struct name_dwarf_chain {
	Dwarf_Die dies[DWARF_FRAMES_MAX]; /* the outermost first */
	size_t count;
	uint64_t address;
	size_t dies_left;
};

/* Adds the inlined function below `parent` that contains the address, and the functions that are inlined in it. Returns
 * true if the search is over: the function was found, or the limit of DIEs or of frames was reached. */
static bool extend_chain(struct name_dwarf_chain *chain, Dwarf_Die *parent, unsigned depth)
{
	Dwarf_Die die;

	if (depth == DEPTH_MAX || dwarf_child(parent, &die))
		return false;
	do {
		const int tag = dwarf_tag(&die);

		if (!chain->dies_left)
			return true;
		chain->dies_left--;
		if (tag == DW_TAG_inlined_subroutine && dwarf_haspc(&die, chain->address) > 0) {
			if (chain->count == DWARF_FRAMES_MAX)
				return true;
			chain->dies[chain->count++] = die;
			extend_chain(chain, &die, depth + 1);
			return true;
		}
		/* Searches every lexical block, because its ranges do not always include the ranges of functions that
		 * are inlined in it. */
		if (tag == DW_TAG_lexical_block && extend_chain(chain, &die, depth + 1))
			return true;
	} while (!dwarf_siblingof(&die, &die));
	return false;
}

/* ---- Names and lines ---- */

static const char *string_attribute(Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute attribute;

	return dwarf_formstring(dwarf_attr_integrate(die, name, &attribute));
}

static void name_function(struct dwarf_frame *frame, const struct unit *unit, Dwarf_Die *die)
{
	frame->function = string_attribute(die, DW_AT_linkage_name);
	if (!frame->function)
		frame->function = string_attribute(die, DW_AT_MIPS_linkage_name);
	frame->is_linkage = frame->function || !unit->is_mangled;
	if (!frame->function)
		frame->function = string_attribute(die, DW_AT_name);
}

static void line_at(struct dwarf_frame *frame, const struct unit *unit, uint64_t address)
{
	Dwarf_Die die = unit->die;
	Dwarf_Line *line = dwarf_getsrc_die(&die, address);
	int number;

	if (!line)
		return;
	frame->file = dwarf_linesrc(line, NULL, NULL);
	frame->folder = unit->folder;
	if (!dwarf_lineno(line, &number) && number > 0)
		frame->line = (unsigned)number;
}

/* Sets the frame's file and line to those of the call of an inlined function. */
static void line_of_call(struct dwarf_frame *frame, const struct unit *unit, Dwarf_Die *inlined)
{
	Dwarf_Die die = unit->split;
	Dwarf_Attribute attribute;
	Dwarf_Files *files;
	Dwarf_Word number;
	size_t count;

	if (!dwarf_formudata(dwarf_attr(inlined, DW_AT_call_file, &attribute), &number) &&
	    !dwarf_getsrcfiles(&die, &files, &count) && number < count) {
		frame->file = dwarf_filesrc(files, number, NULL, NULL);
		frame->folder = unit->folder;
	}
	if (!dwarf_formudata(dwarf_attr(inlined, DW_AT_call_line, &attribute), &number) && number <= UINT32_MAX)
		frame->line = (unsigned)number;
}

size_t dwarf_index_find(struct dwarf_index *index, uint64_t address, struct dwarf_frame frames[DWARF_FRAMES_MAX])
{
	struct name_dwarf_chain chain = {.address = address - index->bias, .dies_left = DIES_MAX / 16};
	struct unit *unit = find_unit(index, chain.address);

	if (!unit)
		return 0;
	const struct name_dwarf_range *range = find_range(&unit->ranges, chain.address);

	if (range) {
		chain.dies[chain.count++] = unit->functions[range->index];
		extend_chain(&chain, &chain.dies[0], 0);
	}
	frames[0] = (struct dwarf_frame){0};
	line_at(&frames[0], unit, chain.address);
	for (size_t i = 0; i < chain.count; i++) {
		Dwarf_Die *die = &chain.dies[chain.count - 1 - i];

		name_function(&frames[i], unit, die);
		if (i + 1 < chain.count) {
			frames[i + 1] = (struct dwarf_frame){0};
			line_of_call(&frames[i + 1], unit, die);
		}
	}
	return chain.count ? chain.count : 1;
}

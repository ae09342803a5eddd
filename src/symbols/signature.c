/* Functions' parameters from debug information. */
#include "config.h"
#include "arch/arch.h"
#include "symbols/debug_file.h"
#include "symbols/elf_file.h"
#include "symbols/type_reader.h"
#include "base/msg.h"

#include <stdlib.h>
#include <string.h>

#define PARAMS_MAX 256
#define BYTES_MAX  ((size_t)32 << 20) /* of types, a file; libdw's own memory comes to it */
#define DIES_MAX   (1u << 18)         /* looked at for one function */

struct signatures {
	struct debug_file *debug;
	struct dwarf_index *index;
	struct type_reader reader;
	struct hash known; /* address in the file -> struct signature, or 0 */
};

static struct signatures *signatures_new(const struct object *object)
{
	struct debug_file *debug = debug_file_open(object);
	struct dwarf_index *index = debug ? dwarf_index_new(debug->file->module) : NULL;

	msg_debug(DBG_SYMBOLS, 1, "%s: %s", object->path, index ? "with debug information" : "no debug information");
	if (!index) {
		debug_file_close(debug);
		return NULL;
	}
	struct signatures *signatures = xcalloc(1, sizeof(*signatures));

	*signatures = (struct signatures){
		.debug = debug,
		.index = index,
		.reader =
			{
				.bytes_left = BYTES_MAX,
				.machine = object->file->machine,
				.word = object->file->class == ELFCLASS32 ? 4 : 8,
			},
	};
	return signatures;
}

static void signatures_free(struct signatures *signatures)
{
	dwarf_index_free(signatures->index);
	debug_file_close(signatures->debug);
	type_memory_free(&signatures->reader);
	hash_free(&signatures->known);
	free(signatures);
}

/* ---- A function ---- */

struct params {
	struct signature_param *items;
	size_t count, capacity;
	bool is_variadic;
};

static void read_param(struct type_reader *reader, Dwarf_Die *die, struct signature_param *param)
{
	const struct data_type *type = type_read_of(reader, die, 0);

	*param = (struct signature_param){
		.name = die_string(reader, die, DW_AT_name),
		.type = type ? type : &type_unknown,
	};
}

/* A template's parameters that have one name. */
static void read_pack(struct type_reader *reader, Dwarf_Die *pack, struct params *params)
{
	Dwarf_Die child = {0};

	while (params->count < PARAMS_MAX && die_next_child(reader, pack, &child)) {
		if (dwarf_tag(&child) != DW_TAG_formal_parameter)
			continue;
		ARRAY_GROW(params->items, params->capacity, params->count);
		struct signature_param *param = &params->items[params->count++];

		read_param(reader, &child, param);
		if (!param->name[0])
			param->name = die_string(reader, pack, DW_AT_name);
	}
}

static void read_params(struct type_reader *reader, Dwarf_Die *parent, struct params *params)
{
	Dwarf_Die child = {0};

	while (params->count < PARAMS_MAX && die_next_child(reader, parent, &child)) {
		switch (dwarf_tag(&child)) {
		case DW_TAG_formal_parameter:
			ARRAY_GROW(params->items, params->capacity, params->count);
			read_param(reader, &child, &params->items[params->count++]);
			break;
		case DW_TAG_unspecified_parameters:
			params->is_variadic = true;
			break;
		case DW_TAG_GNU_formal_parameter_pack:
			read_pack(reader, &child, params);
			break;
		default:
			break;
		}
	}
}

static const struct signature *read_signature(struct type_reader *reader, struct dwarf_function *function)
{
	struct params params = {0};
	Dwarf_Die origin;

	read_params(reader, &function->die, &params);
	if (!params.count && !params.is_variadic && die_reference(&function->die, DW_AT_abstract_origin, &origin))
		read_params(reader, &origin, &params);
	const struct data_type *result = type_read_of(reader, &function->die, 0);
	struct signature *signature = NULL;

	/* A function with nothing may be one of which nothing is said. */
	if (params.count || result || function->has_types)
		signature = type_memory(reader, sizeof(*signature) + params.count * sizeof(params.items[0]));
	if (signature) {
		*signature = (struct signature){
			.params = (struct signature_param *)(signature + 1),
			.param_count = params.count,
			.result = result,
			.is_variadic = params.is_variadic,
		};
		if (params.count)
			memcpy(signature + 1, params.items, params.count * sizeof(params.items[0]));
	}
	free(params.items);
	return signature;
}

static const struct signature *find_signature(struct signatures *signatures, uint64_t address)
{
	const uint64_t *known = hash_get(&signatures->known, address);
	struct dwarf_function function;
	const struct signature *signature = NULL;

	if (known)
		return (const struct signature *)(uintptr_t)*known;
	if (dwarf_index_function(signatures->index, address + signatures->debug->file->module_bias, &function)) {
		signatures->reader.dies_left = DIES_MAX;
		signatures->reader.language = function.language;
		signature = read_signature(&signatures->reader, &function);
	}
	hash_set_ptr(&signatures->known, address, (void *)(uintptr_t)signature);
	return signature;
}

const struct signature *object_signature(const struct object *object, uint64_t address)
{
	struct elf_file *file = object->file;

	if (!file->signatures_read) {
		file->signatures_read = true;
		file->signatures = signatures_new(object);
		file->signatures_free = signatures_free;
	}
	if (!file->signatures)
		return NULL;
	return find_signature(file->signatures, arch_code_address(file->machine, address - object->bias));
}

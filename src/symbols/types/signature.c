/* Reads the signatures of functions from debug information. */
#include "config.h"
#include "arch/arch.h"
#include "symbols/names/debug_file.h"
#include "symbols/elf/elf_file.h"
#include "symbols/types/params.h"
#include "symbols/types/type_reader.h"
#include "symbols/types/type_rust.h"
#include "base/msg.h"
#include "base/timed.h"

#include <elf.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define BYTES_MAX ((size_t)32 << 20) /* maximum bytes for the types of one file, besides libdw's own memory */
#define DIES_MAX  (1u << 18)         /* maximum number of DIEs that are read for one function */

struct signatures {
	bool was_late; /* reading took too long at least once, and a warning was printed */
	/* Set while a worker reads. Then the worker owns the fields below, not the tracer, and has a reference to the
	 * file. */
	atomic_bool is_busy;
	bool is_open;
	struct debug_file *debug;
	struct dwarf_index *index;
	struct type_reader reader;
	struct hash known; /* address in the file -> struct signature; 0: no signature */
};

static struct signatures *signatures_new(const struct object *object)
{
	struct signatures *signatures = xcalloc(1, sizeof(*signatures));

	*signatures = (struct signatures){
		.reader =
			{
				.bytes_left = BYTES_MAX,
				.arch = arch_for_elf(object->file->machine, object->file->class),
				.is_soft_float = object->file->is_soft_float,
				.word = object->file->class == ELFCLASS32 ? 4 : 8,
			},
	};
	return signatures;
}

static void signatures_free(struct signatures *signatures)
{
	type_memory_free(&signatures->reader);
	hash_free(&signatures->known);
	dwarf_index_free(signatures->index);
	debug_file_close(signatures->debug);
	free(signatures);
}

/* ---- Places ---- */

/* Returns true if compilers give this name to a copy of a function without some of its parameters, or to a part of a
 * coroutine. */
static bool has_part_name(const char *name)
{
	static const char *const parts[] = {".isra.", ".part.", ".actor", ".resume", ".destroy", ".cleanup"};

	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		if (strstr(name, parts[i]))
			return true;
	return false;
}

/* Returns true if has_part_name() does, or if compilers give this name to a copy that only some callers call. */
static bool has_copy_name(const char *name)
{
	return has_part_name(name) || strstr(name, ".constprop.") || strstr(name, ".specialized.") ||
	       strstr(name, "__spec");
}

/* Returns true if no other file calls the function, as far as is known. A function without a symbol is treated as
 * local, even if other source files call it, because link-time optimisation makes such functions local, too. */
static bool signature_is_local(const struct named_symbol *symbol)
{
	return !symbol || symbol->is_local;
}

/* Returns true if the compiler may have left out the result, which is possible if it has left out parameters. Debug
 * information does not show whether a result was left out. */
static bool may_lose_result(const struct param_entry *entry, const struct named_symbol *symbol)
{
	return entry->is_own || (symbol && has_part_name(symbol->name));
}

/* Returns true if a function with a convention of its own (has_local_convention()) returns a result of this type in the
 * same register as other functions. A float may be in another register, and the address of a result in memory is not
 * where the ABI puts it. */
static bool is_integer_result(const struct data_type *result)
{
	switch (result->kind) {
	case DATA_INT:
	case DATA_BOOL:
	case DATA_CHAR:
	case DATA_ENUM:
	case DATA_POINTER:
	case DATA_REFERENCE:
		return true;
	default:
		return false;
	}
}

static bool is_piece_lost(const struct signature_param *param)
{
	uint64_t size = 0;

	for (size_t i = 0; i < param->piece_count; i++) {
		if (param->pieces[i].place == PLACE_CONSTANT)
			return true;
		size += param->pieces[i].size;
	}
	return size < param->type->size;
}

static bool signature_is_lost(const struct param_entry *entry, const struct signature_param *param)
{
	switch (param->place) {
	case PLACE_NOWHERE:
	case PLACE_CONSTANT:
		return true;
	case PLACE_PIECES:
		return is_piece_lost(param);
	case PLACE_UNKNOWN:
		/* If callers do not pass a parameter, because it has become a constant or the address of static data,
		 * LLVM may describe it by a location that functrace does not understand. */
		return !entry->is_gcc;
	default:
		return false;
	}
}

/* Returns true if callers may leave out a parameter. Then the remaining parameters may also be in other places than the
 * ABI says. */
static bool is_anything_lost(const struct param_entry *entry, const struct params *params)
{
	for (size_t i = 0; i < params->count; i++) {
		const struct signature_param *param = &params->items[i].item;

		if (type_has_bytes(param->type) && signature_is_lost(entry, param))
			return true;
	}
	return false;
}

/* Returns true if compilers for this processor use their own convention for functions that only one file calls, with
 * arguments in registers that the ABI does not use. */
static bool has_local_convention(const struct type_reader *reader)
{
	return reader->arch->abi->has_local_convention || reader->is_soft_float;
}

/* Returns true if the parameters are in the places that debug information shows, not in the ABI's: the function is a
 * copy for some callers, or it is optimised and local, and has parameters left out or a convention of its own. */
static bool has_own_places(const struct type_reader *reader, const struct param_entry *entry,
			   const struct params *params, const struct named_symbol *symbol)
{
	if (entry->is_own || (symbol && has_copy_name(symbol->name)))
		return true;
	return entry->is_optimised && signature_is_local(symbol) &&
	       (has_local_convention(reader) || is_anything_lost(entry, params));
}

/* Returns true if the address of a struct of this type is passed. Then the place in debug information is valid only
 * after some instructions. */
static bool is_behind_address(const struct type_reader *reader, const struct data_type *type)
{
	const unsigned least = reader->arch->abi->by_address_above;

	return least && (type->kind == DATA_STRUCT || type->kind == DATA_UNION) && type->size > least;
}

/* Returns the place of a parameter of a function whose arguments are where the ABI puts them. Callers of a function
 * that LLVM has optimised pass only the parameters that the function uses; other callers pass all parameters. */
static enum param_place place_if_passed(const struct type_reader *reader, const struct param_entry *entry,
					struct listed_param *param)
{
	return entry->is_gcc || !entry->is_optimised ? PLACE_BY_ABI
						     : param_place_if_used(reader, entry, &param->die, &param->item);
}

static void choose_places(const struct type_reader *reader, const struct param_entry *entry, struct params *params,
			  bool is_own)
{
	for (size_t i = 0; i < params->count; i++) {
		struct signature_param *param = &params->items[i].item;

		if (param->place != PLACE_NOWHERE && is_behind_address(reader, param->type))
			param->place = PLACE_UNKNOWN;
		param->said = param->place;
		if (params->items[i].is_ambiguous)
			param->place = PLACE_UNKNOWN;
		else if (!is_own)
			param->place = place_if_passed(reader, entry, &params->items[i]);
	}
}

/* ---- Signatures ---- */

static bool is_c(int language)
{
	return language == DW_LANG_C || language == DW_LANG_C89 || language == DW_LANG_C99 || language == DW_LANG_C11 ||
	       language == LANG_C17;
}

/* Returns true if the language passes arguments as C does, or as signature_param.passed says (Rust). Fortran passes
 * addresses, and Go uses other registers. */
static bool has_known_abi(int language)
{
	switch (language) {
	case DW_LANG_ObjC:
	case DW_LANG_Ada83:
	case DW_LANG_Ada95:
	case DW_LANG_Rust:
		return true;
	default:
		return is_c(language) || language_is_cxx(language);
	}
}

/* Returns true if the function has Rust's ABI. A Rust function whose name is not mangled has C's ABI, so that C code
 * can call it. */
static bool is_rust(struct type_reader *reader, Dwarf_Die *function)
{
	const char *name = reader->language == DW_LANG_Rust ? die_string(reader, function, DW_AT_linkage_name) : "";

	return !strncmp(name, "_R", 2) || !strncmp(name, "_ZN", 3);
}

/* Returns true if a closure's first parameter is not described. This parameter contains the captured variables, or is
 * their address. If there are any, rustc describes the variables instead of the parameter, and the places of the other
 * parameters are unknown. */
static bool is_environment_hidden(struct type_reader *reader, Dwarf_Die *function, const struct signature_param *params)
{
	return !strncmp(die_string(reader, function, DW_AT_name), "{closure", 8) && params[0].name[0];
}

/* Returns true if it is not known how rustc returns the result: a pair that is larger than two pointers. Older versions
 * use registers if they suffice; newer ones return such a result in memory, whose address is an argument. */
static bool is_return_unknown(const struct type_reader *reader, const struct signature *signature)
{
	return signature->result && !signature->result_passed.by_address &&
	       signature->result->size > 2 * (uint64_t)reader->word;
}

static void pass_as_rust(struct type_reader *reader, Dwarf_Die *function, struct signature_param *params,
			 struct signature *signature)
{
	const bool is_hidden = signature->param_count && is_environment_hidden(reader, function, params);

	signature->abi_is_rust = true;
	if (signature->result)
		signature->result_passed = type_passed_by_rust(reader, signature->result);
	signature->result_is_unknown = is_return_unknown(reader, signature);
	if (signature->result_is_unknown) {
		signature->result = NULL;
		signature->result_passed = (struct passed_as){0};
	}
	for (size_t i = 0; i < signature->param_count; i++) {
		params[i].passed = type_passed_by_rust(reader, params[i].type);
		if ((is_hidden || signature->result_is_unknown) && params[i].place == PLACE_BY_ABI)
			params[i].place = PLACE_UNKNOWN;
	}
}

/* Returns true if the function is a constructor: its name is that of the class, without template arguments. */
static bool is_constructor(struct type_reader *reader, Dwarf_Die *function, const struct params *params)
{
	const struct signature_param *const this = params->count ? &params->items[0].item : NULL;
	const char *const name = die_string(reader, function, DW_AT_name);
	const size_t length = strcspn(name, "<");

	return this && !strcmp(this->name, "this") && this->type->target && length &&
	       !strncmp(this->type->target->name, name, length) && strcspn(this->type->target->name, "<") == length;
}

static struct signature *keep_signature(struct type_reader *reader, Dwarf_Die *function, const struct params *params,
					const struct data_type *result)
{
	struct signature *signature =
		type_memory(reader, sizeof(*signature) + params->count * sizeof(struct signature_param));

	if (!signature)
		return NULL;
	struct signature_param *kept = (struct signature_param *)(signature + 1);

	for (size_t i = 0; i < params->count; i++)
		kept[i] = params->items[i].item;
	*signature = (struct signature){
		.params = kept,
		.param_count = params->count,
		.result = result,
		.is_variadic = params->is_variadic,
		.is_constructor = is_constructor(reader, function, params),
	};
	if (is_rust(reader, function))
		pass_as_rust(reader, function, kept, signature);
	return signature;
}

/* Returns true if an argument is promoted: callers of a C function without a prototype pass a double for a float. */
static bool has_promoted(const struct type_reader *reader, Dwarf_Die *function, const struct params *params)
{
	if (!is_c(reader->language) || die_flag(function, DW_AT_prototyped))
		return false;
	for (size_t i = 0; i < params->count; i++)
		if (params->items[i].item.type->kind == DATA_FLOAT && params->items[i].item.type->size == sizeof(float))
			return true;
	return false;
}

/* Returns true if the function is a copy, and the original's DIE is in a missing file. */
static bool is_origin_lost(Dwarf_Die *function)
{
	Dwarf_Die origin;

	return die_has(function, DW_AT_abstract_origin) && !die_reference(function, DW_AT_abstract_origin, &origin);
}

/* Returns true if debug information says that the function has another calling convention than C's. Clang describes
 * such conventions (fastcall, ms_abi, vectorcall...), GCC does not. stdcall is not one of them, because it passes
 * arguments in the ABI's places. */
static bool has_other_convention(Dwarf_Die *function)
{
	enum { STDCALL = 0xb2 };
	uint64_t convention;

	return die_number(function, DW_AT_calling_convention, &convention) && convention != DW_CC_normal &&
	       convention != DW_CC_program && convention != STDCALL;
}

static void forget_places(struct params *params)
{
	for (size_t i = 0; i < params->count; i++)
		params->items[i].item.place = params->items[i].item.said = PLACE_UNKNOWN;
}

static const struct signature *read_signature(struct type_reader *reader, struct dwarf_function *function,
					      const struct named_symbol *symbol)
{
	struct params params = {0};
	struct param_entry entry;

	if (is_origin_lost(&function->die))
		return NULL;
	entry_read(&function->die, function->entry, &entry);
	params_read(reader, &function->die, symbol ? symbol->name : "", &entry, &params);
	const bool is_own = has_own_places(reader, &entry, &params, symbol);

	choose_places(reader, &entry, &params, is_own);
	const struct data_type *result =
		may_lose_result(&entry, symbol) ? NULL : type_read_of(reader, &function->die, 0);

	const bool is_other = has_other_convention(&function->die);
	const bool is_elsewhere =
		is_other || (result && is_own && has_local_convention(reader) && !is_integer_result(result));

	if (is_other)
		forget_places(&params);
	if (is_elsewhere)
		result = NULL;
	/* If neither a parameter nor a result is described, the function may still have some, because a unit without
	 * types (compiled with -g1) describes none. */
	const bool is_known = (params.count || result || function->has_types) && reader->dies_left &&
			      !has_promoted(reader, &function->die, &params);
	struct signature *signature = is_known ? keep_signature(reader, &function->die, &params, result) : NULL;

	if (!reader->dies_left)
		signature = NULL;
	if (signature) {
		signature->is_gcc = entry.is_gcc;
		signature->result_is_unknown |= is_elsewhere || may_lose_result(&entry, symbol);
		/* LLVM drops a result that no caller uses, and debug information does not show whether it has done
		 * so. */
		signature->result_may_be_lost =
			!signature->abi_is_rust && signature_is_local(symbol) && entry.is_optimised && !entry.is_gcc;
	}
	params_free(&params);
	return signature;
}

/* Returns the symbol of the function that begins at the address, or NULL. */
static const struct named_symbol *signature_find_symbol(struct signatures *signatures, uint64_t address)
{
	struct name_file *file = signatures->debug->file;

	if (!file->is_indexed) {
		file->is_indexed = true;
		symbol_table_read(&file->symbols, file->module);
	}
	const struct named_symbol *symbol = symbol_table_find(&file->symbols, address + file->module_bias);

	return symbol && symbol->start == address + file->module_bias ? symbol : NULL;
}

static void signature_open_debug(const struct object *object, struct signatures *signatures)
{
	signatures->debug = debug_file_open(object, NULL);
	if (signatures->debug)
		signatures->index = name_file_dwarf(signatures->debug->file);
	msg_debug(DBG_SYMBOLS, 1, "%s: %s", object->path,
		  signatures->index ? "with debug information" : "no debug information");
}

static const struct signature *find_signature(struct signatures *signatures, uint64_t address)
{
	struct dwarf_function function;

	if (!signatures->reader.arch ||
	    !dwarf_index_function(signatures->index, address + signatures->debug->file->module_bias, &function) ||
	    !has_known_abi(function.language))
		return NULL;
	signatures->reader.dies_left = DIES_MAX;
	signatures->reader.language = function.language;
	return read_signature(&signatures->reader, &function, signature_find_symbol(signatures, address));
}

/* A request to the worker: read the signature of one function. */
struct asking {
	struct object *object; /* a copy of the object */
	uint64_t address;
};

static void answer_signature(void *context)
{
	const struct asking *const asking = context;
	struct signatures *const signatures = asking->object->file->signatures;
	const struct signature *signature = NULL;

	if (!signatures->is_open)
		signature_open_debug(asking->object, signatures);
	signatures->is_open = true;
	if (signatures->index)
		signature = find_signature(signatures, asking->address);
	hash_set_ptr(&signatures->known, asking->address, (void *)(uintptr_t)signature);
}

static void asking_end(void *context)
{
	struct asking *const asking = context;

	atomic_store(&asking->object->file->signatures->is_busy, false);
	object_free(asking->object);
	free(asking);
}

/* Reads the signature and stores it in `known`. Returns false if that takes too long. */
static bool signature_ask(const struct object *object, uint64_t address)
{
	struct asking *const asking = xcalloc(1, sizeof(*asking));

	*asking = (struct asking){.object = object_clone(object), .address = address};
	atomic_store(&object->file->signatures->is_busy, true);
	if (!timed_do(answer_signature, asking_end, asking))
		return false;
	asking_end(asking);
	return true;
}

static void report_late(const struct object *object, struct signatures *signatures)
{
	if (!signatures->was_late)
		msg_warn("the debug information of %s takes long to read: arguments and results of its functions are "
			 "unknown until it is read",
			 object->path);
	signatures->was_late = true;
}

const struct signature *object_signature(const struct object *object, uint64_t mapped_address, bool *is_late)
{
	struct elf_file *file = object->file;
	const uint64_t address = arch_code_address(file->machine, mapped_address - object->bias);

	*is_late = false;
	if (!file->signatures) {
		file->signatures = signatures_new(object);
		file->signatures_free = signatures_free;
	}
	struct signatures *const signatures = file->signatures;

	*is_late = atomic_load(&signatures->is_busy);
	if (*is_late)
		return NULL;
	if (!hash_get(&signatures->known, address) && (!signatures->is_open || signatures->index) &&
	    !signature_ask(object, address)) {
		report_late(object, signatures);
		*is_late = true;
		return NULL;
	}
	return hash_get_ptr(&signatures->known, address);
}

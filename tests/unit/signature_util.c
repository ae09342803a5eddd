#include "config.h"
#include "signature_util.h"
#include "symbols_util.h"
#include "base/buf.h"
#include "symbols/elf/elf_file.h"
#include "symbols/names/names.h"
#include "unit_test.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BIAS 0x10000000

struct object *test_object(const char *name)
{
	char *path = xasprintf("%s/%s", test_folder, name);
	const char *reason = NULL;
	const int fd = open(path, O_RDONLY | O_CLOEXEC);

	elf_version(EV_CURRENT);
	Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
	struct elf_file *file = elf ? elf_file_new(elf, 0, &reason) : NULL;

	elf_end(elf);
	if (fd >= 0)
		close(fd);
	if (!file) {
		free(path);
		return NULL;
	}
	struct object *object = xcalloc(1, sizeof(*object));

	*object = (struct object){.path = path, .open_path = xstrdup(path), .file = file, .bias = BIAS};
	return object;
}

void test_object_free(struct object *object)
{
	if (!object)
		return;
	elf_file_free(object->file);
	free(object->path);
	free(object->open_path);
	free(object);
}

struct search {
	const char *name;
	uint64_t value;
};

static bool see_demangled(void *context, const struct elf_symbol *symbol)
{
	struct search *search = context;
	char *name = names_demangle_plain(symbol->name);

	if (name && !strcmp(name, search->name))
		search->value = symbol->value;
	free(name);
	return !search->value;
}

uint64_t test_address(const struct object *object, const char *symbol)
{
	struct search search = {symbol, 0};
	struct elf_symbol found;

	if (elf_file_find(object->file, symbol, &found))
		return found.value + object->bias;
	elf_file_functions(object->file, see_demangled, &search);
	return search.value ? search.value + object->bias : 0;
}

/* ---- Text ---- */

static unsigned word; /* size of a pointer of the object's processor, in bytes */

static void add_type(struct buf *out, const struct data_type *type);

static void add_members(struct buf *out, const struct data_type *type)
{
	buf_add_str(out, "{");
	for (size_t i = 0; i < type->member_count; i++) {
		const struct data_member *member = &type->members[i];

		buf_add_str(out, i ? "; " : "");
		buf_printf(out, member->is_virtual ? "table-%" PRIu32 ":" : "%" PRIu32 ":",
			   member->is_virtual ? member->table_at : member->offset);
		if (member->bit_size)
			buf_printf(out, "%u+%u:", member->bit_offset, member->bit_size);
		add_type(out, member->type);
		buf_printf(out, "%s%s%s", member->is_base ? " BASE" : "", member->name[0] ? " " : "", member->name);
	}
	buf_printf(out, "%s}%" PRIu64 "/%" PRIu32 "%s", type->is_cut ? "..." : "", type->size, type->align,
		   type->may_be_packed && type->align > word ? "?" : "");
}

static void add_variants(struct buf *out, const struct data_type *type)
{
	buf_add_str(out, "[");
	if (type->discriminant) {
		buf_printf(out, "%" PRIu32 ":", type->discriminant->offset);
		add_type(out, type->discriminant->type);
	}
	for (size_t i = 0; i < type->variant_count; i++) {
		const struct data_variant *variant = &type->variants[i];

		if (variant->is_other)
			buf_add_str(out, " else ");
		else
			buf_printf(out, " %" PRIu64 ": ", variant->value);
		add_type(out, variant->type);
	}
	buf_add_str(out, "]");
}

static void add_words(struct buf *out, const struct data_type *type)
{
	buf_add_str(out, type->is_flags ? "|{" : "{");
	for (size_t i = 0; i < type->word_count; i++)
		buf_printf(out, type->is_signed ? "%s%s=%" PRId64 : "%s%s=%" PRIu64, i ? ", " : "", type->words[i].name,
			   type->words[i].value);
	buf_printf(out, "}%" PRIu64, type->size);
}

static void add_pointed(struct buf *out, const struct data_type *type, const char *mark)
{
	if (type->name[0]) /* the name of a typedef */
		buf_printf(out, "%s=", type->name);
	if (type->target)
		add_type(out, type->target);
	else
		buf_add_str(out, "void");
	buf_add_str(out, mark);
	buf_add_str(out, type->is_const ? "const" : "");
}

static const char *name_of(const struct data_type *type)
{
	return type->name[0] ? type->name : "?";
}

static void add_text_kind(struct buf *out, const struct data_type *type)
{
	if (type->kind == DATA_TEXT)
		buf_printf(out, " text@%" PRIu32 ",%" PRIu32, type->text_at, type->length_at);
	else if (type->kind == DATA_TEXT_COUNTED)
		buf_printf(out, " counted@%" PRIu32, type->text_at);
	else if (type->kind == DATA_TEXT_INLINE)
		buf_add_str(out, " inline");
}

static void add_type(struct buf *out, const struct data_type *type)
{
	static const char letters[] = {
		[DATA_OTHER] = 'o', [DATA_INT] = 'i',         [DATA_BOOL] = 'b',           [DATA_CHAR] = 'c',
		[DATA_FLOAT] = 'f', [DATA_FLOAT_OTHER] = 'd', [DATA_MEMBER_POINTER] = 'm', [DATA_COMPLEX] = 'x',
	};

	if (type->is_const && type->kind != DATA_POINTER && type->kind != DATA_REFERENCE)
		buf_add_str(out, "const ");
	buf_add_str(out, type->is_swapped ? "~" : "");
	switch (type->kind) {
	case DATA_VOID:
		buf_add_str(out, "void");
		break;
	case DATA_FUNCTION:
		buf_add_str(out, "function");
		break;
	case DATA_POINTER:
		add_pointed(out, type, "*");
		break;
	case DATA_REFERENCE:
		add_pointed(out, type, "&");
		break;
	case DATA_ENUM:
		buf_printf(out, "enum %s", name_of(type));
		add_words(out, type);
		break;
	case DATA_ARRAY:
	case DATA_VECTOR:
		add_type(out, type->target);
		if (type->is_open)
			buf_add_str(out, "[]");
		else
			buf_printf(out, type->kind == DATA_VECTOR ? "<%" PRIu64 ">" : "[%" PRIu64 "]", type->count);
		break;
	case DATA_STRUCT:
	case DATA_UNION:
	case DATA_TEXT:
	case DATA_TEXT_COUNTED:
	case DATA_TEXT_INLINE:
		buf_printf(out, "%s%s %s",
			   type->by_address          ? "byaddress "
			   : type->may_be_by_address ? "maybebyaddress "
						     : "",
			   type->kind == DATA_UNION ? "union" : "struct", name_of(type));
		add_text_kind(out, type);
		buf_add_str(out, type->is_incomplete ? " declared" : "");
		if (type->member_count && type->kind <= DATA_UNION)
			add_members(out, type);
		if (type->variant_count)
			add_variants(out, type);
		break;
	default:
		buf_printf(out, "%s:%s%c%" PRIu64 "%s", name_of(type), type->is_signed ? "" : "u", letters[type->kind],
			   type->size, type->is_extended ? "x" : "");
		break;
	}
}

static void add_one_place(struct buf *out, enum param_place place, unsigned number, int64_t offset)
{
	if (place == PLACE_REGISTER)
		buf_printf(out, "@r%u", number);
	else if (place == PLACE_STACK)
		buf_printf(out, "@cfa%+" PRId64, offset);
	else if (place == PLACE_MEMORY)
		buf_printf(out, "@[r%u%+" PRId64 "]", number, offset);
	else if (place == PLACE_CONSTANT)
		buf_printf(out, "@=%" PRId64, offset);
	else if (place == PLACE_NOWHERE)
		buf_add_str(out, "@nowhere");
	else if (place == PLACE_UNKNOWN)
		buf_add_str(out, "@unknown");
}

static void add_passed(struct buf *out, const struct passed_as *passed)
{
	buf_add_str(out, passed->by_address ? "(address" : "(");
	for (unsigned i = 0; i < passed->count; i++)
		buf_printf(out, "%s%" PRIu32 ":%c%u", i ? " " : "", passed->scalars[i].offset,
			   passed->scalars[i].is_float ? 'f' : 'i', passed->scalars[i].size);
	buf_add_str(out, ")");
}

static void add_place(struct buf *out, const struct signature_param *param)
{
	if (param->place != PLACE_PIECES) {
		add_one_place(out, param->place, param->place_register, param->place_offset);
		return;
	}
	buf_add_str(out, "@{");
	for (size_t i = 0; i < param->piece_count; i++) {
		const struct place_piece *piece = &param->pieces[i];

		buf_printf(out, "%s%" PRIu32 "+%" PRIu32, i ? " " : "", piece->offset, piece->size);
		add_one_place(out, piece->place, piece->place_register, piece->place_offset);
	}
	buf_add_str(out, "}");
}

char *signature_text_at(const struct object *object, uint64_t address)
{
	const struct signature *signature = object_signature(object, address, &(bool){false});
	struct buf out = {0};

	word = object->file->class == ELFCLASS32 ? 4 : 8;

	if (!signature)
		return xstrdup("none");
	if (signature->result)
		add_type(&out, signature->result);
	else
		buf_add_str(&out, "void");
	if (signature->abi_is_rust)
		add_passed(&out, &signature->result_passed);
	buf_add_str(&out, " (");
	for (size_t i = 0; i < signature->param_count; i++) {
		const struct signature_param *param = &signature->params[i];

		if (i)
			buf_add_str(&out, ", ");
		add_type(&out, param->type);
		if (param->name[0])
			buf_printf(&out, " %s", param->name);
		add_place(&out, param);
		if (signature->abi_is_rust && param->place == PLACE_BY_ABI)
			add_passed(&out, &param->passed);
	}
	buf_add_str(&out, signature->is_variadic ? ", ...)" : ")");
	char *text = xstrdup(buf_str(&out));

	buf_free(&out);
	return text;
}

char *signature_text(const struct object *object, const char *symbol)
{
	const uint64_t address = test_address(object, symbol);

	return address ? signature_text_at(object, address) : xstrdup("no such symbol");
}

void assert_signature(const struct object *object, const char *symbol, const char *expected)
{
	static const char unused[] = "@nowhere";
	char *text = signature_text(object, symbol);

	/* Removes the remarks "@nowhere" unless `expected` has an "@": some compilers say in the debug information that
	 * they have omitted an unused parameter, others do not. */
	for (char *at; !strstr(expected, "@") && (at = strstr(text, unused));)
		memmove(at, at + strlen(unused), strlen(at + strlen(unused)) + 1);
	if (strcmp(text, expected)) {
		print_error("%s: %s is\n  %s\ninstead of\n  %s\n", object->path, symbol, text, expected);
		fail();
	}
	free(text);
}

/* Recognises structs that represent strings, by their names and their members. */
#include "config.h"
#include "symbols/types/type_reader.h"

#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX 8

static bool type_string_begins(const char *name, const char *with)
{
	return !strncmp(name, with, strlen(with));
}

static const struct data_member *member_named(const struct data_type *type, const char *name)
{
	for (size_t i = 0; i < type->member_count; i++)
		if (!strcmp(type->members[i].name, name))
			return &type->members[i];
	return NULL;
}

/* Finds the offset of a member that has one of two names, which different versions of a library use. */
static bool find_word(const struct data_type *type, const char *name, const char *other, uint32_t *at)
{
	const struct data_member *member = member_named(type, name);

	if (!member)
		member = member_named(type, other);
	if (member)
		*at = member->offset;
	return member;
}

static void make_text(struct data_type *type, enum data_kind kind, uint32_t text_at, uint32_t length_at)
{
	type->kind = kind;
	type->text_at = text_at;
	type->length_at = length_at;
}

/* ---- C++ ---- */

/* Returns the position of a namespace among the scopes that contain the type: 1 for the innermost scope; 0 if the
 * namespace does not contain the type. */
static unsigned depth_in(Dwarf_Die *die, const char *name)
{
	Dwarf_Die *scopes = NULL;
	const int count = dwarf_getscopes_die(die, &scopes);
	unsigned depth = 0;

	for (int i = 1; i < count && !depth; i++) {
		const char *scope = dwarf_tag(&scopes[i]) == DW_TAG_namespace ? dwarf_diename(&scopes[i]) : NULL;

		if (scope && !strcmp(scope, name))
			depth = (unsigned)i;
	}
	free(scopes);
	return depth;
}

/* Describes a std::string that is only declared. The namespace shows which library defines it, and so its layout. */
static void see_declared(const struct type_reader *reader, Dwarf_Die *die, struct data_type *type)
{
	const uint32_t word = reader->word;

	if (depth_in(die, "__cxx11") == 1) {
		make_text(type, DATA_TEXT, 0, word);
		type->size = 2 * word + 16;
	} else if (depth_in(die, "std") == 1) {
		make_text(type, DATA_TEXT_COUNTED, 0, 0);
		type->size = word;
	} else if (depth_in(die, "__1") == 1) {
		make_text(type, DATA_TEXT_INLINE, 2 * word, word);
		type->size = 3 * word;
	} else {
		return;
	}
	type->by_address = true;
	type->align = word;
	type->is_incomplete = false;
}

static void see_string(const struct type_reader *reader, Dwarf_Die *die, struct data_type *type)
{
	const struct data_member *data = member_named(type, "_M_dataplus");
	uint32_t at = 0, length; /* at: stays 0 if the struct of the pointer _M_p is only declared, as by clang */

	if (type->is_incomplete) {
		see_declared(reader, die, type);
	} else if (data && (find_word(data->type, "_M_p", "_M_p", &at) || data->type->is_incomplete)) {
		at += data->offset;
		if (find_word(type, "_M_string_length", "_M_string_length", &length))
			make_text(type, DATA_TEXT, at, length);
		else
			make_text(type, DATA_TEXT_COUNTED, at, 0);
	} else if (type->size == 3 * reader->word && (member_named(type, "__r_") || member_named(type, "__rep_"))) {
		make_text(type, DATA_TEXT_INLINE, 2 * reader->word, reader->word);
	}
}

static void see_view(struct data_type *type)
{
	uint32_t at, length;

	if (find_word(type, "_M_str", "__data_", &at) && find_word(type, "_M_len", "__size_", &length))
		make_text(type, DATA_TEXT, at, length);
	else if (find_word(type, "__data", "__data_", &at) && find_word(type, "__size", "__size_", &length))
		make_text(type, DATA_TEXT, at, length);
}

/* ---- Rust ---- */

/* Finds the first pointer in nested structs, such as Rust's String, which contains Vec, RawVec, Unique and NonNull
 * inside one another. Structs of a damaged file can contain each other many times, so reader->dies_left limits the
 * number of members. */
static bool find_pointer(struct type_reader *reader, const struct data_type *type, uint32_t offset, unsigned depth,
			 uint32_t *at)
{
	if (type->kind == DATA_POINTER) {
		*at = offset;
		return true;
	}
	for (size_t i = 0; depth < DEPTH_MAX && i < type->member_count && reader->dies_left; i++) {
		const struct data_member *const member = &type->members[i];

		reader->dies_left--;
		if (!member->is_virtual && find_pointer(reader, member->type, offset + member->offset, depth + 1, at))
			return true;
	}
	return false;
}

static void see_rust_string(struct type_reader *reader, struct data_type *type)
{
	const struct data_member *vec = member_named(type, "vec");
	uint32_t at, length;

	if (vec && find_pointer(reader, vec->type, vec->offset, 0, &at) && find_word(vec->type, "len", "len", &length))
		make_text(type, DATA_TEXT, at, vec->offset + length);
}

static void see_slice(struct data_type *type)
{
	uint32_t at, length;

	if (find_word(type, "data_ptr", "data_ptr", &at) && find_word(type, "length", "length", &length))
		make_text(type, DATA_TEXT, at, length);
}

static bool is_text_slice(const char *name)
{
	static const char *const names[] = {
		"&str",  "&mut str",  "*const str",  "*mut str",  "alloc::boxed::Box<str, alloc::alloc::Global>",
		"&[u8]", "&mut [u8]", "*const [u8]", "*mut [u8]",
	};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (!strcmp(name, names[i]))
			return true;
	return false;
}

void type_see_string(struct type_reader *reader, Dwarf_Die *die, struct data_type *type)
{
	if (reader->language == DW_LANG_Rust) {
		if (!strcmp(type->name, "String"))
			see_rust_string(reader, type);
		else if (is_text_slice(type->name))
			see_slice(type);
	} else if (type_string_begins(type->name, "basic_string<char,")) {
		see_string(reader, die, type);
	} else if (type_string_begins(type->name, "basic_string_view<char,")) {
		see_view(type);
	}
}

/* Converts the types of DWARF to struct data_type. The code is in types.c and type_*.c.
 *
 * The type of a parameter, and the type to which it points, are read in full. Of a type behind a second pointer only
 * the kind, the name and the size are read, because its values are not shown, and because types can refer to each other
 * in cycles. So no struct contains itself or points to itself: the node of a list has a pointer to a second struct with
 * the same name, which has no members. */
#ifndef FT_SYMBOLS_TYPES_TYPE_READER_H
#define FT_SYMBOLS_TYPES_TYPE_READER_H

#include "arch/abi.h"
#include "base/hash.h"
#include "symbols/types/types.h"

#include <dwarf.h>
#include <elfutils/libdw.h>

#define TYPE_LEVELS_FULL 2 /* a type behind fewer pointers than this is read in full */
#define TYPE_LEVELS      4 /* a type behind this many pointers, or more, is not read */
#define TYPE_MEMBERS_MAX 256
#define TYPE_WORDS_MAX   4096

/* The reader of the types of one file. */
struct type_reader {
	struct type_block *blocks; /* memory blocks of all types that were read */
	size_t bytes_left;         /* bytes that may still be allocated for the file's types */
	size_t dies_left;          /* DIEs that may still be read for the present function */
	unsigned depth;
	struct hash types;       /* address of a DIE, and number of pointers before it -> struct data_type */
	const struct arch *arch; /* processor of the file */
	bool is_soft_float;      /* the value of elf_file_is_soft_float() */
	unsigned word;           /* size of a pointer in bytes */
	int language;            /* language of the present function: DW_LANG_... */
};

/* Allocates zeroed memory for the file's types. Returns NULL when bytes_left is used up. */
void *type_memory(struct type_reader *reader, size_t size);
/* Copies an array of `count` elements of `size` bytes to the types' memory, and frees it. Returns the copy; NULL if
 * there are no elements, or bytes_left is used up. */
void *type_keep(struct type_reader *reader, void *items, size_t count, size_t size);
void type_memory_free(struct type_reader *reader);

/* Reads the type to which the DW_AT_type of a DIE (of a parameter, a member...) refers. level: number of pointers
 * between the parameter and the type. Returns NULL for void, and type_unknown if the type's DIE is missing. */
const struct data_type *type_read_of(struct type_reader *reader, Dwarf_Die *die, unsigned level);

/* These read an attribute of a DIE, or of the DIE that it completes (DW_AT_abstract_origin, DW_AT_specification). They
 * return "" or false if there is no such attribute, or if it has an unexpected form. */
const char *die_string(struct type_reader *reader, Dwarf_Die *die, unsigned attribute);
bool die_number(Dwarf_Die *die, unsigned attribute, uint64_t *number);
bool die_flag(Dwarf_Die *die, unsigned attribute);
/* Returns true if the DIE itself has the attribute. */
bool die_has(Dwarf_Die *die, unsigned attribute);
/* Gets the DIE to which an attribute refers. Returns false if there is none. */
bool die_reference(Dwarf_Die *die, unsigned attribute, Dwarf_Die *result);
/* Gets the next child of `parent`, or the first one if `child` is zeroed. Returns false after the last child, or when
 * dies_left is used up. */
bool die_next_child(struct type_reader *reader, Dwarf_Die *parent, Dwarf_Die *child);

/* These return true if an operation of an expression is of one kind: a constant (DW_OP_litN, DW_OP_constNx), the value
 * of a register (DW_OP_regN, DW_OP_regx), or this value plus an offset, which is an address or a number (DW_OP_bregN,
 * DW_OP_bregx). They do not accept a register above 65535. If they return false, the results are unchanged. */
bool operation_is_constant(const Dwarf_Op *operation, int64_t *value);
bool operation_is_register(const Dwarf_Op *operation, unsigned *number);
bool operation_is_based(const Dwarf_Op *operation, unsigned *number, int64_t *offset);

/* These read the type of a number, character or truth value, and an enumeration (type_scalar.c). integer: the
 * enumeration's underlying type; NULL: unknown. */
void type_read_base(struct type_reader *reader, Dwarf_Die *die, struct data_type *type);
void type_read_enum(struct type_reader *reader, Dwarf_Die *die, const struct data_type *integer,
		    struct data_type *type);
/* Returns true if an integer type of this name contains characters. */
bool type_is_character(const char *name);
/* Returns the alignment, in a struct, of a scalar of this size. */
uint32_t type_scalar_align(const struct type_reader *reader, uint64_t size);

/* Reads the offset of a member in bytes (type_member.c). Returns false if the member has no fixed offset, or if the
 * offset is too large. */
bool type_member_offset(Dwarf_Die *die, uint64_t *offset);
/* Sets the offset of a member or a base, or the place where a virtual base's offset is found. Returns false as
 * type_member_offset() does. */
bool type_member_place(Dwarf_Die *die, struct data_member *member);
/* Sets the bits of the member if it is a bit field. Returns false if these bits are impossible. */
bool type_member_bits(Dwarf_Die *die, struct data_member *member);
/* Returns the struct's alignment: the largest alignment of a member whose offset is a multiple of this alignment. The
 * result is halved until the struct's size is a multiple of it, too. */
uint32_t type_natural_align(const struct data_type *type, const struct data_member *members, size_t count);
/* Returns the type of the elements of an array, or of an array of arrays; else the type itself. */
const struct data_type *type_innermost(const struct data_type *type);
/* Returns true if there is no gap between the members or after the last one, as in a packed struct. */
bool type_may_be_packed(const struct data_type *type, const struct data_member *members, size_t count);

/* Returns true if a DW_LANG_ constant means C++ or Objective-C++ (type_passing.c). */
bool language_is_cxx(int language);
/* Sets by_address and may_be_by_address of a struct whose members are read (type_passing.c). */
void type_read_passing(struct type_reader *reader, Dwarf_Die *die, struct data_type *type);
/* Changes the kind of a struct that represents a string to DATA_TEXT or another kind of text (type_string.c). */
void type_see_string(struct type_reader *reader, Dwarf_Die *die, struct data_type *type);

extern const struct data_type type_unknown;
/* Returns true if values of the type have bytes, or may have some because the type is unknown. */
static inline bool type_has_bytes(const struct data_type *type)
{
	return type->size || type->kind == DATA_OTHER;
}

#endif

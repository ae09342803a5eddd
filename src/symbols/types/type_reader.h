/* Converts DWARF's types to struct data_type: types.c, and its parts (type_*.c).
 *
 * The type of a parameter, and the type that it points to, are read in full. Of a type behind a second pointer only the
 * kind, the name and the size are read, because its values are not shown, and a program's types lead to each other
 * without end. So a struct never contains or points to itself: it contains a pointer to a struct of that name, which
 * has no members. */
#ifndef FT_SYMBOLS_TYPES_TYPE_READER_H
#define FT_SYMBOLS_TYPES_TYPE_READER_H

#include "arch/abi.h"
#include "base/hash.h"
#include "symbols/types/types.h"

#include <dwarf.h>
#include <elfutils/libdw.h>

#define TYPE_LEVELS_FULL 2 /* types behind fewer pointers than this are read in full */
#define TYPE_LEVELS      4 /* ... and types behind fewer than these are read at all */
#define TYPE_MEMBERS_MAX 256
#define TYPE_WORDS_MAX   4096

/* The state of reading the types of one file. */
struct type_reader {
	struct type_block *blocks; /* the memory of all that is read */
	size_t bytes_left;         /* of the memory that the file may still take */
	size_t dies_left;          /* entries that may still be read for the present function */
	unsigned depth;
	struct hash types;       /* address of the entry, and level -> struct data_type */
	const struct arch *arch; /* the file's processor */
	bool is_soft_float;      /* elf_file_is_soft_float() */
	unsigned word;           /* bytes of a pointer */
	int language;            /* of the present function: DW_LANG_ */
};

/* Returns a piece of memory for the file's types, zeroed; NULL if the file has used up its share. */
void *type_memory(struct type_reader *reader, size_t size);
void type_memory_free(struct type_reader *reader);

/* Reads the type of an entry (of a parameter, a member...) by its DW_AT_type. level: pointers between a parameter and
 * the type. NULL: void; type_unknown if what the entry refers to is missing. */
const struct data_type *type_read_of(struct type_reader *reader, Dwarf_Die *die, unsigned level);

/* Read an attribute of the entry, or of the entry that it completes. "" or false if there is none, or if it is not a
 * constant. */
const char *die_string(struct type_reader *reader, Dwarf_Die *die, unsigned attribute);
bool die_number(Dwarf_Die *die, unsigned attribute, uint64_t *number);
bool die_flag(Dwarf_Die *die, unsigned attribute);
/* Whether the entry itself has the attribute. */
bool die_has(Dwarf_Die *die, unsigned attribute);
/* Gets the entry to which an attribute refers. False if there is none. */
bool die_reference(Dwarf_Die *die, unsigned attribute, Dwarf_Die *result);
/* Gets the next child, the first one if `child` is zeroed. False after the last, or when dies_left is used up. */
bool die_next_child(struct type_reader *reader, Dwarf_Die *parent, Dwarf_Die *child);

/* Read a number, a character or a truth value; and an enumeration, whose `integer` may be NULL: type_scalar.c. */
void type_read_base(struct type_reader *reader, Dwarf_Die *die, struct data_type *type);
void type_read_enum(struct type_reader *reader, Dwarf_Die *die, const struct data_type *integer,
		    struct data_type *type);
/* Whether an integer type of this name is meant for characters. */
bool type_is_character(const char *name);
/* Returns how a scalar of this size is aligned in a struct. */
uint32_t type_scalar_align(const struct type_reader *reader, uint64_t size);

/* Reads where a member begins, in bytes: type_member.c. False if it is not at a fixed place, or not in the struct. */
bool type_member_offset(Dwarf_Die *die, uint64_t *offset);
/* Sets where a member or a base is, also a virtual base. False as above. */
bool type_member_place(Dwarf_Die *die, struct data_member *member);
/* Makes the member a bit field if it is one. False if its bits are impossible. */
bool type_member_bits(Dwarf_Die *die, struct data_member *member);
/* Returns the largest alignment with which all members are where they are. */
uint32_t type_natural_align(const struct data_type *type, const struct data_member *members, size_t count);
/* Whether each member begins where the one before ends, as it would in a packed struct, too. */
bool type_may_be_packed(const struct data_type *type, const struct data_member *members, size_t count);

/* Whether a DW_LANG_ is C++, or Objective-C++: type_passing.c. */
bool language_is_cxx(int language);
/* Whether an argument of this type is passed by its address: type_passing.c. */
bool type_is_by_address(struct type_reader *reader, Dwarf_Die *die, const struct data_type *type);
/* Makes a struct that represents a string DATA_TEXT or another kind of text: type_string.c. */
void type_see_string(const struct type_reader *reader, Dwarf_Die *die, struct data_type *type);

extern const struct data_type type_unknown;
/* Whether values of the type have bytes; those of an unknown type may. */
static inline bool type_has_bytes(const struct data_type *type)
{
	return type->size || type->kind == DATA_OTHER;
}

#endif

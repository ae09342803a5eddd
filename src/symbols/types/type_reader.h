/* From DWARF's types to struct data_type: types.c, and what it is made of (type_*.c).
 *
 * A type is read in one of two ways. What a parameter is, and what it points to, is read in full; what lies behind a
 * second pointer is read as far as its kind, its name and its size, for nobody looks there, and a program's types lead
 * to each other without end. So a struct never holds or points to itself: it holds a pointer to a struct of that name,
 * which has no members. */
#ifndef FT_SYMBOLS_TYPES_TYPE_READER_H
#define FT_SYMBOLS_TYPES_TYPE_READER_H

#include "arch/abi.h"
#include "base/hash.h"
#include "symbols/types/types.h"

#include <dwarf.h>
#include <elfutils/libdw.h>

#define TYPE_LEVELS_FULL 2 /* pointers behind which types are read in full: none or one */
#define TYPE_LEVELS      4 /* ... and behind which they are read at all */
#define TYPE_MEMBERS_MAX 256
#define TYPE_WORDS_MAX   4096

/* What is read of one file. */
struct type_reader {
	struct type_block *blocks; /* the memory of all that is read */
	size_t bytes_left;         /* of the memory that the file may still take */
	size_t dies_left;          /* entries that the function which is read now may make us look at */
	unsigned depth;
	struct hash types;       /* by the entry's place in memory, and the level */
	const struct arch *arch; /* the file's processor */
	bool is_soft_float;      /* elf_file_is_soft_float() */
	unsigned word;           /* bytes of a pointer */
	int language;            /* of the function that is read now: DW_LANG_ */
};

/* A piece of the file's memory, zeroed; NULL: the file has had its part. */
void *type_memory(struct type_reader *reader, size_t size);
void type_memory_free(struct type_reader *reader);

/* The type of an entry (of a parameter, a member...) by its DW_AT_type; NULL: void; type_unknown where what it refers
 * to cannot be had. */
const struct data_type *type_read_of(struct type_reader *reader, Dwarf_Die *die, unsigned level);

/* An attribute of the entry, or of the one that it completes. NULL, false: there is none, or it is no constant. */
const char *die_string(struct type_reader *reader, Dwarf_Die *die, unsigned attribute);
bool die_number(Dwarf_Die *die, unsigned attribute, uint64_t *number);
bool die_flag(Dwarf_Die *die, unsigned attribute);
/* Whether the entry itself has it. */
bool die_has(Dwarf_Die *die, unsigned attribute);
/* The entry that an attribute refers to. */
bool die_reference(Dwarf_Die *die, unsigned attribute, Dwarf_Die *result);
/* The next child, the first one if `child` is zeroed: false behind the last, or when enough has been looked at. */
bool die_next_child(struct type_reader *reader, Dwarf_Die *parent, Dwarf_Die *child);

/* A number, a character, a truth value: type_scalar.c. Of an enumeration: `integer` may be NULL. */
void type_read_base(struct type_reader *reader, Dwarf_Die *die, struct data_type *type);
void type_read_enum(struct type_reader *reader, Dwarf_Die *die, const struct data_type *integer,
		    struct data_type *type);
/* Whether an integer of this name is meant for characters. */
bool type_is_character(const char *name);
/* How a scalar of that size is aligned in a struct. */
uint32_t type_scalar_align(const struct type_reader *reader, uint64_t size);

/* Where a member begins, in bytes: type_member.c. False: it is not at a fixed place, or not in the struct. */
bool type_member_offset(Dwarf_Die *die, uint64_t *offset);
/* Sets where a member or a base is, a virtual one, too. False: as above. */
bool type_member_place(Dwarf_Die *die, struct data_member *member);
/* Makes it a bit field where it is one. False: one that cannot be. */
bool type_member_bits(Dwarf_Die *die, struct data_member *member);
/* The largest alignment that puts no member where it is not. */
uint32_t type_natural_align(const struct data_type *type, const struct data_member *members, size_t count);
/* Whether members lie one at the other's end, so that a packed struct would have them there, too. */
bool type_may_be_packed(const struct data_type *type, const struct data_member *members, size_t count);

/* Whether a DW_LANG_ is C++, or Objective-C++: type_passing.c. */
bool language_is_cxx(int language);
/* Whether its address is passed where it is an argument: type_passing.c. */
bool type_is_by_address(struct type_reader *reader, Dwarf_Die *die, const struct data_type *type);
/* Makes a struct that stands for a string DATA_TEXT or another kind of text: type_string.c. */
void type_see_string(const struct type_reader *reader, Dwarf_Die *die, struct data_type *type);

extern const struct data_type type_unknown;
/* False of what is empty; of what is unknown it may be so. */
static inline bool type_has_bytes(const struct data_type *type)
{
	return type->size || type->kind == DATA_OTHER;
}

#endif

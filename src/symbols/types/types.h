/* What debug information says of a function's parameters: types, as far as their values are shown.
 * All of it belongs to the file that it was read from (object_signature()) or is static, and does not change. */
#ifndef FT_SYMBOLS_TYPES_TYPES_H
#define FT_SYMBOLS_TYPES_TYPES_H

#include "symbols/objects/mapped_object.h"

enum data_kind {
	DATA_OTHER, /* nothing is known but its size; of one of 0 bytes nothing at all */
	DATA_VOID,
	DATA_INT,         /* is_signed or not; of 1 to 16 bytes */
	DATA_BOOL,        /* of 1 byte or more */
	DATA_CHAR,        /* of 1, 2 or 4 bytes */
	DATA_FLOAT,       /* the format by the size: 2, 4, 8, 16 bytes; x87's 10 in 12 or 16: is_extended */
	DATA_FLOAT_OTHER, /* a decimal one, or bfloat16: it lies where a float of its size does, and is not shown */
	DATA_COMPLEX,     /* two of `target` */
	DATA_ENUM,        /* words; is_flags: of bits that are or'ed */
	DATA_POINTER,
	DATA_REFERENCE, /* a pointer in all but the name: what it refers to is shown as if it were given itself */
	DATA_FUNCTION,  /* what a pointer points to; shown by its name where it has one */
	/* And classes; members. Behind a second pointer structs have none (a list's node leads to no second node), and
	 * where a struct is declared only. No struct holds itself. */
	DATA_STRUCT,
	DATA_UNION,  /* members, all at offset 0 */
	DATA_ARRAY,  /* `count` of `target` */
	DATA_VECTOR, /* the same, in a vector register where it is an argument */
	DATA_MEMBER_POINTER,
	DATA_TEXT, /* a struct that stands for a string: its bytes lie at a pointer in it, and it has their number */
	DATA_TEXT_COUNTED, /* a pointer to a string whose length is in memory before it (std::string's older ABI) */
	DATA_TEXT_INLINE,  /* libc++'s std::string: short ones are in it */
};

struct data_type;

struct data_member {
	const char *name; /* "" of an unnamed one, and of what is inherited */
	const struct data_type *type;
	uint32_t offset;     /* bytes, from the struct's beginning */
	uint16_t bit_offset; /* from there, of a bit field */
	uint16_t bit_size;   /* 0: it is none */
	bool is_base;        /* inherited: its members are shown as the struct's own */
	bool is_virtual;     /* a base without a fixed offset, which is a word of the object's virtual table: */
	uint32_t table_at;   /* so many bytes before the address that the struct's first word is; 0: not known */
};

struct data_word {
	const char *name;
	uint64_t value; /* sign extended; of flags the bits */
};

/* One of several structs that a Rust enum is by turns. */
struct data_variant {
	const char *name;
	const struct data_type *type;
	uint32_t offset;
	bool is_other; /* it is this one where the discriminant is no other's */
	uint64_t value;
};

struct data_type {
	enum data_kind kind;
	uint64_t size; /* bytes; 0 unknown, or none */
	uint32_t align;
	/* As the source has it: a typedef's, else without "struct", "const"; "" of pointers, of what has none. */
	const char *name;
	bool is_signed, is_flags, is_extended;
	bool may_be_packed; /* nothing in it shows that it is aligned as its members are */
	bool is_const;      /* what a pointer to const points to: the function does not write it */
	bool has_variants;  /* Rust's enum with data: a discriminant tells which members it has besides */
	bool is_cut;        /* there are more members than these */
	bool is_incomplete; /* declared, and nothing else: places of arguments after such a one are unknown */
	bool by_address;    /* C++: with a copy constructor or destructor of its own, so its address is passed */
	const struct data_type *target; /* of pointers and references (NULL: void), elements, an enum's integer */
	uint64_t count;                 /* of elements; 0 unknown */
	const struct data_member *members;
	size_t member_count;
	/* Of a Rust enum with data: which variant it is, an integer tells; NULL: there is one variant. */
	const struct data_member *discriminant;
	const struct data_variant *variants;
	size_t variant_count;
	const struct data_word *words; /* by ascending value */
	size_t word_count;
	uint32_t text_at, length_at; /* DATA_TEXT: offsets of the pointer, and of the number of bytes, a word each */
};

/* Where a parameter, or a piece of it, is at the entry. */
enum param_place {
	PLACE_BY_ABI,   /* where the processor's ABI puts it, which counts all parameters, wherever they are */
	PLACE_REGISTER, /* in the register of DWARF's number `place_register`, by the compiler's own choice */
	PLACE_STACK,    /* in memory, at the CFA + place_offset */
	PLACE_MEMORY,   /* in memory, at that register's value + place_offset */
	PLACE_CONSTANT, /* it is place_offset: the compiler has made this copy of the function for it */
	PLACE_PIECES,   /* in `pieces`; what is in none is nowhere */
	PLACE_NOWHERE,  /* the compiler has left it out: callers need not pass it */
	PLACE_UNKNOWN,  /* it is not where the ABI puts it, and the compiler does not say where */
};

struct place_piece {
	enum param_place place; /* none of pieces, none by the ABI */
	unsigned place_register;
	int64_t place_offset;
	uint32_t offset, size; /* of the piece, in the parameter's bytes */
};

/* Rust's own ABI, as far as C's can say it: so many scalars, each like a parameter, or the value's address. */
#define PASSED_SCALARS 2
struct passed_scalar {
	uint32_t offset; /* in the value's bytes */
	uint16_t size;   /* any up to a pointer's, or 16: of an odd one the register's upper bits are not its */
	bool is_float;
};
struct passed_as {
	bool by_address; /* a result: the caller passes the address of a place for it before the parameters */
	unsigned count;  /* 0, and not by_address: it has no bytes, and no place */
	struct passed_scalar scalars[PASSED_SCALARS];
};

#define SIGNATURE_REGISTERS 4
struct signature_param {
	const char *name; /* "" unknown; "this" */
	const struct data_type *type;
	enum param_place place, said; /* said: by debug information, for when the ABI does not tell */
	/* Of PLACE_BY_ABI: if not empty, callers need pass only what the ABI puts in these (DWARF's numbers). */
	uint16_t registers[SIGNATURE_REGISTERS];
	unsigned char register_count;
	unsigned place_register;
	int64_t place_offset;
	const struct place_piece *pieces;
	size_t piece_count;
	struct passed_as passed; /* where abi_is_rust */
};

struct signature {
	const struct signature_param *params;
	size_t param_count;
	const struct data_type *result; /* NULL: void, or the compiler may have left it out, for no caller uses it */
	struct passed_as result_passed; /* where abi_is_rust */
	bool result_is_unknown;         /* it may be lost, or not be where the ABI has it: `result` is NULL */
	bool result_may_be_lost;        /* unless it is in memory, for perhaps no caller uses it */
	bool is_variadic;               /* what is behind the parameters is not known */
	bool is_constructor;            /* the object has not its virtual table yet */
	bool abi_is_rust;               /* not C's: `passed` tells what takes the place of types */
	bool is_gcc;                    /* what the ABI leaves open is as GCC has it */
};

/* What debug information, the file's own or a separate one's, says of the function at that mapped code address. NULL:
 * nothing; *is_late: nothing yet, for reading takes too long (timed.h). It lives as long as the object's file. */
const struct signature *object_signature(const struct object *object, uint64_t address, bool *is_late);

#endif

/* A function's parameters, from debug information: their types, as far as values are shown, and their places.
 * All of it belongs to the file that it was read from (object_signature()) or is static, and does not change. */
#ifndef FT_SYMBOLS_TYPES_TYPES_H
#define FT_SYMBOLS_TYPES_TYPES_H

#include "symbols/objects/mapped_object.h"

enum data_kind {
	DATA_OTHER, /* only its size is known; if that is 0, nothing is */
	DATA_VOID,
	DATA_INT,         /* is_signed or not; of 1 to 16 bytes */
	DATA_BOOL,        /* of 1 byte or more */
	DATA_CHAR,        /* of 1, 2 or 4 bytes */
	DATA_FLOAT,       /* the size tells the format: 2, 4, 8, 16 bytes; is_extended: x87's 10 bytes in 12 or 16 */
	DATA_FLOAT_OTHER, /* decimal, or bfloat16: passed as a float of its size is, and not shown */
	DATA_COMPLEX,     /* two of `target` */
	DATA_ENUM,        /* with `words`; is_flags: these are bits to be or'ed */
	DATA_POINTER,
	DATA_REFERENCE, /* a pointer whose target is shown in its place */
	DATA_FUNCTION,  /* only as the target of a pointer, which is shown with the function's name */
	/* A struct or class, with members. A struct behind a second pointer (a list's node leads to no second node), or
	 * one that is only declared, has none. No struct contains itself. */
	DATA_STRUCT,
	DATA_UNION,  /* with members, all at offset 0 */
	DATA_ARRAY,  /* `count` of `target` */
	DATA_VECTOR, /* the same; as an argument in a vector register */
	DATA_MEMBER_POINTER,
	DATA_TEXT,         /* a struct that represents a string: it has a pointer to the bytes, and their number */
	DATA_TEXT_COUNTED, /* a pointer to a string whose length is in memory before it (std::string's older ABI) */
	DATA_TEXT_INLINE,  /* libc++'s std::string, which contains short strings itself */
};

struct data_type;

struct data_member {
	const char *name; /* "" of unnamed members and of bases */
	const struct data_type *type;
	uint32_t offset;     /* bytes, from the struct's beginning */
	uint16_t bit_offset; /* of a bit field: from `offset` on */
	uint16_t bit_size;   /* of a bit field; else 0 */
	bool is_base;        /* inherited: its members are shown as the struct's own */
	bool is_virtual;     /* a virtual base, whose offset is a word of the object's virtual table: */
	uint32_t table_at;   /* ... this many bytes before the table's address, the struct's first word; 0: unknown */
};

struct data_word {
	const char *name;
	uint64_t value; /* sign extended; the bits of flags */
};

/* A variant of a Rust enum, which is a struct. */
struct data_variant {
	const char *name;
	const struct data_type *type;
	uint32_t offset;
	bool is_other; /* the variant for all discriminants that no other variant has */
	uint64_t value;
};

struct data_type {
	enum data_kind kind;
	uint64_t size; /* bytes; 0 unknown, or none */
	uint32_t align;
	/* As in the source: a typedef's, else without "struct" and "const"; "" of pointers and unnamed types. */
	const char *name;
	bool is_signed, is_flags, is_extended;
	bool may_be_packed; /* its members do not show whether it is packed */
	bool is_const;      /* the target of a pointer to const: the function does not write it */
	bool has_variants;  /* Rust's enum with data: a discriminant selects one of `variants` */
	bool is_cut;        /* it has more members than `members` */
	bool is_incomplete; /* only declared: the places of the arguments after it are unknown */
	bool by_address;    /* C++: with a copy constructor or destructor of its own, so its address is passed */
	const struct data_type *target; /* of pointers and references (NULL: void), elements, an enum's integer */
	uint64_t count;                 /* of elements; 0 unknown */
	const struct data_member *members;
	size_t member_count;
	/* Of a Rust enum with data: the integer that selects the variant; NULL: there is only one variant. */
	const struct data_member *discriminant;
	const struct data_variant *variants;
	size_t variant_count;
	const struct data_word *words; /* by ascending value */
	size_t word_count;
	uint32_t text_at, length_at; /* DATA_TEXT: offsets of the pointer, and of the number of bytes, a word each */
};

/* Where a parameter, or a piece of it, is at the entry. */
enum param_place {
	PLACE_BY_ABI,   /* where the ABI puts it; the ABI counts all parameters, also those that are elsewhere */
	PLACE_REGISTER, /* in the register with DWARF number place_register, which the compiler chose */
	PLACE_STACK,    /* in memory, at the CFA + place_offset */
	PLACE_MEMORY,   /* in memory, at the value of register place_register + place_offset */
	PLACE_CONSTANT, /* place_offset itself: the compiler has made this copy of the function for it */
	PLACE_PIECES,   /* in `pieces`; bytes in no piece are optimised out */
	PLACE_NOWHERE,  /* the compiler has left it out: callers need not pass it */
	PLACE_UNKNOWN,  /* it is not where the ABI puts it, and debug information does not say where it is */
};

struct place_piece {
	enum param_place place; /* neither PLACE_PIECES nor PLACE_BY_ABI */
	unsigned place_register;
	int64_t place_offset;
	uint32_t offset, size; /* of the piece, in the parameter's bytes */
};

/* How Rust's own ABI passes a value in terms of C's: as up to PASSED_SCALARS parameters, or by its address. */
#define PASSED_SCALARS 2
struct passed_scalar {
	uint32_t offset; /* in the value's bytes */
	uint16_t size;   /* any up to a pointer's, or 16; the register's bits above it are undefined */
	bool is_float;
};
struct passed_as {
	bool by_address; /* of a result: the caller passes an address for it before the parameters */
	unsigned count;  /* of scalars; 0, and not by_address: the value has no bytes */
	struct passed_scalar scalars[PASSED_SCALARS];
};

#define SIGNATURE_REGISTERS 4
struct signature_param {
	const char *name; /* "" unknown; "this" */
	const struct data_type *type;
	enum param_place place, said; /* said: in debug information, for use if the ABI determines no place */
	/* With PLACE_BY_ABI: if not empty, callers may pass only what the ABI puts into these (DWARF numbers). */
	uint16_t registers[SIGNATURE_REGISTERS];
	unsigned char register_count;
	unsigned place_register;
	int64_t place_offset;
	const struct place_piece *pieces;
	size_t piece_count;
	struct passed_as passed; /* if abi_is_rust */
};

struct signature {
	const struct signature_param *params;
	size_t param_count;
	const struct data_type *result; /* NULL: void, or result_is_unknown */
	struct passed_as result_passed; /* if abi_is_rust */
	bool result_is_unknown;         /* the compiler may have left it out, or put it elsewhere than the ABI does */
	bool result_may_be_lost;        /* a result that is not in memory: the compiler drops it if no caller uses it */
	bool is_variadic;               /* the arguments after the parameters are unknown */
	bool is_constructor;            /* at the entry the object has no virtual table yet */
	bool abi_is_rust;               /* Rust's ABI, not C's: `passed` replaces the types */
	bool is_gcc;                    /* compiled by GCC, which decides where the ABI leaves a choice */
};

/* Returns what debug information (the file's own, or separate) says of the function at this mapped code address. NULL:
 * nothing; *is_late: nothing yet, because reading takes too long (timed.h). It lives as long as the object's file. */
const struct signature *object_signature(const struct object *object, uint64_t address, bool *is_late);

#endif

/* A function's signature, from debug information: types of the parameters, as far as values are shown, and places of
 * the arguments. All data is static, or is freed with the object's file; it does not change. */
#ifndef FT_SYMBOLS_TYPES_TYPES_H
#define FT_SYMBOLS_TYPES_TYPES_H

#include "symbols/objects/mapped_object.h"

enum data_kind {
	DATA_OTHER, /* a type of which only the size is known; with size 0, nothing is known */
	DATA_VOID,
	DATA_INT,         /* an integer of 1 to 16 bytes, signed if is_signed */
	DATA_BOOL,        /* a truth value of 1 byte or more */
	DATA_CHAR,        /* a character of 1, 2 or 4 bytes */
	DATA_FLOAT,       /* a floating point number of 2, 4, 8 or 16 bytes; is_extended: x87's 10 bytes */
	DATA_FLOAT_OTHER, /* a decimal number or bfloat16: passed as a float of the same size, not shown */
	DATA_COMPLEX,     /* a complex number: two values of type `target` */
	DATA_ENUM,        /* an enumeration with the enumerators `words`; is_flags: they are bits to be or'ed */
	DATA_POINTER,
	DATA_REFERENCE, /* a pointer whose target is shown instead of its address */
	DATA_FUNCTION,  /* a function; only as the target of a pointer, which is shown as the function's name */
	/* A struct or class. It has no members if it is only declared, or behind a second pointer (the node after a
	 * list's node is not shown). No struct contains itself. */
	DATA_STRUCT,
	DATA_UNION,  /* a union, with members, all at offset 0 */
	DATA_ARRAY,  /* `count` elements of type `target`; is_open: the source gives no number ("int tail[];") */
	DATA_VECTOR, /* elements as in an array; passed in a vector register */
	DATA_MEMBER_POINTER,
	DATA_TEXT,         /* a struct that represents a string: it contains a pointer to the bytes, and their number */
	DATA_TEXT_COUNTED, /* a pointer to a string whose length is in memory before it (std::string's older ABI) */
	DATA_TEXT_INLINE,  /* libc++'s std::string, which contains a short string itself */
};

struct data_type;

struct data_member {
	const char *name; /* the name; "" for an unnamed member and for a base */
	const struct data_type *type;
	uint32_t offset;     /* offset from the struct's beginning, in bytes */
	uint16_t bit_offset; /* first bit of a bit field; 0: the lowest bit at `offset`, or the highest if is_swapped */
	uint16_t bit_size;   /* size of a bit field in bits; 0 for other members */
	bool is_base;        /* the member is a base class, whose members are shown as the struct's own */
	bool is_virtual;     /* the member is a virtual base, whose offset is in a word of the vtable */
	uint32_t table_at;   /* number of bytes by which that word is before the vtable; 0: unknown */
};

struct data_word {
	const char *name;
	uint64_t value; /* the value, sign extended; or bits of flags */
};

/* A variant of a Rust enum. Each variant is a struct. */
struct data_variant {
	const char *name;
	const struct data_type *type;
	uint32_t offset;
	bool is_other; /* the variant of all discriminants that select no other variant */
	uint64_t value;
};

struct data_type {
	enum data_kind kind;
	uint64_t size; /* size in bytes; 0: unknown, or no bytes */
	uint32_t align;
	/* The name in the source: the typedef's, else the type's without "struct" and "const"; "" for pointers. */
	const char *name;
	bool is_signed, is_flags, is_extended, is_open, is_swapped; /* is_swapped: in the other byte order */
	bool may_be_packed; /* the members' offsets do not show whether the struct is packed */
	bool is_const;      /* the target of a pointer to const: the function does not write it */
	bool has_variants;  /* a Rust enum with data: a discriminant selects one of `variants` */
	bool is_cut;        /* the struct has more members than `members`, or some that are not understood */
	bool is_incomplete; /* the struct is only declared, so the places of the arguments after it are unknown */
	/* C++. by_address: objects are passed by their address, because of a copy constructor or destructor, or because
	 * all copy constructors are deleted (then also has_no_copy). may_be_by_address: by_address is unknown. */
	bool by_address, has_no_copy, may_be_by_address;
	const struct data_type *target; /* pointer's target (NULL: void), element type, or enum's underlying type */
	uint64_t count;                 /* number of elements; 0: unknown */
	const struct data_member *members;
	/* Of a Rust enum with data: the integer that selects the variant. NULL: there is only one variant. */
	const struct data_member *discriminant;
	const struct data_variant *variants;
	const struct data_word *words; /* the enumerators, by ascending value */
	size_t member_count, variant_count, word_count;
	uint32_t text_at, length_at; /* DATA_TEXT: offsets of the pointer and of the number of bytes, a word each */
};

/* The kinds of places where a parameter, or a piece of it, can be at the function's entry. */
enum param_place {
	PLACE_BY_ABI,   /* the ABI's place for this parameter, as if all parameters were in the ABI's places */
	PLACE_REGISTER, /* a register that the compiler chose, with the DWARF number place_register */
	PLACE_STACK,    /* in memory, at the CFA + place_offset */
	PLACE_MEMORY,   /* in memory, at the value of register place_register + place_offset */
	PLACE_CONSTANT, /* no place: the value is place_offset, for which this copy of the function was made */
	PLACE_PIECES,   /* in several pieces (`pieces`); bytes that are in no piece are optimised out */
	PLACE_NOWHERE,  /* no place: the compiler has left the parameter out, and callers need not pass it */
	PLACE_UNKNOWN,  /* debug information does not show the place, or whether callers store the argument there */
};

struct place_piece {
	enum param_place place; /* any kind but PLACE_PIECES and PLACE_BY_ABI */
	unsigned place_register;
	int64_t place_offset;
	uint32_t offset, size; /* the piece's offset in the parameter and its size, in bytes */
};

/* How Rust's own ABI passes a value, expressed as C parameters: up to PASSED_SCALARS scalars, or its address. */
#define PASSED_SCALARS 2
struct passed_scalar {
	uint32_t offset; /* offset in the value, in bytes */
	uint16_t size;   /* size in bytes, up to a pointer's size, or 16; the register's bits above it are undefined */
	bool is_float;
};
struct passed_as {
	bool by_address; /* the value's address is passed; for a result, before all parameters */
	unsigned count;  /* number of scalars; if it is 0 and by_address is false, the value has no bytes */
	struct passed_scalar scalars[PASSED_SCALARS];
};

#define SIGNATURE_REGISTERS 4
struct signature_param {
	const char *name; /* the parameter's name; "" if it is unknown; a C++ object is "this" */
	const struct data_type *type;
	enum param_place place, said; /* said: the place in debug information, used if the ABI determines none */
	/* For PLACE_BY_ABI: if not empty, callers may have set only these of the ABI's registers (DWARF numbers). */
	uint16_t registers[SIGNATURE_REGISTERS];
	unsigned char register_count;
	unsigned place_register;
	int64_t place_offset;
	const struct place_piece *pieces;
	size_t piece_count;
	struct passed_as passed; /* valid if the signature's abi_is_rust is set */
};

struct signature {
	const struct signature_param *params;
	size_t param_count;
	const struct data_type *result; /* the result's type; NULL: void, or result_is_unknown */
	struct passed_as result_passed; /* valid if abi_is_rust */
	bool result_is_unknown;         /* the result may be left out, or may not be where the ABI puts it */
	bool result_may_be_lost;        /* the compiler drops a result in registers if no caller uses it */
	bool is_variadic;               /* there may be more arguments after the parameters; they are unknown */
	bool is_constructor;            /* the function is a constructor: at its entry the object has no vtable yet */
	bool abi_is_rust;               /* the function has Rust's ABI, not C's: `passed` replaces the types */
	bool is_gcc;                    /* compiled by GCC; where the ABI leaves a choice, GCC's is used */
};

/* Returns the signature of the function at a mapped code address, from debug information; it lives as long as the
 * object's file. Returns NULL if there is none, or, with *is_late set, if reading takes too long (timed.h). */
const struct signature *object_signature(const struct object *object, uint64_t address, bool *is_late);

#endif

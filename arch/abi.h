/* Where a processor's ABI puts the arguments and results of functions (the psABI's rules of parameter passing), and
 * where a thread has its own variables. The functions are pure: they only compute from values and registers. */
#ifndef FT_ARCH_ABI_H
#define FT_ARCH_ABI_H

#include "arch/arch.h"

enum abi_class {
	ABI_INTEGER, /* also pointers, bool and enumerations */
	ABI_BITS,    /* bytes that contain bits of a bit field */
	ABI_FLOAT,   /* float, double, and types passed like them (_Float16, __float128, AArch64's long double) */
	ABI_X87,     /* x86's long double, of 12 or 16 bytes */
	ABI_VECTOR,
};

/* A scalar, or a scalar that is a part of a struct. */
struct abi_field {
	uint32_t offset;
	uint16_t size;
	unsigned char kind; /* enum abi_class */
};

#define ABI_FIELDS 16

/* The properties of a parameter on which its place depends. */
struct abi_value {
	uint64_t size;
	uint32_t align; /* alignment of the type, including alignas of the type or a member; 0 unknown */
	/* A struct, union, array, or C++ pointer to a member function; `fields` are all scalars in it. If false, the
	 * value is a scalar with one field, or a complex number with two. */
	bool is_struct;
	bool may_be_packed;   /* the alignment may be 1; debug information does not exclude it */
	bool by_address;      /* C++: always passed by its address */
	unsigned field_count; /* 0: empty; more than ABI_FIELDS: `fields` has only a part of them */
	/* Equal fields (of a union) are there once. */
	struct abi_field fields[ABI_FIELDS];
};

/* The properties of a function on which the places depend. */
struct abi_function {
	const struct abi_value *values; /* the named parameters; in C++ with `this` */
	size_t count;
	const struct abi_value *result; /* NULL: void */
	bool is_variadic;               /* it has a "..." */
	bool is_soft_float;             /* of the function's object: see elf_file_is_soft_float() */
	bool is_gcc;                    /* compiled by GCC, or all compilers agree on its parameters */
};

enum abi_piece_kind {
	PIECE_INTEGER, /* in argument register `index`, from 0 on; for a result in result register `index` */
	PIECE_FLOAT,   /* in the bytes of the floating point register set, at `at` */
	PIECE_X87,     /* the same, in the x87's format of 10 bytes: abi_x87_value() converts it to `size` bytes */
	PIECE_STACK,   /* in memory, at the stack pointer on entry + `at` */
};

/* A part of a value: `size` bytes from `offset` on. In a register they are the lowest bytes. */
struct abi_piece {
	unsigned char kind, index;
	uint32_t size, offset, at;
};

#define ABI_PIECES 5

struct abi_place {
	/* The value is in memory, and the pieces hold its address. The address of a result is known on entry only,
	 * where it is an argument of its own. */
	bool is_address;
	bool is_known;        /* false: the place is unknown */
	unsigned piece_count; /* 0: a value without bytes has no place */
	struct abi_piece pieces[ABI_PIECES];
};

/* Converts an x87 number of 10 bytes to a value of `size` bytes: 4 (float), 8 (double) or 10 to 16 (long double). */
void abi_x87_value(const unsigned char *x87, unsigned char *value, size_t size);

/* The largest register set of PTRACE_GETREGSET(abi->floats_set), in bytes. */
#define ABI_FLOATS_MAX 1024

/* A processor's ABI; struct arch.abi points to it. */
struct arch_abi {
	int floats_set; /* NT_PRFPREG, NT_ARM_VFP...: the register set with the floating point registers */
	/* The register set with whole vector registers, if floats_set has only a part of each (NT_X86_XSTATE); 0:
	 * none. */
	int vectors_set;
	/* Sets the places of the `count` arguments at a function's entry. The places of variadic arguments (...)
	 * remain unknown. */
	void (*arguments)(const struct abi_function *function, struct abi_place *places);
	/* Sets the place of a result, which is not void, at the return. For a result in memory, sets the place of
	 * its address at the entry. */
	void (*result)(const struct abi_function *function, struct abi_place *place);
	/* Return argument register `index` at the entry, and result register `index` at the return. */
	uint64_t (*argument_register)(const struct arch_regs *regs, unsigned index);
	uint64_t (*result_register)(const struct arch_regs *regs, unsigned index);
	/* Structs and unions of more bytes are passed by address, and the function may change that address in its
	 * first instructions. 0: they are not, or the address stays. */
	unsigned char by_address_above;
	/* Compilers use another convention for functions that only their own file calls: an integer result is in the
	 * same register, but other results are elsewhere. With is_soft_float they always do. */
	bool has_local_convention;
	/* The largest alignment of scalars in a struct, apart from those of 16 bytes; 0: each is aligned to its
	 * size. */
	unsigned char align_most;
	unsigned char x87_align; /* alignment of long double in the x87's format; 0: another format */
	/* Returns DWARF's number of argument register `index`; UINT32_MAX: none. */
	unsigned (*argument_dwarf)(unsigned index);
	/* Returns the offset of a DWARF register in the floating point register set; -1: it is not in it, or is an
	 * x87 register. */
	int (*float_at)(unsigned dwarf_register);

	/* The thread pointer is in one of three places, and the fields of the other two are 0. Either
	 * thread_pointer() takes it from the registers (false: unknown); or it is a word in the register set
	 * thread_set; or it is at thread_request_at in what the ptrace request thread_request writes, whose argument
	 * is the number from thread_area() (NULL: 0; false: unknown). */
	bool (*thread_pointer)(const struct arch_regs *regs, uint64_t *value);
	int thread_set, thread_request;
	bool (*thread_area)(const struct arch_regs *regs, uint64_t *number);
	unsigned char thread_request_at;
	/* The ELF relocation that fills a word with a thread variable's offset from the thread pointer. */
	unsigned reloc_tpoff;
	/* Whether a function with this code returns the thread pointer plus a constant, *offset, and does nothing
	 * else (musl's __errno_location). state: the bits of code_state in its address. */
	bool (*thread_field)(const unsigned char *code, size_t size, uint64_t state, int64_t *offset);
};

#endif

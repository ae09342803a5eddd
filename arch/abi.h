/* Finds where a processor's ABI puts the arguments and results of functions (the psABI's rules of parameter
 * passing), and where a thread's variables are. The functions are pure: they compute only from values and registers. */
#ifndef FT_ARCH_ABI_H
#define FT_ARCH_ABI_H

#include "arch/arch.h"

enum abi_class {
	ABI_INTEGER, /* also pointers, bool and enumerations */
	ABI_BITS,    /* bytes that contain a bit field */
	ABI_FLOAT,   /* float, double, and types passed like them (_Float16, __float128, AArch64's long double) */
	ABI_X87,     /* x86's long double, of 12 or 16 bytes */
	ABI_VECTOR,
};

/* A scalar, or a scalar in a struct. */
struct abi_field {
	uint32_t offset;
	uint16_t size;
	unsigned char kind; /* enum abi_class */
};

#define ABI_FIELDS 16

/* The properties of a parameter that determine its location. */
struct abi_value {
	uint64_t size;
	uint32_t align; /* alignment of the type in bytes, including alignas of the type or a member; 0: unknown */
	/* True for a struct, union, array, or C++ pointer to a member function; `fields` are then all scalars in it.
	 * False for a scalar, which has one field, and for a complex number, which has two. */
	bool is_struct;
	bool may_be_packed;   /* true if the alignment may be 1, because debug information does not exclude it */
	bool by_address;      /* true if C++ always passes the type by its address */
	bool is_open;         /* true if it contains an array whose length the source does not give ("int tail[];") */
	unsigned field_count; /* 0: the type is empty; more than ABI_FIELDS: `fields` is incomplete */
	/* Fields of a union that are equal occur once. */
	struct abi_field fields[ABI_FIELDS];
};

/* The properties of a function that determine the locations of its arguments and result. */
struct abi_function {
	const struct abi_value *values; /* the named parameters; in C++ including `this` */
	size_t count;
	const struct abi_value *result; /* NULL if the function returns void */
	bool is_variadic;               /* true if the prototype has a "..." */
	bool is_soft_float;             /* true if the function's object uses soft float (elf_file_is_soft_float()) */
	bool is_gcc;                    /* compiled by GCC, or all compilers pass its parameters in the same way */
};

enum abi_piece_kind {
	PIECE_INTEGER, /* in argument register `index`, from 0 on; a result is in result register `index` */
	PIECE_FLOAT,   /* in the floating point register set, at offset `at` */
	PIECE_X87,     /* as PIECE_FLOAT, but in the x87's 10 bytes, which abi_x87_value() converts to `size` bytes */
	PIECE_STACK,   /* in memory, at the stack pointer on entry plus `at` */
};

/* A piece of a value: `size` bytes from offset `offset` on. In a register these are the lowest bytes. */
struct abi_piece {
	unsigned char kind, index;
	uint32_t size, offset, at;
};

#define ABI_PIECES 5

struct abi_place {
	/* True if the value is in memory, and `pieces` are the places of its address. The address of a result is known
	 * only at the function's entry, where it is an additional argument. */
	bool is_address;
	bool is_known;        /* false if the location is unknown */
	unsigned piece_count; /* 0: the value has no bytes, so it has no location */
	struct abi_piece pieces[ABI_PIECES];
};

/* Converts an x87 number of 10 bytes to a value of `size` bytes: 4 (float), 8 (double) or 10 to 16 (long double). */
void abi_x87_value(const unsigned char *x87, unsigned char *value, size_t size);

/* The size of the largest register set of PTRACE_GETREGSET(abi->floats_set), in bytes. */
#define ABI_FLOATS_MAX 1024

/* A processor's ABI, to which struct arch.abi points. */
struct arch_abi {
	int floats_set; /* number of the register set with the floating point registers: NT_PRFPREG, NT_ARM_VFP... */
	/* Number of the register set with whole vector registers (NT_X86_XSTATE), if floats_set contains only the low
	 * bytes of each register; otherwise 0. */
	int vectors_set;
	/* Sets the locations of the `count` arguments at a function's entry. The locations of variadic arguments
	 * (...) remain unknown. */
	void (*arguments)(const struct abi_function *function, struct abi_place *places);
	/* Sets the location of a result, which is not void, at the function's return. If the result is in memory,
	 * sets the location that its address has at the entry. */
	void (*result)(const struct abi_function *function, struct abi_place *place);
	/* Return the value of argument register `index` at the entry, and of result register `index` at the return. */
	uint64_t (*argument_register)(const struct arch_regs *regs, unsigned index);
	uint64_t (*result_register)(const struct arch_regs *regs, unsigned index);
	/* Structs and unions of more than this many bytes are passed by address, and the function may change that
	 * address in its first instructions. 0 if they are not passed by address, or if the address does not change. */
	unsigned char by_address_above;
	/* True if compilers use another convention for functions that only their own file calls: an integer result is
	 * then in the ABI's register, but other results are elsewhere. For such functions in objects with soft float
	 * (is_soft_float), compilers use another convention on every processor. */
	bool has_local_convention;
	/* The maximum alignment of scalars in a struct, except scalars of 16 bytes; 0: each is aligned to its
	 * size. */
	unsigned char align_most;
	unsigned char x87_align; /* alignment of long double in the x87's format; 0: long double has another format */
	/* Returns the DWARF number of argument register `index`; UINT32_MAX if it has none. */
	unsigned (*argument_dwarf)(unsigned index);
	/* Returns the offset of a DWARF register in the floating point register set; -1 if it is not in this set, or
	 * is an x87 register. */
	int (*float_at)(unsigned dwarf_register);

	/* How to find the thread pointer. There are three ways, and the fields of the other two are 0. (1)
	 * thread_pointer() gets it from the registers, and returns false if it is unknown. (2) It is a word in the
	 * register set thread_set. (3) It is at offset thread_request_at of the data that the ptrace request
	 * thread_request returns. The request's argument is the number that thread_area() sets, or 0 if thread_area is
	 * NULL; thread_area() returns false if the number is unknown. */
	bool (*thread_pointer)(const struct arch_regs *regs, uint64_t *value);
	int thread_set, thread_request;
	bool (*thread_area)(const struct arch_regs *regs, uint64_t *number);
	unsigned char thread_request_at;
	/* The ELF relocation that sets a word to the offset of a thread's variable from the thread pointer. */
	unsigned reloc_tpoff;
	/* Returns true if a function with this code returns the thread pointer plus a constant, and does nothing
	 * else (musl's __errno_location). Sets *offset to the constant. state: the bits of code_state in the
	 * function's address. */
	bool (*thread_field)(const unsigned char *code, size_t size, uint64_t state, int64_t *offset);
};

#endif

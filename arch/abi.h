/* Where a processor's ABI puts the arguments and results of functions (the psABI's rules of parameter passing), and
 * where a thread has its own variables. Pure functions: of values and of registers. */
#ifndef FT_ARCH_ABI_H
#define FT_ARCH_ABI_H

#include "arch/arch.h"

enum abi_class {
	ABI_INTEGER, /* pointers, bool, and enumerations, too */
	ABI_BITS,    /* the bytes in which a bit field has bits */
	ABI_FLOAT,   /* float, double, and what goes where they do (_Float16, __float128, AArch64's long double) */
	ABI_X87,     /* x86's long double, of 12 or 16 bytes */
	ABI_VECTOR,  /* a vector */
};

/* A scalar, or one of those that a struct consists of. */
struct abi_field {
	uint32_t offset;
	uint16_t size;
	unsigned char kind; /* enum abi_class */
};

#define ABI_FIELDS 16

/* A parameter, as far as its place depends on it. */
struct abi_value {
	uint64_t size;
	uint32_t align; /* as the type says, alignas of it or of a member included; 0 unknown */
	/* A struct, union, array, or C++ pointer to a member function, whose fields are those of all that it consists
	 * of. Else it is a scalar, with one field, or a complex number with two. */
	bool is_struct;
	bool may_be_packed;   /* its alignment may be 1, for all that is known */
	bool by_address;      /* C++: its address is passed in any case */
	unsigned field_count; /* more than ABI_FIELDS: not all are in `fields`. 0: it is empty */
	/* Two that are the same in all (of a union) are there once. */
	struct abi_field fields[ABI_FIELDS];
};

/* A function, as far as the places depend on it. */
struct abi_function {
	const struct abi_value *values; /* of its named parameters; C++: `this` is one */
	size_t count;
	const struct abi_value *result; /* NULL void */
	bool is_variadic;               /* it has a "..." */
	bool is_soft_float;             /* of its object: elf_file_is_soft_float() */
	bool is_gcc;                    /* GCC has made it, or what it takes is the same to all compilers */
};

enum abi_piece_kind {
	PIECE_INTEGER, /* in argument register `index`, from 0 on; of a result in result register `index` */
	PIECE_FLOAT,   /* in the floating point registers' bytes, at `at` */
	PIECE_X87,     /* the same, in the x87's format of 10 bytes: abi_x87_value() makes `size` bytes of it */
	PIECE_STACK,   /* in memory, at the stack pointer at the entry + `at` */
};

/* A part of a value: `size` bytes from `offset` on. Of a register, the lowest ones. */
struct abi_piece {
	unsigned char kind, index;
	uint32_t size, offset, at;
};

#define ABI_PIECES 5

struct abi_place {
	/* The pieces hold its address: it is in memory. Of a result: the address is known at the entry only, as an
	 * argument of its own. */
	bool is_address;
	bool is_known;        /* false: where it is cannot be said */
	unsigned piece_count; /* 0: it is nowhere, for it has no bytes */
	struct abi_piece pieces[ABI_PIECES];
};

/* The bytes of a value of `size` bytes, 4 (float), 8 (double) or 10 to 16 (long double), of one in the x87's format of
 * 10 bytes. */
void abi_x87_value(const unsigned char *x87, unsigned char *value, size_t size);

/* As PTRACE_GETREGSET(abi->floats_set) fills it. */
#define ABI_FLOATS_MAX 1024

/* struct arch.abi points to one. */
struct arch_abi {
	int floats_set; /* NT_PRFPREG, NT_ARM_VFP...: the register set with the floating point registers */
	/* The one that has all of the vector registers where floats_set has only a part of them (NT_X86_XSTATE); 0:
	 * there is none. */
	int vectors_set;
	/* The places of the arguments at a function's entry, `count` of them. Of what is behind the named ones (...)
	 * nothing is known. */
	void (*arguments)(const struct abi_function *function, struct abi_place *places);
	/* The place of the result, which is not void, at the return. Of one in memory: of its address, at the entry. */
	void (*result)(const struct abi_function *function, struct abi_place *place);
	/* Argument register `index`, or at the return result register `index`. */
	uint64_t (*argument_register)(const struct arch_regs *regs, unsigned index);
	uint64_t (*result_register)(const struct arch_regs *regs, unsigned index);
	/* A larger struct or union is passed by its address, which some instructions of the function replace; 0: none
	 * is, or nothing replaces it. */
	unsigned char by_address_from;
	/* Compilers have a convention of their own for functions that only one file calls, with integers in the same
	 * register of the result, but other results elsewhere. Where is_soft_float, they have one in any case. */
	bool has_local_convention;
	/* How larger scalars, but those of 16 bytes, are aligned in a struct; 0: each by its size. */
	unsigned char align_most;
	unsigned char x87_align; /* of a long double, where that is the x87's of 10 bytes; 0: it is another format */
	/* DWARF's number of argument register `index`; UINT32_MAX: there is none. */
	unsigned (*argument_dwarf)(unsigned index);
	/* Where the register of DWARF's number is in the floating point registers' bytes; -1: it is none of them, or of
	 * the x87's. */
	int (*float_at)(unsigned dwarf_register);

	/* The thread pointer, in one of three places: among the registers (false: it is not known); in the register set
	 * thread_set, a word; or in what the ptrace request thread_request writes, at thread_request_at, given the
	 * number thread_area() (NULL: 0; false: it is not known). The others are 0. */
	bool (*thread_pointer)(const struct arch_regs *regs, uint64_t *value);
	int thread_set, thread_request;
	bool (*thread_area)(const struct arch_regs *regs, uint64_t *number);
	unsigned char thread_request_at;
	/* The ELF relocation that fills a word with the distance of a thread's variable from its thread pointer. */
	unsigned reloc_tpoff;
	/* Whether a function with this code returns the thread pointer and a constant, *offset, and does nothing else
	 * (musl's __errno_location). state: the bits of code_state that its address has. */
	bool (*thread_field)(const unsigned char *code, size_t size, uint64_t state, int64_t *offset);
};

#endif

/* Where a processor's ABI puts the arguments and results of functions (the psABI's rules of parameter passing). */
#ifndef FT_ARCH_ABI_H
#define FT_ARCH_ABI_H

#include "arch/arch.h"

enum abi_class {
	ABI_INTEGER, /* pointers, too */
	ABI_FLOAT,   /* float, double, and what goes where they do (_Float16, AArch64's long double) */
	ABI_X87,     /* x86's long double */
	ABI_VECTOR,  /* a vector of 8 or 16 bytes */
};

/* A scalar, or one of those that a struct consists of. */
struct abi_field {
	uint32_t offset;
	uint16_t size;
	unsigned char kind; /* enum abi_class */
};

#define ABI_FIELDS 16 /* of a struct; none with more is passed in registers */

/* A parameter, as far as its place depends on it. */
struct abi_value {
	uint64_t size;
	uint32_t align;
	bool is_struct;       /* a struct, union or array; else it is its one field */
	bool by_address;      /* C++: its address is passed in any case */
	unsigned field_count; /* more than ABI_FIELDS: not all are in `fields` */
	struct abi_field fields[ABI_FIELDS];
};

enum abi_piece_kind {
	PIECE_INTEGER, /* in argument register `index`, from 0 on; of a result in result register `index` */
	PIECE_FLOAT,   /* in the floating point registers' bytes, at `at` */
	PIECE_STACK,   /* in memory, at the stack pointer at the entry + `at` */
};

/* A part of a value: `size` bytes from `offset` on. */
struct abi_piece {
	unsigned char kind, index;
	uint16_t size;
	uint32_t offset, at;
};

#define ABI_PIECES 4

struct abi_place {
	/* The pieces hold its address: it is in memory. Of a result: the address is known at the entry only, as an
	 * argument of its own. */
	bool is_address;
	bool is_known; /* false: where it is cannot be said */
	unsigned piece_count;
	struct abi_piece pieces[ABI_PIECES];
};

/* As PTRACE_GETREGSET(abi->floats_set) fills it. */
#define ABI_FLOATS_MAX 1024

/* struct arch.abi points to one. */
struct arch_abi {
	int floats_set; /* NT_PRFPREG, NT_ARM_VFP...: the register set with the floating point registers */
	/* The places of the arguments at a function's entry; result: NULL void. Of what is behind the named ones
	 * (...) nothing is known. */
	void (*arguments)(const struct abi_value *values, size_t count, const struct abi_value *result,
			  struct abi_place *places);
	/* The place of the result at the return. Of one in memory: of its address, at the entry. */
	void (*result)(const struct abi_value *value, struct abi_place *place);
	/* Argument register `index`, or at the return result register `index`. */
	uint64_t (*argument_register)(const struct arch_regs *regs, unsigned index);
	uint64_t (*result_register)(const struct arch_regs *regs, unsigned index);
	/* The ELF relocation that fills a word with the distance of a thread's variable from its thread pointer. */
	unsigned reloc_tpoff;
};

#endif

/* What the processors' rules of parameter passing (arch/abi_NAME.c) share. They are compiled for every processor: tests
 * compare them with the documents on any machine. */
#ifndef FT_ARCH_ABI_RULES_H
#define FT_ARCH_ABI_RULES_H

#include "arch/abi.h"

extern const struct arch_abi abi_x86_64, abi_i386, abi_aarch64, abi_arm;

/* No stack has more: a size from outside is not to overflow anything. */
#define ABI_SIZE_MAX ((uint64_t)1 << 28)

static inline uint64_t abi_round(uint64_t number, uint64_t multiple)
{
	return (number + multiple - 1) / multiple * multiple;
}

/* The place gets one piece more, and is known. */
void abi_add(struct abi_place *place, enum abi_piece_kind kind, unsigned index, uint64_t offset, uint64_t size,
	     uint64_t at);
/* The whole value is on the stack. */
void abi_on_stack(struct abi_place *place, uint64_t size, uint64_t at);

/* Whether the value has bytes that are passed at all: an empty struct of C++ has a size only. */
static inline bool abi_is_empty(const struct abi_value *value)
{
	return !value->size || !value->field_count;
}

/* Whether its fields can be what it says. */
bool abi_is_sane(const struct abi_value *value);

/* Of values that are one, two, three or four elements of one floating point or vector type and nothing else (both
 * documents of ARM call them homogeneous aggregates; a scalar is one of one element): how many, and the size of each.
 * 0: it is none. */
unsigned abi_homogeneous(const struct abi_value *value, unsigned *element_size);

/* The natural alignment of a value: that of a scalar by its size, that of a struct, by the type, of its strictest
 * member; `most` at most. 0: it cannot be said whether a member or the whole is aligned by the source beyond what its
 * fields are. */
unsigned abi_natural_align(const struct abi_value *value, unsigned most);

/* Whether its place is not known, for the alignment, beyond `least`, decides where it is: next, a register's number or
 * an address, is no multiple of it. */
static inline bool abi_is_packing_seen(const struct abi_value *value, uint64_t align, uint64_t least, uint64_t next)
{
	return value->may_be_packed && align > least && next % align != 0;
}

/* arch_abi.thread_field on x86: `load` loads the thread pointer into (e/r)ax; wide: sums of 64 bits. */
bool x86_thread_field(const unsigned char *code, size_t size, const unsigned char *load, size_t load_size, bool wide,
		      int64_t *offset);

#endif

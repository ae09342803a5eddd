/* Declarations that the rules of parameter passing (abi_NAME.c in the processors' folders) share. The rules are
 * compiled for every processor, so that tests compare them with the documents on any machine. */
#ifndef FT_ARCH_ABI_RULES_H
#define FT_ARCH_ABI_RULES_H

#include "arch/abi.h"

extern const struct arch_abi abi_x86_64, abi_i386, abi_aarch64, abi_arm;

/* No stack is larger. The limit keeps sizes from damaged files from overflowing. */
#define ABI_SIZE_MAX ((uint64_t)1 << 28)

static inline uint64_t abi_round(uint64_t number, uint64_t multiple)
{
	return (number + multiple - 1) / multiple * multiple;
}

/* Adds a piece to the place, which is known then. */
void abi_add(struct abi_place *place, enum abi_piece_kind kind, unsigned index, uint64_t offset, uint64_t size,
	     uint64_t at);
/* Adds a piece for the whole value on the stack. */
void abi_on_stack(struct abi_place *place, uint64_t size, uint64_t at);

/* Whether no byte of the value is passed. An empty struct of C++ has a size, but no fields. */
static inline bool abi_is_empty(const struct abi_value *value)
{
	return !value->size || !value->field_count;
}

/* Whether the fields are inside the value, and a scalar has one or two. */
bool abi_is_sane(const struct abi_value *value);

/* Returns how many elements a homogeneous aggregate has (ARM's documents: one to four elements of one floating point
 * or vector type, and nothing else; a scalar has one), and the size of each. Returns 0 if the value is not one. */
unsigned abi_homogeneous(const struct abi_value *value, unsigned *element_size);

/* Returns the natural alignment of a value, at most `most`: for a scalar its size, for a struct that of its
 * strictest member. Returns 0 if that is unknown, because the source may align a member or the whole more strictly
 * than the fields are. */
unsigned abi_natural_align(const struct abi_value *value, unsigned most);

/* Whether the place of a value is unknown because it may be packed: an alignment above `least` would move it, as
 * `next` (a number of bytes in registers, or an address) is not a multiple of it. */
static inline bool abi_packing_moves(const struct abi_value *value, uint64_t align, uint64_t least, uint64_t next)
{
	return value->may_be_packed && align > least && next % align != 0;
}

/* Implements arch_abi.thread_field for x86. load: the instruction that loads the thread pointer into (e/r)ax; wide:
 * additions have 64 bits. */
bool x86_thread_field(const unsigned char *code, size_t size, const unsigned char *load, size_t load_size, bool wide,
		      int64_t *offset);

#endif

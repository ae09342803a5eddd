/* Declarations that the rules of parameter passing (abi_NAME.c in the processors' folders) share. The rules are
 * compiled for every processor, so that tests can compare them with the psABI documents on any machine. */
#ifndef FT_ARCH_ABI_RULES_H
#define FT_ARCH_ABI_RULES_H

#include "arch/abi.h"

extern const struct arch_abi abi_x86_64, abi_i386, abi_aarch64, abi_arm;

/* A limit of sizes, above the size of any stack. With it, sizes from damaged files cannot cause overflows. */
#define ABI_SIZE_MAX ((uint64_t)1 << 28)

static inline uint64_t abi_round(uint64_t number, uint64_t multiple)
{
	return (number + multiple - 1) / multiple * multiple;
}

/* Adds a piece to a location, which is then known. */
void abi_add(struct abi_place *place, enum abi_piece_kind kind, unsigned index, uint64_t offset, uint64_t size,
	     uint64_t at);
/* Adds pieces for a value of `size` bytes in consecutive integer registers of `word` bytes each, from number `first`
 * on. The last register may be filled in part. */
void abi_in_registers(struct abi_place *place, uint64_t size, unsigned word, unsigned first);
/* Adds a piece for a whole value on the stack. */
void abi_on_stack(struct abi_place *place, uint64_t size, uint64_t at);

/* Returns true if no byte of the value is passed. An empty struct of C++ has a size, but no fields. */
static inline bool abi_is_empty(const struct abi_value *value)
{
	return !value->size || !value->field_count;
}

/* Returns true if the description of the value is possible: its size is at most ABI_SIZE_MAX, its alignment is 0 or a
 * power of two, its fields are inside it, and a scalar has one or two fields. */
bool abi_is_sane(const struct abi_value *value);

/* Returns how many elements a homogeneous aggregate has, and sets *element_size. By ARM's documents it consists of
 * one to four elements of the same floating point or vector type; a scalar has one element. Returns 0 if the value
 * is no homogeneous aggregate. */
unsigned abi_homogeneous(const struct abi_value *value, unsigned *element_size);

/* Returns the natural alignment of a value, at most `most`: for a scalar its size, for a struct the alignment of its
 * strictest member. Returns 0 if the alignment is unknown, because the source code may align a member or the whole
 * struct more strictly than its fields require. */
unsigned abi_natural_align(const struct abi_value *value, unsigned most);

/* Returns true if a value's location is unknown because the value may be packed. A packed value would be at `next` (a
 * number of bytes in registers, or an address), and any other value at the next multiple of `align`. An alignment of at
 * most `least` moves no value. */
static inline bool abi_packing_moves(const struct abi_value *value, uint64_t align, uint64_t least, uint64_t next)
{
	return value->may_be_packed && align > least && next % align != 0;
}

/* Returns the size in bytes of x86's landing pad at the start of a function's code: endbr64 if `wide`, else endbr32.
 * Returns 0 if the code begins with another instruction. */
size_t x86_landing_pad(const unsigned char *code, size_t size, bool wide);
/* Implements arch_abi.thread_field for x86. load: the instruction that loads the thread pointer into (e/r)ax; wide:
 * true if additions have 64 bits. */
bool x86_thread_field(const unsigned char *code, size_t size, const unsigned char *load, size_t load_size, bool wide,
		      int64_t *offset);

#endif

/* Breaks a type down into scalars, by which a processor's ABI decides where a value is. */
#ifndef FT_ARGS_FLATTEN_H
#define FT_ARGS_FLATTEN_H

#include "arch/abi.h"
#include "symbols/types/types.h"

/* Returns the scalars of a type, of any size and depth. If they cannot all be listed, field_count is above ABI_FIELDS.
 * pointer_size: bytes of a pointer. */
struct abi_value flatten(const struct data_type *type, unsigned pointer_size);

#endif

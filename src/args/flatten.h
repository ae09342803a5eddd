/* Splits a type into scalars, from which a processor's ABI determines the place of a value. */
#ifndef FT_ARGS_FLATTEN_H
#define FT_ARGS_FLATTEN_H

#include "arch/abi.h"
#include "symbols/types/types.h"

/* Returns the scalars of a type, at any depth of nested types. If the type has more than ABI_FIELDS scalars, or some
 * are unknown, field_count is above ABI_FIELDS. pointer_size: size of a pointer in bytes. */
struct abi_value flatten(const struct data_type *type, unsigned pointer_size);

#endif

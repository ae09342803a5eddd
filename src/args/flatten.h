/* A type as a processor's ABI looks at it: the scalars that it consists of. */
#ifndef FT_ARGS_FLATTEN_H
#define FT_ARGS_FLATTEN_H

#include "arch/abi.h"
#include "symbols/types/types.h"

/* Of any type, however large or deep: what cannot be said in full has more fields than ABI_FIELDS. */
struct abi_value flatten(const struct data_type *type, unsigned pointer_size);

#endif

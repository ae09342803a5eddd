/* How Rust passes values. */
#ifndef FT_SYMBOLS_TYPES_TYPE_RUST_H
#define FT_SYMBOLS_TYPES_TYPE_RUST_H

#include "symbols/types/types.h"

/* `word`: the bytes of a pointer. */
struct passed_as type_passed_by_rust(const struct data_type *type, unsigned word);

#endif

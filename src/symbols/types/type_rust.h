/* Finds how Rust passes values to functions. */
#ifndef FT_SYMBOLS_TYPES_TYPE_RUST_H
#define FT_SYMBOLS_TYPES_TYPE_RUST_H

#include "symbols/types/types.h"

/* Returns how Rust passes a value of this type. word: size of a pointer in bytes. */
struct passed_as type_passed_by_rust(const struct data_type *type, unsigned word);

#endif

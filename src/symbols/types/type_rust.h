/* Finds how Rust passes values to functions. */
#ifndef FT_SYMBOLS_TYPES_TYPE_RUST_H
#define FT_SYMBOLS_TYPES_TYPE_RUST_H

#include "symbols/types/type_reader.h"

/* Returns how Rust passes a value of this type. Subtracts 1 from reader->dies_left for each examined part of the type.
 * If reader->dies_left is 0 afterwards, the result has no meaning. */
struct passed_as type_passed_by_rust(struct type_reader *reader, const struct data_type *type);

#endif

/* Finds how Rust passes values to functions. */
#ifndef FT_SYMBOLS_TYPES_TYPE_RUST_H
#define FT_SYMBOLS_TYPES_TYPE_RUST_H

#include "symbols/types/type_reader.h"

/* Returns how Rust passes a value of this type. Each examined part of the type counts as one DIE; when
 * reader->dies_left is used up, the result is unknown. */
struct passed_as type_passed_by_rust(struct type_reader *reader, const struct data_type *type);

#endif

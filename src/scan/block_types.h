/* Determines the type of the object in a block by the block's first words. */
#ifndef FT_SCAN_BLOCK_TYPES_H
#define FT_SCAN_BLOCK_TYPES_H

#include "base/util.h"
#include "heap/image.h"

struct data_names;
struct scan_types;

#define TYPE_UNKNOWN 0

/* Makes an empty list of types. names: the symbols by which types are named; the caller owns them. */
struct scan_types *scan_types_new(struct data_names *names);
void scan_types_free(struct scan_types *types);
/* Sets other names, because objects were loaded or unloaded. The types found so far keep their numbers. */
void scan_types_rename(struct scan_types *types, struct data_names *names);
/* Prepares for an image. Must be called for each new image, before scan_type_of(). */
void scan_types_begin(struct scan_types *types, const struct heap_image *image);
/* Returns the type of the block at an address: a number that stays the same as long as the struct scan_types lives. A
 * block may contain old bytes of another block, so the type is unknown if anything in the block contradicts it.
 * * A C++ class is recognised by the first word, which points to the place in the class's vtable to which whole objects
 * point. The vtable does not contain the objects' size. So if a block was never written and begins where an object of a
 * released block was, that object's class is returned.
 * * A Python type is recognised by the second or fourth word, if this word points to a type, the object's number of
 * references is possible, and the block's size is right for the type.
 * Otherwise the type is the variable or function to which the first word points. */
size_t scan_type_of(struct scan_types *types, const struct heap_image *image, uint64_t address, uint64_t size);
/* Returns the name of a type; NULL for TYPE_UNKNOWN. */
const char *scan_type_name(const struct scan_types *types, size_t type);

#endif

/* What kind of object a block is, as far as its first words say so. */
#ifndef FT_SCAN_BLOCK_TYPES_H
#define FT_SCAN_BLOCK_TYPES_H

#include "base/util.h"
#include "heap/image.h"

struct data_names;
struct scan_types;

#define TYPE_UNKNOWN 0

struct scan_types *scan_types_new(struct data_names *names);
void scan_types_free(struct scan_types *types);
/* Other names from now on: objects were loaded or unloaded. Types that are known keep their numbers. */
void scan_types_rename(struct scan_types *types, struct data_names *names);
/* To be called for each new image, before the others. */
void scan_types_begin(struct scan_types *types, const struct heap_image *image);
/* The type of the block at an address: a number that stays the same as long as the struct scan_types lives. A block
 * may have old bytes of another one, so that a type is unknown if anything in the block speaks against it.
 *	C++'s classes by the first word, which points into the class's table to where whole objects of it point. The
 *	table does not say how large they are: a block that was never written, and begins where an object was, has
 *	that object's class.
 *	Python's types by the second word or the fourth, if it points to a type, the object has as many references as
 *	there can be, and its size is the type's.
 * Else the variable or function that the first word points to. */
size_t scan_type_of(struct scan_types *types, const struct heap_image *image, uint64_t address, uint64_t size);
/* Its name; NULL of TYPE_UNKNOWN. */
const char *scan_type_name(const struct scan_types *types, size_t type);

#endif

/* Names the memory locations that keep blocks alive. */
#ifndef FT_SCAN_ROOT_NAMES_H
#define FT_SCAN_ROOT_NAMES_H

#include "base/buf.h"
#include "heap/image.h"

struct data_names;

/* Appends the name of an address: the variable there with its object, the thread whose stack or variables contain the
 * address, or else the mapping. is_exact: if true, also appends the offset in the variable, or the address if there is
 * no variable. */
void scan_place_add(struct buf *out, struct data_names *names, const struct heap_image *image, uint64_t address,
		    bool is_exact);

#endif

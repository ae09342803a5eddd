/* Names of the places that keep blocks alive. */
#ifndef FT_SCAN_ROOT_NAMES_H
#define FT_SCAN_ROOT_NAMES_H

#include "base/buf.h"
#include "heap/image.h"

struct data_names;

/* Appends the variable at an address with its object, the thread whose stack or variables it is in, or else the
 * mapping. is_exact: with the distance from the begin of that. */
void scan_place_add(struct buf *out, struct data_names *names, const struct heap_image *image, uint64_t address,
		    bool is_exact);

#endif

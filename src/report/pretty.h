/* Names of functions as people write them. */
#ifndef FT_REPORT_PRETTY_H
#define FT_REPORT_PRETTY_H

#include "base/buf.h"

/* Appends the name with what the C++ library's templates mean by default left out: std::string for its three template
 * arguments, no allocators, comparators, traits and deleters, no inline namespaces. Other names stay as they are. */
void pretty_name(struct buf *out, const char *name);

#endif

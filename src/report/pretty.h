/* Shortens names of C++ functions to what people write. */
#ifndef FT_REPORT_PRETTY_H
#define FT_REPORT_PRETTY_H

#include "base/buf.h"

/* Appends the name without the default arguments of the C++ library's templates: std::string for its three template
 * arguments, no allocators, comparators, traits and deleters, no inline namespaces. Other names stay as they are. */
void pretty_name(struct buf *out, const char *name);

#endif

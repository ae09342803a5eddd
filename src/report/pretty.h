/* Shortens names of C++ functions to the form that is usual in sources. */
#ifndef FT_REPORT_PRETTY_H
#define FT_REPORT_PRETTY_H

#include "base/buf.h"
#include "profile/profile.h"

/* Appends a shorter form of the name: without the default arguments of the C++ library's templates (allocators,
 * comparators, hashes, traits, deleters), without inline and anonymous namespaces, and with std::string for a string
 * template. Other names are unchanged. */
void pretty_name(struct buf *out, const char *name);
/* Appends the frame's name: the function's pretty name, else the offset in the object, else the address. */
void pretty_frame_name(struct buf *out, const struct profile_frame *frame);

#endif

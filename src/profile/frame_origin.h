/* Distinguishes the frames of libraries from those of the program, because the latter say more about an allocation. */
#ifndef FT_PROFILE_FRAME_ORIGIN_H
#define FT_PROFILE_FRAME_ORIGIN_H

#include "profile/profile.h"

/* Returns true if the frame is in the C library, the C++ library or the dynamic linker, which allocate for others. */
bool profile_frame_is_runtime(const struct profile_frame *frame);
/* Returns true for a function of the standard libraries of C++ and Rust, whose code is compiled into programs, and for
 * operator new and delete. function: a demangled name; NULL: unknown, then returns false. */
bool profile_function_is_standard(const char *function);

#endif

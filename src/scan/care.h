/* Bringing threads that stand to places where no allocator is in the midst of its work. */
#ifndef FT_SCAN_CARE_H
#define FT_SCAN_CARE_H

#include "ptrace/hold.h"

/* Each thread that stands in the C library's code, or in a system call that malloc makes, runs alone for moments until
 * it is found elsewhere. How many did not come out: they work there for long, wait for a lock that such a one has, or
 * a signal has stopped the process. */
size_t care_leave_c(struct hold *hold);

#endif

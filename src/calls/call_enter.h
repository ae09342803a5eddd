/* Acts on a hit at a traced function's entry. */
#ifndef FT_CALLS_CALL_ENTER_H
#define FT_CALLS_CALL_ENTER_H

#include "calls/calls.h"

/* Acts on the entry for each probe of the breakpoint, except the probe of the dynamic linker's _dl_debug_state()
 * (HOOK_LIBRARY). */
void call_enter(struct task *task, struct breakpoint *b);

#endif

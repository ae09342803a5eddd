/* Acts on a hit at a traced function's entry. */
#ifndef FT_CALLS_CALL_ENTER_H
#define FT_CALLS_CALL_ENTER_H

#include "calls/calls.h"

/* Enters each probe of the breakpoint except that of the dynamic linker's notices (HOOK_LIBRARY). */
void call_enter(struct task *task, struct breakpoint *b);

#endif

/* What is done at a traced function's entry. */
#ifndef FT_CALLS_CALL_ENTER_H
#define FT_CALLS_CALL_ENTER_H

#include "calls/calls.h"

/* Enters each of the breakpoint's probes but the dynamic linker's notice. */
void call_enter(struct task *task, struct breakpoint *b);

#endif

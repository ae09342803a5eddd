/* Breakpoints. They stay in the table for as long as their text is mapped, inserted or not: a task may have trapped
 * just before one was taken out, and a fork's child may have a copy of one that has been taken out since. */
#ifndef FT_BREAKPOINTS_BREAKPOINTS_H
#define FT_BREAKPOINTS_BREAKPOINTS_H

#include "breakpoints/process_text.h"

/* The breakpoint at a code address, or where code lies. */
static inline struct breakpoint *breakpoint_find(const struct process *p, uint64_t address)
{
	return hash_get_ptr(&p->text->breakpoints, arch_text_address(p->arch, address));
}
/* The breakpoint at a code address (made if new), inserted. NULL if it cannot be: the caller reports what that
 * costs. */
struct breakpoint *breakpoint_insert(struct process *p, uint64_t code);
/* Enters a breakpoint that is in the text, or is about to be, into the guard's journal. */
void breakpoint_note(struct process *p, struct breakpoint *b);
/* While p->text->planting is set, breakpoint_insert only prepares; this writes all of them in one go: from the first
 * trap on the target waits for the tracer. failed() gets those that could not be written. */
void breakpoints_plant(struct process *p, void (*failed)(struct process *p, const struct breakpoint *b));
/* Puts the original bytes back, if ours still stand there. The breakpoint stays in the table. */
void breakpoint_remove(struct process *p, struct breakpoint *b);
/* Whether it is inserted still, and over the instruction that is known: code made at run time can be made anew. If not,
 * it is taken out. */
bool breakpoint_refresh(struct process *p, struct breakpoint *b);
/* Removes up to `most` that are in, entries only or any. How many were. */
size_t breakpoints_remove_some(struct process *p, bool entries, size_t most);
/* Takes one that is not inserted out of the table. Its probe and what calls/ knows of it have gone already. */
void breakpoint_free(struct process *p, struct breakpoint *b);
/* Frees all breakpoints of the process, and the rest of its text. */
void text_free(struct process *p);
/* `size` bytes at the address as the program has them, where some may be ours. */
void breakpoints_hide(struct process *p, uint64_t address, unsigned char *bytes, size_t size);
/* Reads such bytes, as a struct arch_memory's read, whose context is the process. */
int breakpoints_read(void *process, uint64_t address, void *data, size_t size);

#endif

/* Finds, inserts and removes breakpoints. A breakpoint stays in its process's table, inserted or not, as long as its
 * code is mapped: a task may have hit it just before its removal from the text, or a fork's child may have a copy of it
 * in place. */
#ifndef FT_BREAKPOINTS_BREAKPOINTS_H
#define FT_BREAKPOINTS_BREAKPOINTS_H

#include "breakpoints/process_text.h"

/* Returns the breakpoint at this address; NULL if there is none. The address is a code address, or that of the
 * breakpoint's first byte. */
static inline struct breakpoint *breakpoint_find(const struct process *p, uint64_t address)
{
	return hash_get_ptr(&p->text->breakpoints, arch_text_address(p->arch, address));
}
/* Returns the breakpoint at a code address, and adds it to the table, not inserted, if it is new. */
struct breakpoint *breakpoint_add(struct process *p, uint64_t code);
/* Inserts the breakpoint at a code address, and adds it to the table if it is new. Returns NULL if it cannot be
 * inserted; then the caller reports which calls are missed. */
struct breakpoint *breakpoint_insert(struct process *p, uint64_t code);
/* Adds a breakpoint that is in the text, or is about to be written, to the guardian's journal. */
void breakpoint_note(struct process *p, struct breakpoint *b);
/* Ends p->text->planting, during which breakpoint_insert() only prepares breakpoints. Writes all prepared breakpoints
 * in quick succession: a task that hits one of them waits until the tracer has written the others. Calls failed() for
 * each breakpoint that could not be written. */
void breakpoints_plant(struct process *p, void (*failed)(struct process *p, const struct breakpoint *b));
/* Restores the original bytes if functrace's bytes are still in place. The breakpoint stays in the table. */
void breakpoint_remove(struct process *p, struct breakpoint *b);
/* Returns true if the breakpoint is inserted, and the instruction under it has not changed. Only code that the program
 * generated at run time is checked, because a program may rewrite such code. If the code has changed, removes the
 * breakpoint. */
bool breakpoint_refresh(struct process *p, struct breakpoint *b);
/* Removes at most `most` inserted breakpoints. With `entries`, removes only breakpoints at function entries. Returns
 * the number of removed breakpoints. */
size_t breakpoints_remove_some(struct process *p, bool entries, size_t most);
/* Removes from the table a breakpoint that is not inserted, and frees it. Its probes and its data of src/calls must
 * already be freed. */
void breakpoint_free(struct process *p, struct breakpoint *b);
/* Frees all breakpoints and slots of the process, and the rest of p->text. */
void text_free(struct process *p);
/* Replaces functrace's bytes by the program's original bytes in `bytes`, a copy of `size` bytes of memory at the
 * address. */
void breakpoints_hide(struct process *p, uint64_t address, unsigned char *bytes, size_t size);
/* Reads memory as the program would see it, without breakpoints. Has the signature of struct arch_memory's read; the
 * context is the process. Returns 0 or -errno. */
int breakpoints_read(void *process, uint64_t address, void *data, size_t size);

#endif

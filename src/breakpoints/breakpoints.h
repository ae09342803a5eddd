/* Finds, inserts and removes breakpoints. A breakpoint stays in the table, inserted or not, while its text is mapped: a
 * task may have hit it just before it was removed, and a fork's child may have a copy of one that was removed since. */
#ifndef FT_BREAKPOINTS_BREAKPOINTS_H
#define FT_BREAKPOINTS_BREAKPOINTS_H

#include "breakpoints/process_text.h"

/* Returns the breakpoint at a code address, or at the address of its first byte; NULL if there is none. */
static inline struct breakpoint *breakpoint_find(const struct process *p, uint64_t address)
{
	return hash_get_ptr(&p->text->breakpoints, arch_text_address(p->arch, address));
}
/* Inserts the breakpoint at a code address, and makes it if it is new. Returns NULL if it cannot be inserted; the
 * caller reports what is missed then. */
struct breakpoint *breakpoint_insert(struct process *p, uint64_t code);
/* Enters a breakpoint that is in the text, or is about to be written, into the guardian's journal. */
void breakpoint_note(struct process *p, struct breakpoint *b);
/* Ends p->text->planting, during which breakpoint_insert() only prepares, and writes all prepared breakpoints together,
 * because from the first hit on the target waits for the tracer. Calls failed() for each that could not be written. */
void breakpoints_plant(struct process *p, void (*failed)(struct process *p, const struct breakpoint *b));
/* Puts the original bytes back if functrace's bytes are still in place. The breakpoint stays in the table. */
void breakpoint_remove(struct process *p, struct breakpoint *b);
/* Returns whether the breakpoint is inserted, and is still over the instruction that was decoded: a program may rewrite
 * code that it made at run time. If the code has changed, removes the breakpoint. */
bool breakpoint_refresh(struct process *p, struct breakpoint *b);
/* Removes up to `most` inserted breakpoints, any or only those at entries. Returns how many it removed. */
size_t breakpoints_remove_some(struct process *p, bool entries, size_t most);
/* Takes a breakpoint that is not inserted out of the table and frees it. Its probes and its part of calls/ must already
 * be freed. */
void breakpoint_free(struct process *p, struct breakpoint *b);
/* Frees all breakpoints and slots of the process, and the rest of p->text. */
void text_free(struct process *p);
/* Replaces functrace's bytes among the `size` bytes that were read at the address by the program's original bytes. */
void breakpoints_hide(struct process *p, uint64_t address, unsigned char *bytes, size_t size);
/* Reads memory as the program would see it, without breakpoints. It is the read function of a struct arch_memory whose
 * context is the process. Returns 0 or -errno. */
int breakpoints_read(void *process, uint64_t address, void *data, size_t size);

#endif

#include "config.h"
#include "calls/nested_blocks.h"
#include "record/ledger.h"

#include <stddef.h>
#include <stdlib.h>

/* The program's own operator new calls malloc. If operator new returns malloc's block, or an address inside that block
 * (after a header), one event is written, otherwise two. functrace knows which of the two applies only when the outer
 * call returns. So the event of the inner block is kept until that return, or until the block is released, because no
 * release may be written before its allocation. */

struct inner_block {
	struct event event;               /* freed by event_free() */
	struct inner_block *next, **link; /* links of the kept blocks of the same outer call */
};

void inner_begin(struct call *call, struct call *outer)
{
	call->part_of = outer;
	outer->has_parts = true;
}

/* Removes the block from all lists, and frees it. The caller then owns the event. */
static struct event nested_blocks_take(struct process *p, struct inner_block *block)
{
	const struct event e = block->event;

	hash_remove(&p->calls->inner_blocks, e.id, NULL);
	*block->link = block->next;
	if (block->next)
		block->next->link = block->link;
	free(block);
	return e;
}

static void nested_blocks_drop(struct process *p, struct inner_block *block)
{
	struct event e = nested_blocks_take(p, block);

	event_free(&e);
}

static void nested_blocks_write(struct process *p, struct inner_block *block)
{
	struct event e = nested_blocks_take(p, block);

	ledger_allocated(p->trace, &e);
	event_free(&e);
}

void inner_keep(struct process *p, const struct call *call, const struct event *e)
{
	struct inner_block *const older = hash_get_ptr(&p->calls->inner_blocks, e->id);

	if (older)
		nested_blocks_write(p, older); /* the release of the older block was not seen */
	struct inner_block *const block = xcalloc(1, sizeof(*block));

	block->event = event_copy(e);
	block->link = &call->part_of->inner_blocks;
	block->next = *block->link;
	if (block->next)
		block->next->link = &block->next;
	*block->link = block;
	hash_set_ptr(&p->calls->inner_blocks, e->id, block);
}

bool inner_settle(struct process *p, struct call *outer, uint64_t id)
{
	const uint32_t resource = outer->probe->wanted->resource;
	struct inner_block **link = &outer->inner_blocks;

	while (*link && !(id - (*link)->event.id < (*link)->event.size || id == (*link)->event.id))
		link = &(*link)->next;
	/* The program uses an address inside the block. Because of may_miss, a release of such an address is not
	 * reported as an error. */
	if (*link && (*link)->event.id != id)
		p->trace->origin.may_miss = true;
	if (*link)
		nested_blocks_drop(p, *link);
	inner_write_all(p, outer);
	return !outer->has_parts || !ledger_knows(p->trace, resource, id) ||
	       ledger_made_by(p->trace, resource, id) < outer->first_event;
}

/* Returns the block of the same outer call that was kept after this one, or NULL. */
static struct inner_block *newer_than(const struct call *outer, const struct inner_block *block)
{
	return block->link == &outer->inner_blocks
		       ? NULL
		       : (struct inner_block *)((char *)block->link - offsetof(struct inner_block, next));
}

void inner_write_all(struct process *p, struct call *outer)
{
	struct inner_block *block = outer->inner_blocks;

	while (block && block->next)
		block = block->next;
	while (block) {
		struct inner_block *const newer = newer_than(outer, block);

		nested_blocks_write(p, block);
		block = newer;
	}
}

void inner_released(struct process *p, uint32_t resource, uint64_t id)
{
	struct inner_block *const block =
		p->calls->inner_blocks.count ? hash_get_ptr(&p->calls->inner_blocks, id) : NULL;

	if (block && block->event.function->resource == resource)
		nested_blocks_write(p, block);
}

void inner_forget_function(struct process *p, const struct traced *function)
{
	HASH_EACH_PTR(struct inner_block, block, &p->calls->inner_blocks) {
		if (block->event.function == function) {
			nested_blocks_write(p, block);
			block_at = 0; /* the table has changed */
		}
	}
}

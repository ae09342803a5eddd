#include "config.h"
#include "calls/range_release.h"
#include "record/ledger.h"

#include <stdlib.h>

/* A call that releases a range of ids has one reservation for each descriptor or mapping in the range. If an id is
 * allocated again before the call returns, this proves only that this one id was released:
 *
 *	A: close_range(3, 9) enters | A closes 3 inside | B: open() = 3: 3 was released | A returns: 4 to 9 were, too */

struct range_releases {
	size_t count;
	struct reservation releases[];
};

void range_reserve(struct process *p, struct call *call, const struct event *e, const uint64_t *ids, size_t count)
{
	call->range = xcalloc(1, sizeof(*call->range) + count * sizeof(call->range->releases[0]));
	call->range->count = count;
	for (size_t i = 0; i < count; i++) {
		struct event one = *e;

		one.id = ids[i];
		one.frames = frames_copy(e->frames, e->frame_count);
		ledger_reserve(p->trace, &call->range->releases[i], &one, call);
	}
}

void range_end(struct process *p, struct call *call, const uint64_t *time_ns)
{
	struct range_releases *const range = call->range;

	call->range = NULL;
	for (size_t i = 0; range && i < range->count; i++) {
		if (time_ns)
			ledger_commit(p->trace, &range->releases[i], *time_ns);
		else
			ledger_withdraw(p->trace, &range->releases[i]);
	}
	free(range);
}

size_t range_open(const struct call *call)
{
	size_t open = 0;

	for (size_t i = 0; call->range && i < call->range->count; i++)
		open += call->range->releases[i].is_open;
	return open;
}

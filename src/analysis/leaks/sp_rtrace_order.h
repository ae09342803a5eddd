/* The order of lines that the sp-rtrace tools expect: what they write at the top stands at the top. */
#ifndef FT_ANALYSIS_LEAKS_SP_RTRACE_ORDER_H
#define FT_ANALYSIS_LEAKS_SP_RTRACE_ORDER_H

#include "analysis/stage.h"

struct layout_options {
	/* Asked when the first record comes; if it says no, everything streams through. */
	bool (*is_wanted)(void *context);
	void *context;
	/* The calls come in a stream and are held to the end (beyond some megabytes in a temporary
	 * file). Otherwise they come after all else, and only what comes before the first one is
	 * put in order. */
	bool hold_calls;
};

/* Gives out the process, then attachments, the heap, modules, contexts, resources and objects, then
 * the calls with the comments between them.  Where an object replaced another one, it is declared
 * again before its calls. Notes and threads, for which that dialect has no place, are dropped while
 * calls are held. */
struct stage *layout_new(struct stage *next, const struct layout_options *options);

#endif

/* Puts the lines of a trace into the order of the sp-rtrace tools: declarations first. */
#ifndef FT_ANALYSIS_LEAKS_SP_RTRACE_ORDER_H
#define FT_ANALYSIS_LEAKS_SP_RTRACE_ORDER_H

#include "analysis/stage.h"

struct layout_options {
	/* Called when the first record comes. If it returns false, all records stream through. */
	bool (*is_wanted)(void *context);
	void *context;
	/* true: the calls come in a stream, and are held back to the end (beyond some megabytes in a temporary file).
	 * false: the calls come after all else; only the records before the first call are put in order. */
	bool hold_calls;
};

/* Makes the stage. It passes on the process, then attachments, the heap, modules, contexts, resources and objects, then
 * the calls with the comments between them. An object that has replaced another one is declared again before its calls.
 * Notes, threads and other records for which the dialect has no line go on at once, so that the writer counts them. */
struct stage *sp_rtrace_order_new(struct stage *next, const struct layout_options *options);

#endif

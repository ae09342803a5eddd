/* Puts the records of a trace into the order that the sp-rtrace tools need: declarations first. */
#ifndef FT_ANALYSIS_LEAKS_SP_RTRACE_ORDER_H
#define FT_ANALYSIS_LEAKS_SP_RTRACE_ORDER_H

#include "analysis/stage.h"

struct layout_options {
	/* Called at the first record. If it returns false, all records are passed on unchanged. */
	bool (*is_wanted)(void *context);
	void *context;
	/* true: calls are held back until the end (beyond some megabytes in a temporary file), because declarations may
	 * follow them. false: calls come after all declarations, so only the records before the first call are held
	 * back. */
	bool hold_calls;
};

/* Makes the stage. It passes on the process, then attachments, the heap, modules, contexts, resources and objects, then
 * the calls with the comments and scans between them. If a call goes through an object that was replaced, the object is
 * declared again before the call. Notes, threads and other records for which the dialect has no place are passed on at
 * once, so that the writer counts them as omitted. */
struct stage *sp_rtrace_order_new(struct stage *next, const struct layout_options *options);

#endif

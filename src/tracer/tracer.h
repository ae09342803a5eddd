/* The tracer's thread. */
#ifndef FT_TRACER_TRACER_H
#define FT_TRACER_TRACER_H

struct engine;
struct launch;
struct settings;

/* Called by engine_run(): attaches to settings->pids, or takes over launch->pid, which is still at its gate; traces
 * until all is over or REQUEST_LET_GO was carried out; prints the summary. Returns 0; the exit status (1, 126, 127) if
 * tracing failed before it began, after a message, and a launched child was ended; or 1 if a trace is incomplete. On
 * return, tasks that were left sleeping may still be attached: the end of this thread lets go of them. */
int tracer_run(struct engine *engine, const struct settings *settings, struct launch *launch);

#endif

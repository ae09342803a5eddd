/* The tracer's thread. */
#ifndef FT_TRACER_TRACER_H
#define FT_TRACER_TRACER_H

struct engine;
struct launch;
struct settings;

/* The engine_tracer of functrace. Attaches to settings->target.pids, or to launch->pid, which is at its gate; traces
 * until all targets have ended or are detached (REQUEST_LET_GO); prints the summary. Returns 0; 1 if a trace is
 * incomplete or, after a message, if nothing was traced; or, if tracing could not begin, 1, 126 or 127 after a message,
 * or 128 plus the signal that has killed the launched child. On return, sleeping tasks may still be attached: the
 * kernel detaches them when this thread ends. */
int tracer_run(struct engine *engine, const struct settings *settings, struct launch *launch);

#endif

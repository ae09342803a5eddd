/* The tracer's thread. */
#ifndef FT_TRACER_TRACER_H
#define FT_TRACER_TRACER_H

struct engine;
struct launch;
struct settings;

/* What engine_run() runs: attaches to settings->pids or takes over launch->pid (still at its gate), traces until all is
 * over or REQUEST_LET_GO has been carried out, prints the summary. Returns 0, or the exit status (1, 126, 127) when
 * tracing failed before it began (the reason has been printed; in that case of a launch, the child has been ended). On
 * return, tasks may still be attached that were left sleeping undisturbed: the end of this thread lets go of them. */
int tracer_run(struct engine *engine, const struct settings *settings, struct launch *launch);

#endif

/* The parameters of a probe's function: where their values are, and how they are printed. */
#ifndef FT_CALLS_PROBES_PROBE_PARAMS_H
#define FT_CALLS_PROBES_PROBE_PARAMS_H

#include "args/args.h"
#include "ptrace/tracee.h"

struct probe_spec;

/* How the parameters of a function are read. `plan` is made at the first call of the function: arguments.c. The probes
 * of a fork's child share this struct. */
struct probe_params {
	unsigned references;
	bool is_made;           /* `plan` is valid */
	struct args_plan *plan; /* NULL: the parameters are unknown */
};

/* Returns a new struct with one reference; NULL unless -a or -x needs the parameters of the function. */
struct probe_params *probe_params_new(const struct process *p, const struct probe_spec *wanted);
struct probe_params *probe_params_ref(struct probe_params *params); /* NULL is allowed */
void probe_params_unref(struct probe_params *params);               /* NULL is allowed */

#endif

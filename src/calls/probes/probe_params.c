#include "config.h"
#include "calls/probes/probe_params.h"
#include "calls/probes/probe_spec.h"

#include <stdlib.h>

/* A function of -x gets a struct even without -a, because the type of its result is needed. */
struct probe_params *probe_params_new(const struct process *p, const struct probe_spec *wanted)
{
	const struct settings *const set = p->tracer->set;

	if (!set->calls.args && (!set->traced.chosen || wanted->module != set->traced.chosen))
		return NULL;
	struct probe_params *params = xcalloc(1, sizeof(*params));

	params->references = 1;
	return params;
}

struct probe_params *probe_params_ref(struct probe_params *params)
{
	if (params)
		params->references++;
	return params;
}

void probe_params_unref(struct probe_params *params)
{
	if (!params || --params->references)
		return;
	args_plan_free(params->plan);
	free(params);
}

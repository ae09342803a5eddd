#include "config.h"
#include "functrace/run_watch.h"
#include "fleet/fleet.h"

void watch_run_prepare(struct settings *settings)
{
	settings->watch.outputs = &fleet_outputs;
}

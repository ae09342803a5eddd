#include "config.h"
#include "functrace/run_watch.h"
#include "base/own_file.h"
#include "base/util.h"
#include "fleet/fleet.h"
#include "fleet/rows.h"

#include <stdlib.h>

/* Notes for run_report.c that the report is made of the watch's rows. */
static void watch_report_begin(const char *folder, const char *list)
{
	char *const path = xasprintf("%s/" ROWS_NAME, folder);

	own_file_list_path(list, path);
	free(path);
}

void watch_run_prepare(struct settings *settings)
{
	settings->watch.outputs = &fleet_outputs;
	if (settings->report.folder)
		watch_report_begin(settings->report.folder, settings->report.list);
}

/* functrace: traces the resources that programs allocate and release. This file only calls the steps in their order:
 * the command line (functrace/options.c), then one of the tasks, which by default is tracing (engine/supervisor.c). */
#include "config.h"
#include "base/msg.h"
#include "base/title.h"
#include "functrace/options.h"
#include "functrace/run_live.h"
#include "functrace/run_repair.h"
#include "functrace/run_report.h"
#include "functrace/run_scan.h"
#include "functrace/run_watch.h"
#include "engine/engine.h"
#include "tracer/tracer.h"

static int trace_target(const struct settings *settings)
{
	return engine_run(settings, tracer_run);
}

int main(int argc, char **argv)
{
	struct settings settings;

	msg_set_program("functrace");
	int status = settings_parse(argc, title_begin(argc, argv), &settings);

	if (status < 0 && settings.is_repair)
		status = repair_run(&settings);
	if (status < 0 && settings.scan.is_wanted)
		status = scan_run(&settings);
	if (status < 0 && settings.report.is_wanted)
		status = report_run_begin(&settings);
	if (status < 0 && settings.report.is_live)
		status = report_run_check(&settings);
	if (status < 0 && settings.watch.is_wanted)
		watch_run_prepare(&settings);
	if (status < 0 && (settings.report.is_live || settings.watch.has_view))
		status = live_run_view(&settings, trace_target);
	if (status < 0)
		status = trace_target(&settings);
	report_run_end(&settings);
	settings_free(&settings);
	return status;
}

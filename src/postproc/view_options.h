/* The options of functrace-postproc about views: reports, the page, exports and the live view. */
#ifndef FT_POSTPROC_VIEW_OPTIONS_H
#define FT_POSTPROC_VIEW_OPTIONS_H

#include "export/export.h"
#include "report/report.h"

#include <argp.h>
#include <sys/types.h>

struct given;

/* The key of --report, whose views the completion lists. */
enum { POSTPROC_OPT_REPORT = 0x800 };

struct view_options {
	struct given *given; /* where the options are noted, for conflicts */
	bool live;
	double interval;   /* of --live, in seconds; 0: 1 second */
	pid_t tracer;      /* --tracer: as in struct live_options */
	bool takes_traces; /* --traces: standard input is the socket for live_run_all() */
	uint32_t count;
	bool report;
	struct report_options report_options;
	bool each;                   /* a view of each trace, not of all together */
	const char *html;            /* --html: a file or a folder; NULL: no page */
	const struct export *export; /* the export that -f names; NULL: none */
	struct export_options export_options;
	const char **suppressions; /* names of files, in order */
	size_t suppression_count, suppression_capacity;
	bool no_own_suppressions;
	const char *old; /* --diff: the older trace to compare with; NULL: none */
	struct account_wishes wishes;
	const char *mark;  /* the argument of --diff=@T; NULL: none */
	const char *again; /* functrace's command line, if it removes the traces after the report; else NULL */
};

/* A child of the program's argp parser; its input is the struct. */
extern const struct argp postproc_view_argp;

/* Whether a profile is made instead of a trace. */
static inline bool view_options_want(const struct view_options *options)
{
	return options->report || options->html || options->export;
}

/* Whether a view needs all records of all traces. If not, an export writes as the records come. */
static inline bool view_options_want_all(const struct view_options *options)
{
	return options->report || options->html || (options->export && options->export->write);
}

#endif

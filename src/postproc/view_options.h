/* The options of functrace-postproc about views: reports, the page, exports and the live view. */
#ifndef FT_POSTPROC_VIEW_OPTIONS_H
#define FT_POSTPROC_VIEW_OPTIONS_H

#include "base/buf.h"
#include "export/export.h"
#include "report/report.h"

#include <argp.h>
#include <sys/types.h>

struct given;

/* The key of --report. postproc_options.c needs it for completion. */
enum { POSTPROC_OPT_REPORT = 0x800 };

struct view_options {
	struct given *given; /* the list to which given options are added, for detecting conflicts */
	bool live;
	double interval;   /* --interval, in seconds; 0 means 1 second */
	pid_t tracer;      /* --tracer: see struct live_options */
	bool takes_traces; /* --traces: standard input is the socket for live_run_all() */
	uint32_t count;
	bool report;
	struct report_options report_options;
	bool separate;               /* --separate: show each trace by itself, not all together */
	const char *html;            /* --html: a file or a folder; NULL if no page is wanted */
	const struct export *export; /* the export that -f names; NULL if -f names none */
	struct export_options export_options;
	const char **suppressions; /* --suppressions: names of files, in the given order */
	size_t suppression_count, suppression_capacity;
	bool no_own_suppressions;
	/* The given options that choose how traces are read, how frames are named, and which leaks are suppressed, from
	 * all tables of options, as words for a shell. Empty if there are none. The commands that the report suggests
	 * contain these options, so that they give the same result. */
	struct buf reading;
	const char *old; /* --diff: path of the older trace to compare with; NULL: none */
	struct account_wishes wishes;
	const char *mark; /* the value "@T" of --diff; NULL if none was given */
	/* command line of functrace, if functrace removes the traces after the report; else NULL */
	const char *again;
};

/* A child parser for the program's argp parser. Its input is a struct view_options. */
extern const struct argp postproc_view_argp;

/* Returns true if a view is written instead of a trace. */
static inline bool view_options_want(const struct view_options *options)
{
	return options->report || options->html || options->export;
}

/* Returns true if a view needs the complete profile of all traces. If not, an export is written while the trace is
 * read. */
static inline bool view_options_want_all(const struct view_options *options)
{
	return options->report || options->html || (options->export && options->export->write);
}

#endif

/* The options of functrace-postproc that are about whole profiles. */
#ifndef FT_POSTPROC_VIEW_OPTIONS_H
#define FT_POSTPROC_VIEW_OPTIONS_H

#include "export/export.h"
#include "report/report.h"

#include <argp.h>
#include <sys/types.h>

struct given;

/* --report, whose words completion asks for. */
enum { POSTPROC_OPT_REPORT = 0x800 };

struct view_options {
	struct given *given; /* where the options are noted */
	bool live;
	double interval;   /* of --live, in seconds; 0: 1 */
	pid_t tracer;      /* struct live_options has it */
	bool takes_traces; /* the standard input is the socket of live_run_all() */
	uint32_t count;
	bool report;
	struct report_options report_options;
	bool each;                   /* trace by itself, not all together */
	const char *html;            /* the file of the page, or a folder; NULL none */
	const struct export *export; /* -f; NULL none */
	struct export_options export_options;
	const char **suppressions; /* files, in order */
	size_t suppression_count, suppression_capacity;
	bool no_own_suppressions;
	const char *old; /* --diff: a trace to compare to; NULL none */
	struct account_wishes wishes;
	const char *mark;  /* as it was given, where there is one */
	const char *again; /* what of functrace's command line is behind its options; NULL: it did not make the trace */
};

/* A child of the program's parser; its input is the struct. */
extern const struct argp postproc_view_argp;

/* Whether a profile is made, instead of a trace. */
static inline bool view_options_want(const struct view_options *options)
{
	return options->report || options->html || options->export;
}

/* Whether that takes all of all traces; else an export writes as the records come. */
static inline bool view_options_want_all(const struct view_options *options)
{
	return options->report || options->html || (options->export && options->export->write);
}

#endif

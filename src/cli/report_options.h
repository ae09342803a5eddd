/* The options of reports, in one table for both programs, because functrace passes them to functrace-postproc. An entry
 * is row(KEY, name, argument, flags, help of functrace-postproc, help of functrace). old: the name of the file argument
 * of --diff. */
#ifndef FT_CLI_REPORT_OPTIONS_H
#define FT_CLI_REPORT_OPTIONS_H

/* clang-format off */
#define REPORT_OPTIONS(row, old) \
 row(REPORT, "report", "VIEW", OPTION_ARG_OPTIONAL, \
 "print a report with one of these views: leaks (lost and still reachable blocks, the default), " \
 "alive, peak, allocated, temporary, size, thread, object", \
 "print a report when tracing has ended, as functrace-postproc --report does; without -o the trace " \
 "is not kept"), \
 row(HTML, "html", "FILE", 0, \
 "write a page for a browser: flame graphs, live memory over time, all stacks; one file that needs no " \
 "other", \
 "write a page for a browser when tracing has ended, with or without --report"), \
 row(TREE, "tree", "down|up", OPTION_ARG_OPTIONAL, \
 "in the report: show stacks as a tree, from main down to the allocating functions (default) or from " \
 "these up", \
 "with --report: show stacks as a tree"), \
 row(TOP, "top", "N", 0, "in the report: show N groups (default: 10)", "with --report or --scan: show N groups"), \
 row(DIFF, "diff", old "|@T", 0, \
 "in the report, the page and files for other tools: show the growth since the trace FILE, or since second T " \
 "of the trace", \
 "with --report: show the growth since the trace OLD or since second T"), \
 row(SUPPRESSIONS, "suppressions", "FILE", 0, \
 "with -l and in the report: leave out the leaks that FILE names, in the syntax of valgrind or " \
 "LeakSanitizer; may be repeated", \
 "with --report: leave out the leaks that FILE names"), \
 row(GEN_SUPPRESSIONS, "gen-suppressions", NULL, 0, \
 "in the report: print for each leak an entry for a file of --suppressions", \
 "with --report: print for each leak an entry for a file of --suppressions"), \
 row(NO_DEFAULT_SUPPRESSIONS, "no-default-suppressions", NULL, 0, \
 "in the report: also show the blocks that the C and C++ libraries keep on purpose", \
 "with --report: also show the blocks that the C and C++ libraries keep on purpose"), \
 row(LIVE, "live", NULL, 0, \
 "show live blocks and their growth while the trace is written: a table on a terminal, else lines", \
 "with -t: show live blocks and their growth while the process runs"), \
 row(INTERVAL, "interval", "S", 0, "with --live: update the view every S seconds (default 1)", \
 "with --live or --scan: update the view, or scan, every S seconds (default 1)"), \
 row(COUNT, "count", "N", 0, "with --live: end after N updates", \
 "with --live or --scan: end after N updates or scans")

/* Filters of blocks that are live at the end. */
#define ALIVE_OPTIONS(row) \
 row(BETWEEN, "between", "A,B", 0, \
 "resources allocated from second A to second B of the trace, and still alive at its end", \
 "with --report: show only blocks that were allocated from second A to B"), \
 row(OLDER, "older", "T", 0, \
 "resources alive at the end, and at least T seconds old then (in a trace without times: T calls)", \
 "with --report: show only blocks that are at least T seconds old")

#define EXITCODE_OPTION(row) \
 row(ERROR_EXITCODE, "error-exitcode", "N", 0, \
 "with -l or --report: end with status N if there are leaks", \
 "with --report or --scan: end with status N if there are leaks")
/* clang-format on */

/* Macros to be passed as `row`. They turn an entry into its key, functrace-postproc's option, or functrace's option. */
#define OPTION_KEY(key, ...) OPT_##key
#define OPTION_OF_POSTPROC(key, name, arg, flags, help, ...)                                                           \
	{                                                                                                              \
		name, OPT_##key, arg, flags, help, 0                                                                   \
	}
#define OPTION_OF_FUNCTRACE(key, name, arg, flags, theirs, help)                                                       \
	{                                                                                                              \
		name, OPT_##key, arg, flags, help, 0                                                                   \
	}

#endif

#include "config.h"
#include "functrace/option_conflicts.h"
#include "functrace/option_output.h"
#include "functrace/option_scan.h"
#include "cli/conflicts.h"
#include "trace/encoding.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static bool is_stream(const struct settings *s)
{
	return s->trace.output_fd >= 0 || (s->trace.output && !strcmp(s->trace.output, "-"));
}

/* Returns true if no files can be created beside the output, because it is a stream or a device. */
static bool is_alone(const struct settings *s)
{
	struct stat st;

	return is_stream(s) ||
	       (s->trace.output && stat(s->trace.output, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode));
}

/* Returns true if the chosen format, or its dialect with --compat, can contain the results of a scan. */
static bool has_scans(const struct parse *parse)
{
	const struct encoding *const encoding = parse->settings->trace.encoding;
	const struct encoding *const dialect = parse->compat ? encoding_compat(encoding) : encoding;

	return dialect && encoding_can(dialect, ENCODING_SCANS);
}

/* Returns true for --interval and --count. They are stored with the options of the report, but apply to --live and
 * --scan only. */
static bool is_of_live(const char *option)
{
	return !strncmp(option, "--interval", 10) || !strncmp(option, "--count", 7);
}

static const struct conflict task_conflicts[] = {
	{"program", EXCLUDES, "-t -p", "both -t and a program ({program}) are given; leave one of them out"},
	{"--core", NEEDS, "scan", "--core={--core} needs --scan; add --scan"},
	{"--sysroot", NEEDS, "--core", "--sysroot={--sysroot} applies only to a core file; add --scan --core=FILE"},
	{"--repair", NEEDS, "-t -p", "--repair is for processes that run: give them with -t"},
	{"--repair", EXCLUDES, "tracing-option",
	 "{tracing-option} does not go with --repair, which traces nothing; leave one of them out"},
	{"--repair", EXCLUDES, "scan", "--scan does not go with --repair, which traces nothing; leave one of them out"},
	{"", NEEDS, "program -t -p --core", "nothing to trace: give a program and its arguments, or -t PID"},
	{"program-empty", EXCLUDES, "", "the program's name is empty"},
	/* Table rows for --scan without tracing. */
	{"--core", EXCLUDES, "-t -p --children program --report --html",
	 "the core file {--core} is scanned alone; leave -t, --children, the program, --report and --html out"},
	{"scan-alone", NEEDS, "-t -p --core", "--scan looks at processes that run: give them with -t"},
	{"scan-alone", EXCLUDES, "--live", "--scan and --live do not go together; leave one of them out"},
	/* With --scan, -o may be meant for the text of the scan or for a trace; the messages explain how to get each of
	 * them. */
	{"--core", EXCLUDES, "-o",
	 "-o says where a trace is written, and --scan alone makes no trace. To keep the scan's text: functrace --scan "
	 "--core=FILE > FILE"},
	{"scan-alone", EXCLUDES, "-o",
	 "-o says where a trace is written, and --scan alone makes no trace. To keep the scan's text: functrace --scan "
	 "-t PID > FILE; for a trace with a scan at its end add -e memory"},
	{"--core", EXCLUDES, "tracing-option",
	 "{tracing-option} applies only to tracing, and --scan alone traces nothing; leave {tracing-option} "
	 "out"},
	{"scan-alone", EXCLUDES, "tracing-option",
	 "{tracing-option} applies only to tracing, and --scan alone traces nothing; leave {tracing-option} out, or "
	 "add -e memory to trace, and to scan at the end"},
	/* Table rows that apply to every task: tracing, a scan, or a repair. */
	{"--why", NEEDS, "scan --repair", "--why explains a block that a scan found; add --scan"},
	{"--children", NEEDS, "-t -p",
	 "--children is for -t: the children of a program that functrace starts are traced anyway"},
	{"--watch", NEEDS, "-t -p", "--watch is for processes that run: give them with -t"},
	{"--watch", EXCLUDES, "--live",
	 "--watch shows a live view of its own if the output is a terminal; leave --live out"},
	{"--watch", EXCLUDES, "--children", "--watch watches the processes that -t names; leave --children out"},
	{"--watch", EXCLUDES, "-S", "--watch itself turns tracing on and off; leave -S out"},
	{"--watch", EXCLUDES, "-e --module", "--watch traces memory only; leave -e out"},
	{"--watch", EXCLUDES, "-x", "--watch traces memory only; leave -x out"},
	{"--watch", EXCLUDES, "scan", "--watch scans the heap itself; leave --scan out"},
	{"--budget", NEEDS, "--watch", "--budget is for --watch; add --watch"},
	{"--metrics", NEEDS, "--watch", "--metrics is for --watch; add --watch"},
	{"--push", NEEDS, "--watch", "--push is for --watch; add --watch"},
	{"--service", NEEDS, "--watch", "--service is for --watch; add --watch"},
	{"--start-paused", NEEDS, "-S", "--start-paused needs a signal that resumes tracing: add -S USR1"},
};

_Static_assert(KERNEL_DEPTH_MAX == 69, "the message about -b says so");

static const struct conflict trace_conflicts[] = {
	{"--live", EXCLUDES, "--report --html",
	 "--live and a report or page do not go together; in the view, 'r' writes a report and 'h' a page"},
	{"--live", NEEDS, "-t -p", "--live shows processes that run: give them with -t"},
	{"--live", EXCLUDES, "-o", "--live keeps no trace; leave -o out"},
	{"report-option", NEEDS, "--report --html --live", "{report-option} applies only to the report; add --report"},
	{"live-option", NEEDS, "--report --html --live",
	 "{live-option} applies only to --live and --scan; add one of them"},
	{"--report --html", EXCLUDES, "output-stream",
	 "--report and --html read the traces when they are complete; give -o a folder or a file, or leave -o out"},
	{"--copy-file", EXCLUDES, "output-alone",
	 "--copy-file: there is no place for files beside -o {output}; give -o a file or a folder"},
	{"packed", EXCLUDES, "terminal",
	 "-o {output}: this is a terminal, and a compressed trace is not text; give -o a file, or leave out -z"},
	{"binary", EXCLUDES, "terminal",
	 "-o {output}: this is a terminal, and the format {format} is not text; add -f text, or give -o a file"},
	{"file-twice", EXCLUDES, "", "{file-twice}"},
	{"kernel-probes", EXCLUDES, "-a", "--probes=kernel records no arguments; leave out -a or --probes=kernel"},
	{"kernel-probes", EXCLUDES, "libunwind",
	 "--probes=kernel walks stacks by rows; leave out --unwinder=libunwind or --probes=kernel"},
	{"kernel-probes", EXCLUDES, "deep",
	 "--probes=kernel records at most 69 frames of a stack; give -b 69 or less, or leave out --probes=kernel"},
	{"--probes-ring", EXCLUDES, "breakpoints",
	 "--probes-ring is for probes in the kernel; leave out --probes=breakpoints or --probes-ring"},
	{"--cycle-size", NEEDS, "has-cycles",
	 "--cycle-size: the format {format} has no write cycles; give -f a format that has them: {cycle-formats}"},
	{"--compat", NEEDS, "has-compat",
	 "--compat: the format {format} has no sp-rtrace dialect; give -f a format that has one: {compat-formats}"},
	{"scan", EXCLUDES, "scan-json", "--scan=json applies only to a scan without tracing: functrace --scan -t PID"},
	{"scan", EXCLUDES, "--why", "--why applies only to a scan without tracing: functrace --scan -t PID"},
	{"scan", EXCLUDES, "--live", "--scan and --live do not go together; leave one of them out"},
	{"scan", NEEDS, "heap", "--scan finds lost memory, and memory is not traced; add -e memory"},
	{"scan", NEEDS, "has-scans",
	 "the format {format}, or its dialect with --compat, has no place for the results of a scan; leave out -f and "
	 "--compat"},
};

static int option_conflicts_check(struct parse *parse, const struct conflict *rows, size_t count)
{
	char *const text = conflict_find(rows, count, &parse->given);
	const int error = text ? usage_error(parse, "%s", text) : 0;

	free(text);
	return error;
}

int option_conflicts_of_task(struct parse *parse)
{
	const struct settings *const s = parse->settings;
	struct given *const given = &parse->given;

	given_value(given, "program", s->target.argv ? s->target.argv[0] : NULL);
	given_fact(given, "program-empty", s->target.argv && !s->target.argv[0][0]);
	given_fact(given, "scan", s->scan.is_wanted);
	given_fact(given, "scan-alone", s->scan.is_wanted && !option_scan_with_tracing(s));
	return option_conflicts_check(parse, task_conflicts, ARRAY_SIZE(task_conflicts));
}

/* Adds the fact "file-twice", with a message, if an output is also read or is the file of another output. */
static void option_conflicts_add_files(struct parse *parse)
{
	const struct settings *const s = parse->settings;

	if (s->target.argv && strchr(s->target.argv[0], '/'))
		named_files_add(&parse->files, "PROGRAM", s->target.argv[0], false);
	named_files_add(&parse->files, "-o", s->trace.output, true);
	char *const words = named_files_clash(&parse->files);

	given_value(&parse->given, "file-twice", words);
	free(words);
}

int option_conflicts_of_trace(struct parse *parse)
{
	const struct settings *const s = parse->settings;
	const char *const report = s->report.option_count ? s->report.options[0] : NULL;
	struct given *const given = &parse->given;

	given_value(given, report && is_of_live(report) ? "live-option" : "report-option", report);
	given_fact(given, "scan-json", s->scan.is_json);
	given_value(given, "output", s->trace.output); /* /dev/stdout was replaced by "-" */
	option_conflicts_add_files(parse);
	given_fact(given, "output-stream", is_stream(s));
	given_fact(given, "output-alone", is_alone(s));
	given_fact(given, "terminal", option_is_for_terminal(s));
	given_fact(given, "packed", s->trace.packing);
	given_value(given, "format", encoding_name(s->trace.encoding));
	given_fact(given, "binary", encoding_can(s->trace.encoding, ENCODING_BINARY));
	given_fact(given, "has-cycles", encoding_can(s->trace.encoding, ENCODING_CYCLES));
	given_fact(given, "has-compat", encoding_can(s->trace.encoding, ENCODING_COMPAT));
	given_value(given, "cycle-formats", encoding_names(ENCODING_TRACE | ENCODING_CYCLES));
	given_value(given, "compat-formats", encoding_names(ENCODING_TRACE | ENCODING_COMPAT));
	given_fact(given, "has-scans", has_scans(parse));
	given_fact(given, "heap", option_scan_has_heap(s));
	given_fact(given, "kernel-probes", s->traced.probes == PROBES_KERNEL);
	given_fact(given, "breakpoints", s->traced.probes == PROBES_BREAKPOINTS);
	given_fact(given, "libunwind", s->calls.unwinder == UNWIND_LIBUNWIND);
	given_fact(given, "deep", s->calls.depth > KERNEL_DEPTH_MAX);
	return option_conflicts_check(parse, trace_conflicts, ARRAY_SIZE(trace_conflicts));
}

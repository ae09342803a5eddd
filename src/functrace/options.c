#include "config.h"
#include "functrace/options.h"
#include "cli/completion.h"
#include "functrace/option_copy_file.h"
#include "functrace/option_conflicts.h"
#include "functrace/option_functions.h"
#include "functrace/option_modules.h"
#include "functrace/option_output.h"
#include "functrace/option_report.h"
#include "functrace/option_scan.h"
#include "functrace/option_watch.h"
#include "arch/arch.h"
#include "base/msg.h"
#include "modules/conf/conf.h"
#include "modules/known.h"
#include "uprobe/uprobes.h"

#include <argp.h>
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define STATUS_GO_ON      -1
#define DEPTH_NORMAL      64
#define ARGS_LIMIT_NORMAL 64
#define FORMAT_NORMAL     "rtrace"

enum options_long_option {
	OPT_COMPAT = 0x100,
	OPT_START_PAUSED,
	OPT_VERIFY,
	OPT_UNWINDER,
	OPT_SYMBOL_ADDRESS,
	OPT_PROBES,
	OPT_PROBES_RING,
	OPT_CPU,
	OPT_CHILDREN,
	OPT_NO_BASELINE,
	OPT_DURATION,
	OPT_ARGS_LIMIT,
	OPT_USAGE,
	OPT_CONTEXT_FUNCTION,
	OPT_COPY_FILE,
	OPT_REPAIR,
	OPT_LIST_OPTIONS,
	OPT_LIST_PROCESSES,
	OPT_CYCLE_SIZE,
};

/* ---- Checks of all options together ---- */

/* Adds the module of -x, then sets the module (memory), the format and the CPU placement if no option has set them. */
static int set_defaults(struct parse *parse)
{
	struct settings *const s = parse->settings;
	int error = 0;

	option_functions_end(parse);
	if (!s->traced.module_count)
		error = option_module(parse, "memory");
	if (!error && !s->trace.encoding)
		error = option_format(parse, FORMAT_NORMAL);
	if (s->cpu == CPU_DEFAULT)
		s->cpu = s->target.argv ? CPU_AUTO : CPU_FREE;
	return error;
}

static int check_all(struct parse *parse)
{
	struct settings *const s = parse->settings;
	int error = option_targets(parse);

	if (!error)
		error = option_conflicts_of_task(parse);
	if (error || s->is_repair)
		return error;
	if (s->scan.is_wanted && !option_scan_with_tracing(s))
		return option_scan_alone(parse);
	error = option_output_check(parse);
	if (!error)
		error = option_watch_end(parse);
	if (!error)
		error = set_defaults(parse);
	if (!error)
		error = option_conflicts_of_trace(parse);
	if (error)
		return error;
	if (s->calls.args_limit != ARGS_LIMIT_NORMAL && !s->calls.args)
		msg_warn("--args-limit has no effect without -a");
	/* With --report and without -o, functrace deletes the traces after the report. Until then they are compressed,
	 * which makes them about thirty times smaller. */
	if (s->report.is_wanted && !s->trace.output)
		s->trace.packing = PACKING_ZSTD;
	if (parse->compat)
		s->trace.encoding = encoding_compat(s->trace.encoding);
	option_scan_beside(s, parse->compat);
	if (s->calls.resolve && !encoding_can(s->trace.encoding, ENCODING_NAMES))
		msg_warn("-r has no effect on the format %s%s", encoding_name(s->trace.encoding),
			 encoding_can(s->trace.encoding, ENCODING_READ)
				 ? ": 'functrace-postproc -r FILE' names its functions"
				 : "");
	return 0;
}

/* ---- The table ---- */

/* Hidden aliases are names that other tools or older releases have for the option above them. */
static const struct argp_option options[] = {
	{NULL, 0, NULL, 0, "What to trace:", 1},
	{"module", 'e', "NAME,...", 0, "kinds of resources:", 0},
	{"track", 0, NULL, OPTION_ALIAS | OPTION_HIDDEN, NULL, 0},
	{"symbols", 'x', "LIST|@FILE", 0,
	 "the calls of these functions, separated by ';': patterns of their names (Parser::*), NAME@OBJECT, "
	 "OBJECT!0xOFFSET, NAME=ADDRESS; may be repeated. Without -e nothing else is traced",
	 0},
	{"context-function", OPT_CONTEXT_FUNCTION, "NAME", 0,
	 "mark the calls that are made while this function runs; NAME as for -x, may be repeated", 0},
	{"attach", 't', "PID|NAME", 0, "attach to a running process; may be repeated", 0},
	{"pid", 'p', NULL, OPTION_ALIAS, NULL, 0},
	{"children", OPT_CHILDREN, NULL, 0, "with -t: attach to its descendants too", 0},
	{"no-baseline", OPT_NO_BASELINE, NULL, 0,
	 "do not read the heap: no baseline of the blocks from before -t, no figures of the heap at the end", 0},
	{"no-census", 0, NULL, OPTION_ALIAS | OPTION_HIDDEN, NULL, 0},
	{"no-follow", 'F', NULL, 0, "do not trace forked children", 0},
	{"library", 'L', "NAME,...", 0, "trace functions only in objects whose path contains one of these", 0},
	{"symbol-address", OPT_SYMBOL_ADDRESS, "NAME=ADDRESS", 0,
	 "the address of a function in a stripped program's file", 0},
	{"symbol", 0, NULL, OPTION_ALIAS | OPTION_HIDDEN, NULL, 0},
	{"toggle-signal", 'S', "SIGNAL", 0, "pause and resume tracing when functrace gets this signal (USR1)", 0},
	{"start-paused", OPT_START_PAUSED, NULL, 0, "begin with tracing paused; needs -S", 0},
	{"duration", OPT_DURATION, "TIME", 0, "detach after this time: 30 (seconds), 10s, 5m, 1h", 0},

	{NULL, 0, NULL, 0, "Arguments:", 2},
	{"args", 'a', NULL, 0, "record arguments and results of calls, and failed calls", 0},
	{"args-limit", OPT_ARGS_LIMIT, "N", 0, "show at most N bytes of a string (default 64)", 0},

	{NULL, 0, NULL, 0, "Stacks:", 3},
	{"backtrace-depth", 'b', "N", 0, "record at most N frames of a stack, 0 to 256 (default 64)", 0},
	{"backtrace-all", 'A', NULL, 0, "record stacks of releases, too", 0},
	{"stack-sizes", 'M', "SIZES", 0, "record stacks only for blocks of these sizes: 8,100-200,4096-", 0},
	{"monitor", 0, NULL, OPTION_ALIAS | OPTION_HIDDEN, NULL, 0},
	{"probes", OPT_PROBES, "auto|kernel|breakpoints", 0,
	 "see the calls of allocators by probes in the kernel, which do not stop the thread. auto (default): where "
	 "that is possible, else by breakpoints; kernel: end if it is not; breakpoints: never",
	 0},
	{"probes-ring", OPT_PROBES_RING, "N", 0,
	 "memory for records of the kernel's probes that were not read yet: N MiB: 16 (default), 32 or "
	 "64",
	 0},
	{"unwinder", OPT_UNWINDER, "rows|libunwind", 0,
	 "walk stacks by functrace's own tables (rows, the default) or by libunwind", 0},

	{NULL, 0, NULL, 0, "Output:", 4},
	{"output", 'o', "DIR|FILE|-", 0,
	 "write the trace there; -: standard output, and the program's own output goes to standard "
	 "error (default: a new "
	 "file PID-N in this folder)",
	 0},
	{"format", 'f', "NAME", 0, "trace format:", 0},
	{"compress", 'z', "zst|gz", OPTION_ARG_OPTIONAL,
	 "write the trace compressed (default zst; a name after -o that ends in .zst or .gz does the same)", 0},
	{"compat", OPT_COMPAT, "sp-rtrace", 0, "write exactly the bytes that the sp-rtrace 2.0 tools read", 0},
	{"cycle-size", OPT_CYCLE_SIZE, "N", 0,
	 "with -f stacktrack: write all declarations again after N entries, so that the last part of a trace "
	 "can be read",
	 0},
	{"resolve", 'r', NULL, 0, "write names of functions too, if the format has a place for them", 0},
	{"no-timestamps", 'T', NULL, 0, "write no times", 0},
	{"copy-file", OPT_COPY_FILE, "NAME=PATH|maps|...", 0,
	 "put a copy of a file, or of a file in /proc/PID, beside the trace; may be repeated", 0},
	{"attach-file", 0, NULL, OPTION_ALIAS | OPTION_HIDDEN, NULL, 0},
	{"quiet", 'q', NULL, 0, "print only errors", 0},

	{NULL, 0, NULL, 0, "Others:", 6},
	{"cpu", OPT_CPU, "auto|pin|free", 0,
	 "run a busy program and functrace on one CPU, which is faster. auto: if the program cannot notice it (default "
	 "for PROGRAM); pin: always; free: never (default with -t)",
	 0},
	{"verify", OPT_VERIFY, NULL, 0, "check after detaching that the program's code has its original bytes", 0},
	{"repair", OPT_REPAIR, NULL, 0, "with -t alone: remove breakpoints that a killed functrace has left", 0},
	{"debug", 'd', "DOMAIN:LEVEL", OPTION_ARG_OPTIONAL, "print debug messages", 0},
	{"help", 'h', NULL, 0, "this text", -1},
	{"usage", OPT_USAGE, NULL, 0, "a short form of this text", -1},
	{"version", 'V', NULL, 0, "the version", -1},

	{"list-options", OPT_LIST_OPTIONS, NULL, OPTION_HIDDEN, NULL, 7},
	{"list-processes", OPT_LIST_PROCESSES, NULL, OPTION_HIDDEN, NULL, 0},
	{"start", 's', NULL, OPTION_HIDDEN, NULL, 0}, /* no effect; scripts for the tracer functracer give -s */
	{NULL, 0, NULL, 0, NULL, 0},
};

/* Says also whether --probes=auto uses probes in the kernel here: loads the program that it would use. */
static void show_version(void)
{
	const struct uprobes_options small = {.ring_size = 1 << 16, .frames = 1};
	const struct arch *arch;
	char why[1024];

	printf("functrace %s\ntraces:", PACKAGE_VERSION);
	for (size_t i = 0; (arch = arch_known(i)); i++)
		printf(" %s", arch->name);
	struct uprobes *const uprobes = uprobes_open(&small, why, sizeof(why));

	printf("\nprobes in the kernel: %s%s\n", uprobes ? "yes" : "no, because ", uprobes ? "" : why);
	uprobes_close(uprobes);
	printf("Licence: GPL version 2 or later. No warranty.\n");
}

/* For the shell completion: returns the values of -e, -f or -d, because only the tables of modules, formats and
 * messages contain them. Returns NULL for other options. */
static char *options_known_words(int key)
{
	if (key == 'e')
		return xasprintf("%s all help FILE", module_names());
	if (key == 'f')
		return xstrdup(encoding_names(ENCODING_TRACE));
	return key == 'd' ? xstrdup(msg_debug_domains()) : NULL;
}

static int options_show(struct parse *parse, struct argp_state *state, int key)
{
	help_columns();
	if (key == 'V')
		show_version();
	else if (key == OPT_LIST_OPTIONS)
		completion_options(state->root_argp, options_known_words);
	else if (key == OPT_LIST_PROCESSES)
		completion_processes();
	else
		argp_state_help(state, stdout,
				key == 'h' ? ARGP_HELP_LONG | ARGP_HELP_SHORT_USAGE | ARGP_HELP_DOC : ARGP_HELP_USAGE);
	return options_shown(parse);
}

/* Stores the program and its arguments, which follow the options. In `-d 2 PROGRAM`, which is the syntax of other
 * tools, the program would be "2", so this is an error. The tracer functracer has an option -a that takes names of
 * functions. Here -a has no value, so such names after it are an error, too. */
static int set_program(struct parse *parse, const struct argp_state *state)
{
	char **const argv = state->argv + state->next;
	const char *const before = state->next > 1 ? argv[-1] : "";
	uint64_t number;

	if ((!strcmp(before, "-d") || !strcmp(before, "--debug")) &&
	    (parse_number(argv[0], UINT64_MAX, &number) || strchr(argv[0], ':')))
		return debug_error(parse, " ", argv[0]);
	if ((!strcmp(before, "-a") || !strcmp(before, "--args")) && !strchr(argv[0], '/') && strpbrk(argv[0], ",;*@:"))
		return usage_error(parse,
				   "-a takes no value here: it shows arguments. If '%s' are functions, as for "
				   "functracer's -a, give them to -x",
				   argv[0]);
	parse->settings->target.argv = argv;
	return 0;
}

#define FLAG(key, member, value)                                                                                       \
	{                                                                                                              \
		key, offsetof(struct settings, member), value                                                          \
	}

static const struct option_flag flags[] = {
	FLAG('F', target.follow, false),
	FLAG('A', calls.backtrace_all, true),
	FLAG('a', calls.args, true),
	FLAG('r', calls.resolve, true),
	FLAG('T', trace.timestamps, false),
	FLAG(OPT_START_PAUSED, target.start_paused, true),
	FLAG(OPT_CHILDREN, target.children, true),
	FLAG(OPT_NO_BASELINE, baseline, false),
	FLAG(OPT_VERIFY, verify, true),
	FLAG(OPT_REPAIR, is_repair, true),
	FLAG('q', quiet, true),
};

/* Stores an option for the checks of conflicts. A scan without tracing refuses options that only affect tracing:
 * therefore the first of them is also stored as "tracing-option". */
static void note_given(struct given *given, int key, const char *arg)
{
	const bool is_of_all = key == 't' || key == 'p' || key == OPT_CHILDREN || key == 'q' || key == 'd' ||
			       key == 's' || key == OPT_REPAIR;
	const size_t before = given->count;

	given_option(given, options, key, arg);
	if (!is_of_all && given->count > before && !given_find(given, "tracing-option"))
		given_value(given, "tracing-option", given->facts[before].name);
}

static error_t options_parse_option(int key, char *arg, struct argp_state *state)
{
	struct parse *const parse = state->input;
	struct settings *const s = parse->settings;
	int error;

	note_given(&parse->given, key, arg);
	switch (key) {
	case 'e':
		return option_list(parse, arg, option_module);
	case 'x':
		return option_functions(parse, arg);
	case OPT_CONTEXT_FUNCTION:
		return option_contexts(parse, arg);
	case 't':
	case 'p':
		return option_target(parse, arg);
	case 'L':
		return option_list(parse, arg, option_library);
	case 'M':
		return option_list(parse, arg, option_stack_sizes);
	case OPT_SYMBOL_ADDRESS:
		return option_symbol_address(parse, arg);
	case OPT_DURATION:
		return option_duration(parse, arg);
	case 'S':
		return option_toggle_signal(parse, arg);
	case 'b':
		return option_depth(parse, arg);
	case OPT_ARGS_LIMIT:
		return option_args_limit(parse, arg);
	case OPT_CYCLE_SIZE:
		return option_cycle_size(parse, arg);
	case OPT_UNWINDER:
		return option_unwinder(parse, arg);
	case OPT_PROBES:
		return option_probes(parse, arg);
	case OPT_PROBES_RING:
		return option_probes_ring(parse, arg);
	case 'f':
		return option_format(parse, arg);
	case 'o':
		s->trace.output = arg;
		return 0;
	case 'z':
		parse->compress = true;
		parse->packing = arg;
		return 0;
	case 'd':
		return option_debug(parse, arg);
	case OPT_COMPAT:
		error = option_word(parse, "compat", arg, "sp-rtrace");
		parse->compat = !error;
		return error;
	case OPT_COPY_FILE:
		return option_copy_file(parse, arg);
	case OPT_CPU:
		return option_cpu(parse, arg);
	case 'h':
	case 'V':
	case OPT_USAGE:
	case OPT_LIST_OPTIONS:
	case OPT_LIST_PROCESSES:
		return options_show(parse, state, key);
	case ARGP_KEY_ARGS:
		return set_program(parse, state);
	case ARGP_KEY_END:
		return check_all(parse);
	case ARGP_KEY_INIT:
		state->child_inputs[0] = state->child_inputs[1] = state->child_inputs[2] = parse;
		return 0;
	case 's':
		return 0;
	default:
		if (!option_flag_set(flags, ARRAY_SIZE(flags), key, s))
			return ARGP_ERR_UNKNOWN;
		msg_set_quiet(s->quiet);
		return 0;
	}
}

static const char usage[] = "PROGRAM [ARGS...]\n-t PID|NAME [-t PID...]";
static const char doc[] = "Trace the allocations and releases of a program, with their stacks, without rebuilding or "
			  "restarting it."
			  "\vOptions end at PROGRAM. Ctrl-C detaches functrace from attached processes. A "
			  "launched program gets Ctrl-C itself; SIGTERM to functrace detaches functrace from it.\n\n"
			  "The exit status is PROGRAM's; 126 or 127 if it could not be run, 1 if tracing failed "
			  "before it began, 2 for "
			  "wrong usage, 0 when attached.\n\n"
			  "  functrace -e memory ./server --port 80     from its first instruction\n"
			  "  functrace -t redis-server --duration=30    a running process, for 30 s\n"
			  "  functrace -f text -r -o - ls | less        text with names, live\n"
			  "  functrace-postproc --report 1234-0.rtrace  the leaks in a trace";

/* Adds to the help the names that only the tables of modules and formats contain. argp frees the returned text if it is
 * not `text`. */
static char *help_filter(int key, const char *text, void *input)
{
	(void)input;
	if (key == 'e')
		return xasprintf("%s %s (default memory), all, FILE.conf, FILE.so; -e help lists them", text,
				 module_names());
	if (key == 'f')
		return xasprintf("%s %s (default " FORMAT_NORMAL ")", text, encoding_names(ENCODING_TRACE));
	return (char *)(uintptr_t)text;
}

static const struct argp_child children[] = {{.argp = &option_report_argp, .group = 5},
					     {.argp = &option_scan_argp, .group = 5},
					     {.argp = &option_watch_argp, .group = 5},
					     {0}};
static const struct argp argp = {.options = options,
				 .parser = options_parse_option,
				 .children = children,
				 .args_doc = usage,
				 .doc = doc,
				 .help_filter = help_filter};

int settings_parse(int argc, char **argv, struct settings *settings)
{
	struct parse parse = {.settings = settings, .status = STATUS_USAGE};

	*settings = (struct settings){.calls.depth = DEPTH_NORMAL,
				      .calls.args_limit = ARGS_LIMIT_NORMAL,
				      .traced.ring_mib = RING_MIB_NORMAL,
				      .trace.output_fd = -1,
				      .trace.timestamps = true,
				      .baseline = true,
				      .target.follow = true};
	/* The messages of getopt begin with this name; like functrace's own messages they should not contain its
	 * folder. */
	argv[0] = (char *)(uintptr_t)path_name(argv[0]);
	const int error = argp_parse(&argp, argc, argv, ARGP_IN_ORDER | ARGP_NO_EXIT | ARGP_NO_HELP, NULL, &parse);

	free(parse.targets);
	given_free(&parse.given);
	named_files_free(&parse.files);
	option_report_keep_words(settings, argc, argv);
	return error ? parse.status : STATUS_GO_ON;
}

void settings_free(struct settings *settings)
{
	for (size_t i = 0; i < settings->traced.library_count; i++)
		free(settings->traced.libraries[i]);
	for (size_t i = 0; i < settings->traced.symbol_count; i++)
		free((char *)(uintptr_t)settings->traced.symbols[i].name);
	for (size_t i = 0; i < settings->traced.described_count; i++)
		conf_free(settings->traced.described[i]);
	free(settings->traced.described);
	free(settings->traced.libraries);
	free(settings->traced.symbols);
	free(settings->traced.modules);
	option_functions_free(settings->traced.chosen);
	option_functions_free(settings->traced.contexts);
	option_copy_file_free(settings);
	option_report_free(settings);
	option_scan_free(settings);
	free(settings->target.pids);
	free(settings->calls.stack_sizes);
	if (settings->trace.output_fd > 2)
		close(settings->trace.output_fd);
	*settings = (struct settings){0};
}

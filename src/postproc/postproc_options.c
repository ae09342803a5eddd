#include "config.h"
#include "postproc/postproc_options.h"
#include "cli/completion.h"
#include "postproc/postproc_checks.h"
#include "base/buf.h"
#include "base/msg.h"
#include "cli/named_files.h"
#include "cli/report_options.h"
#include "modules/known.h"

#include <ctype.h>
#include <argp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *argp_program_version = "functrace-postproc " PACKAGE_VERSION;

/* Maximum value of --cpus and --devices. A message of a SWAP trace has no room for the data of more CPUs or devices. */
#define CPUS_MAX 65536

enum postproc_options_long_option {
	OPT_INCLUDE = 0x100,
	OPT_EXCLUDE,
	OPT_CALL_ADDRESS,
	OPT_INPUT_FORMAT,
	OPT_PID,
	OPT_STATS,
	OPT_FOLLOW,
	OPT_SYSROOT,
	OPT_DEBUG_PATH,
	OPT_DEBUGINFOD,
	EXITCODE_OPTION(OPTION_KEY),
	OPT_COMPAT,
	OPT_MPATROL_TABLE,
	OPT_HATF_FILE,
	OPT_SIM_FILE,
	OPT_DUMP,
	OPT_CPUS,
	OPT_DEVICES,
	OPT_EXPAND_EVENTS,
	OPT_WELL_FORMED,
	OPT_SHOW_FORMAT,
	OPT_LIST_OPTIONS,
	OPT_CHECK_OPTIONS,
	OPT_CYCLE_SIZE,
	OPT_RAW_FORMAT,
	OPT_SHOW_LEAK_KINDS,
};

static const struct argp_option option_table[] = {
	{NULL, 0, NULL, 0, "Contents:", 1},
	{"leaks", 'l', NULL, 0, "only allocations without a release (with a scan: lost blocks), and their totals", 0},
	{"filter-leaks", 0, NULL, OPTION_ALIAS | OPTION_HIDDEN, NULL, 0},
	{"show-leak-kinds", OPT_SHOW_LEAK_KINDS, "KINDS", 0,
	 "with -l, after a scan: blocks of these kinds: definite, indirect, possible, reachable, or all "
	 "(default: definite,indirect)",
	 0},
	{"compress", 'c', NULL, 0, "group the calls that have the same stack", 0},
	{"sort", 's', "size|count|size-asc|count-asc", 0,
	 "order of the groups: largest first, or with -asc largest last (default: size-asc)", 0},
	{"stats", OPT_STATS, NULL, 0,
	 "instead of the trace: calls, bytes, peaks, sizes, lifetimes and top stacks of each "
	 "resource",
	 0},
	{"mpatrol-table", OPT_MPATROL_TABLE, NULL, 0,
	 "instead of the trace: the table of its allocations and the statistics as mptrace prints them", 0},
	{"dump", OPT_DUMP, NULL, 0, "instead of the trace: every message of a SWAP trace, each of its fields by name",
	 0},
	{"cpus", OPT_CPUS, "N", 0,
	 "with --dump: the number of CPUs of the traced system, which the trace does not contain", 0},
	{"devices", OPT_DEVICES, "N", 0,
	 "with --dump and --cpus: the number of the system's devices whose energy was measured", 0},
	{"expand-events", OPT_EXPAND_EVENTS, NULL, 0,
	 "instead of the trace: the entries of a StackTrack trace as XML, as expand_events prints them", 0},
	{"well-formed", OPT_WELL_FORMED, NULL, 0,
	 "with --expand-events: add a root element, and write no attribute twice", 0},
	{"show-format", OPT_SHOW_FORMAT, NULL, 0, "print the layout of StackTrack's entries as XML; needs no input", 0},
	{"show_format", 0, NULL, OPTION_ALIAS | OPTION_HIDDEN, NULL, 0},
	{"backtrace-depth", 'b', "N", 0, "show at most N frames of a stack", 0},
	{"remove-args", 'a', NULL, 0, "leave out the arguments of calls", 0},
	{"context", 'C', "NAMES|MASK", 0,
	 "only calls in one of these contexts, by name (Request,Parse) or by a hexadecimal mask; 0: in none", 0},
	{"resource", 'R', "TYPE,...|MASK", 0,
	 "only these resources, by type (memory,fd) or by a hexadecimal mask: 1 the first, 2 the second, 4 the third",
	 0},
	{"include", OPT_INCLUDE, "FILE", 0, "only the events whose numbers are in FILE, one per line", 0},
	{"exclude", OPT_EXCLUDE, "FILE", 0, "all events except those whose numbers are in FILE", 0},
	{"call-address", OPT_CALL_ADDRESS, "OBJ:START+SIZE", 0,
	 "only calls with a frame in this range (hexadecimal, as nm shows it) of the object whose "
	 "path "
	 "contains OBJ",
	 0},
	{"pid", OPT_PID, "PID", 0, "only this process of a trace of several processes", 0},
	{NULL, 0, NULL, 0, "Names:", 2},
	{"resolve", 'r', NULL, 0, "name the frames: function, file and line, or object", 0},
	{"sysroot", OPT_SYSROOT, "DIR", 0, "look for the traced system's files under DIR", 0},
	{"debug-path", OPT_DEBUG_PATH, "DIR[:DIR]", 0, "more folders with separate debug files", 0},
	{"debuginfod", OPT_DEBUGINFOD, NULL, 0, "ask the servers in DEBUGINFOD_URLS for missing debug files", 0},
	{NULL, 0, NULL, 0, "Input and output:", 3},
	{"input", 'i', "FILE", 0, "read FILE, like an argument; -: standard input", 0},
	{"input-file", 0, NULL, OPTION_ALIAS | OPTION_HIDDEN, NULL, 0},
	{"output", 'o', "FILE|DIR|-", 0, "write to FILE, or to a new file PID-N in DIR; without -o to standard output",
	 0},
	{"output-dir", 0, NULL, OPTION_ALIAS | OPTION_HIDDEN, NULL, 0},
	{"pack", 'z', "zst|gz", OPTION_ARG_OPTIONAL,
	 "write the trace compressed (default zst; a name after -o that ends in .zst or .gz does the same)", 0},
	{"format", 'f', "FORMAT", 0, "write this format (default: " POSTPROC_FORMAT ")", 0},
	{"text", 't', NULL, OPTION_HIDDEN, NULL, 0},
	{"input-format", OPT_INPUT_FORMAT, "FORMAT", 0, "read the input as this format, whatever its first bytes are",
	 0},
	{"raw-format", OPT_RAW_FORMAT, "FILE", 0,
	 "the input is StackTrack's, with entries as FILE describes them in the form that --show-format prints", 0},
	{"compat", OPT_COMPAT, "DIALECT", OPTION_ARG_OPTIONAL,
	 "sp-rtrace: write the dialect of the sp-rtrace 2.0 tools; none: the documented protocol "
	 "(default: as the input)",
	 0},
	{"cycle-size", OPT_CYCLE_SIZE, "N", 0, "with -f stacktrack: write all declarations again after N entries", 0},
	{"hatf-file", OPT_HATF_FILE, "FILE", 0,
	 "instead of the trace: its allocations in the Heap Allocation Trace Format", 0},
	{"sim-file", OPT_SIM_FILE, "FILE", 0, "instead of the trace: a C program that repeats the trace's calls", 0},
	{"follow", OPT_FOLLOW, NULL, 0, "at the end of a file that still grows, wait for more", 0},
	EXITCODE_OPTION(OPTION_OF_POSTPROC),
	{"quiet", 'q', NULL, 0, "print only errors", 0},
	{"debug", 'd', "DOMAIN:LEVEL", OPTION_ARG_OPTIONAL, "print debug messages; domains: symbols, all", 0},
	{NULL, 'h', NULL, OPTION_HIDDEN, NULL, 0},
	{"list-options", OPT_LIST_OPTIONS, NULL, OPTION_HIDDEN, NULL, 0},
	/* functrace --report runs functrace-postproc with this option before tracing */
	{"check-options", OPT_CHECK_OPTIONS, NULL, OPTION_HIDDEN, NULL, 0},
	{0},
};

static uint64_t postproc_options_number(struct argp_state *state, const char *option, const char *text, uint64_t max)
{
	uint64_t value = 0;

	if (!parse_number(text, max, &value))
		argp_error(state, "%s needs a number of at most %llu, not '%s'", option, (unsigned long long)max, text);
	return value;
}

/* Parses a mask. Like the masks in traces it is hexadecimal, with or without 0x. */
static uint64_t parse_mask(struct argp_state *state, const char *option, const char *text, uint64_t max)
{
	uint64_t value = 0;

	if (!parse_number_hex(text, max, &value))
		argp_error(state, "%s needs a hexadecimal mask of at most %llx, not '%s'", option,
			   (unsigned long long)max, text);
	return value;
}

/* Returns the format with that name. ability: ENCODING_READ or ENCODING_WRITE. If the name is wrong, or the format
 * lacks the ability, prints a message and exits. */
static const struct encoding *parse_encoding(struct argp_state *state, const char *name, unsigned ability)
{
	const struct encoding *found = encoding_find(name);

	if (!found)
		argp_error(state, "there is no format '%s'; the formats are %s%s%s", name, encoding_names(ability),
			   ability == ENCODING_WRITE ? ", " : "", ability == ENCODING_WRITE ? export_names() : "");
	else if (!encoding_can(found, ability))
		argp_error(state, "the format %s can only be %s; the formats that can be %s are %s", name,
			   ability == ENCODING_READ ? "written" : "read", ability == ENCODING_READ ? "read" : "written",
			   encoding_names(ability));
	return found;
}

static enum postproc_dialect parse_dialect(struct argp_state *state, const char *name)
{
	if (!name || !strcmp(name, "sp-rtrace"))
		return DIALECT_COMPAT;
	if (strcmp(name, "none"))
		argp_error(state, "there is no dialect '%s'; --compat takes sp-rtrace or none", name);
	return DIALECT_OWN;
}

static void postproc_options_add_input(struct postproc_options *options, const char *path)
{
	ARRAY_GROW(options->reading.inputs, options->reading.input_capacity, options->reading.input_count);
	options->reading.inputs[options->reading.input_count++] = path;
}

/* Returns true if the value of -C is a mask; otherwise it is a list of names. */
static bool is_mask(const char *text)
{
	text += !strncmp(text, "0x", 2) ? 2 : 0;
	return *text && !text[strspn(text, "0123456789abcdefABCDEF")];
}

#define FLAG(key, member)                                                                                              \
	{                                                                                                              \
		key, offsetof(struct postproc_options, member), true                                                   \
	}

static const struct option_flag flags[] = {
	FLAG('a', prepare.remove_args),
	FLAG('c', compress),
	FLAG('l', leaks),
	FLAG('r', resolve),
	FLAG(OPT_STATS, stats),
	FLAG(OPT_EXPAND_EVENTS, expand_events),
	FLAG(OPT_WELL_FORMED, reading.expand.well_formed),
	FLAG(OPT_SHOW_FORMAT, show_format),
	FLAG(OPT_MPATROL_TABLE, mpatrol_table),
	FLAG(OPT_DUMP, dump),
	FLAG(OPT_FOLLOW, reading.follow),
	FLAG(OPT_CHECK_OPTIONS, checks_only),
};

/* Parses options that select calls. Returns false for any other option. */
static bool parse_selection(int key, char *arg, struct argp_state *state, struct postproc_options *options)
{
	switch (key) {
	case 'C':
		options->select.by_context = true;
		options->select.context_names = is_mask(arg) ? NULL : arg;
		options->select.context_mask =
			options->select.context_names ? 0 : (uint32_t)parse_mask(state, "-C", arg, UINT32_MAX);
		if (!*arg)
			argp_error(state, "-C needs names of contexts, like Request,Parse, or a mask");
		return true;
	case 'R':
		options->prepare.choose_resources = true;
		/* The name of a type may consist of hexadecimal digits ("fd"), so the value is a mask only if it begins
		 * with a digit from 0 to 9. */
		if (isdigit((unsigned char)*arg))
			options->prepare.resource_mask = parse_mask(state, "-R", arg, UINT64_MAX);
		else if (*arg)
			options->prepare.resource_types = arg;
		else
			argp_error(state, "-R needs types of resources, like memory,fd, or a mask");
		return true;
	case OPT_INCLUDE:
		options->reading.include_path = arg;
		return true;
	case OPT_EXCLUDE:
		options->reading.exclude_path = arg;
		return true;
	case OPT_CALL_ADDRESS:
		call_address_free(&options->call_address);
		if (!call_address_parse(arg, &options->call_address))
			argp_error(state,
				   "--call-address needs OBJECT:START+SIZE with hexadecimal "
				   "numbers, not '%s'",
				   arg);
		return true;
	case OPT_PID:
		options->prepare.pid = (uint32_t)postproc_options_number(state, "--pid", arg, UINT32_MAX);
		if (!options->prepare.pid)
			argp_error(state, "--pid needs a process's number, not '%s'", arg);
		return true;
	default:
		return false;
	}
}

/* Returns the path of an output; "-" for "stdout", because sp-rtrace and mptrace call standard output "stdout". */
static const char *postproc_options_output(const char *path)
{
	return strcmp(path, "stdout") ? named_files_output(path) : "-";
}

/* Parses options that choose how traces are read and how frames are named. Returns false for any other option. */
static bool parse_reading(int key, char *arg, struct argp_state *state, struct postproc_options *options)
{
	switch (key) {
	case OPT_INPUT_FORMAT:
		options->reading.input_encoding = parse_encoding(state, arg, ENCODING_READ);
		return true;
	case OPT_RAW_FORMAT:
		options->reading.layout_path = arg;
		options->reading.input_encoding = parse_encoding(state, "stacktrack", ENCODING_READ);
		return true;
	case OPT_SYSROOT:
		options->names.sysroot = options->select.sysroot = arg;
		return true;
	case OPT_DEBUG_PATH:
		options->names.debug_path = arg;
		return true;
	case OPT_DEBUGINFOD:
		options->names.debuginfod = true;
		return true;
	default:
		return false;
	}
}

static bool parse_output(int key, char *arg, struct argp_state *state, struct postproc_options *options)
{
	switch (key) {
	case 'i':
		postproc_options_add_input(options, arg);
		return true;
	case 'o':
		options->writing.output = postproc_options_output(arg);
		return true;
	case 'b':
		options->prepare.trim = true;
		options->prepare.depth = (uint32_t)postproc_options_number(state, "-b", arg, UINT32_MAX);
		return true;
	case 'z':
		options->writing.pack = true;
		options->writing.pack_kind = arg;
		return true;
	case 'f':
		options->views.export = export_find(arg);
		options->writing.output_encoding =
			options->views.export ? NULL : parse_encoding(state, arg, ENCODING_WRITE);
		return true;
	case 't':
		options->writing.output_encoding = parse_encoding(state, "text", ENCODING_WRITE);
		return true;
	case OPT_CYCLE_SIZE:
		options->writing.cycle_size = postproc_options_number(state, "--cycle-size", arg, UINT32_MAX);
		if (!options->writing.cycle_size)
			argp_error(state, "--cycle-size needs the number of entries of a cycle, not '%s'", arg);
		return true;
	case OPT_HATF_FILE:
		options->writing.hatf_path = postproc_options_output(arg);
		return true;
	case OPT_SIM_FILE:
		options->writing.sim_path = postproc_options_output(arg);
		return true;
	case OPT_COMPAT:
		/* stacktrack-2005 is a form of the XML of --expand-events, not a dialect of traces. */
		if (arg && !strcmp(arg, "stacktrack-2005"))
			options->reading.expand.pad_right = true;
		else
			options->writing.dialect = parse_dialect(state, arg);
		return true;
	case OPT_CPUS:
		options->dump_options.cpus = (uint32_t)postproc_options_number(state, "--cpus", arg, CPUS_MAX);
		return true;
	case OPT_DEVICES:
		options->dump_options.devices = (uint32_t)postproc_options_number(state, "--devices", arg, CPUS_MAX);
		return true;
	case OPT_ERROR_EXITCODE:
		options->error_exitcode = (int)postproc_options_number(state, "--error-exitcode", arg, 255);
		return true;
	case 'q':
		msg_set_quiet(true);
		return true;
	case 'd':
		if (!msg_set_debug(arg))
			argp_error(state, "-d needs DOMAIN or DOMAIN:LEVEL, not '%s'; domains are %s, levels 0 to %d",
				   arg, msg_debug_domains(), MSG_DEBUG_MAX);
		return true;
	default:
		return false;
	}
}

/* For completion: returns the values of an option that are not in the option table, but in tables of formats, views,
 * kinds and domains. Returns NULL for other options. */
static char *postproc_options_known_words(int key)
{
	const struct module *module;
	struct buf types = {0};

	switch (key) {
	case 'f':
		return xasprintf("%s %s", encoding_names(ENCODING_WRITE), export_names());
	case OPT_INPUT_FORMAT:
		return xstrdup(encoding_names(ENCODING_READ));
	case POSTPROC_OPT_REPORT:
		return report_view_names(" ");
	case 'd':
		return xstrdup(msg_debug_domains());
	case OPT_COMPAT:
		return xstrdup("sp-rtrace none stacktrack-2005");
	case OPT_PID:
		/* The value is the pid of a process in the trace, so running processes are not offered. */
		return xstrdup("");
	case 'R':
		for (size_t i = 0; (module = module_known(i)); i++)
			for (size_t j = 0; j < module->resource_count; j++)
				buf_printf(&types, "%s ", module->resources[j].type);
		buf_add_char(&types, '\0');
		return (char *)types.data;
	default:
		return NULL;
	}
}

static error_t postproc_option_parse(int key, char *arg, struct argp_state *state)
{
	struct postproc_options *options = state->input;

	given_option(&options->given, option_table, key, arg);
	if (option_flag_set(flags, ARRAY_SIZE(flags), key, options) || parse_output(key, arg, state, options))
		return 0;
	if (parse_selection(key, arg, state, options)) {
		option_words_add(&options->filters.words, option_table, key, arg);
		options->filters.chooses_calls |= key != OPT_PID;
		return 0;
	}
	if (parse_reading(key, arg, state, options)) {
		option_words_add(&options->views.reading, option_table, key, arg);
		return 0;
	}
	switch (key) {
	case ARGP_KEY_INIT:
		options->views.given = options->filters.given = &options->given;
		state->child_inputs[0] = &options->views;
		state->child_inputs[1] = &options->filters;
		return 0;
	case 's':
		if (!group_order_parse(arg, &options->order))
			argp_error(state, "-s takes size, size-asc, count or count-asc, not '%s'", arg);
		return 0;
	case OPT_SHOW_LEAK_KINDS:
		if (!leak_kinds_parse(arg, &options->leak_kinds))
			argp_error(state,
				   "--show-leak-kinds takes definite, indirect, possible and reachable, with commas "
				   "between, or all, or none, not '%s'",
				   arg);
		return 0;
	case 'h':
		argp_state_help(state, stdout, ARGP_HELP_STD_HELP);
		return 0;
	case OPT_LIST_OPTIONS:
		completion_options(state->root_argp, postproc_options_known_words);
		exit(EXIT_SUCCESS);
	case ARGP_KEY_ARG:
		postproc_options_add_input(options, arg);
		return 0;
	case ARGP_KEY_END:
		postproc_options_check(state, options);
		if (!options->reading.input_count)
			postproc_options_add_input(options, "-");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

void postproc_options_parse(int argc, char **argv, struct postproc_options *options)
{
	static const struct argp_child children[] = {
		{.argp = &postproc_view_argp, .group = 1}, {.argp = &postproc_filter_argp, .group = 1}, {0}};
	static const struct argp argp = {
		.options = option_table,
		.parser = postproc_option_parse,
		.children = children,
		.args_doc = "[FILE|-]...",
		.doc = "Reads traces of functrace, sp-rtrace and functracer: prints them, filters "
		       "them, finds leaks, "
		       "groups and names calls. Several traces are shown one after the other.\v"
		       "Examples:\n"
		       "  functrace-postproc -l -c -r 1234-0.rtrace      leaks by stack, with "
		       "names\n"
		       "  functrace-postproc -f rtrace -o t.rtrace t.txt text to binary\n"
		       "\n"
		       "Exit status: 0; 1 when a file could not be read to its end or written, is damaged, or "
		       "a filter matches nothing; 2 for wrong usage; with --error-exitcode=N: N if there are leaks.",
	};

	*options = (struct postproc_options){.leak_kinds = LEAK_KINDS_DEFAULT};
	argp_err_exit_status = EXIT_USAGE;
	/* getopt's messages begin with argv[0]; without the folder they look like the other messages. */
	argv[0] = (char *)(uintptr_t)path_name(argv[0]);
	help_columns();
	argp_parse(&argp, argc, argv, 0, NULL, options);
	given_free(&options->given);
	options->prepare.resolve = options->resolve;
}

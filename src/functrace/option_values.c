#include "config.h"
#include "functrace/option_values.h"
#include "args/args.h"
#include "base/buf.h"
#include "base/msg.h"
#include "proc/proc.h"
#include "proc/process_search.h"
#include "base/time_units.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX 256

int options_shown(struct parse *parse)
{
	parse->status = 0;
	if (fflush(stdout) || ferror(stdout)) {
		msg_error("cannot write standard output: %s", strerror(errno));
		parse->status = 1;
	}
	return ECANCELED;
}

int usage_error(struct parse *parse, const char *fmt, ...)
{
	va_list args;
	char text[3000];

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	msg_error("%s\nTry 'functrace --help' for more information.", text);
	parse->status = STATUS_USAGE;
	return EINVAL;
}

/* Returns the next item of a comma-separated list, which the caller frees, and moves *list after it. Returns NULL at
 * the end of the list. */
static char *list_next(const char **list)
{
	if (!*list)
		return NULL;
	const size_t length = strcspn(*list, ",");
	char *const item = xstrndup(*list, length);

	*list = (*list)[length] ? *list + length + 1 : NULL;
	return item;
}

int option_library(struct parse *parse, const char *name)
{
	struct settings *const s = parse->settings;

	if (!*name)
		return usage_error(parse, "-L: an empty name; give parts of the paths of "
					  "libraries: -L libc.so,libfoo");
	ARRAY_GROW(s->traced.libraries, parse->library_capacity, s->traced.library_count);
	s->traced.libraries[s->traced.library_count++] = xstrdup(name);
	return 0;
}

static bool parse_range(const char *text, struct size_range *range)
{
	const char *const dash = strchr(text, '-');

	if (!dash) {
		range->high = 0;
		return parse_number(text, UINT64_MAX, &range->low) && (range->high = range->low, true);
	}
	char *const low = xstrndup(text, (size_t)(dash - text));
	bool good = parse_number(low, UINT64_MAX, &range->low);

	free(low);
	range->high = UINT64_MAX;
	if (good && dash[1])
		good = parse_number(dash + 1, UINT64_MAX, &range->high);
	return good && range->low <= range->high;
}

int option_stack_sizes(struct parse *parse, const char *text)
{
	struct settings *const s = parse->settings;
	struct size_range range;

	if (!parse_range(text, &range))
		return usage_error(parse, "-M: '%s' is no size or range of sizes; give them like -M 8,100-200,4096-",
				   text);
	ARRAY_GROW(s->calls.stack_sizes, parse->stack_size_capacity, s->calls.stack_size_count);
	s->calls.stack_sizes[s->calls.stack_size_count++] = range;
	return 0;
}

int option_list(struct parse *parse, const char *list, int (*add)(struct parse *, const char *))
{
	char *item;
	int error = 0;

	while (!error && (item = list_next(&list))) {
		error = add(parse, item);
		free(item);
	}
	return error;
}

static int add_pid(struct parse *parse, const char *text, pid_t pid)
{
	struct settings *const s = parse->settings;

	for (size_t i = 0; i < s->target.pid_count; i++)
		if (s->target.pids[i] == pid)
			return usage_error(parse, "-t %s is given twice", text);
	ARRAY_GROW(s->target.pids, parse->pid_capacity, s->target.pid_count);
	s->target.pids[s->target.pid_count++] = pid;
	return 0;
}

#define CANDIDATES    16
#define COMMAND_WIDTH 60

static bool descends_from(pid_t pid, pid_t ancestor)
{
	while (pid > 1 && pid != ancestor)
		pid = proc_parent(pid);
	return pid == ancestor;
}

/* Returns the process of which all others are descendants; returns 0 if there is none. */
static pid_t common_ancestor(const pid_t *pids, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		size_t below = 0;

		while (below < count && descends_from(pids[below], pids[i]))
			below++;
		if (below == count)
			return pids[i];
	}
	return 0;
}

static int too_many(struct parse *parse, const char *name, const pid_t *pids, size_t count, pid_t ancestor)
{
	struct buf list = {0};

	for (size_t i = 0; i < count && i < CANDIDATES; i++) {
		char *const command = process_command(pids[i], COMMAND_WIDTH);

		buf_printf(&list, "\n%8d  %s", pids[i], command);
		free(command);
	}
	if (count > CANDIDATES)
		buf_printf(&list, "\n          and %zu more", count - CANDIDATES);
	if (ancestor)
		buf_printf(&list, "\nAll of them: -t %d --children", ancestor);
	const int error = usage_error(parse, "-t %s: %zu processes have this name; give the id of one:%s", name, count,
				      buf_str(&list));

	buf_free(&list);
	return error;
}

/* Reports a process of another user. The exit status is 1, as it is if such a process is given by its pid. It is not 2,
 * because the command line is correct. */
static int belongs_to_another(struct parse *parse, const char *name, pid_t pid)
{
	msg_error("-t %s: process %d has that name, and belongs to user %ld. Run functrace as that user, or as root.",
		  name, pid, proc_owner(pid));
	parse->status = 1;
	return EINVAL;
}

static int target_name(struct parse *parse, const char *name)
{
	size_t count;
	pid_t *const pids = processes_named(name, &count);
	const pid_t ancestor = common_ancestor(pids, count);
	pid_t stranger;
	int error;

	if (!count && (stranger = process_of_another_named(name)))
		error = belongs_to_another(parse, name, stranger);
	else if (!count)
		error = usage_error(parse,
				    "-t %s: this is no process id, and no process %s; 'pgrep -af %s' looks into whole "
				    "command lines",
				    name, strchr(name, '/') ? "runs that program" : "has that name", name);
	else if (count > 1 && !(ancestor && parse->settings->target.children))
		error = too_many(parse, name, pids, count, ancestor);
	else
		error = add_pid(parse, name, ancestor);
	free(pids);
	return error;
}

static int target_of_text(struct parse *parse, const char *text)
{
	uint64_t pid;

	if (text[strspn(text, "0123456789, \t\n")] == '\0' && text[strcspn(text, ", \t\n")] &&
	    isdigit((unsigned char)text[0]))
		return usage_error(parse, "-t %s: give each process its own -t: -t PID -t PID", text);
	if (*text && *text != '-' && text[strspn(text, "0123456789")])
		return target_name(parse, text);
	if (!parse_number(text, INT_MAX, &pid) || !pid)
		return usage_error(parse, "-t %s: this is no process id; 'pgrep -a NAME' lists them", text);
	return add_pid(parse, text, (pid_t)pid);
}

int option_target(struct parse *parse, const char *text)
{
	ARRAY_GROW(parse->targets, parse->target_capacity, parse->target_count);
	parse->targets[parse->target_count++] = text;
	return 0;
}

int option_targets(struct parse *parse)
{
	int error = 0;

	for (size_t i = 0; i < parse->target_count && !error; i++)
		error = target_of_text(parse, parse->targets[i]);
	return error;
}

/* Reads a number with up to nine digits after the point. *value: the number in billionths. */
static bool parse_billionths(const char *text, size_t length, uint64_t *value)
{
	char *const digits = xstrndup(text, length), *const point = strchr(digits, '.');
	uint64_t whole = 0, part = 0;
	bool good = true;

	if (point) {
		*point = '\0';
		const size_t places = strlen(point + 1);

		good = places <= 9 && parse_number(point + 1, UINT64_MAX, &part);
		for (size_t i = places; i < 9; i++)
			part *= 10;
	}
	/* In ".5" there are no digits before the point. */
	good = good && ((point == digits) || parse_number(digits, 1000000, &whole));
	free(digits);
	*value = whole * 1000000000u + part;
	return good && *value;
}

bool parse_duration(const char *text, uint64_t *ns)
{
	static const struct {
		const char *name;
		uint64_t seconds;
	} units[] = {{"", 1}, {"s", 1}, {"m", 60}, {"h", 3600}, {"d", SECONDS_PER_DAY}};
	const size_t length = strspn(text, "0123456789.");

	if (!parse_billionths(text, length, ns))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(units); i++)
		if (!strcmp(text + length, units[i].name)) {
			*ns = mul_saturated(*ns, units[i].seconds);
			return true;
		}
	return false;
}

int option_duration(struct parse *parse, const char *text)
{
	if (parse_duration(text, &parse->settings->target.duration_ns))
		return 0;
	return usage_error(parse, "--duration=%s: give a time in seconds, or with its unit: 10, 10s, 5m, 1h", text);
}

int option_symbol_address(struct parse *parse, const char *text)
{
	struct settings *const s = parse->settings;
	const char *const sign = strrchr(text, '=');
	uint64_t address;

	if (!sign || sign == text || !parse_number_hex(sign + 1, UINT64_MAX, &address))
		return usage_error(parse,
				   "--symbol-address=%s: give a name and the function's address in the "
				   "program's file, like "
				   "--symbol-address=malloc=0x401a30",
				   text);
	ARRAY_GROW(s->traced.symbols, parse->symbol_capacity, s->traced.symbol_count);
	s->traced.symbols[s->traced.symbol_count++] =
		(struct manual_symbol){.name = xstrndup(text, (size_t)(sign - text)), .address = address};
	return 0;
}

static const struct {
	const char *name;
	int number;
	bool refused; /* the signal is used by functrace itself, cannot be caught, or reports a crash */
} signals[] = {
	{"USR1", SIGUSR1, false},     {"USR2", SIGUSR2, false}, {"WINCH", SIGWINCH, false}, {"URG", SIGURG, false},
	{"ALRM", SIGALRM, false},     {"IO", SIGIO, false},     {"POLL", SIGIO, false},     {"PROF", SIGPROF, false},
	{"VTALRM", SIGVTALRM, false}, {"PWR", SIGPWR, false},   {"HUP", SIGHUP, true},      {"INT", SIGINT, true},
	{"QUIT", SIGQUIT, true},      {"TERM", SIGTERM, true},  {"KILL", SIGKILL, true},    {"STOP", SIGSTOP, true},
	{"TSTP", SIGTSTP, true},      {"CONT", SIGCONT, true},  {"TTIN", SIGTTIN, true},    {"TTOU", SIGTTOU, true},
	{"CHLD", SIGCHLD, true},      {"PIPE", SIGPIPE, true},  {"SEGV", SIGSEGV, true},    {"BUS", SIGBUS, true},
	{"ILL", SIGILL, true},        {"FPE", SIGFPE, true},    {"TRAP", SIGTRAP, true},    {"ABRT", SIGABRT, true},
	{"IOT", SIGABRT, true},       {"SYS", SIGSYS, true},    {"XCPU", SIGXCPU, true},    {"XFSZ", SIGXFSZ, true},
};

/* Returns the number of the signal RTMIN, RTMIN+N, RTMAX or RTMAX-N; returns 0 for another name. */
static int realtime_signal(const char *name)
{
	const bool from_min = !strncasecmp(name, "RTMIN", 5);
	uint64_t distance = 0;

	if (!from_min && strncasecmp(name, "RTMAX", 5))
		return 0;
	if (name[5] &&
	    (name[5] != (from_min ? '+' : '-') || !parse_number(name + 6, (uint64_t)(SIGRTMAX - SIGRTMIN), &distance)))
		return 0;
	return from_min ? SIGRTMIN + (int)distance : SIGRTMAX - (int)distance;
}

int option_toggle_signal(struct parse *parse, const char *text)
{
	const char *const name = strncasecmp(text, "SIG", 3) ? text : text + 3;
	int number = realtime_signal(name);
	uint64_t value;

	if (!number && parse_number(text, (uint64_t)SIGRTMAX, &value))
		number = (int)value;
	for (size_t i = 0; i < ARRAY_SIZE(signals); i++) {
		if (strcasecmp(name, signals[i].name) && number != signals[i].number)
			continue;
		if (signals[i].refused)
			return usage_error(parse,
					   "-S %s: this signal has another meaning and cannot "
					   "pause tracing; take "
					   "USR1 or USR2",
					   text);
		number = signals[i].number;
	}
	/* The C library reserves signals 32 and 33. */
	if (number <= 0 || number >= _NSIG || (number > SIGSYS && number < SIGRTMIN))
		return usage_error(parse,
				   "-S %s: this is no signal. -S takes the signal that pauses and "
				   "resumes tracing (-S USR1); "
				   "functracer's -S, without a value, is not needed any more",
				   text);
	parse->settings->target.toggle_signal = number;
	parse->settings->target.toggle_name = name;
	return 0;
}

int option_depth(struct parse *parse, const char *text)
{
	uint64_t depth;

	if (!parse_number(text, DEPTH_MAX, &depth))
		return usage_error(parse, "-b %s: the depth of stacks is a number from 0 (none) to %d", text,
				   DEPTH_MAX);
	parse->settings->calls.depth = (unsigned)depth;
	return 0;
}

int option_args_limit(struct parse *parse, const char *text)
{
	uint64_t limit;

	if (!parse_number(text, ARGS_LIMIT_MAX, &limit) || !limit)
		return usage_error(parse, "--args-limit=%s: give the number of bytes to show of a string, from 1 to %d",
				   text, ARGS_LIMIT_MAX);
	parse->settings->calls.args_limit = limit;
	return 0;
}

int option_cycle_size(struct parse *parse, const char *text)
{
	uint64_t size;

	if (!parse_number(text, UINT32_MAX, &size) || !size)
		return usage_error(parse, "--cycle-size=%s: a cycle has 1 to %u entries", text, UINT32_MAX);
	parse->settings->trace.cycle_size = size;
	return 0;
}

int option_probes_ring(struct parse *parse, const char *text)
{
	uint64_t mib;

	if (!parse_number(text, RING_MIB_MAX, &mib) || mib < RING_MIB_NORMAL || mib & (mib - 1))
		return usage_error(parse, "--probes-ring=%s: give a number of MiB: 16, 32 or 64", text);
	parse->settings->traced.ring_mib = mib;
	return 0;
}

int option_format(struct parse *parse, const char *name)
{
	const struct encoding *const encoding = encoding_find(name);
	const char *const known = encoding_names(ENCODING_TRACE);

	if (!encoding)
		return usage_error(parse,
				   "-f %s: there is no such format; known are: %s. (strace's -f is not "
				   "needed: functrace follows "
				   "forks unless -F is given.)",
				   name, known);
	if (!encoding_can(encoding, ENCODING_WRITE))
		return usage_error(parse, "-f %s: this format can only be read; functrace can write: %s", name, known);
	if (!encoding_can(encoding, ENCODING_TRACE))
		return usage_error(parse,
				   "-f %s: this format cannot be written while a program runs. Trace in one of these: "
				   "%s; then 'functrace-postproc -f %s FILE' converts the trace",
				   name, known, name);
	parse->settings->trace.encoding = encoding;
	return 0;
}

int debug_error(struct parse *parse, const char *blank, const char *spec)
{
	return usage_error(parse,
			   "-d%s%s: give domains and levels in the same word, like -dall:1 or "
			   "--debug=process:1,tracer:1; domains are %s, levels 0 to %d",
			   blank, spec, msg_debug_domains(), MSG_DEBUG_MAX);
}

int option_debug(struct parse *parse, const char *spec)
{
	return msg_set_debug(spec) ? 0 : debug_error(parse, "", spec);
}

int option_word(struct parse *parse, const char *option, const char *value, const char *known)
{
	return strcmp(value, known) ? usage_error(parse, "--%s=%s: the only value is %s", option, value, known) : 0;
}

int option_probes(struct parse *parse, const char *name)
{
	if (!strcmp(name, "auto"))
		parse->settings->traced.probes = PROBES_AUTO;
	else if (!strcmp(name, "breakpoints"))
		parse->settings->traced.probes = PROBES_BREAKPOINTS;
	else if (!strcmp(name, "kernel"))
		parse->settings->traced.probes = PROBES_KERNEL;
	else
		return usage_error(parse, "--probes=%s: the probes are auto, kernel and breakpoints", name);
	return 0;
}

int option_unwinder(struct parse *parse, const char *name)
{
	if (!strcmp(name, "rows"))
		parse->settings->calls.unwinder = UNWIND_ROWS;
	else if (!strcmp(name, "libunwind"))
		parse->settings->calls.unwinder = UNWIND_LIBUNWIND;
	else
		return usage_error(parse, "--unwinder=%s: the unwinders are rows and libunwind", name);
	return 0;
}

int option_cpu(struct parse *parse, const char *placement)
{
	/* in the order of enum placement, from CPU_AUTO on */
	static const char *const names[] = {"auto", "pin", "free"};
	const size_t found = word_find(names, ARRAY_SIZE(names), placement);

	if (found < ARRAY_SIZE(names)) {
		parse->settings->cpu = (enum placement)(CPU_AUTO + found);
		return 0;
	}
	return usage_error(
		parse,
		"--cpu=%s: known are auto (a busy program and functrace share one CPU if the program cannot notice "
		"it), pin (they always share one) and free (they never do)",
		placement);
}

#include "config.h"
#include "functrace/option_scan.h"
#include "trace/encoding.h"
#include "trace/event.h"
#include "base/time_units.h"

#include <stdlib.h>
#include <string.h>

#define TOP_NORMAL      10
#define INTERVAL_NORMAL NS_PER_SECOND
#define COUNT_NORMAL    2 /* with --interval, without --count: a second scan shows whether blocks are still lost */

enum scan_option {
	OPT_SCAN = 0x900,
	OPT_WHY,
	OPT_CORE,
	OPT_SYSROOT,
};

static const struct argp_option options[] = {
	{NULL, 0, NULL, 0, "Scan:", 0},
	{"scan", OPT_SCAN, "text|json|off", OPTION_ARG_OPTIONAL,
	 "with -t alone: find the lost blocks of the process in one pause; nothing is traced. With a program or "
	 "-e: find them when the process ends; --report does so too, except with --scan=off",
	 0},
	{"core", OPT_CORE, "FILE", 0, "with --scan: scan a core file, not a process", 0},
	{"sysroot", OPT_SYSROOT, "DIR", 0, "with --core: look below DIR for the files that the process had mapped", 0},
	{"why", OPT_WHY, "ADDRESS", 0,
	 "with --scan: show the pointers that keep the block at this address; may be repeated", 0},
	{0},
};

static error_t option_scan_parse(int key, char *arg, struct argp_state *state)
{
	struct parse *parse = state->input;
	struct scan_settings *scan = &parse->settings->scan;
	uint64_t address;

	given_option(&parse->given, options, key, arg);
	switch (key) {
	case OPT_SCAN:
		if (arg && strcmp(arg, "text") && strcmp(arg, "json") && strcmp(arg, "off"))
			return usage_error(parse, "--scan=%s: known are text, json and off (no scan)", arg);
		scan->is_off = arg && !strcmp(arg, "off");
		scan->is_wanted = !scan->is_off;
		scan->is_json = arg && !strcmp(arg, "json");
		return 0;
	case OPT_CORE:
		if (scan->core)
			return usage_error(parse, "--core=%s: one core file is given already, %s; give one at a time",
					   arg, scan->core);
		scan->core = arg;
		return 0;
	case OPT_SYSROOT:
		if (!path_is_folder(arg))
			return usage_error(parse, "--sysroot=%s: there is no such folder", arg);
		scan->sysroot = arg;
		return 0;
	case OPT_WHY:
		if (!parse_number_hex(arg, UINT64_MAX, &address))
			return usage_error(parse, "--why=%s: give the address of a block, as --scan shows it: 0x55d0c0",
					   arg);
		if (!address)
			return usage_error(
				parse, "--why=%s: no block has the address 0; give one as --scan shows it: 0x55d0c0",
				arg);
		if (!arg[strspn(arg, "0123456789")])
			return usage_error(parse,
					   "--why=%s: addresses are hexadecimal: 0x%s, or 0x%llx if that is decimal",
					   arg, arg, strtoull(arg, NULL, 10));
		ARRAY_GROW(scan->why, parse->why_capacity, scan->why_count);
		scan->why[scan->why_count++] = address;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

const struct argp option_scan_argp = {.options = options, .parser = option_scan_parse};

/* Returns the value of an option that is stored in the form "--top=5"; returns NULL if it is another option. */
static const char *option_scan_value_of(const char *option, const char *name)
{
	const size_t length = strlen(name);

	return !strncmp(option, name, length) && option[length] == '=' ? option + length + 1 : NULL;
}

static int option_scan_take_number(struct parse *parse, const char *name, const char *text, uint64_t *number)
{
	if (!parse_number(text, UINT32_MAX, number) || !*number)
		return usage_error(parse, "%s=%s: give a number from 1 on", name, text);
	return 0;
}

static int take_kept(struct parse *parse, const char *option)
{
	struct scan_settings *scan = &parse->settings->scan;
	const char *value;

	if ((value = option_scan_value_of(option, "--count")))
		return option_scan_take_number(parse, "--count", value, &scan->count);
	if ((value = option_scan_value_of(option, "--top")))
		return option_scan_take_number(parse, "--top", value, &scan->top);
	if (option_scan_value_of(option, "--error-exitcode"))
		return 0;
	if (!(value = option_scan_value_of(option, "--interval")))
		return usage_error(parse, "%s applies only to the report of a trace, and --scan writes none", option);
	if (!parse_duration(value, &scan->interval_ns))
		return usage_error(parse, "--interval=%s: give a time in seconds, or with its unit: 0.5, 10s, 5m, 1h",
				   value);
	return 0;
}

bool option_scan_with_tracing(const struct settings *s)
{
	return s->scan.is_wanted && !s->scan.core &&
	       (s->target.argv || s->report.is_wanted || s->traced.module_count || s->traced.chosen);
}

bool option_scan_has_heap(const struct settings *s)
{
	for (size_t i = 0; i < s->traced.module_count; i++)
		for (size_t k = 0; k < s->traced.modules[i]->resource_count; k++)
			if (is_heap_type(s->traced.modules[i]->resources[k].type))
				return true;
	return false;
}

void option_scan_beside(struct settings *s, bool is_compat)
{
	struct scan_settings *const scan = &s->scan;

	/* A watch has scanned the heap itself. */
	scan->is_traced = scan->is_wanted ||
			  (s->report.is_wanted && !s->watch.is_wanted && !scan->is_off && option_scan_has_heap(s) &&
			   encoding_can(s->trace.encoding, ENCODING_SCANS) && !is_compat);
	scan->is_wanted = false;
}

int option_scan_alone(struct parse *parse)
{
	struct settings *s = parse->settings;
	struct scan_settings *scan = &s->scan;
	int error = 0;

	for (size_t i = 0; i < s->report.option_count && !error; i++)
		error = take_kept(parse, s->report.options[i]);
	if (error)
		return error;
	if (scan->core && (scan->count || scan->interval_ns))
		return usage_error(parse,
				   "--interval and --count are for a process that runs; a core file does not change");
	scan->count = scan->count ? scan->count : scan->interval_ns ? COUNT_NORMAL : 1;
	scan->interval_ns = scan->interval_ns ? scan->interval_ns : INTERVAL_NORMAL;
	scan->top = scan->top ? scan->top : TOP_NORMAL;
	scan->error_exitcode = s->report.error_exitcode;
	return 0;
}

void option_scan_free(struct settings *settings)
{
	free(settings->scan.why);
}

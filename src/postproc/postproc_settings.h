/* What the command line of functrace-postproc asks for. */
#ifndef FT_POSTPROC_POSTPROC_SETTINGS_H
#define FT_POSTPROC_POSTPROC_SETTINGS_H

#include "analysis/leaks/call_groups.h"
#include "analysis/leaks/leak_kinds.h"
#include "analysis/select/prepare.h"
#include "analysis/select/select.h"
#include "cli/conflicts.h"
#include "symbols/names/names.h"
#include "trace/compression_kinds.h"
#include "trace/reader.h"
#include "trace/writer.h"
#include "postproc/filter_options.h"
#include "postproc/view_options.h"
#include "postproc/stacktrack_expand.h"

enum { EXIT_USAGE = 2 };

enum postproc_dialect { DIALECT_AS_INPUT, DIALECT_OWN, DIALECT_COMPAT };

/* The inputs, and how they are read. */
struct reading_options {
	const char **inputs; /* paths of the inputs, at least one; "-" is standard input */
	size_t input_count, input_capacity;
	const struct encoding *input_encoding; /* NULL: recognise the format */
	const char *layout_path;               /* --raw-format; NULL: StackTrack entries have functrace's layout */
	struct stacktrack_format *layout;      /* the description that was read from layout_path */
	bool follow;
	const char *include_path, *exclude_path;
	struct expand_options expand;
};

/* Where and how the output is written. */
struct writing_options {
	const char *output; /* a file, a folder, or NULL or "-" for standard output */
	const struct encoding *output_encoding;
	uint64_t cycle_size;   /* see struct writer_options; 0 for no cycles */
	bool pack;             /* -z is given */
	const char *pack_kind; /* the value of -z; NULL if -z has no value */
	enum packing packing;  /* compression of the output, chosen by -z and the output's name */
	enum postproc_dialect dialect;
	const char *hatf_path, *sim_path; /* NULL if the output is not wanted */
};

struct postproc_options {
	struct given given; /* the given options, and facts about them, for detecting conflicts */
	struct reading_options reading;
	struct writing_options writing;
	bool dump;
	struct dump_options dump_options;
	unsigned leak_kinds; /* set of kinds (analysis/leaks/leak_kinds.h) */
	bool leaks, compress, resolve, stats;
	enum group_order order;
	int error_exitcode; /* 0 if the option is not given */
	struct prepare_options prepare;
	struct select_options select;
	bool mpatrol_table;
	bool expand_events, show_format;
	bool checks_only; /* --check-options: only check the command line */
	struct call_address call_address;
	struct names_options names;
	struct view_options views;
	struct postproc_filters filters;
};

/* Returns true if an output of mpatrol's programs is wanted instead of a trace. */
static inline bool postproc_wants_mpatrol(const struct postproc_options *options)
{
	return options->mpatrol_table || options->writing.hatf_path || options->writing.sim_path;
}

#endif

/* The command line of functrace-postproc. */
#ifndef FT_POSTPROC_POSTPROC_OPTIONS_H
#define FT_POSTPROC_POSTPROC_OPTIONS_H

#include "analysis/leaks/compress.h"
#include "analysis/leaks/leak_kinds.h"
#include "analysis/select/prepare.h"
#include "analysis/select/select.h"
#include "cli/conflicts.h"
#include "symbols/names/names.h"
#include "trace/compression.h"
#include "trace/reader.h"
#include "trace/writer.h"
#include "postproc/filter_options.h"
#include "postproc/view_options.h"
#include "postproc/stacktrack_expand.h"

enum { EXIT_USAGE = 2 };

enum postproc_dialect { DIALECT_AS_INPUT, DIALECT_OWN, DIALECT_COMPAT };

struct postproc_options {
	struct given given;  /* all options, for the conflicts between them */
	const char **inputs; /* at least one; "-": stdin */
	size_t input_count, input_capacity;
	const char *output;                    /* NULL or "-": stdout; a folder */
	const struct encoding *input_encoding; /* NULL: recognised */
	const struct encoding *output_encoding;
	const char *layout_path;          /* --raw-format; NULL: the entries are laid out as functrace's */
	struct stacktrack_format *layout; /* what is described there */
	uint64_t cycle_size;              /* writer_options; 0: no cycles */
	bool pack;                        /* -z */
	const char *pack_kind;            /* its value; NULL none */
	enum packing packing;             /* what follows for the output */
	enum postproc_dialect dialect;
	bool follow;
	bool dump;
	struct dump_options dump_options;
	unsigned leak_kinds; /* analysis/leaks/leak_kinds.h */
	bool leaks, compress, resolve, stats;
	enum group_order order;
	int error_exitcode; /* 0: none */
	struct prepare_options prepare;
	struct select_options select;
	const char *include_path, *exclude_path;
	bool mpatrol_table;
	bool expand_events, show_format;
	bool checks_only; /* the command line is looked at, and nothing else is done */
	struct expand_options expand;
	const char *hatf_path, *sim_path; /* NULL: not wanted */
	struct call_address call_address;
	struct names_options names;
	struct view_options views;
	struct postproc_filters filters;
};

/* Whether what mpatrol's programs show of a trace is wanted instead of it. */
static inline bool postproc_wants_mpatrol(const struct postproc_options *options)
{
	return options->mpatrol_table || options->hatf_path || options->sim_path;
}

/* Ends the program with EXIT_USAGE and a message on wrong usage, with 0 after --help and --version.
 */
void postproc_options_parse(int argc, char **argv, struct postproc_options *options);

#endif

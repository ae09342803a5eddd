/* The encodings: the trace formats that can be chosen, and what each of them can do.
 *
 * Other rooms ask what a format can do, and never which format it is. */
#ifndef FT_TRACE_ENCODING_H
#define FT_TRACE_ENCODING_H

#include <stdbool.h>

struct encoding;

/* Bits: what an encoding can do. */
enum encoding_ability {
	ENCODING_READ = 1,   /* traces of this format can be read */
	ENCODING_WRITE = 2,  /* they can be written */
	ENCODING_STREAM = 4, /* they can be written record by record, as the tracer does, without waiting for the end */
	ENCODING_NAMES = 8,  /* the output has a place for the names of functions (-r) */
	ENCODING_SEVERAL_PROCESSES = 16, /* one trace holds any number of processes; without it, one */
	ENCODING_COMPAT = 32,            /* has a second dialect, that of the sp-rtrace 2.0 tools */
	ENCODING_COMPAT_LAYOUT = 64,     /* in that dialect the declarations come before the calls */
	ENCODING_MONOTONIC = 128,        /* times are those of the monotonic clock, not of the day */
	ENCODING_BINARY = 256,           /* not for a terminal */
	ENCODING_AREAS = 512,            /* has a place for the areas of the heap */
	ENCODING_PROCESS = 1024,         /* has a place for command line, parent and open files */
	ENCODING_DUMP = 2048,            /* its messages can be shown: reader_dump() */
	ENCODING_COMMENT = 4096,         /* lines that begin with "# " are no records */
	ENCODING_CYCLES = 8192,          /* a trace can be read from the middle on: writer_options.cycle_size */
	ENCODING_SCANS =
		16384, /* has a place for blocks that scans find lost; its second dialect only for heap records */
	ENCODING_RESIDENT = 32768, /* has a place for resident memory; its second dialect has none */
	ENCODING_TRACE = ENCODING_WRITE | ENCODING_STREAM, /* what the tracer needs */
};

/* Returns the encoding of that name ("rtrace", "text", ...), or NULL. */
const struct encoding *encoding_find(const char *name);
/* Returns the second dialect of an encoding, as a separate encoding with the same name; NULL if the encoding lacks
 * ENCODING_COMPAT. */
const struct encoding *encoding_compat(const struct encoding *encoding);
/* Returns whether the encoding has all of these abilities. */
bool encoding_can(const struct encoding *encoding, unsigned abilities);
/* Returns the names of the encodings that have all of these abilities (0: of all encodings), separated by ", ", for
 * messages and --help; "none" if there are none. Valid until the next call. */
const char *encoding_names(unsigned abilities);
const char *encoding_name(const struct encoding *encoding);
/* Returns the suffix of the encoding's files: ".rtrace", ".rtrace.txt". */
const char *encoding_suffix(const struct encoding *encoding);
/* Writes the file that belongs beside a trace, if this format has one: the names of what its messages contain as
 * numbers. The file's name is that of the trace with ENCODING_MAP_SUFFIX; it replaces an existing file. Returns 0 or
 * -errno. */
#define ENCODING_MAP_SUFFIX ".map"
int encoding_write_map(const struct encoding *encoding, const char *trace_path);

#endif

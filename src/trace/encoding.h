/* The encodings: the trace formats that can be chosen, and what each of them can do.
 *
 * Other rooms never ask which format it is, only what it can do. */
#ifndef FT_TRACE_ENCODING_H
#define FT_TRACE_ENCODING_H

#include <stdbool.h>

struct encoding;

/* Bits. */
enum encoding_ability {
	ENCODING_READ = 1,   /* traces of this format are read */
	ENCODING_WRITE = 2,  /* they are written */
	ENCODING_STREAM = 4, /* written record by record, as the tracer does: nothing has to wait for the end */
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
	ENCODING_SCANS = 16384,    /* has a place for what scans have found lost; of the second dialect, for the heap */
	ENCODING_RESIDENT = 32768, /* has a place for resident memory; its second dialect has none */
	ENCODING_TRACE = ENCODING_WRITE | ENCODING_STREAM, /* what the tracer needs */
};

/* The encoding of that name ("rtrace", "text", ...), or NULL. */
const struct encoding *encoding_find(const char *name);
/* The second dialect of an encoding, as an encoding of its own, which has the same name; NULL: it lacks
 * ENCODING_COMPAT. */
const struct encoding *encoding_compat(const struct encoding *encoding);
/* Whether it has all of these abilities. */
bool encoding_can(const struct encoding *encoding, unsigned abilities);
/* The names of those that have all of these abilities (0: of all), separated by ", ", for messages and --help; "none"
 * if there are none. Valid until the next call. */
const char *encoding_names(unsigned abilities);
const char *encoding_name(const struct encoding *encoding);
/* ".rtrace", ".rtrace.txt": how its files end. */
const char *encoding_suffix(const struct encoding *encoding);
/* Writes the file that belongs beside a trace of this format, if one does: the names of what its messages give numbers.
 * It is named as the trace is, with ENCODING_MAP_SUFFIX behind, and replaces what has that name. 0 or -errno. */
#define ENCODING_MAP_SUFFIX ".map"
int encoding_write_map(const struct encoding *encoding, const char *trace_path);

#endif

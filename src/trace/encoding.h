/* The encodings: the trace formats that a user can choose, and the abilities of each.
 *
 * Code outside of this folder asks for an ability, never for the name of a format. */
#ifndef FT_TRACE_ENCODING_H
#define FT_TRACE_ENCODING_H

#include <stdbool.h>

struct encoding;

/* Abilities of an encoding, as bits. */
enum encoding_ability {
	ENCODING_READ = 1,               /* traces of this format can be read */
	ENCODING_WRITE = 2,              /* traces of this format can be written */
	ENCODING_STREAM = 4,             /* records can be written while the program runs, as the tracer does */
	ENCODING_NAMES = 8,              /* the format has a place for the names of functions (-r) */
	ENCODING_SEVERAL_PROCESSES = 16, /* one trace can contain several processes */
	ENCODING_COMPAT = 32,            /* the format has a second dialect, for the sp-rtrace 2.0 tools */
	ENCODING_COMPAT_LAYOUT = 64,     /* in the second dialect all declarations precede the calls */
	ENCODING_MONOTONIC = 128,        /* times are from CLOCK_MONOTONIC, not times of the day */
	ENCODING_BINARY = 256,           /* the format is binary, so it is not written to a terminal */
	ENCODING_AREAS = 512,            /* the format has a place for the areas of the heap */
	ENCODING_PROCESS = 1024,         /* the format has a place for command line, parent and open files */
	ENCODING_DUMP = 2048,            /* reader_dump() can print the messages of a trace */
	ENCODING_COMMENT = 4096,         /* readers ignore lines that begin with "# " */
	/* a reader can start in the middle of a trace (writer_options.cycle_size) */
	ENCODING_CYCLES = 8192,
	/* the format has a place for scans and their lost blocks; of a scan's results, its second dialect has a place
	 * for the heap record only */
	ENCODING_SCANS = 16384,
	/* the format has a place for resident memory, but its second dialect has none */
	ENCODING_RESIDENT = 32768,
	/* traces contain figures of stacks (struct record_estimate), but no calls */
	ENCODING_ESTIMATES = 65536,
	ENCODING_TRACE = ENCODING_WRITE | ENCODING_STREAM, /* abilities that the tracer needs */
};

/* Returns the encoding with that name ("rtrace", "text", ...), or NULL. */
const struct encoding *encoding_find(const char *name);
/* Returns the second dialect of an encoding, which is an encoding of its own with the same name; NULL if the encoding
 * lacks ENCODING_COMPAT. */
const struct encoding *encoding_compat(const struct encoding *encoding);
/* Returns true if the encoding has all of these abilities. */
bool encoding_can(const struct encoding *encoding, unsigned abilities);
/* Returns the names of the encodings that have all of these abilities, separated by ", ", for messages and --help;
 * "none" if no encoding has them. With 0, returns the names of all encodings. Valid until the next call. */
const char *encoding_names(unsigned abilities);
const char *encoding_name(const struct encoding *encoding);
/* Returns the suffix of the encoding's files: ".rtrace", ".rtrace.txt". */
const char *encoding_suffix(const struct encoding *encoding);
/* Writes the map file of a trace if this format has one. The map lists the names for numbers in the trace's messages.
 * The file's name is the trace's name with ENCODING_MAP_SUFFIX appended. An existing file is replaced. Returns 0 or
 * -errno. */
#define ENCODING_MAP_SUFFIX ".map"
int encoding_write_map(const struct encoding *encoding, const char *trace_path);

#endif

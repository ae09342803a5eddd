/* Builds a profile in pprof's format, part by part. Needs protobuf-c: the functions exist only with HAVE_PROTOBUF_C.
 * Texts may have any bytes: those that are not valid UTF-8, which the format requires, become U+FFFD. No text is
 * kept. */
#ifndef FT_EXPORT_PPROF_BUILD_H
#define FT_EXPORT_PPROF_BUILD_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct pprof_build;

/* Makes an empty profile, which the caller frees by pprof_build_free(). */
struct pprof_build *pprof_build_new(void);
void pprof_build_free(struct pprof_build *build);

/* What one value of each sample means: {"inuse_space", "bytes"}. */
struct pprof_figure {
	const char *name, *unit;
};

/* Sets the meaning of the values of all samples; called once. shown: name of the figure that tools show first. The
 * period becomes one byte: every call counts by itself. */
void pprof_build_figures(struct pprof_build *build, const struct pprof_figure *figures, size_t count,
			 const char *shown);
/* Sets the time at which the profile begins, in ns since the Epoch (0: unknown), and its duration in ns. */
void pprof_build_times(struct pprof_build *build, int64_t begin_ns, int64_t duration_ns);
/* Adds a line of text that tools show with the profile. */
void pprof_build_comment(struct pprof_build *build, const char *text);

/* Return the id of a mapping, function or location. Equal mappings and equal functions have one id. */

/* build_id: hexadecimal digits; NULL: unknown. from: the address of the object's first byte; 0: unknown, or the
 * addresses of its locations are offsets from its first byte. pprof takes the first mapping for that of the
 * program. */
uint64_t pprof_build_mapping(struct pprof_build *build, const char *path, const char *build_id, uint64_t from);
/* Extends a mapping so that it ends after the page of this address. */
void pprof_build_cover(struct pprof_build *build, uint64_t mapping, uint64_t address);
/* file: NULL if it is unknown. */
uint64_t pprof_build_function(struct pprof_build *build, const char *name, const char *file);

struct pprof_line {
	uint64_t function; /* id */
	unsigned number;   /* 0: unknown */
};

/* Adds a location. mapping: id; 0: none. address: of the call; 0: unknown. lines: the innermost first; each function
 * but the last is inlined into the next. */
uint64_t pprof_build_location(struct pprof_build *build, uint64_t mapping, uint64_t address,
			      const struct pprof_line *lines, size_t count);

/* Adds a sample. locations: ids, the innermost first. values: one for each figure. */
void pprof_build_sample(struct pprof_build *build, const uint64_t *locations, size_t count, const int64_t *values);
/* Add a label to the sample that was added last: a text; a number with a unit. */
void pprof_build_label(struct pprof_build *build, const char *key, const char *text);
void pprof_build_number(struct pprof_build *build, const char *key, int64_t number, const char *unit);

/* Writes the profile, compressed by gzip. Returns 0, or -ENOMEM; the caller finds errors of `out` by ferror(). */
int pprof_build_write(const struct pprof_build *build, FILE *out);

/* Returns the value; INT64_MAX if it is larger. */
int64_t pprof_clamp(uint64_t value);

#endif

/* Addresses -> names, lines and inlined frames, through libdwfl; used by both programs.
 *
 * Works from the records of a trace alone (objects at addresses with paths and build-ids), so that a trace
 * is named in the same way live, later, and on another machine. */
#ifndef FT_SYMBOLS_NAMES_NAMES_H
#define FT_SYMBOLS_NAMES_NAMES_H

#include "base/buf.h"
#include "trace/event.h"

struct names;

struct names_options {
	const char *sysroot;    /* put before each path; NULL none */
	const char *debug_path; /* more folders of separate debug files, ':' separated; NULL none */
	bool debuginfod;        /* ask debuginfod servers */
	/* An open_path may be gone when names are looked up: keep its file open, where the path does not lead to it. */
	bool holds_files;
	/* Another one of the same options, which lives longer: a file is read once for both. NULL: none. */
	const struct names *shares;
};

/* Begins without objects. The options are copied; names_free() frees it. */
struct names *names_new(const struct names_options *options);
void names_free(struct names *names);

/* When the trace began, if the process record says so. A file that is newer, where the trace has no build-id, gives
 * names all the same, and a warning that they may be wrong is printed once. */
void names_set_start(struct names *names, const struct record_process *process);

/* To be called as the records of the trace come: an object replaces whatever it overlaps, from now on. open_path: the
 * file to read instead of path (NULL: path itself). A build_id, if given, must be the file's, else a warning is printed
 * once and the object stays nameless ("from path" only). Without one, the range may also be the file's executable
 * mapping alone, as the sp-rtrace tools write it; where it may be either, a warning is printed once and the object
 * stays nameless. */
void names_add_object(struct names *names, const struct record_object *object, const char *open_path);
/* The build-id of the object that is mapped where the record says, for traces that declare it behind the object. */
void names_add_build_id(struct names *names, const struct record_build_id *build_id);

/* A frame_namer (its context is the struct names). Each address is looked up once and then remembered
 * until its object is replaced. */
size_t names_lookup(void *names, uint64_t address, const struct frame_name **lines);

/* Whether most of the frames that were looked up got no name. If so, appends a sentence to `out`: how many, where most
 * of them are, and what would help. */
bool names_explain(const struct names *names, struct buf *out);

/* Demangles C++ and Rust (legacy and v0) names; a new string, or NULL when it is not mangled. */
char *names_demangle(const char *symbol);
/* The same without the list of parameters and the result's type, which templates have: "Shelf<int>::put". */
char *names_demangle_plain(const char *symbol);
/* How many parameters the name of a function of C++ says that it has, a "..." and a pack as one each; -1: it does not
 * say. */
int names_parameters(const char *symbol);

#endif

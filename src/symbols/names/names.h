/* Finds names, lines and inlined frames of addresses, with libdwfl; used by both programs.
 *
 * Uses the records of a trace alone (objects at addresses with paths and build-ids), so that a trace gets the same
 * names live, later, and on another machine. */
#ifndef FT_SYMBOLS_NAMES_NAMES_H
#define FT_SYMBOLS_NAMES_NAMES_H

#include "base/buf.h"
#include "trace/event.h"

struct names;

struct names_options {
	const char *sysroot;    /* put before each path; NULL none */
	const char *debug_path; /* more folders of separate debug files, ':' separated; NULL none */
	bool debuginfod;        /* ask debuginfod servers */
	/* Keep the file of an open_path open if the object's path does not lead to it, because open_path may be gone
	 * when names are looked up. */
	bool holds_files;
	/* Another struct names with the same options, which outlives this one: each file is read once for both. NULL:
	 * none. */
	const struct names *shares;
};

/* Returns a struct names without objects. Copies the options. Free it with names_free(). */
struct names *names_new(const struct names_options *options);
void names_free(struct names *names);

/* Sets when the trace began, if the process record says it. A newer file, if the trace has no build-id, still gives
 * names; a warning that they may be wrong is printed once. */
void names_set_start(struct names *names, const struct record_process *process);

/* Adds an object, which replaces whatever it overlaps; call it in the order of the trace's records. open_path: the file
 * to read instead of `path` (NULL: `path` itself). The object's build-id, if it has one, must be the file's; else a
 * warning is printed once, and its frames get no names except its path. Without a build-id, the range may also be the
 * file's executable mapping alone, as the sp-rtrace tools write it; if both are possible, a warning is printed once,
 * and its frames get no names. */
void names_add_object(struct names *names, const struct record_object *object, const char *open_path);
/* Sets the build-id of the object that is mapped where the record says. Traces declare it after the object. */
void names_add_build_id(struct names *names, const struct record_build_id *build_id);

/* A frame_namer, whose context is the struct names. Looks up each address once, and keeps the result until its object
 * is replaced. */
size_t names_lookup(void *names, uint64_t address, const struct frame_name **lines);

/* Whether most of the frames that were looked up have no name. If so, appends a sentence to `out`: how many, where most
 * of them are, and what would help. */
bool names_explain(const struct names *names, struct buf *out);

/* Demangles a name of C++ or Rust (legacy or v0). Returns a new string, or NULL if the name is not mangled or too
 * long. */
char *names_demangle(const char *symbol);
/* The same without the list of parameters and the result's type, which templates have: "Shelf<int>::put". */
char *names_demangle_plain(const char *symbol);
/* Returns how many parameters the mangled name of a C++ function has, with a "..." and a pack as one each; -1 if it
 * does not show this. */
int names_parameters(const char *symbol);

#endif

/* Finds names, source lines and inlined frames of addresses with libdwfl, for functrace and functrace-postproc.
 *
 * Uses only the records of a trace (objects at addresses, with paths and build-ids), so that a trace gets the same
 * names while it is recorded, later, and on another machine. */
#ifndef FT_SYMBOLS_NAMES_NAMES_H
#define FT_SYMBOLS_NAMES_NAMES_H

#include "base/buf.h"
#include "trace/event.h"

struct names;

struct names_options {
	const char *sysroot;    /* prefix of each path; NULL: none */
	const char *debug_path; /* more folders of separate debug files, ':' separated; NULL: none */
	bool debuginfod;        /* debuginfod servers are asked */
	/* true: if an object has an open_path, and the object's path leads to another file, the file of open_path is
	 * kept open, because open_path may be gone when names are looked up. */
	bool holds_files;
	/* Another struct names, which outlives this one, and has the same options apart from holds_files. Each file is
	 * read once for both. NULL: none. */
	const struct names *shares;
};

/* Returns a struct names without objects; the caller frees it with names_free(). Copies the options. */
struct names *names_new(const struct names_options *options);
void names_free(struct names *names);

/* Sets the start time of the trace, if the process record contains it. If a file is newer than the trace and the trace
 * has no build-id of it, the file is still used, and a warning that its names may be wrong is printed once. */
void names_set_start(struct names *names, const struct record_process *process);

/* Adds an object, which replaces all objects that it overlaps. Must be called in the order of the trace's records.
 * open_path: a path that is tried before record->path; NULL: none.
 *
 * If the trace has the object's build-id, the file must have the same one; else a warning is printed once, and frames
 * in the object get its path, but no names. Without a build-id, the range may also be only the file's executable
 * mapping, as the sp-rtrace tools write it. If both interpretations are possible, a warning is printed once, and frames
 * in the object get no names. */
void names_add_object(struct names *names, const struct record_object *object, const char *open_path);
/* Sets the build-id of the object that is mapped at record->from. In a trace this record follows the object's. */
void names_add_build_id(struct names *names, const struct record_build_id *build_id);

/* A frame_namer whose context is the struct names. Looks up each address of a file once, and keeps the result with the
 * file. */
size_t names_lookup(void *names, uint64_t address, const struct frame_name **lines);

/* If most of the frames that were looked up have no name, appends a sentence to `out` and returns true. The sentence
 * says how many have none, which object contains most of them, and how the user can get their names. */
bool names_explain(const struct names *names, struct buf *out);

/* Demangles a name of C++ or Rust (legacy or v0). Returns a new string, or NULL if the name is not mangled, or is too
 * long. */
char *names_demangle(const char *symbol);
/* Like names_demangle(), but without the list of parameters, and without the type of a template's result:
 * "Shelf<int>::put". */
char *names_demangle_plain(const char *symbol);
/* Returns the number of parameters in the mangled name of a C++ function. A parameter pack is one parameter, a "..." is
 * none. Returns -1 if the name does not contain the parameters. */
int names_parameters(const char *symbol);

#endif

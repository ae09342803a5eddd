/* Looks up names in a worker (base/worker.h), so that a program does not wait while files are read.
 *
 * Only the worker uses the struct names of a trace and libdw. The program keeps the answers, so that it asks for each
 * address once. The worker gets objects and questions in one order: an address is named by the object that was mapped
 * there when the question was asked. */
#ifndef FT_SYMBOLS_NAMES_NAMING_H
#define FT_SYMBOLS_NAMES_NAMING_H

#include "symbols/names/names.h"

struct namer; /* the worker, and the files that it has read, for all traces of a run */
struct naming;

/* An address that was asked for. */
struct named_address {
	uint64_t address;
	bool is_known;
	size_t count;             /* of lines; 0: no object is known there */
	struct frame_name *lines; /* innermost first */
	struct named_address *next_gone;
};

/* Starts a thread. Call namer_end() after the end of all its namings; it does not wait (NULL is allowed). */
struct namer *namer_new(void);
void namer_end(struct namer *namer);

/* Returns a naming without objects. The caller keeps the namer. naming_end() does not wait, and drops what the worker
 * has not done (NULL is allowed). */
struct naming *naming_new(struct namer *namer);
void naming_end(struct naming *naming);

/* Do what names_add_object() and names_add_build_id() do. A new object drops the names that are known in its range;
 * callers that have them can go on using them. */
void naming_add_object(struct naming *naming, const struct record_object *object, const char *open_path);
void naming_add_build_id(struct naming *naming, const struct record_build_id *build_id);

/* Fills `names` with the entries of the addresses, and asks the worker for new addresses, without waiting. The entries
 * are valid until naming_is_over(). Returns whether all are known. */
bool naming_ask(struct naming *naming, const uint64_t *addresses, size_t count, struct named_address **names);
bool naming_is_known(struct named_address *const *names, size_t count);
/* Takes the answers that the worker has ready. */
void naming_take(struct naming *naming);
/* Whether there are questions without an answer. */
bool naming_is_waiting(const struct naming *naming);
/* Waits for all answers, at most `ns` nanoseconds. Returns whether all have come. */
bool naming_wait(struct naming *naming, uint64_t ns);
/* Call it when no entry from naming_ask() is in use: frees the entries that were dropped, unless answers are still to
 * come. */
void naming_is_over(struct naming *naming);

/* Sets the entries in which naming_lookup() searches. The caller keeps the array. */
void naming_show(struct naming *naming, struct named_address *const *names, size_t count);
/* A frame_namer, whose context is the struct naming: returns the answer, or no lines if there is none yet. */
size_t naming_lookup(void *naming, uint64_t address, const struct frame_name **lines);

/* For tests: the worker, and the number of dropped entries that are kept for callers. */
struct worker *namer_worker(struct namer *namer);
size_t naming_gone(const struct naming *naming);

#endif

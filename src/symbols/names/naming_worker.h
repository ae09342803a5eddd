/* Looks up names in a worker thread (base/worker.h), so that a program does not wait while files are read.
 *
 * Only the worker uses libdw and the struct names of a trace. The program keeps the answers, so it asks for each
 * address once. The worker gets objects and questions in the order in which they were sent: an address gets its name
 * from the object that was mapped there when the question was asked. */
#ifndef FT_SYMBOLS_NAMES_NAMING_WORKER_H
#define FT_SYMBOLS_NAMES_NAMING_WORKER_H

#include "symbols/names/names.h"

struct namer; /* the worker thread, and the files that it has read, for all traces of a run */
struct naming;

/* An address for which a name was asked. */
struct named_address {
	uint64_t address;
	bool is_known;
	size_t count;             /* number of lines; 0: no answer yet, or no object is known at the address */
	struct frame_name *lines; /* the innermost function first */
	struct named_address *next_gone;
};

/* Starts the worker thread. Call naming_end() for each struct naming of this namer, then namer_end(), which does not
 * wait for the thread (NULL is allowed). */
struct namer *namer_new(void);
void namer_end(struct namer *namer);

/* Returns the struct naming of one trace, at first without objects. It uses the namer. naming_end() does not wait, and
 * drops the worker's open questions (NULL is allowed). */
struct naming *naming_new(struct namer *namer);
void naming_end(struct naming *naming);

/* These do in the worker what names_add_object() and names_add_build_id() do. A new object drops the known names of its
 * address range; callers may go on using the dropped entries until naming_is_over(). */
void naming_add_object(struct naming *naming, const struct record_object *object, const char *open_path);
void naming_add_build_id(struct naming *naming, const struct record_build_id *build_id);

/* Fills `names` with the entries of the addresses, and sends the new addresses to the worker, without waiting. The
 * entries are valid until naming_is_over(). Returns true if all names are known already. */
bool naming_ask(struct naming *naming, const uint64_t *addresses, size_t count, struct named_address **names);
bool naming_is_known(struct named_address *const *names, size_t count);
/* Copies the worker's finished answers into the entries. */
void naming_take(struct naming *naming);
/* Returns true if there are questions whose answers naming_take() has not taken yet. */
bool naming_is_waiting(const struct naming *naming);
/* Waits for all answers, at most `ns` nanoseconds. Returns true if all have come. */
bool naming_wait(struct naming *naming, uint64_t ns);
/* Frees the dropped entries, unless questions are open. Call it when no entry of naming_ask() is in use. */
void naming_is_over(struct naming *naming);

/* Sets the entries that naming_lookup() searches. The caller keeps the array. */
void naming_show(struct naming *naming, struct named_address *const *names, size_t count);
/* A frame_namer whose context is the struct naming. Returns the answer for the address, or no lines if there is none
 * yet. */
size_t naming_lookup(void *naming, uint64_t address, const struct frame_name **lines);

/* These are for tests: the worker, and the number of dropped entries that are not freed yet. */
struct worker *namer_worker(struct namer *namer);
size_t naming_gone(const struct naming *naming);

#endif

/* Names that a worker looks up (base/worker.h), so that a program does not wait while files are read.
 *
 * The struct names of a trace, and what libdw keeps of its files, are the worker's. This side remembers what it has
 * answered, so that an address is asked for once. Objects and questions reach the worker in one order: an address is
 * named by the object that was mapped there when it was asked for. */
#ifndef FT_SYMBOLS_NAMES_NAMING_H
#define FT_SYMBOLS_NAMES_NAMING_H

#include "symbols/names/names.h"

struct namer; /* the worker, and the files that it has read, for all traces of a run */
struct naming;

/* An address, from when it is asked for on. */
struct named_address {
	uint64_t address;
	bool is_known;
	size_t count;             /* of lines; 0: what is mapped there is not known */
	struct frame_name *lines; /* innermost first */
	struct named_address *next_gone;
};

/* Begins a thread. namer_end(): after all of its namings; does not wait. NULL is allowed. */
struct namer *namer_new(void);
void namer_end(struct namer *namer);

/* Begins without objects. The namer stays the caller's. naming_end() does not wait: what the worker has not done is
 * dropped. NULL is allowed. */
struct naming *naming_new(struct namer *namer);
void naming_end(struct naming *naming);

/* As names_add_object() and names_add_build_id(). What is known of addresses there is forgotten, but by those who have
 * it already. */
void naming_add_object(struct naming *naming, const struct record_object *object, const char *open_path);
void naming_add_build_id(struct naming *naming, const struct record_build_id *build_id);

/* Finds each address, and asks for those that have not been asked for. Does not wait. What `names` gets stays as long
 * as naming_is_over() has not been called. Whether all are known. */
bool naming_ask(struct naming *naming, const uint64_t *addresses, size_t count, struct named_address **names);
bool naming_is_known(struct named_address *const *names, size_t count);
/* Takes the answers that there are. */
void naming_take(struct naming *naming);
/* Whether there are questions without an answer. */
bool naming_is_waiting(const struct naming *naming);
/* Waits for answers until there are none to wait for, at most `ns` nanoseconds. Whether there are none. */
bool naming_wait(struct naming *naming, uint64_t ns);
/* Nothing that naming_ask() has given is used any more. */
void naming_is_over(struct naming *naming);

/* Of which addresses naming_lookup() will be asked; the array stays the caller's. */
void naming_show(struct naming *naming, struct named_address *const *names, size_t count);
/* A frame_namer (its context is the struct naming): the answer, or no lines, where there is none yet. */
size_t naming_lookup(void *naming, uint64_t address, const struct frame_name **lines);

/* For tests: what does the looking up, and how many addresses are kept only for those who have them. */
struct worker *namer_worker(struct namer *namer);
size_t naming_gone(const struct naming *naming);

#endif

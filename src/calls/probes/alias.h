/* Functions with several names: finds out which name a call has used. */
#ifndef FT_CALLS_PROBES_ALIAS_H
#define FT_CALLS_PROBES_ALIAS_H

#include "calls/probes/probes.h"

/* One of the names of a probe's function. */
struct alias {
	const struct probe_spec *wanted;
	struct traced traced; /* for the events of calls by this name */
	unsigned name;        /* its number in the process's struct callers */
	struct alias *next;
};

/* Returns whether calls by both names are handled alike until the name of a call is known. */
bool alias_same_calls(const struct probe_spec *a, const struct probe_spec *b);
/* Adds the name of `other` to those of `probe`. It is at the same address, and means the same kind of call. */
void alias_add(struct process *p, struct probe *probe, const struct probe *other);
/* Sets probe->asks_caller again, after a change of its names or of the names that are called. */
void alias_update_asks(const struct process *p, struct probe *probe);
/* Copies a list of names. The caller owns the copy. */
struct alias *aliases_copy(const struct alias *aliases);
void aliases_free(struct probe *probe);
/* Returns the name of `to` that is the same as the name `traced` of `from`. The probes are of one function in two
 * processes. */
const struct traced *alias_in(const struct probe *from, const struct traced *traced, const struct probe *to);

/* Notes by which names a new object calls. */
void callers_add(struct process *p, const struct object *object);
/* Forgets the callers in a range that is no longer mapped. */
void callers_forget_range(struct probe_list *probes, uint64_t start, uint64_t end);
/* Copies the callers of a process for a fork's child; returns NULL for NULL. */
struct callers *callers_copy(const struct callers *callers);
void callers_free(struct probe_list *probes);

/* Returns the name that the caller has used, for the event of a call with this return address. If it cannot be found
 * out, returns the probe's first name. */
const struct traced *alias_called(struct process *p, const struct probe *probe, uint64_t return_address);

#endif

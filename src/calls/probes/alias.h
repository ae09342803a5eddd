/* Functions with several names: finds out which name a caller has used. */
#ifndef FT_CALLS_PROBES_ALIAS_H
#define FT_CALLS_PROBES_ALIAS_H

#include "calls/probes/probes.h"

/* One of the names of a probe's function. */
struct alias {
	const struct probe_spec *wanted;
	struct traced traced; /* the function, under this name, in the events of calls */
	unsigned name;        /* the name's number in the process's struct callers */
	struct alias *next;
};

/* Returns true if the two table rows agree in all that functrace has to know of a call before it knows by which name
 * the caller has called the function: the kind, the role, the ids, the conditions. */
bool alias_same_calls(const struct probe_spec *a, const struct probe_spec *b);
/* Adds the name of `other` to the names of `probe`. `other` is at the same address, and alias_same_calls() is true for
 * both. */
void alias_add(struct process *p, struct probe *probe, const struct probe *other);
/* Updates probe->asks_caller after a change of the probe's names or of the names that objects call. */
void alias_update_asks(const struct process *p, struct probe *probe);
/* Copies a list of names. The caller owns the copy. */
struct alias *aliases_copy(const struct alias *aliases);
void aliases_free(struct probe *probe);
/* Returns the name of `to` that is the same as the name `traced` of `from`. Both probes belong to the same function, in
 * two processes. */
const struct traced *alias_in(const struct probe *from, const struct traced *traced, const struct probe *to);

/* Notes the function names that a new object calls. */
void callers_add(struct process *p, const struct object *object);
/* Forgets the GOT slots and the callers in a range that is no longer mapped. */
void callers_forget_range(struct probe_list *probes, uint64_t start, uint64_t end);
/* Copies a process's struct callers for a fork's child; returns NULL for NULL. */
struct callers *callers_copy(const struct callers *callers);
void callers_free(struct probe_list *probes);

/* Returns the name that the caller has used, for the event of a call with this return address. If the name cannot be
 * found, returns the probe's first name. */
const struct traced *alias_called(struct process *p, const struct probe *probe, uint64_t return_address);

#endif

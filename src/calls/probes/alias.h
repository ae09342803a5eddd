/* Several names of one function, and by which of them a call is. */
#ifndef FT_CALLS_PROBES_ALIAS_H
#define FT_CALLS_PROBES_ALIAS_H

#include "calls/probes/probes.h"

/* One of the names of a probe's function. */
struct alias {
	const struct probe_spec *wanted;
	struct traced traced; /* as the events of calls by this name have it */
	unsigned name;        /* its number in the process's struct callers */
	struct alias *next;
};

/* Whether calls by both names are dealt with alike until it is known by which they are. */
bool alias_same_calls(const struct probe_spec *a, const struct probe_spec *b);
/* `other` is at the same address, and means the same kind of call. Takes it among the names of `probe`. */
void alias_add(struct process *p, struct probe *probe, const struct probe *other);
/* Its names, or what it is called without one, are others than they were. */
void alias_update_asks(const struct process *p, struct probe *probe);
/* Copies a chain of names; the copy is the caller's. */
struct alias *aliases_copy(const struct alias *aliases);
void aliases_free(struct probe *probe);
/* Finds, among the names of the same probe in another process, the one that `traced` is of the probe `from`. */
const struct traced *alias_in(const struct probe *from, const struct traced *traced, const struct probe *to);

/* A new object: by which names it calls. */
void callers_add(struct process *p, const struct object *object);
/* The range is no longer mapped: forgets the callers in it. */
void callers_forget_range(struct probe_list *probes, uint64_t start, uint64_t end);
/* Copies what is known of a process's callers, for a fork's child; NULL gives NULL. */
struct callers *callers_copy(const struct callers *callers);
void callers_free(struct probe_list *probes);

/* What the event of a call names that was made from there: the name that the caller has used, if that can be known. */
const struct traced *alias_called(struct process *p, const struct probe *probe, uint64_t return_address);

#endif

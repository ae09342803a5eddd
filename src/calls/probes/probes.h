/* Finds the functions that the modules want in the objects of a process, and puts breakpoints at their entries. */
#ifndef FT_CALLS_PROBES_PROBES_H
#define FT_CALLS_PROBES_PROBES_H

#include "record/trace.h"
#include "calls/probes/probe_spec.h"
#include "breakpoints/process_text.h"

struct alias;
struct probe_params;
struct callers;

/* A wanted function at an address of a process. Several kinds of resource, and the tracer itself, may want the same
 * function. Its breakpoint has a probe for each of them, and each hit enters all of these. */
struct probe {
	struct traced traced; /* for its events */
	const struct probe_spec *wanted;
	const struct function *function; /* what its module says about it; &probe_watched for a hook */
	struct probe *next;              /* of the same breakpoint: kinds in their order, then hooks */
	uint64_t start, size;            /* of its code; size 0: unknown */
	const struct object *object;
	bool is_resolver;            /* of an IFUNC: it returns the address of the function */
	size_t index, outer_index;   /* in struct probe_list */
	struct probe_params *params; /* NULL unless -a or -x needs them */
	/* alias.c */
	struct alias *aliases; /* all its names, if it has several */
	bool asks_caller;      /* the caller's code may show another name than that of `traced` */
};

/* The probes of a process. */
struct probe_list {
	struct probe **items;
	size_t count, capacity;
	struct probe **outers; /* the items whose calls may have others as parts */
	size_t outer_count, outer_capacity;
	size_t releases;         /* how many of the items are releases that cannot fail */
	struct callers *callers; /* alias.c */
	uint64_t r_debug;        /* the dynamic linker's struct r_debug; 0: unknown: linker.c */
};

/* The description of each function that is watched for the tracer's own use, because no module has one. */
extern const struct function probe_watched;
/* Returns whether the function is watched for the tracer's own use. */
static inline bool probe_is_hook(const struct probe *probe)
{
	return probe->wanted->hook || probe->is_resolver;
}

/* Returns whether each call of the function is an event of its own, no matter which function calls it. */
static inline bool probe_is_nested(const struct probe *probe)
{
	return probe->wanted->kind && probe->wanted->kind->is_nested;
}

/* Returns whether both allocate or release the same kind of resource. */
static inline bool probe_same_kind(const struct probe *a, const struct probe *b)
{
	return a->wanted->resource == b->wanted->resource && !probe_is_hook(a) && !probe_is_hook(b);
}

/* Inserts the breakpoints for the dynamic linker's notices, and no others. */
void probe_linker(struct process *p);
/* Inserts, or prepares, probes at the functions of an object that the modules want, except those that they want by
 * pattern (pattern_probes.h). */
void probe_object(struct process *p, struct object *object);
/* Probes the functions that IFUNC resolvers have chosen before they were watched. The addresses are in the slots which
 * the dynamic linker has filled. */
void probe_resolved(struct process *p);
/* Adds a probe at the entry of a wanted function, with a breakpoint. Of `probe` these are set: wanted, start (a code
 * address), size, object, is_resolver, and the name that is shown. */
void probe_at(struct process *p, const struct probe *probe);
/* Probes the function that an IFUNC's resolver has chosen, under all of its names. */
void probe_chosen(struct process *p, const struct probe *resolver, uint64_t start, const struct object *object);
/* Writes the breakpoints that were only prepared, and reports the functions that cannot be probed. */
void probes_plant(struct process *p);
/* Returns the address for the breakpoint of a function that starts at this code address. */
uint64_t probe_entry(struct process *p, uint64_t start);
/* Returns a probe whose function's code contains the address: one of the same kind as `like` if possible; NULL if there
 * is none. */
const struct probe *probe_around(const struct process *p, uint64_t address, const struct probe *like);
/* Returns whether the probe is one of the breakpoint's. */
bool probe_is_at(const struct probe *probe, const struct breakpoint *b);
/* Returns how many of the modules' functions were found. */
size_t probes_count(const struct process *p);

/* Frees the list. Its probes are already freed. */
void probes_free(struct process *p);
/* Returns how many of a call's first arguments are known to belong to it, by the probes of a breakpoint (`first`, or
 * NULL); CALL_ARGS if one of them is a hook. */
unsigned probe_arguments(const struct probe *first);
/* Gives a copied breakpoint of a fork's child the probes of the maker's breakpoint. */
void probe_copy(struct process *p, struct breakpoint *b, const struct breakpoint *from);
/* Frees the probes and the part `calls` of a breakpoint that is about to be freed. */
void probe_forget(struct process *p, struct breakpoint *b);

#endif

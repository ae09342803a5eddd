/* The functions that the modules want, found in the objects of a process. */
#ifndef FT_CALLS_PROBES_PROBES_H
#define FT_CALLS_PROBES_PROBES_H

#include "record/trace.h"
#include "calls/probes/probe_spec.h"
#include "breakpoints/process_text.h"

struct alias;
struct probe_params;
struct callers;

/* A wanted function at an address of a process. Several kinds of resource, and the tracer itself, may want the same
 * function: its breakpoint has a probe for each, and each hit is an entry of each of them. */
struct probe {
	struct traced traced; /* as its events name it */
	const struct probe_spec *wanted;
	const struct function *function; /* what a module says of it; of one that is watched for the tracer's own sake
					    that its calls are nothing to be written */
	struct probe *next;              /* of the same breakpoint: kinds in their order, then hooks */
	uint64_t start, size;            /* extent of its code; size 0 unknown */
	const struct object *object;
	bool is_resolver;            /* an IFUNC's: what it returns is the function */
	size_t index, outer_index;   /* in struct probe_list */
	struct probe_params *params; /* NULL without -a */
	/* alias.c */
	struct alias *aliases; /* all its names, where it has several */
	bool asks_caller;      /* calls say more than `traced` */
};

/* A process's. */
struct probe_list {
	struct probe **items;
	size_t count, capacity;
	struct probe **outers; /* those whose calls others can be a part of */
	size_t outer_count, outer_capacity;
	size_t releases;         /* how many of them release without a return breakpoint */
	struct callers *callers; /* alias.c */
	uint64_t r_debug;        /* where the dynamic linker's list of objects is, 0 unknown: linker.c */
};

/* What a module would say of a function that is watched for the tracer's own sake. */
extern const struct function probe_watched;
/* Watched for the tracer's own sake; no module knows it. */
static inline bool probe_is_hook(const struct probe *probe)
{
	return probe->wanted->hook || probe->is_resolver;
}

/* Each call of it is an event of its own, whatever it is called by. */
static inline bool probe_is_nested(const struct probe *probe)
{
	return probe->wanted->kind && probe->wanted->kind->is_nested;
}

/* Both allocate or release the same kind of resource. */
static inline bool probe_same_kind(const struct probe *a, const struct probe *b)
{
	return a->wanted->resource == b->wanted->resource && !probe_is_hook(a) && !probe_is_hook(b);
}

/* Plants the dynamic linker's notices, and nothing else. */
void probe_linker(struct process *p);
/* Plants, or prepares, all that the modules want of the functions that an object defines, but for what they want by
 * pattern (pattern_probes.h). */
void probe_object(struct process *p, struct object *object);
/* The functions that IFUNC resolvers chose before they were watched, found where they were written down. */
void probe_resolved(struct process *p);
/* Puts a breakpoint at the entry of a wanted function: wanted, start (a code address), size, object and is_resolver of
 * `probe`, and the name that is shown. */
void probe_at(struct process *p, const struct probe *probe);
/* Puts a breakpoint at the function that an IFUNC's resolver has chosen, under all of its names. */
void probe_chosen(struct process *p, const struct probe *resolver, uint64_t start, const struct object *object);
/* Writes the breakpoints that were only prepared, and reports the functions that cannot be probed. */
void probes_plant(struct process *p);
/* Where the breakpoint of a function at that code address belongs. */
uint64_t probe_entry(struct process *p, uint64_t start);
/* The probe whose function's code holds the address, of the same kind as `like` if there is one; NULL: none at all. */
const struct probe *probe_around(const struct process *p, uint64_t address, const struct probe *like);
/* Whether the probe is one of the breakpoint's. */
bool probe_is_at(const struct probe *probe, const struct breakpoint *b);
/* How many functions of modules were found. */
size_t probes_count(const struct process *p);

/* Frees the list; its probes have gone before. */
void probes_free(struct process *p);
/* How many of a call's first arguments the functions of a breakpoint's probes (NULL none) are known to take; all that
 * are read where one of them is a hook. */
unsigned probe_arguments(const struct probe *first);
/* A copied breakpoint of a fork's child gets the probes that its parent's has. */
void probe_copy(struct process *p, struct breakpoint *b, const struct breakpoint *from);
/* The breakpoint goes: frees all that this floor knows of it. */
void probe_forget(struct process *p, struct breakpoint *b);

#endif

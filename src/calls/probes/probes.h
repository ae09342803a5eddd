/* Finds the functions that the modules name in the objects of a process, and puts breakpoints at their entries. */
#ifndef FT_CALLS_PROBES_PROBES_H
#define FT_CALLS_PROBES_PROBES_H

#include "record/trace.h"
#include "calls/probes/probe_spec.h"
#include "breakpoints/process_text.h"

struct alias;
struct probe_params;
struct callers;

/* A traced function at an address of a process. The same function may be traced for several kinds of resource, and for
 * the tracer itself. Then its breakpoint has a probe for each of these, and functrace acts on a hit once for each
 * probe. */
struct probe {
	struct traced traced; /* the function, as its events show it */
	const struct probe_spec *wanted;
	const struct function *function; /* its module's description of the function; &probe_watched for a hook */
	struct probe *next;              /* the next probe of the same breakpoint: kinds in their order, then hooks */
	uint64_t start, size;            /* address and size of its code; size 0: unknown */
	uint64_t entry;                  /* address of its breakpoint, which may be after a landing pad (endbr64) */
	const struct object *object;
	/* the function is the resolver of an IFUNC: it returns the address of the function that is called */
	bool is_resolver;
	bool slots_read;             /* probe_resolved() has looked for this resolver in the GOT slots of all objects */
	size_t index, outer_index;   /* positions in struct probe_list */
	struct probe_params *params; /* NULL unless -a or -x needs them */
	/* alias.c */
	struct alias *aliases; /* all names of the function, if it has several */
	bool asks_caller;      /* the caller's code may show that the caller used another name than the one in
				* `traced` */
};

/* The probes of a process. */
struct probe_list {
	struct probe **items;
	size_t count, capacity;
	struct probe **outers; /* the items into whose calls other calls may be folded */
	size_t outer_count, outer_capacity;
	size_t releases;         /* number of items whose function is a release that cannot fail */
	struct callers *callers; /* data of alias.c */
	uint64_t r_debug;        /* r_debug.c: address of the dynamic linker's struct r_debug; 0: unknown */
};

/* The description of each function that is watched for the tracer's own use; no module describes these functions. */
extern const struct function probe_watched;
/* Returns true if the function is watched for the tracer's own use. */
static inline bool probe_is_hook(const struct probe *probe)
{
	return probe->wanted->hook || probe->is_resolver;
}

/* Returns true if each call of the function is an event of its own, whichever function makes the call. */
static inline bool probe_is_nested(const struct probe *probe)
{
	return probe->wanted->kind && probe->wanted->kind->is_nested;
}

/* Returns true if both functions allocate or release the same kind of resource. */
static inline bool probe_same_kind(const struct probe *a, const struct probe *b)
{
	return a->wanted->resource == b->wanted->resource && !probe_is_hook(a) && !probe_is_hook(b);
}

/* Inserts only the breakpoints at _dl_debug_state, the function that a dynamic linker calls whenever it loads or
 * unloads objects. */
void probe_linker(struct process *p);
/* Adds probes at those functions of an object that the modules name by symbol. While p->text->planting is set, their
 * breakpoints are only prepared, and probes_plant() writes them. For rows by pattern see pattern_probes.h. */
void probe_object(struct process *p, struct object *object);
/* Adds a probe at the entry of a traced function, with a breakpoint. The caller sets these fields of `probe`: wanted,
 * start (a code address), size, object, is_resolver, and the name in `traced`. */
void probe_at(struct process *p, const struct probe *probe);
/* Probes the function that an IFUNC's resolver has returned, under all names of the resolver. */
void probe_chosen(struct process *p, const struct probe *resolver, uint64_t start, const struct object *object);
/* Writes the breakpoints that were only prepared, and reports the functions that cannot be probed. */
void probes_plant(struct process *p);
/* Returns the address for the breakpoint of the function that starts at this code address. */
uint64_t probe_entry(struct process *p, uint64_t start);
/* Returns a probe whose function contains the address, preferably one of the same kind as `like`; NULL if there is
 * none. */
const struct probe *probe_around(const struct process *p, uint64_t address, const struct probe *like);
/* Returns true if the probe is one of the breakpoint's probes. */
bool probe_is_at(const struct probe *probe, const struct breakpoint *b);
/* Returns how many of the modules' functions were found in the process. */
size_t probes_count(const struct process *p);

/* Frees the list. The probes in it are already freed. */
void probes_free(struct process *p);
/* Returns how many argument words of a call at a breakpoint functrace may read: those that the rows of its probes use,
 * or CALL_ARGS if one of the probes is a hook, or has a row with look(). first: the breakpoint's first probe, or
 * NULL. */
unsigned probe_arguments(const struct probe *first);
/* Gives a breakpoint's copy in a fork's child the same probes as the parent's breakpoint. */
void probe_copy(struct process *p, struct breakpoint *b, const struct breakpoint *from);
/* Frees the probes, and the data of src/calls, of a breakpoint that is about to be freed. */
void probe_forget(struct process *p, struct breakpoint *b);

#endif

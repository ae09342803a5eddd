/* -L: chooses the objects whose functions are traced, and warns of names that choose none. */
#ifndef FT_CALLS_PROBES_LIBRARIES_H
#define FT_CALLS_PROBES_LIBRARIES_H

#include "calls/probes/probe_spec.h"
#include "symbols/objects/mapped_object.h"

/* `count`: the number of names of -L. */
struct libraries *libraries_new(size_t count);
void libraries_free(struct libraries *libraries, size_t count);

/* Notes which names of -L are in the path of a new object. */
void libraries_saw(struct probe_spec_list *list, const struct object *object);
/* Notes that the object defines a wanted function. Returns whether -L chooses the object; without -L it is chosen. */
bool libraries_choose(struct probe_spec_list *list, const struct object *object);
/* Warns of each name of -L by which no function was found in any process. */
void libraries_report(const struct probe_spec_list *list);
/* Returns, with -L, whether an object defines a wanted function, chosen or not. */
bool libraries_define_any(const struct probe_spec_list *list);

#endif

/* -L: the objects whose functions are traced, and what to say of a name that chooses none. */
#ifndef FT_CALLS_PROBES_LIBRARIES_H
#define FT_CALLS_PROBES_LIBRARIES_H

#include "calls/probes/probe_spec.h"
#include "symbols/objects/mapped_object.h"

struct libraries *libraries_new(size_t count);
void libraries_free(struct libraries *libraries, size_t count);

/* An object has come: of which names of -L its path is one. */
void libraries_saw(struct probe_spec_list *list, const struct object *object);
/* The object defines a function that is wanted. Whether -L chooses the object. */
bool libraries_choose(struct probe_spec_list *list, const struct object *object);
/* Warns of each name of -L by which no function was found in any process. */
void libraries_report(const struct probe_spec_list *list);
/* Whether a function was found, chosen by -L or not. */
bool libraries_define_any(const struct probe_spec_list *list);

#endif

/* -L: chooses the objects whose functions are traced, and warns of values of -L with which no function was found. */
#ifndef FT_CALLS_PROBES_CHOSEN_LIBRARIES_H
#define FT_CALLS_PROBES_CHOSEN_LIBRARIES_H

#include "calls/probes/probe_spec.h"
#include "symbols/objects/mapped_object.h"

/* Allocates the data about the values of -L, whose number is `count`. */
struct chosen_libraries *chosen_libraries_new(size_t count);
void chosen_libraries_free(struct chosen_libraries *libraries, size_t count);

/* Notes which values of -L are in the path of a new object. */
void chosen_libraries_saw(struct probe_spec_list *list, const struct object *object);
/* Notes that the object defines a wanted function. Returns true if -L chooses the object, or if there is no -L. */
bool chosen_libraries_choose(struct probe_spec_list *list, const struct object *object);
/* Warns of each value of -L for which no function was found in any process. */
void chosen_libraries_report(const struct probe_spec_list *list);
/* Returns true if -L was given and an object defines a wanted function, whether -L chooses the object or not. */
bool chosen_libraries_define_any(const struct probe_spec_list *list);

#endif

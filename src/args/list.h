/* A list of one call's arguments as text, with a reference count. */
#ifndef FT_ARGS_LIST_H
#define FT_ARGS_LIST_H

#include "trace/event.h"

#include <stddef.h>

/* Names of the items that are not arguments: the result and the error. */
#define ARG_RESULT "return"
#define ARG_ERROR  "errno"

/* The call, each of its events and each of its reservations hold a reference. No item is added after the call's
 * return. */
struct arg_list {
	unsigned references;
	size_t count, capacity;
	struct call_arg *items; /* the names and values are owned by the list */
};

/* Returns a new empty list with one reference. */
struct arg_list *arg_list_new(void);
struct arg_list *arg_list_ref(struct arg_list *list); /* NULL is allowed */
void arg_list_unref(struct arg_list *list);           /* NULL is allowed */
/* Appends copies of the name and the value. */
void arg_list_add(struct arg_list *list, const char *name, const char *value);
/* Returns a new list with copies of the items; for NULL, an empty list. */
struct arg_list *arg_list_copy(const struct arg_list *list);

#endif

/* The arguments of one call as text. */
#ifndef FT_ARGS_LIST_H
#define FT_ARGS_LIST_H

#include "trace/event.h"

#include <stddef.h>

/* The names of what is not an argument but stands among them. */
#define ARG_RESULT "return"
#define ARG_ERROR  "errno"

/* Calls, events and reservations have a reference each. Only a call adds to it, until it has returned. */
struct arg_list {
	unsigned references;
	size_t count, capacity;
	struct call_arg *items; /* names and values are the list's */
};

/* An empty one, with one reference. */
struct arg_list *arg_list_new(void);
struct arg_list *arg_list_ref(struct arg_list *list); /* NULL is allowed */
void arg_list_unref(struct arg_list *list);           /* NULL is allowed */
/* Appends copies of both. */
void arg_list_add(struct arg_list *list, const char *name, const char *value);
/* A new list with the same items: to be added to. NULL makes an empty one. */
struct arg_list *arg_list_copy(const struct arg_list *list);

#endif

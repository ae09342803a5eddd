#include "config.h"
#include "calls/probes/chosen_libraries.h"
#include "base/buf.h"
#include "base/msg.h"

#include <stdlib.h>
#include <string.h>

/* A value of -L that chooses no object in one process may choose one in another. So messages about the values are
 * printed once, at the end of the run. */

#define DEFINERS 6 /* number of objects that a message names, at most */

struct chosen_library {
	bool is_found; /* an object that this value chooses defines a traced function */
	char *path;    /* path of the first object that this value chooses, or NULL */
};

struct chosen_libraries {
	char *definers[DEFINERS];
	size_t definer_count;
	struct chosen_library items[]; /* one for each value of -L, in their order */
};

struct chosen_libraries *chosen_libraries_new(size_t count)
{
	return xcalloc(1, sizeof(struct chosen_libraries) + count * sizeof(struct chosen_library));
}

void chosen_libraries_free(struct chosen_libraries *libraries, size_t count)
{
	for (size_t i = 0; i < count; i++)
		free(libraries->items[i].path);
	for (size_t i = 0; i < libraries->definer_count; i++)
		free(libraries->definers[i]);
	free(libraries);
}

static bool chosen_libraries_is_chosen(const struct settings *set, size_t library, const struct object *object)
{
	return strstr(object->path, set->traced.libraries[library]);
}

void chosen_libraries_saw(struct probe_spec_list *list, const struct object *object)
{
	for (size_t i = 0; i < list->set->traced.library_count; i++) {
		struct chosen_library *const library = &list->libraries->items[i];

		if (!library->path && chosen_libraries_is_chosen(list->set, i, object))
			library->path = xstrdup(object->path);
	}
}

static void add_definer(struct chosen_libraries *libraries, const char *path)
{
	for (size_t i = 0; i < libraries->definer_count; i++)
		if (!strcmp(libraries->definers[i], path))
			return;
	if (libraries->definer_count < DEFINERS)
		libraries->definers[libraries->definer_count++] = xstrdup(path);
}

bool chosen_libraries_choose(struct probe_spec_list *list, const struct object *object)
{
	bool chosen = false;

	if (!list->set->traced.library_count)
		return true;
	for (size_t i = 0; i < list->set->traced.library_count; i++) {
		if (chosen_libraries_is_chosen(list->set, i, object))
			list->libraries->items[i].is_found = chosen = true;
	}
	add_definer(list->libraries, object->path);
	return chosen;
}

bool chosen_libraries_define_any(const struct probe_spec_list *list)
{
	return list->libraries->definer_count;
}

void chosen_libraries_report(const struct probe_spec_list *list)
{
	const struct chosen_libraries *const libraries = list->libraries;
	struct buf b = {0};
	bool any = false;

	for (size_t i = 0; i < libraries->definer_count; i++)
		buf_printf(&b, "%s%s", i ? ", " : "", libraries->definers[i]);
	for (size_t i = 0; i < list->set->traced.library_count; i++)
		any |= libraries->items[i].is_found;
	for (size_t i = 0; i < list->set->traced.library_count; i++) {
		const struct chosen_library *const library = &libraries->items[i];
		const char *const name = list->set->traced.libraries[i];
		const char *const others = any || !b.size ? "" : buf_str(&b);

		if (library->is_found)
			continue;
		if (library->path)
			msg_warn("-L %s: the object with this in its path (%s) defines none of the functions to be "
				 "traced%s%s",
				 name, library->path, *others ? ". They are defined by: " : "", others);
		else
			msg_warn("-L %s: no object has this in its path%s%s", name,
				 *others ? ". Functions to be traced are defined by: " : "", others);
	}
	buf_free(&b);
}

#include "config.h"
#include "cli/conflicts.h"
#include "base/buf.h"

#include <stdlib.h>
#include <string.h>

void given_value(struct given *given, const char *name, const char *value)
{
	if (!value)
		return;
	ARRAY_GROW(given->facts, given->capacity, given->count);
	given->facts[given->count++] = (struct given_fact){xstrdup(name), xstrdup(value)};
}

void given_fact(struct given *given, const char *name, bool holds)
{
	given_value(given, name, holds ? "" : NULL);
}

bool option_flag_set(const struct option_flag *flags, size_t count, int key, void *options)
{
	for (size_t i = 0; i < count; i++)
		if (flags[i].key == key) {
			*(bool *)(void *)((char *)options + flags[i].place) = flags[i].value;
			return true;
		}
	return false;
}

char *option_name(const struct argp_option *table, int key)
{
	/* Aliases have the key 0, which argp also passes for an argument that is no option (ARGP_KEY_ARG). */
	for (const struct argp_option *option = table; key && (option->name || option->doc); option++)
		if (option->name && option->key == key)
			return key < 0x80 ? xasprintf("-%c", key) : xasprintf("--%s", option->name);
	return NULL;
}

void given_option(struct given *given, const struct argp_option *table, int key, const char *value)
{
	char *const name = option_name(table, key);

	if (name)
		given_value(given, name, value ? value : "");
	free(name);
}

static const char *conflicts_find(const struct given *given, const char *name, size_t length)
{
	for (size_t i = given->count; i--;)
		if (!strncmp(given->facts[i].name, name, length) && !given->facts[i].name[length])
			return given->facts[i].value;
	return NULL;
}

const char *given_find(const struct given *given, const char *name)
{
	return conflicts_find(given, name, strlen(name));
}

void given_free(struct given *given)
{
	for (size_t i = 0; i < given->count; i++) {
		free(given->facts[i].name);
		free(given->facts[i].value);
	}
	free(given->facts);
	*given = (struct given){0};
}

static bool has_any(const struct given *given, const char *names)
{
	bool found = !*names;

	for (size_t length; *names && !found; names += length + (names[length] == ' ')) {
		length = strcspn(names, " ");
		found = conflicts_find(given, names, length);
	}
	return found;
}

static char *with_values(const char *words, const struct given *given)
{
	struct buf text = {0};

	for (const char *name; (name = strchr(words, '{')); words = strchr(name, '}') + 1) {
		buf_add(&text, words, (size_t)(name++ - words));
		buf_add_str(&text, conflicts_find(given, name, strcspn(name, "}")));
	}
	buf_add(&text, words, strlen(words) + 1);
	return (char *)text.data;
}

char *conflict_find(const struct conflict *rows, size_t count, const struct given *given)
{
	for (size_t i = 0; i < count; i++)
		if (has_any(given, rows[i].subjects) && has_any(given, rows[i].others) == (rows[i].how == EXCLUDES))
			return with_values(rows[i].words, given);
	return NULL;
}

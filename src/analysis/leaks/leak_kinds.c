#include "config.h"
#include "analysis/leaks/leak_kinds.h"
#include "base/util.h"

#include <string.h>

static const char *const names[] = {
	[LOST_DEFINITELY] = "definite",
	[LOST_INDIRECTLY] = "indirect",
	[LOST_POSSIBLY] = "possible",
	[LOST_KINDS] = "reachable",
};

/* Returns the kind with that name, as a set; 0 if there is no such kind. */
static unsigned leak_kinds_kind_of(const char *name, size_t length)
{
	for (unsigned i = 0; i < ARRAY_SIZE(names); i++)
		if (strlen(names[i]) == length && !memcmp(names[i], name, length))
			return LEAK_KIND(i);
	return 0;
}

bool leak_kinds_parse(const char *text, unsigned *kinds)
{
	unsigned found = 0;

	if (!strcmp(text, "all") || !strcmp(text, "none")) {
		*kinds = *text == 'a' ? LEAK_KINDS_ALL : 0;
		return true;
	}
	for (const char *p = text;; p++) {
		const size_t length = strcspn(p, ",");
		const unsigned kind = leak_kinds_kind_of(p, length);

		if (!kind)
			return false;
		found |= kind;
		p += length;
		if (!*p)
			break;
	}
	*kinds = found;
	return true;
}

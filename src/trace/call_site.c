#include "config.h"
#include "trace/call_site.h"
#include "trace/frame_text.h"
#include "trace/escape.h"
#include "base/util.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Maximum number of remembered sites. When it is reached, all of them are forgotten, and looked up again on
 * demand. */
#define SITES_MAX 65536

struct named_site {
	char *function, *file;
	unsigned line;
};

static void forget_sites(struct call_sites *sites)
{
	HASH_EACH_PTR(struct named_site, named, &sites->by_address) {
		free(named->function);
		free(named->file);
		free(named);
	}
	hash_free(&sites->by_address);
}

void call_sites_free(struct call_sites *sites)
{
	forget_sites(sites);
	mapped_objects_free(&sites->objects);
	free(sites->text);
}

void call_sites_add_object(struct call_sites *sites, const struct record_object *object)
{
	if (object->from >= object->to)
		return;
	forget_sites(sites);
	mapped_objects_add(&sites->objects, object);
}

/* Returns "name+0x123" for a return address, or NULL if no object is mapped there. The caller frees the string. The
 * address may be just past the end of its object, because a call can be the last instruction. */
static char *place_in_object(const struct call_sites *sites, uint64_t address)
{
	const struct record_object *const object =
		address ? mapped_objects_find(&sites->objects, address - 1, address) : NULL;

	return object ? xasprintf("%s+0x%" PRIx64, path_name(object->path), address - object->from) : NULL;
}

static struct named_site *name_site(const struct call_sites *sites, uint64_t address)
{
	struct named_site *named = xcalloc(1, sizeof(*named));
	const struct frame_name *names = NULL;

	if (sites->namer && sites->namer(sites->namer_context, address, &names)) {
		named->function = xstrdup_or_null(names->function);
		if (names->file && names->line) {
			named->file = xstrdup(names->file);
			named->line = names->line;
		}
	}
	if (!named->function)
		named->function = place_in_object(sites, address);
	return named;
}

static struct call_site site_of_address(struct call_sites *sites, uint64_t address)
{
	struct named_site *named = hash_get_ptr(&sites->by_address, address);

	if (!named) {
		if (sites->by_address.count >= SITES_MAX)
			forget_sites(sites);
		named = name_site(sites, address);
		hash_set_ptr(&sites->by_address, address, named);
	}
	return (struct call_site){named->function, named->file, named->line};
}

static bool call_site_cut_end(char *text, const char *end)
{
	size_t length = strlen(text);
	const bool has_end = frame_text_cut_end(text, &length, end);

	text[length] = '\0';
	return has_end;
}

/* Returns the site that the first line of a frame's text describes. This line names the innermost function, inlined or
 * not. */
static struct call_site site_of_text(struct call_sites *sites, const char *text)
{
	const size_t length = strcspn(text, "\n");
	const struct frame_text_parts parts = frame_text_parts(text, length);
	struct call_site site = {0};

	free(sites->text);
	sites->text = xstrndup(text, length);
	if (!parts.module && parts.name_end < length) {
		char *const file = sites->text + parts.name_end + strlen(" at ");

		call_site_cut_end(file, TEXT_INLINED);
		char *const colon = strrchr(file, ':');

		parse_number(colon + 1, UINT64_MAX, &site.line);
		*colon = '\0';
		site.file = *text_unescape(file, "") ? file : NULL;
	} else {
		call_site_cut_end(sites->text, TEXT_INLINED);
	}
	if (parts.name_end < strlen(sites->text))
		sites->text[parts.name_end] = '\0';
	char *const function = sites->text + parts.name_begin;

	while (call_site_cut_end(function, "()"))
		;
	if (*text_unescape(function, ""))
		site.function = function;
	return site;
}

struct call_site call_site_of(struct call_sites *sites, const struct record_call *call)
{
	const char *const text = call->frame_count && call->frame_texts ? call->frame_texts[0] : NULL;
	const enum frame_worth worth = frame_text_worth(text);

	if (!call->frame_count)
		return (struct call_site){0};
	if (worth == FRAME_FUNCTION_LINE || (worth > FRAME_MODULE && !sites->namer) || (worth && !call->frames[0]))
		return site_of_text(sites, text);
	const struct call_site site = site_of_address(sites, call->frames[0]);

	return !site.function && !site.file && worth > FRAME_MODULE ? site_of_text(sites, text) : site;
}

/* Returns true if "()" must not follow the name: the name ends in parameters, or is "OBJECT+0xOFFSET". */
static bool call_site_has_end(const char *function)
{
	const size_t length = strlen(function);

	return (length && function[length - 1] == ')') || strstr(function, "+0x");
}

void call_site_text(struct buf *out, const struct call_site *site)
{
	if (site->function && *site->function) {
		buf_add_str(out, " in ");
		text_put_escaped(out, site->function, "");
		if (!call_site_has_end(site->function))
			buf_add_str(out, "()");
	}
	if (site->file && *site->file) {
		buf_add_str(out, " at ");
		text_put_escaped(out, site->file, "");
		buf_printf(out, ":%" PRIu64, site->line);
	}
}

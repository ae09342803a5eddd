/* Finds the place from which a traced function was called, for formats that store the names of one frame only. */
#ifndef FT_TRACE_CALL_SITE_H
#define FT_TRACE_CALL_SITE_H

#include "base/buf.h"
#include "base/hash.h"
#include "trace/event.h"
#include "trace/mapped_objects.h"

/* The site of a call; unknown parts are NULL or 0. */
struct call_site {
	const char *function, *file;
	uint64_t line;
};

struct call_sites {
	frame_namer namer; /* finds names by address; NULL if there is no namer */
	void *namer_context;
	struct mapped_objects objects;
	struct hash by_address; /* return address -> struct named_site; emptied when an object is mapped */
	char *text;             /* copy of the frame text that was parsed last; the returned site points into it */
};

/* Adds a mapped object. Objects that it overlaps are removed. */
void call_sites_add_object(struct call_sites *sites, const struct record_object *object);
/* Returns the site of a call's first frame, named by the namer or by the frame's text. If neither has a name,
 * `function` is the address as an offset into its object, "name+0x123". The result is valid until the next call of a
 * function of this file. */
struct call_site call_site_of(struct call_sites *sites, const struct record_call *call);
void call_sites_free(struct call_sites *sites);

/* Appends the site as the text of a frame (see frame_texts in struct record_call). call_site_of() parses this text to
 * the same site. Appends nothing for an unknown site. */
void call_site_text(struct buf *out, const struct call_site *site);

#endif

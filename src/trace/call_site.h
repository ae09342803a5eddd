/* Names the site of a call, for formats that have a place for the names of one frame. */
#ifndef FT_TRACE_CALL_SITE_H
#define FT_TRACE_CALL_SITE_H

#include "base/buf.h"
#include "base/hash.h"
#include "trace/event.h"

/* The site of a call; unknown parts are NULL or 0. */
struct call_site {
	const char *function, *file;
	uint64_t line;
};

struct call_sites {
	frame_namer namer; /* may be NULL */
	void *namer_context;
	struct record_object *objects; /* sorted by `from`; owns the paths */
	size_t object_count, object_capacity;
	struct hash by_address; /* return address -> struct named_site; emptied when an object is mapped */
	char *text;             /* the text of the last site that was parsed from a text */
};

/* Adds a mapped object, which replaces those that it overlaps. */
void call_sites_add_object(struct call_sites *sites, const struct record_object *object);
/* Returns the site of a call's first frame, from the namer or from the frame's text. Without either, the function is
 * the object that contains the address, as "name+0x123". Valid until the next call of a function of this file. */
struct call_site call_site_of(struct call_sites *sites, const struct record_call *call);
void call_sites_free(struct call_sites *sites);

/* Appends the site as the text of a frame (as in struct record_call), from which call_site_of() gets the same site.
 * Appends nothing for an unknown site. */
void call_site_text(struct buf *out, const struct call_site *site);

#endif

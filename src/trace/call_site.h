/* Where calls were made, for formats that have a place for one frame, by its names. */
#ifndef FT_TRACE_CALL_SITE_H
#define FT_TRACE_CALL_SITE_H

#include "base/buf.h"
#include "base/hash.h"
#include "trace/event.h"

/* Where a call was made; what is unknown is NULL or 0. */
struct call_site {
	const char *function, *file;
	uint64_t line;
};

struct call_sites {
	frame_namer namer; /* may be NULL */
	void *namer_context;
	struct record_object *objects; /* by `from`, the paths our own */
	size_t object_count, object_capacity;
	struct hash by_address; /* -> struct named_site; emptied when an object is mapped */
	char *text;             /* of the site that was read from a text last */
	char *module;
};

/* An object that is mapped: it replaces what it overlaps. */
void call_sites_add_object(struct call_sites *sites, const struct record_object *object);
/* The site of a call's first frame: as the namer says, or its text; without both the object that the address lies in,
 * as "name+0x123". Valid until the next call of this file. */
struct call_site call_site_of(struct call_sites *sites, const struct record_call *call);
void call_sites_free(struct call_sites *sites);

/* The text of a frame (as in struct record_call) from which call_site_of() takes this again; "" of nothing. */
void call_site_text(struct buf *out, const struct call_site *site);

#endif

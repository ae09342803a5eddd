/* The forms in which receivers take profiles: the URL that the user gives, the request, and the answer. */
#ifndef FT_FLEET_PUSH_FORM_H
#define FT_FLEET_PUSH_FORM_H

#include "fleet/push_parcel.h"

struct push_form;

/* Where profiles are sent. */
struct push_target {
	const struct push_form *form;
	char *url;   /* http or https; what the form adds to it is not in it */
	char *shown; /* the URL for messages: without user and password, and without characters that are not plain */
};

/* Parses a URL: http://, https://, and pyroscope+ or parca+ before one of these. Returns false, and a reason in `why`,
 * if it is no such URL. Otherwise the caller frees the target by push_target_free(). */
bool push_target_parse(const char *url, struct push_target *target, char *why, size_t why_size);
void push_target_free(struct push_target *target);
/* Returns true if the receiver's values have no sign: see interval_profile_write(). */
bool push_target_is_unsigned(const struct push_target *target);

struct push_request {
	char *url, *content_type;
	struct buf body;
};

/* Makes the request that sends a parcel. The caller frees it by push_request_free(), also after an error. Returns false
 * if there is no memory. */
bool push_request_make(const struct push_target *target, const struct push_parcel *parcel,
		       struct push_request *request);
void push_request_free(struct push_request *request);

/* Returns NULL if an answer of status 2xx is one of such a receiver; otherwise what is wrong. content_type: of the
 * answer; NULL: it has none. */
const char *push_target_doubt(const struct push_target *target, const char *content_type);

#endif

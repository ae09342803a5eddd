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

struct push_answer {
	long status;     /* of HTTP; 0: there was no answer */
	unsigned wait_s; /* the receiver asks to wait so many seconds before the next request; 0: it does not */
	char type[80];   /* Content-Type; "": none */
	/* The first line of the answer, or why there is none. Has only plain characters. */
	char text[200];
	char trailer[200];        /* lines of the header whose names begin with grpc- */
	unsigned char body[1000]; /* the first `size` bytes of the answer */
	size_t size;
};

enum push_outcome {
	PUSH_SENT,
	PUSH_REFUSED, /* this profile will never be taken */
	PUSH_LATER,   /* another try may succeed */
	PUSH_FOREIGN, /* this is no answer of such a receiver */
};

/* Judges an answer. May change its text. */
enum push_outcome push_target_judge(const struct push_target *target, struct push_answer *answer);
/* After PUSH_FOREIGN: changes the target's form to the next one for receivers of its kind. Returns false if there is
 * none. */
bool push_target_try_next(struct push_target *target);

#endif

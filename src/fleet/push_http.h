/* Sends a request by HTTP, with time limits. */
#ifndef FT_FLEET_PUSH_HTTP_H
#define FT_FLEET_PUSH_HTTP_H

#include "fleet/push_form.h"

struct push_http;

struct push_http_options {
	unsigned connect_ms; /* time limit for the connection */
	unsigned answer_ms;  /* for the connection, the request and the answer together */
	/* Called about once a second, and more often while data are transferred. If it returns true, the request ends
	 * with an error. */
	bool (*is_over)(void *context);
	void *context;
};

/* Makes a connection, which one thread may use. Opens nothing yet. Returns NULL if there is no memory. */
struct push_http *push_http_new(const struct push_http_options *options);
void push_http_free(struct push_http *http);

/* Sends the request, and waits for the answer. The connection stays open for the next one. */
void push_http_post(struct push_http *http, const struct push_request *request, struct push_answer *answer);

#endif

/* Serves a text of metrics over HTTP, by libmicrohttpd. In a build without this library, metrics_http_open() fails and
 * says so. */
#ifndef FT_FLEET_METRICS_HTTP_H
#define FT_FLEET_METRICS_HTTP_H

#include "fleet/metrics_text.h"

#include <sys/socket.h>

struct metrics_http;

/* Serves `text`, which must stay valid, from a socket that listens and does not block. The socket belongs to the server
 * from now on, also after an error. Returns NULL on an error; `why` then has a sentence. The caller ends the result by
 * metrics_http_close(). */
struct metrics_http *metrics_http_open(struct metrics_text *text, int listener, char *why, size_t size);
/* Ends all connections, and waits for the thread of the server. */
void metrics_http_close(struct metrics_http *http);

/* Returns false, with the reason in `why`, if this build cannot serve HTTP. */
bool metrics_http_is_possible(char *why, size_t size);

#endif

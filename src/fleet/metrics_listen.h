/* Opens the socket from which metrics are served. */
#ifndef FT_FLEET_METRICS_LISTEN_H
#define FT_FLEET_METRICS_LISTEN_H

#include <stdbool.h>
#include <stddef.h>

#define METRICS_URL_SIZE 128

/* Returns true if the text has the form [ADDRESS:]PORT. Otherwise `why` (of `size` bytes) has a sentence. Opens
 * nothing. */
bool metrics_listen_check(const char *where, char *why, size_t size);
/* where: [ADDRESS:]PORT as for metrics_open(). Looks up no names, so it does not wait for a network. Returns a socket
 * that listens, close-on-exec and without blocking; `url` gets http://ADDRESS:PORT/metrics with the port that the socket
 * has. Returns -1 on an error; `why` (of `size` bytes) then has a sentence. */
int metrics_listen(const char *where, char url[METRICS_URL_SIZE], char *why, size_t size);

#endif

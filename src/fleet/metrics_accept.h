/* Chooses the format that a client prefers. */
#ifndef FT_FLEET_METRICS_ACCEPT_H
#define FT_FLEET_METRICS_ACCEPT_H

#include "fleet/metrics_text.h"

/* Reads the value of an Accept header (RFC 9110, 12.5.1); NULL: there is none. OpenMetrics is chosen only if the header
 * names it, with a version that is known (1.0.0, 0.0.1) or without one, and prefers nothing else; the text format
 * in all other cases, also if the client accepts neither. */
enum metrics_format metrics_accept(const char *header);

#endif

/* The messages that the tracer sends over a socket to the process that shows --live. Each may carry a trace's
 * descriptor. */
#ifndef FT_ENGINE_VIEW_MESSAGE_H
#define FT_ENGINE_VIEW_MESSAGE_H

#include <stdint.h>

struct view_message {
	uint32_t has_trace; /* a descriptor comes with the message; 0: only `unseen` is valid */
	uint32_t is_named;  /* the process was named by -t */
	uint32_t unseen;    /* number of processes whose traces could not be sent since the last message */
};

#endif

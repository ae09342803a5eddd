/* The messages that the tracer sends to the view of --live over the socket, each with a trace's descriptor. */
#ifndef FT_ENGINE_VIEW_MESSAGE_H
#define FT_ENGINE_VIEW_MESSAGE_H

#include <stdint.h>

struct view_message {
	uint32_t has_trace; /* a descriptor comes with the message; else it only reports `unseen` */
	uint32_t is_named;  /* the process was given by -t */
	uint32_t unseen;    /* number of processes, since the last message, whose traces could not be sent */
};

#endif

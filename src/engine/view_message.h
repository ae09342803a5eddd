/* What comes with each trace's descriptor over the socket from the tracer to the view of --live. */
#ifndef FT_ENGINE_VIEW_MESSAGE_H
#define FT_ENGINE_VIEW_MESSAGE_H

#include <stdint.h>

struct view_message {
	uint32_t is_named; /* the process was given by -t */
	uint32_t unseen;   /* traces that ended since the last message, and that the view was too late for */
};

#endif

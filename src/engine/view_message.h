/* What comes over the socket from the tracer to the view of --live, with each trace's descriptor. */
#ifndef FT_ENGINE_VIEW_MESSAGE_H
#define FT_ENGINE_VIEW_MESSAGE_H

#include <stdint.h>

struct view_message {
	uint32_t has_trace; /* a descriptor comes along; else this only tells of `unseen` */
	uint32_t is_named;  /* the process was given by -t */
	uint32_t unseen;    /* processes, since the last message, whose traces the view cannot be given */
};

#endif

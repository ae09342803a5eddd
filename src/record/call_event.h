/* An event: one call of a traced function, and the thread that made it. */
#ifndef FT_RECORD_CALL_EVENT_H
#define FT_RECORD_CALL_EVENT_H

#include "args/list.h"
#include "modules/module.h"
#include "trace/event.h"
#include "unwind/unwind.h"

#include <sys/types.h>

/* A function whose calls are events. */
struct traced {
	const struct function *function;
	uint32_t resource; /* its id in the trace */
	const char *shown; /* the function's name in the trace (a prefixed name keeps its prefix) */
	bool any_family;   /* may release blocks of any family: free and operator delete are one function here */
};

/* A thread, with the name that it had when it was first written. Each event holds a reference to its thread, because
 * events outlive threads. */
struct thread {
	pid_t tid, tgid;
	unsigned references;
	bool name_known;
	char name[16];
};

/* Returns a new thread with one reference, which is the caller's. */
struct thread *thread_new(pid_t tid, pid_t tgid);
struct thread *thread_ref(struct thread *thread); /* NULL is allowed */
void thread_unref(struct thread *thread);         /* NULL is allowed */

/* One call, as it will be written. */
struct event {
	struct thread *thread; /* NULL if unknown */
	const struct traced *function;
	uint64_t id, size, time_ns;
	uint32_t context; /* mask of the contexts in which the call was made */
	uint64_t extent;  /* bytes that the release of a range gives up; 0: the whole range */
	uint64_t kept;    /* a number that an allocation stores with its id, if has_kept */
	bool has_kept;
	bool has_unknown_maker;  /* the call may be part of another call, whose entry was not seen */
	bool may_be_bookkeeping; /* a release by the allocator's library, perhaps of a block that it made for itself */
	struct arg_list *args;   /* NULL if none */
	struct unwind_frame *frames;
	size_t frame_count;
	bool has_frames;
	enum stack_end end;
};

struct unwind_frame *frames_copy(const struct unwind_frame *frames,
				 size_t count); /* Returns a copy, which the caller frees; NULL if the count is 0. */

#endif

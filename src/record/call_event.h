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
	bool any_family;   /* free and operator delete are one function here */
};

/* A thread, and its name as it was when it was first written. Events outlive threads: each has a reference to its
 * thread. */
struct thread {
	pid_t tid, tgid;
	unsigned references;
	bool name_known;
	char name[16];
};

/* With one reference, the caller's. */
struct thread *thread_new(pid_t tid, pid_t tgid);
struct thread *thread_ref(struct thread *thread); /* NULL is allowed */
void thread_unref(struct thread *thread);         /* NULL is allowed */

/* One call, as it is to be written. */
struct event {
	struct thread *thread; /* NULL: not known */
	const struct traced *function;
	uint64_t id, size, time_ns;
	uint32_t context; /* the contexts that its call was made in: a mask */
	uint64_t extent;  /* of the release of a range: how many bytes it gives up; 0: the whole one */
	uint64_t kept;    /* a number that an allocation keeps with its id; has_kept */
	bool has_kept;
	bool has_unknown_maker;  /* its call may be a part of another function's, whose entry was not seen */
	bool may_be_bookkeeping; /* a release by the allocator's own library, of what it perhaps keeps for itself */
	struct arg_list *args;   /* NULL none */
	struct unwind_frame *frames;
	size_t frame_count;
	bool has_frames;
	enum stack_end end;
};

struct unwind_frame *frames_copy(const struct unwind_frame *frames, size_t count); /* the caller's; NULL of none */

#endif

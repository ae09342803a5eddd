/* An event: one call of a traced function, with the thread that made it. */
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
	uint32_t resource; /* number of the function's kind of resource in the trace */
	/* the function's name in the trace; includes an allocator's prefix (je_malloc) */
	const char *shown;
	/* the function may release blocks of any family, because free and operator delete have the same address */
	bool any_family;
};

/* A thread, with the name that it had at its first record. Each event has a reference to its thread, because an event
 * may exist longer than the thread. */
struct thread {
	pid_t tid, tgid;
	unsigned references;
	bool name_known;
	char name[16];
};

/* Returns a new thread with one reference, which belongs to the caller. */
struct thread *thread_new(pid_t tid, pid_t tgid);
struct thread *thread_ref(struct thread *thread); /* `thread` may be NULL */
void thread_unref(struct thread *thread);         /* `thread` may be NULL */

/* A call, with the data that are written to the trace. */
struct event {
	struct thread *thread; /* the calling thread; NULL if unknown */
	const struct traced *function;
	uint64_t id, size, time_ns;
	uint32_t context; /* mask of the contexts that were set during the call */
	uint64_t extent;  /* for the release of a range, the number of bytes that are released; 0: the whole range */
	uint64_t kept;    /* for an allocation with has_kept, a number that the module stores with the id */
	bool has_kept;
	/* the call may be nested in another traced call, whose entry was missed */
	bool has_unknown_maker;
	/* the C library itself calls the releasing function, perhaps for a block that it allocated for its own use */
	bool may_be_bookkeeping;
	struct arg_list *args; /* arguments of the call; NULL if none were recorded */
	struct unwind_frame *frames;
	size_t frame_count;
	bool has_frames;
	enum stack_end end;
};

/* Returns a copy of `count` frames, which the caller frees; NULL if `count` is 0. */
struct unwind_frame *frames_copy(const struct unwind_frame *frames, size_t count);
/* Returns a copy that owns its frames, and has references to the thread and the arguments. event_free() frees the
 * frames, and gives up the references. */
struct event event_copy(const struct event *e);
void event_free(struct event *e);

#endif

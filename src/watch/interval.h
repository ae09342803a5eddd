/* What a watch of one process knows at the end of an interval. The tracer makes it, and src/fleet writes it in the
 * forms that other systems read. All strings belong to the maker, and are valid during the call that gets the
 * struct. */
#ifndef FT_WATCH_INTERVAL_H
#define FT_WATCH_INTERVAL_H

#include "watch/watch.h"

#include <stddef.h>
#include <sys/types.h>

struct watch_frame {
	const char *function; /* NULL: unknown */
	const char *file;     /* source file; NULL: unknown */
	unsigned line;        /* 0: unknown */
	const char *object;   /* path of the mapped file; NULL: code without a file */
	const char *build_id; /* of this file, in hexadecimal digits; NULL: it has none */
	uint64_t offset; /* of the return address, from the object's first byte in memory; without one, the address */
};

struct watch_row {
	/* Of the stack: a hash of its frames' build-ids (of their files' names, if they have none) and offsets. So it
	 * is the same in all processes, and on all machines, that run the same files. */
	uint64_t id;
	const struct watch_frame *frames; /* from the allocating function outwards */
	size_t frame_count;
	double allocated, calls;     /* estimates: bytes and blocks that are allocated a second */
	struct watch_stack estimate; /* `stack` is without meaning here */
};

struct watch_cost {
	double budget;       /* the share of one CPU that the watch may take: 0.02 is 2 % */
	double target;       /* the share that it took from the target since it began: stops and probes */
	double own;          /* the share that functrace itself took */
	uint64_t longest_ns; /* the longest pause of the target */
};

#define WATCH_UNKNOWN (-1.0)

/* Returns the word of a verdict in rows and profiles; NULL for any other value. */
static inline const char *watch_verdict_word(enum watch_verdict verdict)
{
	switch (verdict) {
	case WATCH_SOUND:
		return "sound";
	case WATCH_GROWING:
		return "growing";
	case WATCH_FEW_WINDOWS:
		return "few windows";
	case WATCH_UNRESOLVED:
		return "unresolved";
	}
	return NULL;
}

/* Returns false if a stack's growth is unknown, whatever its figures are. */
static inline bool watch_knows_growth(const struct watch_stack *stack)
{
	return stack->verdict != WATCH_UNRESOLVED;
}

struct watch_interval {
	/* service: the name that the user has given, or the program's. build_id: of the program's file; may be NULL */
	const char *host, *service, *program, *build_id;
	const char *started_name; /* the name by which the process was started; NULL: unknown */
	pid_t pid;
	/* Times in ns since the Epoch. The estimates are those of end_ns, for blocks allocated since began_ns. */
	uint64_t process_start_ns, began_ns, begin_ns, end_ns;
	bool is_last; /* the process has ended, executes another program, or is no longer watched */
	/* "has exited with status 0", "was killed by signal 11 (Segmentation fault)", "executes another program"; NULL:
	 * the process goes on */
	const char *ending;
	bool is_stopped; /* by a signal such as SIGSTOP */
	const char *way; /* how calls are seen: "kernel" or "breakpoints" */
	struct watch_cost cost;
	size_t windows, looks; /* since the watch began */
	double share;          /* of the program's work that was done in windows */
	uint64_t calls;        /* number of calls that were seen since the watch began */
	uint64_t unseen;       /* number of calls in windows that were not seen, because records were lost */
	/* Bytes and blocks of the allocator in use, by its own data; WATCH_UNKNOWN if these cannot be read, because of
	 * `reason` (NULL: they can). before: bytes in use when the watch began. unattributed: heap_bytes without the
	 * live bytes of all stacks, which are those from before the watch, and what no window has seen. */
	double heap_bytes, heap_blocks, before, unattributed;
	const char *reason;
	/* Bytes that the latest scan has found lost; WATCH_UNKNOWN without one, because of lost_reason (NULL: the
	 * reason is unknown). */
	double lost;
	const char *lost_reason;
	uint64_t looked_ns, scanned_ns; /* times of the last look at the heap, and of the scan; 0: there was none */
	const struct watch_row *rows;   /* by descending live bytes */
	size_t count;
	size_t stacks; /* number of stacks that have live bytes; `rows` has only the largest of them */
};

/* The functions to which the intervals go. */
struct watch_outputs {
	/* Called once, when the target is about to be watched. Returns NULL after a message if that is impossible. */
	void *(*open)(const void *settings);
	/* Called at the end of each interval. Threads may call it at the same time, with intervals of different
	 * processes. May take seconds, but must end. */
	void (*deliver)(void *outputs, const struct watch_interval *interval);
	/* Called after the last interval. */
	void (*close)(void *outputs);
};

#endif

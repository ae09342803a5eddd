/* The data of src/record, which turns calls into traces.
 *
 * The code in this folder neither calls ptrace nor reads the memory of a target. It gets events as plain structs, from
 * breakpoints or from any other source. */
#ifndef FT_RECORD_TRACE_H
#define FT_RECORD_TRACE_H

#include "base/hash.h"
#include "record/heap_areas.h"
#include "record/counts.h"
#include "record/call_event.h"
#include "record/times.h"
#include "symbols/objects/mapped_object.h"
#include "trace/writer.h"

#define MAX_FRAMES 256

struct attachment_text;
struct held_release;
struct naming;

/* The contexts of a process, in the order in which they first occurred: names[n] has the id 1 << n. */
struct trace_contexts {
	char *names[TRACE_CONTEXTS];
	unsigned count;
	bool is_full; /* there were too many contexts, and this was reported */
};

/* The reservation of a release that can fail, from its entry until its outcome is known. ledger.c explains
 * reservations. */
struct reservation {
	bool is_open;
	struct event event; /* owns its frames, and has references to the thread and the arguments */
	void *owner;        /* the releasing call */
};

/* Definitely and indirectly lost resources of a kind, as the last scan found them. */
struct lost_total {
	bool is_known;
	uint64_t blocks, bytes, events; /* events: counts.events at the time of the scan */
	/* lost blocks from before the fork, which are not in the trace; `blocks` and `bytes` do not include them */
	uint64_t inherited, inherited_bytes;
};

/* The live resources of one kind, and data about baselines and scans of this kind. */
struct live_set {
	const struct resource *kind;
	struct kind_counts counts;
	struct hash blocks; /* id -> struct live_block, packed */
	struct hash kept;   /* id -> event.kept, the number that a module stores with the id */
	/* id -> number of references after the first one, if references are counted; ids with one reference have no
	 * entry */
	struct hash references;
	struct hash reserved;     /* id -> struct reservation; unused if references are counted */
	struct release *releases; /* released_blocks.c: the last releases; NULL before the first one */
	/* number of publishers in flight: calls whose id other threads may see before they return */
	size_t publishers;
	uint64_t bytes;
	/* the part of `blocks` and `bytes` that is older than the trace, or than the fork with which the trace began */
	uint64_t older, older_bytes;
	bool baseline_is_written; /* the trace contains the older resources */
	bool has_baseline;        /* a baseline has found all blocks from before the trace */
	bool awaits_baseline;
	uint64_t copies;      /* number of copies of the heap that were made for the baseline so far */
	struct hash released; /* while a baseline is pending: id -> `how`, see live_note_release() */
	bool awaits_scan;     /* the heap was copied for a scan that has no result yet */
	struct hash newer;    /* while a scan is pending: ids that were allocated since the copy */
	/* while a scan is pending: id -> size, of blocks that were released since the copy */
	struct hash gone;
	struct lost_total lost;
};

/* Numbers of live resources of a kind. Older ones were allocated before the trace, or before the fork with which the
 * trace began. */
struct live_total {
	uint64_t blocks, bytes;
	uint64_t older, older_bytes; /* older resources, which are not included in `blocks` and `bytes` */
	bool baseline_is_written;    /* the trace contains the older resources */
};

struct ledger {
	struct live_set *live; /* indexed by the kind's id */
	size_t reserved;       /* number of reservations of all kinds */
	struct held_release *held, **held_end;
	size_t held_count;
	/* Called before the ledger changes, because a fork's child may still share it; NULL if not needed. */
	void (*before_change)(void *context);
	void *context;
};

/* The program of a trace, and how its tracing began. */
struct trace_origin {
	char *exe;           /* the path of the program, as it is in the trace */
	char *name;          /* the name by which the process was started */
	bool foreign_mounts; /* the paths in the trace are valid only in another mount namespace */
	/* is_child: of a traced process; is_forked: it has not called execve since the fork */
	bool is_launched, is_child, is_forked;
	/* began while the program was running (-t, or after a pause), or at its fork: older blocks are unknown */
	bool attached;
	bool attached_to; /* the process was named by -t */
	bool may_miss;    /* calls may have been missed, so releases of unknown ids are not reported */
	/* the parent's pid, for a fork's child whose file is to be opened at its first event; else 0 */
	pid_t forked_by;
};

/* The writer of a trace, and what it has written. */
struct trace_output {
	struct writer *writer;
	struct deferred *deferred; /* put_records.c: queued records; NULL if records are written at once */
	/* unread_calls.c: calls that were left out; NULL if the writer waits for the reader */
	struct unread_calls *unread;
	int fd;
	int view_end; /* view_pipe.c: reading end of the pipe, until it is sent to the live view; else -1 */
	char *path;
	bool has_file;         /* `path` names a regular file, which can be opened again */
	struct naming *naming; /* -r: finds the names of functions; NULL without -r */
	uint64_t next_index;
	pid_t last_thread;
	uint64_t resident_index; /* next_index when the resident memory was last written */
	struct areas areas;      /* heap_areas.c: areas that the trace contains */
	bool is_removed;         /* the file was removed: by functrace, because it is empty, or by another program */
	uint64_t calls_written;  /* number of calls that were written; set when the writer is closed */
};

/* The trace of one process. It ends when the process exits or calls execve, when tracing is paused, or when functrace
 * detaches. */
struct trace {
	struct run *run;
	pid_t pid;
	const struct arch *arch;
	const struct object_list *objects; /* objects that are declared at the beginning of the trace */
	bool is_parting;                   /* the last scan was made; only ends of calls in flight follow */
	bool has_ended;                    /* no task of the process is left, so the process does not run on untraced */
	int killed_by;                     /* the signal that killed the process; 0 if none */
	struct ledger ledger;
	struct counts counts;
	struct trace_contexts contexts;
	/* attachments.c: indexed as in the settings; NULL before the first read */
	struct attachment_text *attachments;
	struct trace_origin origin;
	struct trace_output output;
	struct call_sink *sink; /* gets the calls, and the trace has no writer; NULL: they are written */
	struct trace_times times;
	/* the trace can no longer be written, its process can no longer be read, or attaching to the process failed */
	bool broken;
	bool reported;
	struct trace *next; /* next trace of the run */
};

#endif

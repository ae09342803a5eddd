/* What calls mean for the traces: the data of this floor.
 *
 * Nothing here knows ptrace or tracees' memory. An event is a plain struct; whatever yields such structs (breakpoints,
 * another source of stops) gets the same traces from them. */
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
struct deferred;
struct held_release;
struct naming;

/* The contexts of a process, in the order in which they came up: the n-th has the id 1 << n. */
struct trace_contexts {
	char *names[TRACE_CONTEXTS];
	unsigned count;
	bool is_full; /* there were more, which has been said */
};

/* A release that can fail, from its entry until it is known whether it has succeeded: ledger.c. */
struct reservation {
	bool is_open;
	struct event event; /* the frames and references to the thread and the arguments are its own */
	void *owner;        /* the call, of who has reserved */
};

/* What the last scan has found lost of a kind, definitely or indirectly. */
struct lost_total {
	bool is_known;
	uint64_t blocks, bytes, events; /* ... and how many the trace had before */
};

/* Live resources of one kind. */
struct live_set {
	const struct resource *kind;
	struct kind_counts counts;
	struct hash blocks;       /* id -> struct released_block, packed */
	struct hash kept;         /* id -> event.kept, of those that have any */
	struct hash references;   /* id -> references beyond the first, where they are counted and there are any */
	struct hash reserved;     /* id -> struct reservation; not of ids whose references are counted */
	struct release *releases; /* the last ones, by id; NULL none yet: released_blocks.c */
	size_t publishers;        /* calls in flight whose id may be out before they return */
	uint64_t bytes;
	uint64_t older, older_bytes; /* of these from before the trace, or the fork that began it */
	bool baseline_is_written;    /* ... which are in the trace */
	bool has_baseline;           /* all blocks from before the trace are known */
	bool awaits_baseline;
	uint64_t copies;      /* of the heap, that have been made for it */
	struct hash released; /* while it does: the ids that were released, and how (live_set.h) */
	bool awaits_scan;     /* a copy has been made, and what is lost in it is not known yet */
	struct hash newer;    /* while it does: the ids that are live since then */
	struct hash gone;     /* while it does: id -> size of what is not, and was live then */
	struct lost_total lost;
};

/* The live resources of one kind, and those that are older than the trace: a baseline has found them, or a fork's child
 * has them from its parent. */
struct live_total {
	uint64_t blocks, bytes;
	uint64_t older, older_bytes; /* not among those */
	bool baseline_is_written;    /* the older ones are in the trace */
};

struct ledger {
	struct live_set *live; /* by the kind's id */
	size_t reserved;       /* entries of all kinds' reserved */
	struct held_release *held, **held_end;
	size_t held_count;
	/* Called before anything changes, if not NULL: the ledger of a fork's child goes by this one, too. */
	void (*before_change)(void *context);
	void *context;
};

/* The trace of one process, which lasts until it ends, executes another program or is paused. */
struct trace {
	struct run *run;
	pid_t pid;
	const struct arch *arch;
	const struct object_list *objects; /* what is declared at its beginning */
	char *exe;                         /* the path of its program's file, as the trace has it */
	char *name;                        /* what it was started by */
	bool foreign_mounts;               /* its paths are those of another mount namespace */
	bool is_launched, is_forked;       /* a fork's child, that has not executed a program since */
	bool attached;    /* began in the midst (-t, a fork, a pause): blocks from before are unknown */
	bool attached_to; /* named by -t */
	bool may_miss;    /* something that happened may have no event: no release is counted as a foreign one */
	pid_t forked_by;  /* it has no file before its first event; 0: not a fork's child, or it has one */
	bool is_parting;  /* its last scan has been made: what comes are ends of calls that were in flight */
	bool has_ended;   /* nothing of the process is left: it does not go on untraced */
	int killed_by;    /* the signal that ended it, 0 none */

	struct ledger ledger;
	struct counts counts;
	struct trace_contexts contexts;
	struct attachment_text *attachments; /* attachments.c; by their place in the settings, NULL none yet */

	struct writer *writer;
	struct deferred *deferred; /* put.c; NULL: records are written at once */
	struct unread *unread;     /* unread.c; NULL: the reader is waited for */
	int fd;
	int view_end; /* view_pipe.c's; -1 none */
	char *path;
	bool has_file;         /* the path is that of a regular file, as it can be opened again */
	struct naming *naming; /* -r */
	struct trace_times times;
	uint64_t next_index;
	pid_t last_thread;
	uint64_t resident_index; /* next_index when the resident memory was written last */
	struct areas areas;      /* that are in the trace; heap_areas.c */
	bool is_removed;         /* its file has gone: nothing could be written, or it was removed by others */
	bool broken;             /* it could not be written any more, or its process be read */
	uint64_t calls_written;  /* by the writer that has been closed */
	bool reported;

	struct trace *next; /* of the run */
};

#endif

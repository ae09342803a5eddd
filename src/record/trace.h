/* The data of src/record, which turns calls into traces.
 *
 * This folder neither uses ptrace nor reads a target's memory. An event is a plain struct, from breakpoints or any
 * other source. */
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

/* The contexts of a process, in the order in which they first occurred: names[n] has the id 1 << n. */
struct trace_contexts {
	char *names[TRACE_CONTEXTS];
	unsigned count;
	bool is_full; /* there were more, which has been reported */
};

/* A release that can fail, from its entry until its outcome is known: ledger.c. */
struct reservation {
	bool is_open;
	struct event event; /* owns its frames and its references to the thread and the arguments */
	void *owner;        /* the call that releases */
};

/* What the last scan found definitely or indirectly lost of a kind. */
struct lost_total {
	bool is_known;
	uint64_t blocks, bytes, events; /* `events`: how many the trace had then */
};

/* Live resources of one kind. */
struct live_set {
	const struct resource *kind;
	struct kind_counts counts;
	struct hash blocks;       /* id -> struct live_block, packed */
	struct hash kept;         /* id -> event.kept, for ids that have one */
	struct hash references;   /* id -> references beyond the first; only where they are counted and there are any */
	struct hash reserved;     /* id -> struct reservation; not for ids whose references are counted */
	struct release *releases; /* the last releases (released_blocks.c); NULL if none yet */
	size_t publishers;        /* calls in flight whose id may be visible before they return */
	uint64_t bytes;
	uint64_t older, older_bytes; /* the part of these from before the trace, or the fork that began it */
	bool baseline_is_written;    /* the older ones are in the trace */
	bool has_baseline;           /* all blocks from before the trace are known */
	bool awaits_baseline;
	uint64_t copies;      /* copies of the heap that were made for the baseline so far */
	struct hash released; /* while a baseline is awaited: id -> how it was released (live_set.h) */
	bool awaits_scan;     /* the heap was copied for a scan that has no result yet */
	struct hash newer;    /* while a scan is awaited: ids allocated since the copy */
	struct hash gone;     /* while a scan is awaited: id -> size of blocks released since the copy */
	struct lost_total lost;
};

/* How much is live of a kind. Older resources were found by a baseline, or a fork's child has them from its parent. */
struct live_total {
	uint64_t blocks, bytes;
	uint64_t older, older_bytes; /* not included in `blocks` and `bytes` */
	bool baseline_is_written;    /* the older ones are in the trace */
};

struct ledger {
	struct live_set *live; /* by the kind's id */
	size_t reserved;       /* entries in `reserved` of all kinds */
	struct held_release *held, **held_end;
	size_t held_count;
	/* Called before anything changes, if not NULL, because the ledger of a fork's child may share this one. */
	void (*before_change)(void *context);
	void *context;
};

/* The trace of one process, until the process ends, executes another program or is paused. */
struct trace {
	struct run *run;
	pid_t pid;
	const struct arch *arch;
	const struct object_list *objects; /* those that are declared at the trace's beginning */
	char *exe;                         /* the path of its program's file, as the trace has it */
	char *name;                        /* the name by which the process was started */
	bool foreign_mounts;               /* its paths are those of another mount namespace */
	bool is_launched, is_forked;       /* is_forked: a fork's child that has not executed a program since */
	bool attached;    /* the trace began in a running program (-t, a fork, a pause): older blocks are unknown */
	bool attached_to; /* named by -t */
	bool may_miss;    /* some calls may have no event: no release is reported as one of an unknown id */
	pid_t forked_by;  /* the maker of a fork's child whose file opens at its first event; 0 for others */
	bool is_parting;  /* its last scan has been made; only ends of calls in flight follow */
	bool has_ended;   /* no task of the process is left, so it does not go on untraced */
	int killed_by;    /* the signal that ended it; 0 if none */

	struct ledger ledger;
	struct counts counts;
	struct trace_contexts contexts;
	struct attachment_text *attachments; /* attachments.c; by index in the settings; NULL if none yet */

	struct writer *writer;
	struct deferred *deferred;   /* put_records.c; NULL if records are written at once */
	struct unread_calls *unread; /* unread_calls.c; NULL if the writer waits for the reader */
	int fd;
	int view_end; /* view_pipe.c: the reading end that the view does not have yet; -1 if none */
	char *path;
	bool has_file;         /* the path names a regular file, which can be opened again */
	struct naming *naming; /* -r */
	struct trace_times times;
	uint64_t next_index;
	pid_t last_thread;
	uint64_t resident_index; /* next_index when the resident memory was written last */
	struct areas areas;      /* areas that are in the trace; heap_areas.c */
	bool is_removed;         /* its file was removed: as an empty one, or by another program */
	bool broken;             /* it can no longer be written, or its process no longer be read */
	uint64_t calls_written;  /* number of calls that the closed writer wrote */
	bool reported;

	struct trace *next; /* in the run's list */
};

#endif

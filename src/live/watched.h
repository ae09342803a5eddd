/* A process that the live view shows. Its trace is read by a separate thread. */
#ifndef FT_LIVE_WATCHED_H
#define FT_LIVE_WATCHED_H

#include "base/buf.h"
#include "profile/profile.h"
#include "profile/resolve.h"
#include "trace/reader.h"

#include <pthread.h>

/* The counts of a site at an earlier update. */
struct site_look {
	struct tally live;
	uint64_t calls;
};

/* The counts of a site at three earlier times. */
struct site_looks {
	struct tally base; /* live blocks at the view's baseline */
	/* The calls per second and the growth grown_last (struct view_row) are counted from `last`. Counted from
	 * `newest`, they would cover hardly any time if the user changes the order right after an update. Each update
	 * copies `newest` to `last`. */
	struct site_look last;   /* at the update before the newest one */
	struct site_look newest; /* at the newest update */
};

/* The counts of a kind of resource at earlier updates. */
struct looks {
	struct site_looks *sites; /* indexed by the numbers of the sites */
	size_t count;
	struct tally base_live; /* sum over all sites at the view's baseline */
	struct tally before;    /* blocks from before the trace that the records so far contain; these are not growth */
	uint64_t last_calls, newest_calls;
	uint64_t scans;      /* number of scans at the last update */
	uint64_t scanned_ns; /* time at which the newest scan was noticed, on the monotonic clock */
};

/* The members after `lock` may be accessed only while the lock is held. */
struct watched {
	int fd; /* descriptor of the trace; -1: `reader` reads the trace, and is owned by the caller */
	pthread_t thread;
	struct reader *reader;
	pthread_mutex_t *lock; /* owned by the view, and shared by all its processes */
	struct account account;
	struct resolver resolver;
	struct names *names;
	/* the last result of watched_program(), and the path of the file for which it was determined */
	char *program, *program_path;
	uint64_t epoch; /* epoch of the object map to which the resolver's names belong */
	/* number of calls that are missing in the trace, because the view did not read in time */
	uint64_t unread;
	bool has_ended;      /* the trace has ended, and the reading thread ends */
	char *reason;        /* the reason why the trace was not read to its end; NULL: none */
	uint32_t chosen_pid; /* the process to show; 0: the only one of the trace */
	bool is_other;       /* the present records belong to another process than the chosen one */
	uint64_t key;        /* split_key_of() the shown process */
	struct looks *looks; /* indexed by the kind's index in account.resources */
	size_t looks_count;
};

/* Begins to read a trace. Either `reader` reads it, and fd is -1; or `fd` is the trace's descriptor, which the result
 * then owns, and reader is NULL. pid: the process to show, if the trace has several; 0: it has one. Frames are added to
 * the profile. options: for finding names. Returns NULL and sets errno if no thread can be created. */
struct watched *watched_new(int fd, struct reader *reader, uint32_t pid, struct profile *profile,
			    const struct names_options *options, pthread_mutex_t *lock);
/* Waits for the reading thread of an ended trace, and frees all memory. The lock must not be held. */
void watched_free(struct watched *watched);
/* Returns the name by which the program was started; if this name is unknown, the name of the program's file; NULL if
 * the trace has no program yet. The lock must be held. */
const char *watched_program(struct watched *watched);
/* Appends a frame's place: " at FILE:LINE", " from OBJECT", or nothing. The program's own object is shown by the last
 * result of watched_program(), other objects by their file names. */
void watched_add_place(const struct watched *watched, const struct profile_frame *frame, struct buf *text);
/* Finds the names of all frames of a site, and stores the frames in resolver.frames, which is valid until the next
 * call. The lock must be held. */
void watched_resolve(struct watched *watched, const struct site *site);
/* Returns the process's account of the kind of resource with this type, and sets *index to the kind's index in
 * account.resources. Returns NULL if there is none. */
const struct resource_account *watched_resource(const struct watched *watched, const char *type, size_t *index);
/* Returns the earlier counts of the kind of resource with this index, with space for all of its sites. */
struct looks *watched_looks(struct watched *watched, size_t index, const struct resource_account *account);
/* Begins an update: in the struct looks of each kind of resource, copies the `newest` counts to the `last` ones, and
 * then stores the present counts as `newest`. */
void watched_note_update(struct watched *watched);
/* Stores the present counts of the process as those of the view's baseline, from which growth is counted. */
void watched_note_baseline(struct watched *watched);

#endif

/* A process that the live view shows. A thread of its own reads its trace. */
#ifndef FT_LIVE_WATCHED_H
#define FT_LIVE_WATCHED_H

#include "profile/profile.h"
#include "profile/resolve.h"
#include "trace/reader.h"

#include <pthread.h>

/* What a site had at an earlier look. */
struct site_look {
	struct tally live;
	uint64_t calls;
};

/* Earlier looks at a kind of resource, by the numbers of its sites. */
struct looks {
	struct site_look *base, *last; /* at the baseline, at the last look */
	size_t count;
	struct tally base_live; /* of all sites, at the baseline */
	struct tally before;    /* what records of baselines contained so far, which is no growth */
	uint64_t last_calls;
	uint64_t scans;      /* number of scans at the last look */
	uint64_t scanned_ns; /* when the newest scan was seen, on the monotonic clock */
};

/* The members after `lock` are read and written with the lock held. */
struct watched {
	int fd; /* of its trace; -1: the trace has a reader, which is the caller's */
	pthread_t thread;
	struct reader *reader;
	pthread_mutex_t *lock; /* the view's, which all of its processes share */
	struct account account;
	struct resolver resolver;
	struct names *names;
	char *program, *program_path; /* watched_program()'s result, and the file that it is of */
	uint64_t epoch;               /* of the object map for which the resolver has names */
	uint64_t unread;              /* calls that the trace lacks, because the view did not read in time */
	bool has_ended;               /* the trace has ended; the reading thread is done */
	char *reason;                 /* why, if that was not the trace's end */
	struct looks *looks;          /* by the index of the resource in account.resources */
	size_t looks_count;
};

/* Begins to read a trace. Either `reader` is the trace's, and fd is -1, or `fd` is the trace's, and reader is NULL; the
 * result owns that fd. Frames become those of the profile. `options` are those of its names. Returns NULL and errno if
 * no thread could be made. */
struct watched *watched_new(int fd, struct reader *reader, struct profile *profile, const struct names_options *options,
			    pthread_mutex_t *lock);
/* Waits for the thread of a trace that has ended, and frees all. The lock must not be held. */
void watched_free(struct watched *watched);
/* Returns the name by which the program was started if that is known, else that of its file; NULL if there is no
 * program yet. The lock must be held. */
const char *watched_program(struct watched *watched);
/* Returns an object's name for people: for the program the last result of watched_program(), else that of the file. */
const char *watched_module_name(const struct watched *watched, const char *path);
/* Names all frames in resolver.frames, which is valid until the next call. The lock must be held. */
void watched_resolve(struct watched *watched, const struct site *site);
/* Returns the process's resource of a type, and its index in account.resources, or NULL. */
const struct resource_account *watched_resource(const struct watched *watched, const char *type, size_t *index);
/* Returns the earlier looks at the resource with that index, with room for all of its sites. */
struct looks *watched_looks(struct watched *watched, size_t index, const struct resource_account *account);
/* Stores what the process has now as the last look, to which the next one is compared. */
void watched_note_last(struct watched *watched);
/* Stores what the process has now as the baseline, from which growth is counted. */
void watched_note_baseline(struct watched *watched);

#endif

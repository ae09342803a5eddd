/* A process that the live view shows: its trace is read by a thread of its own. */
#ifndef FT_LIVE_WATCHED_H
#define FT_LIVE_WATCHED_H

#include "profile/profile.h"
#include "profile/resolve.h"
#include "trace/reader.h"

#include <pthread.h>

/* What a site was at an earlier look. */
struct site_look {
	struct tally live;
	uint64_t calls;
};

/* Of a kind of resource, by the numbers of its sites. */
struct looks {
	struct site_look *base, *last; /* at the baseline, at the last look */
	size_t count;
	struct tally base_live; /* of all */
	struct tally before;    /* what baselinees have found so far, which is no growth */
	uint64_t last_calls;
	uint64_t scans;      /* that were there at the last look */
	uint64_t scanned_ns; /* when the newest of them was seen, on the monotonic clock */
};

/* What follows `lock` is read and written with it held. */
struct watched {
	int fd; /* of its trace; -1: there is a reader already, which is the caller's */
	pthread_t thread;
	struct reader *reader;
	pthread_mutex_t *lock; /* the view's, which all of its processes share */
	struct account account;
	struct resolver resolver;
	struct names *names;
	char *program, *program_path; /* watched_program()'s, and of which file */
	uint64_t epoch;               /* of the object map that the resolver's names are of */
	uint64_t unread;              /* calls that the trace lacks, because the view did not read */
	bool has_ended;               /* the trace; the reading thread is done */
	char *reason;                 /* why, if it was not its end */
	struct looks *looks;          /* by the resource's place in account.resources */
	size_t looks_count;
};

/* Begins to read a trace: by `reader`, or from `fd`, which is its own from now on (the other one is NULL, -1). Its
 * frames become those of the profile. `options` are those of its names. NULL and errno if no thread could be made. */
struct watched *watched_new(int fd, struct reader *reader, struct profile *profile, const struct names_options *options,
			    pthread_mutex_t *lock);
/* Its trace has ended: waits for its thread, and frees all. The lock is not held. */
void watched_free(struct watched *watched);
/* The name that the program was started by where that can be known, else that of its file; NULL: no program yet. The
 * lock is held. */
const char *watched_program(struct watched *watched);
/* An object's name for people: of the program as watched_program() has returned it last, of others that of the file. */
const char *watched_module_name(const struct watched *watched, const char *path);
/* Names all frames, into resolver.frames, which stay until the next call. */
void watched_resolve(struct watched *watched, const struct site *site);
/* Its resource of that type; *index: its place. NULL: it has none. */
const struct resource_account *watched_resource(const struct watched *watched, const char *type, size_t *index);
/* What was seen of the resource at that place at earlier looks, with room for all of its sites. */
struct looks *watched_looks(struct watched *watched, size_t index, const struct resource_account *account);
/* What it has now is what is compared to from now on: at the next look, or by what has grown. */
void watched_note_last(struct watched *watched);
void watched_note_baseline(struct watched *watched);

#endif

/* --push: sends the profiles of a watch to a receiver by HTTP. Profiles wait in a spool on disk until the receiver has
 * taken them, also across restarts. A thread of its own sends them, so that no function here waits for the network,
 * except push_close(), which waits for some seconds.
 *
 * A connection that fails, and answers of status 408, 429 and 5xx, are tried again, after waits that grow. Profiles
 * that are refused (other status) are discarded. If the spool is full, its oldest profiles are discarded. What was
 * discarded is counted and reported: the first time, and by push_close(). A profile whose answer was lost is sent
 * again, so a receiver may get it twice. */
#ifndef FT_FLEET_PUSH_H
#define FT_FLEET_PUSH_H

#include "watch/interval.h"

struct push;

/* Returns true if the URL has one of the forms that push_open() takes, or if this build cannot send anything. Otherwise
 * `why` has a reason, without the URL, which may have a password. */
bool push_check(const char *url, char *why, size_t why_size);
/* Begins to send profiles to the URL, at first those that are left in the folder. Makes the folder if it does not
 * exist. Forms of the URL: http[s]://..., pyroscope+http[s]://..., parca+http[s]://.... Returns NULL, and a reason in
 * `why`, if that is impossible: the URL is wrong, the folder cannot be used, or this build has no libcurl or
 * protobuf-c. */
struct push *push_open(const char *url, const char *spool_folder, char *why, size_t why_size);

/* Stores the profile of an interval in the spool. If that fails, the profile is lost, and a message says so. Called by
 * one thread at a time. */
void push_interval(struct push *push, const struct watch_interval *interval);

/* Sends the rest for at most some seconds, and ends. What is not sent stays in the spool. Reports how many profiles are
 * left or were lost. */
void push_close(struct push *push);

struct push_limits {
	size_t spool_files;
	uint64_t spool_bytes;
	unsigned connect_ms, answer_ms;    /* struct push_http_options */
	unsigned wait_ms, wait_longest_ms; /* between tries: the first wait, which doubles up to the longest */
	unsigned close_ms;                 /* how long push_close() sends */
};

/* The limits that push_open() has. */
extern const struct push_limits push_limits;
/* Does the same as push_open(), with other limits. */
struct push *push_open_limited(const char *url, const char *spool_folder, const struct push_limits *limits, char *why,
			       size_t why_size);

#endif

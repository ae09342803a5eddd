/* push.h for a build without libcurl or protobuf-c: nothing can be sent. */
#include "config.h"
#include "fleet/push.h"

#include <stdio.h>

const struct push_limits push_limits;

#ifdef HAVE_PROTOBUF_C
#define MISSING "libcurl"
#else
#define MISSING "protobuf-c"
#endif

bool push_check(const char *url, char *why, size_t why_size)
{
	(void)url;
	(void)why;
	(void)why_size;
	return true;
}

struct push *push_open_limited(const char *url, const char *spool_folder, const struct push_limits *limits, char *why,
			       size_t why_size)
{
	(void)limits;
	return push_open(url, spool_folder, why, why_size);
}

struct push *push_open(const char *url, const char *spool_folder, char *why, size_t why_size)
{
	(void)url;
	(void)spool_folder;
	snprintf(why, why_size, "functrace was built without " MISSING);
	return NULL;
}

void push_interval(struct push *push, const struct watch_interval *interval)
{
	(void)push;
	(void)interval;
}

void push_close(struct push *push)
{
	(void)push;
}

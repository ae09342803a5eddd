#include "config.h"
#include "symbols/refused.h"
#include "base/msg.h"
#include "base/util.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define SAID_MAX 64 /* a program of many .dwo files names as many of them; the others are not said */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char *said[SAID_MAX];
static size_t said_count;

static bool is_new(const char *path)
{
	for (size_t i = 0; i < said_count; i++)
		if (!strcmp(said[i], path))
			return false;
	if (said_count == SAID_MAX)
		return false;
	said[said_count++] = xstrdup(path);
	return true;
}

const char refused_cut[] = "it is cut: its header says that it is longer";

void refused_say(const char *path, const char *reason)
{
	pthread_mutex_lock(&lock);
	const bool is_said = !is_new(path);

	pthread_mutex_unlock(&lock);
	if (!is_said)
		msg_warn("the debug file %s is not read: %s", path, reason);
}

void refused_open(const char *path)
{
	const int error = errno;

	if (error == ENOEXEC)
		refused_say(path, "it is no regular file");
	else if (error != ENOENT && error != ENOTDIR)
		refused_say(path, strerror(error));
	errno = error;
}

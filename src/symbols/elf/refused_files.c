#include "config.h"
#include "symbols/elf/refused_files.h"
#include "base/msg.h"
#include "base/util.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>

#define SAID_MAX 64 /* maximum number of paths that are warned about; a program can name thousands of .dwo files */

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

const char refused_cut[] = "it is truncated: its header says that it is longer";
const char refused_changed[] = "it was changed while it was read";
const char refused_memory[] = "there is not enough memory to read it";
const char refused_symbols[] = "table of symbols of";

static const struct {
	const char *reason, *advice;
} advices[] = {
	{refused_cut, "Build or copy it again."},
	{refused_changed, "Try again when it is complete."},
	{refused_memory, "Try again when memory is free."},
};

static void refused_report(const char *what, const char *path, const char *reason, const char *advice)
{
	pthread_mutex_lock(&lock);
	const bool is_said = !is_new(path);

	pthread_mutex_unlock(&lock);
	if (!is_said)
		msg_warn("the %s %s is not read: %s. %s", what, path, reason, advice);
}

void refused_say(const char *what, const char *path, const char *reason)
{
	const char *advice = "Put the right file there, or remove this one.";

	for (size_t i = 0; i < ARRAY_SIZE(advices); i++)
		if (reason == advices[i].reason)
			advice = advices[i].advice;
	refused_report(what, path, reason, advice);
}

void refused_open(const char *what, const char *path)
{
	const int error = errno;

	if (error == ENOEXEC)
		refused_say(what, path, "it is no regular file");
	else if (error == EACCES || error == EPERM)
		refused_report(what, path, strerror(error), "Let functrace's user read it.");
	else if (error != ENOENT && error != ENOTDIR)
		refused_say(what, path, strerror(error));
	errno = error;
}

/* For targets that print what -a must show of each call (known.py). A line of the log is a call: its name, its
 * arguments in the order in which they are shown, its result and errno, separated by tabs. "-" before the name means
 * that the trace must have the call with -x, but need not have it with -e. */
#ifndef ARGS_SAID_H
#define ARGS_SAID_H

#include "kind.h"
#include <stdbool.h>
#include <sys/socket.h>
#include <sys/stat.h>

static const char *error_name(int error)
{
	static const struct {
		int error;
		const char *name;
	} names[] = {
#define NAME(error) {error, #error}
		NAME(EPERM),        NAME(ENOENT),     NAME(ESRCH),           NAME(EINTR),    NAME(EBADF),
		NAME(EAGAIN),       NAME(ENOMEM),     NAME(EACCES),          NAME(EFAULT),   NAME(EBUSY),
		NAME(EEXIST),       NAME(ENODEV),     NAME(ENOTDIR),         NAME(EISDIR),   NAME(EINVAL),
		NAME(EMFILE),       NAME(ENOTTY),     NAME(ENOSPC),          NAME(ESPIPE),   NAME(EDEADLK),
		NAME(ENOSYS),       NAME(EIDRM),      NAME(EPROTONOSUPPORT), NAME(ENOTSOCK), NAME(EAFNOSUPPORT),
		NAME(ECONNREFUSED), NAME(EOPNOTSUPP), NAME(EADDRINUSE),      NAME(ENOTCONN), NAME(ETIMEDOUT)};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (names[i].error == error)
			return names[i].name;
	CHECK(!"an error without a name");
	return NULL;
}

/* Returns an address as text, in the next one of eight buffers. */
static const char *at(const void *address)
{
	static char texts[8][24];
	static unsigned next;
	char *const text = texts[next++ % 8];

	if (!address)
		return "NULL";
	snprintf(text, sizeof(texts[0]), "%#lx", (unsigned long)address);
	return text;
}

/* Prints the line of a call. error: the value of errno, 0 for none. */
__attribute__((format(printf, 4, 5))) static void said(const char *name, const char *result, int error, const char *fmt,
						       ...)
{
	char text[400];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	recorded("%s%s%s%s%s%s%s", name, *text ? "\t" : "", text, *result ? "\treturn=" : "", result,
		 error ? "\terrno=" : "", error ? error_name(error) : "");
}

static int last;
static void *last_pointer;

/* The folder of the target's files, and the path of a file in it. */
static char folder[64], path[100];

static void make_folder(const char *name)
{
	snprintf(folder, sizeof(folder), "/tmp/functrace-%s-%d", name, (int)getpid());
	snprintf(path, sizeof(path), "%s/one", folder);
	CHECK(!mkdir(folder, 0700));
}

/* Fills a control message that passes descriptor 0. */
static void pass_descriptor_0(struct cmsghdr *header)
{
	const int zero = 0;

	header->cmsg_level = SOL_SOCKET;
	header->cmsg_type = SCM_RIGHTS;
	header->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(header), &zero, sizeof(zero));
}

/* A number, and the address of a text, that the compiler does not know. */
#define N(number)                                                                                                      \
	({                                                                                                             \
		size_t n_ = (number);                                                                                  \
		KEEP(n_);                                                                                              \
		n_;                                                                                                    \
	})
#define S(text)                                                                                                        \
	({                                                                                                             \
		__typeof__(&(text)[0]) s_ = (text);                                                                    \
		KEEP(s_);                                                                                              \
		s_;                                                                                                    \
	})

#define INT(name, call, ...)                                                                                           \
	do {                                                                                                           \
		char text_[16];                                                                                        \
		errno = 0;                                                                                             \
		last = (int)(call);                                                                                    \
		const int error_ = errno;                                                                              \
		snprintf(text_, sizeof(text_), "%d", last);                                                            \
		said(name, text_, last == -1 ? error_ : 0, __VA_ARGS__);                                               \
	} while (0)
/* Makes a call that returns 0 or an error number. The printed result is 0 or the error's name. */
#define ERR(name, call, ...)                                                                                           \
	do {                                                                                                           \
		last = (call);                                                                                         \
		said(name, last ? error_name(last) : "0", 0, __VA_ARGS__);                                             \
	} while (0)
#define PTR(name, call, ...)                                                                                           \
	do {                                                                                                           \
		errno = 0;                                                                                             \
		last_pointer = (void *)(call);                                                                         \
		const int error_ = errno;                                                                              \
		said(name, at(last_pointer), last_pointer ? 0 : error_, __VA_ARGS__);                                  \
	} while (0)
/* Makes a call that returns an address, or -1 if it fails. minus_1: the text that is shown for -1. */
#define MAPPED(name, minus_1, call, ...)                                                                               \
	do {                                                                                                           \
		errno = 0;                                                                                             \
		last_pointer = (void *)(call);                                                                         \
		const int error_ = errno;                                                                              \
		const bool failed_ = last_pointer == (void *)-1;                                                       \
		said(name, failed_ ? minus_1 : at(last_pointer), failed_ ? error_ : 0, __VA_ARGS__);                   \
	} while (0)
#define NOTHING(name, call, ...)                                                                                       \
	do {                                                                                                           \
		(call);                                                                                                \
		said(name, "", 0, __VA_ARGS__);                                                                        \
	} while (0)
#define CLOSE(fd)                                                                                                      \
	do {                                                                                                           \
		const int fd_ = (fd);                                                                                  \
		INT("close", close(fd_), "fd=%d", fd_);                                                                \
	} while (0)

#endif

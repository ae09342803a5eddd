/* Descriptors, FILE pointers and directory streams.
 *
 * Who owns a descriptor: the program until it closes it, or gives it to a stream (fdopen, fdopendir). What a stream
 * opens for itself (fopen, popen, opendir) is the stream's, and no descriptor of its own here: the C library opens and
 * closes those in ways that differ between versions.
 *
 * Semantics: POSIX, Linux man-pages section 2, glibc's manual for its own functions. The functions of two underscores
 * are glibc's names for its own use, and for programs built with _FORTIFY_SOURCE (__open_2). A close() of an open
 * descriptor always closes it, whatever it returns (close(2), "Dealing with error returns"). */
#include "config.h"
#include "modules/module.h"
#include "trace/event.h"

#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>

enum { FD, FP, DIRECTORY, ADDRESS };

static const struct resource resources[] = {
	[FD] = {.type = "fd",
		.desc = "file descriptor",
		.noun = "descriptor",
		.zero_is_id = true,
		.of_group = true,
		.folds_in_object = true,
		.existing = EXISTING_DESCRIPTORS},
	[FP] = {.type = "fp",
		.desc = "file pointer",
		.noun = "FILE pointer",
		.of_group = true,
		.folds_in_object = true},
	[DIRECTORY] = {.type = "dir",
		       .desc = "directory stream",
		       .noun = "directory stream",
		       .of_group = true,
		       .folds_in_object = true},
	[ADDRESS] = {.type = "address",
		     .desc = "address of a socket",
		     .flags = RESOURCE_CALL,
		     .noun = "address",
		     .zero_is_id = true,
		     .of_group = true},
};

/* A function that returns a new descriptor. */
#define OPENS(from, ...)                                                                                               \
	.symbol = from, .role = ROLE_ALLOC, .resource = FD, .id = RESULT, .size = CONST(1), .result = TYPE_INT,        \
	.success = OK_NOT_MINUS_1, __VA_ARGS__
#define PATH                                                                                                           \
	{                                                                                                              \
		"pathname", PARAM_STRING                                                                               \
	}
#define FLAGS                                                                                                          \
	{                                                                                                              \
		"flags", PARAM_HEX                                                                                     \
	}
#define MODE                                                                                                           \
	{                                                                                                              \
		"mode", PARAM_HEX                                                                                      \
	}
#define FD_(name)                                                                                                      \
	{                                                                                                              \
		name, PARAM_INT                                                                                        \
	}

/* A function that gives two in an array, which is argument n. */
#define OPENS_TWO(from, n)                                                                                             \
	.symbol = from, .role = ROLE_ALLOC, .resource = FD, .id = POINTEE_INT(n, 0), .id_count = 2, .size = CONST(1),  \
	.result = TYPE_INT, .success = OK_ZERO

#define DUPLICATES(from)                                                                                               \
	OPENS(from,                                                                                                    \
	      .conditions = {{.test = TEST_EQUALS, .or_next = true, .value = ARG_INT(1), .other = CONST(F_DUPFD)},     \
			     {.test = TEST_EQUALS, .value = ARG_INT(1), .other = CONST(F_DUPFD_CLOEXEC)}},             \
	      .params = {FD_("fd"), FD_("cmd"), FD_("arg")})

/* Onto a descriptor, which is closed if it is open. Onto itself dup2() does nothing. */
#define DUPLICATES_TO(from)                                                                                            \
	.symbol = from, .role = ROLE_REALLOC, .resource = FD, .id = RESULT, .size = CONST(1), .released = ARG_INT(1),  \
	.result = TYPE_INT, .success = OK_NOT_MINUS_1, .can_fail = true, .may_release_none = true,                     \
	.conditions = {{.test = TEST_DIFFERS, .value = ARG_INT(0), .other = ARG_INT(1)}},                              \
	.params = {FD_("oldfd"), FD_("newfd"), FLAGS}

#define CLOSES(from)                                                                                                   \
	.symbol = from, .role = ROLE_RELEASE, .resource = FD, .id = ARG_INT(0), .result = TYPE_INT,                    \
	.success = OK_ZERO, .fails_unknown = true, .params = {FD_("fd")}

/* The stream closes the descriptor that it is given. */
#define TAKES(from)                                                                                                    \
	.symbol = from, .role = ROLE_RELEASE, .resource = FD, .id = ARG_INT(0), .can_fail = true,                      \
	.may_release_none = true, .params = {FD_("fd")}

#define STREAMS(from, ...)                                                                                             \
	.symbol = from, .role = ROLE_ALLOC, .resource = FP, .id = RESULT, .size = CONST(1), __VA_ARGS__
#define STREAM_MODE                                                                                                    \
	{                                                                                                              \
		"mode", PARAM_STRING                                                                                   \
	}

/* The old stream is closed even if no new one can be opened. */
#define REOPENS(from)                                                                                                  \
	.symbol = from, .role = ROLE_REALLOC, .resource = FP, .id = RESULT, .size = CONST(1), .released = ARG(2),      \
	.can_fail = true, .may_release_none = true, .releases_anyway = true,                                           \
	.params = {PATH, STREAM_MODE, {"stream", PARAM_POINTER}}

/* Of stdin, stdout and stderr nobody has seen how they were opened. */
#define ENDS(from)                                                                                                     \
	.symbol = from, .role = ROLE_RELEASE, .resource = FP, .id = ARG(0), .may_release_none = true,                  \
	.params = {{"stream", PARAM_POINTER}}

#define LISTS(from, ...)                                                                                               \
	.symbol = from, .role = ROLE_ALLOC, .resource = DIRECTORY, .id = RESULT, .size = CONST(1), __VA_ARGS__

/* ---- Descriptors that come in a message (unix(7), cmsg(3)) ---- */

#define MESSAGES_MAX 1024 /* of a call; the kernel takes no more (UIO_MAXIOV) */
#define MESSAGE_MAX  4096 /* bytes of control messages that are read; the kernel lets 253 descriptors through at once */

static uint64_t word_at(const unsigned char *bytes, unsigned size)
{
	uint64_t word = 0;
	uint32_t half;

	if (size == sizeof(word)) {
		memcpy(&word, bytes, sizeof(word));
		return word;
	}
	memcpy(&half, bytes, sizeof(half));
	return half;
}

/* The control messages of the msghdr there, as the call has left them: how many bytes. */
static size_t read_control(const struct module_call *call, uint64_t message, unsigned char control[MESSAGE_MAX])
{
	const unsigned word = call->pointer_size;
	unsigned char header[6 * sizeof(uint64_t)];

	/* name, its length, vectors, their number, control, its length: a word each, with padding */
	if (!call->read(call, message, header, 6u * word))
		return 0;
	const uint64_t address = word_at(header + 4 * word, word), size = word_at(header + 5 * word, word);

	return size <= MESSAGE_MAX && call->read(call, address, control, size) ? size : 0;
}

/* The descriptor in the control messages that *skip others precede, or -1, with *skip less by those that there are. */
static int find_descriptor(const struct module_call *call, const unsigned char *control, size_t size, size_t *skip)
{
	const unsigned word = call->pointer_size;
	const size_t header = word + 2 * sizeof(int32_t);
	int32_t kind[2], fd;

	for (size_t at = 0; at + header <= size;) {
		const uint64_t length = word_at(control + at, word);

		if (length < header || length > size - at)
			return -1;
		memcpy(kind, control + at + word, sizeof(kind));
		const size_t count =
			kind[0] == SOL_SOCKET && kind[1] == SCM_RIGHTS ? (length - header) / sizeof(fd) : 0;

		if (*skip < count) {
			memcpy(&fd, control + at + header + *skip * sizeof(fd), sizeof(fd));
			return fd;
		}
		*skip -= count;
		at += (length + word - 1) / word * word;
	}
	return -1;
}

/* One more descriptor of `count` messages, as often as this is called. */
static bool look_at_messages(const struct module_call *call, struct module_details *details, uint64_t count)
{
	unsigned char control[MESSAGE_MAX];
	/* of a mmsghdr: a msghdr of seven words, and a length */
	const unsigned step = 8u * call->pointer_size;
	size_t skip = details->index;
	int fd = -1;

	for (uint64_t i = 0; fd < 0 && i < count && i < MESSAGES_MAX; i++)
		fd = find_descriptor(call, control, read_control(call, call->args[1] + i * step, control), &skip);
	details->id = (uint64_t)fd;
	return fd >= 0;
}

static bool look_at_message(const struct module_call *call, struct module_details *details)
{
	return look_at_messages(call, details, 1);
}

/* As many as the call has returned. */
static bool look_at_several(const struct module_call *call, struct module_details *details)
{
	return look_at_messages(call, details, call->result);
}

/* The two ends of a terminal, at arguments 0 and 1. */
static bool look_at_terminal(const struct module_call *call, struct module_details *details)
{
	int32_t fd;

	if (details->index > 1 || !call->read(call, call->args[details->index], &fd, sizeof(fd)))
		return false;
	details->id = (uint64_t)fd;
	return fd >= 0;
}

#define RECEIVES(from, looks)                                                                                          \
	.symbol = from, .role = ROLE_ALLOC, .resource = FD, .id = ARG_INT(0), .size = CONST(1), .result = TYPE_INT,    \
	.success = OK_NOT_MINUS_1, .look = looks, .looks_again = true
#define RECEIVES_SEVERAL FD_("sockfd"), {"msgvec", PARAM_POINTER}, {"vlen", PARAM_UINT}, FLAGS

static const struct function functions[] = {
	{OPENS("open", .params = {PATH, FLAGS, MODE})},
	{OPENS("open64", .params = {PATH, FLAGS, MODE})},
	{OPENS("__open", .name = "open", .params = {PATH, FLAGS, MODE})},
	{OPENS("__open64", .name = "open64", .params = {PATH, FLAGS, MODE})},
	{OPENS("__open_2", .name = "open", .params = {PATH, FLAGS})},
	{OPENS("__open64_2", .name = "open64", .params = {PATH, FLAGS})},
	{OPENS("__open_nocancel", .name = "open", .params = {PATH, FLAGS, MODE})},
	{OPENS("__open64_nocancel", .name = "open64", .params = {PATH, FLAGS, MODE})},
	{OPENS("openat", .params = {FD_("dirfd"), PATH, FLAGS, MODE})},
	{OPENS("openat64", .params = {FD_("dirfd"), PATH, FLAGS, MODE})},
	{OPENS("__openat_2", .name = "openat", .params = {FD_("dirfd"), PATH, FLAGS})},
	{OPENS("__openat64_2", .name = "openat64", .params = {FD_("dirfd"), PATH, FLAGS})},
	{OPENS("open_by_handle_at", .params = {FD_("mount_fd"), {"handle", PARAM_POINTER}, FLAGS})},
	{OPENS("creat", .params = {PATH, MODE})},
	{OPENS("creat64", .params = {PATH, MODE})},
	{OPENS("mkstemp", .params = {{"template", PARAM_STRING}})},
	{OPENS("mkstemp64", .params = {{"template", PARAM_STRING}})},
	{OPENS("mkostemp", .params = {{"template", PARAM_STRING}, FLAGS})},
	{OPENS("mkostemp64", .params = {{"template", PARAM_STRING}, FLAGS})},
	{OPENS("mkstemps", .params = {{"template", PARAM_STRING}, FD_("suffixlen")})},
	{OPENS("mkstemps64", .params = {{"template", PARAM_STRING}, FD_("suffixlen")})},
	{OPENS("mkostemps", .params = {{"template", PARAM_STRING}, FD_("suffixlen"), FLAGS})},
	{OPENS("mkostemps64", .params = {{"template", PARAM_STRING}, FD_("suffixlen"), FLAGS})},
	{OPENS("memfd_create", .params = {{"name", PARAM_STRING}, FLAGS})},
	{OPENS("shm_open", .params = {{"name", PARAM_STRING}, FLAGS, MODE})},
	{OPENS("mq_open", .params = {{"name", PARAM_STRING}, FLAGS, MODE})},
	{OPENS("__mq_open_2", .name = "mq_open", .params = {{"name", PARAM_STRING}, FLAGS})},
	{OPENS("dup", .params = {FD_("oldfd")})},
	{DUPLICATES_TO("dup2")},
	{DUPLICATES_TO("__dup2"), .name = "dup2"},
	{DUPLICATES_TO("dup3")},
	{DUPLICATES("fcntl")},
	{DUPLICATES("fcntl64")},
	{DUPLICATES("__fcntl"), .name = "fcntl"},
	{OPENS_TWO("pipe", 0), .params = {{"pipefd", PARAM_POINTER}}},
	{OPENS_TWO("__pipe", 0), .name = "pipe", .params = {{"pipefd", PARAM_POINTER}}},
	{OPENS_TWO("pipe2", 0), .params = {{"pipefd", PARAM_POINTER}, FLAGS}},
	{OPENS("socket", .params = {FD_("domain"), FD_("type"), FD_("protocol")})},
	{OPENS("__socket", .name = "socket", .params = {FD_("domain"), FD_("type"), FD_("protocol")})},
	{OPENS_TWO("socketpair", 3), .params = {FD_("domain"), FD_("type"), FD_("protocol"), {"sv", PARAM_POINTER}}},
	{OPENS("accept", .params = {FD_("sockfd")})},
	{OPENS("accept4", .params = {FD_("sockfd"), {"addr", PARAM_POINTER}, {"addrlen", PARAM_POINTER}, FLAGS})},
	{RECEIVES("recvmsg", look_at_message), .params = {FD_("sockfd"), {"msg", PARAM_POINTER}, FLAGS}},
	{RECEIVES("recvmmsg", look_at_several), .params = {RECEIVES_SEVERAL}},
	/* The same where a 32-bit program has times of 64 bits. */
	{RECEIVES("__recvmmsg64", look_at_several), .name = "recvmmsg", .params = {RECEIVES_SEVERAL}},
	{RECEIVES("__recvmmsg_time64", look_at_several), .name = "recvmmsg", .params = {RECEIVES_SEVERAL}},
	{OPENS("eventfd", .params = {{"initval", PARAM_UINT}, FLAGS})},
	/* With a descriptor it changes that one, and returns it. */
	{OPENS("signalfd", .conditions = {{.test = TEST_EQUALS, .value = ARG_INT(0), .other = CONST((uint64_t)-1)}},
	       .params = {FD_("fd"), {"mask", PARAM_POINTER}, FLAGS})},
	{OPENS("timerfd_create", .params = {FD_("clockid"), FLAGS})},
	{OPENS("epoll_create", .params = {FD_("size")})},
	{OPENS("epoll_create1", .params = {FLAGS})},
	{OPENS("inotify_init")},
	{OPENS("inotify_init1", .params = {FLAGS})},
	{OPENS("fanotify_init", .params = {FLAGS, {"event_f_flags", PARAM_HEX}})},
	{OPENS("pidfd_open", .params = {FD_("pid"), FLAGS})},
	{OPENS("pidfd_getfd", .params = {FD_("pidfd"), FD_("targetfd"), FLAGS})},
	{OPENS("posix_openpt", .params = {FLAGS})},
	{OPENS("getpt")},
	{.symbol = "openpty",
	 .role = ROLE_ALLOC,
	 .resource = FD,
	 .id = POINTEE_INT(0, 0),
	 .size = CONST(1),
	 .result = TYPE_INT,
	 .success = OK_ZERO,
	 .look = look_at_terminal,
	 .looks_again = true,
	 .params = {{"amaster", PARAM_POINTER}, {"aslave", PARAM_POINTER}}},
	{OPENS("fsopen", .params = {{"fsname", PARAM_STRING}, FLAGS})},
	{OPENS("fsmount", .params = {FD_("fs_fd"), FLAGS, {"attr_flags", PARAM_HEX}})},
	{OPENS("fspick", .params = {FD_("dirfd"), PATH, FLAGS})},
	{OPENS("open_tree", .params = {FD_("dirfd"), PATH, FLAGS})},

	{CLOSES("close")},
	{CLOSES("__close"), .name = "close"},
	{CLOSES("mq_close")},
	/* glibc closes by it what it has opened itself, which may not have been seen. */
	{.symbol = "__close_nocancel",
	 .name = "close",
	 .role = ROLE_RELEASE,
	 .resource = FD,
	 .id = ARG_INT(0),
	 .may_release_none = true,
	 .params = {FD_("fd")}},
	{.symbol = "close_range",
	 .role = ROLE_RELEASE,
	 .resource = FD,
	 .id = ARG_UINT(0),
	 .last = ARG_UINT(1),
	 .conditions = {{.test = TEST_AT_MOST, .value = ARG_UINT(0), .other = ARG_UINT(1)},
			/* CLOSE_RANGE_UNSHARE at most: CLOSE_RANGE_CLOEXEC closes none, and others fail */
			{.test = TEST_AT_MOST, .value = ARG_UINT(2), .other = CONST(2)}},
	 .params = {{"first", PARAM_UINT}, {"last", PARAM_UINT}, FLAGS}},
	{.symbol = "closefrom",
	 .role = ROLE_RELEASE,
	 .resource = FD,
	 .id = ARG_INT(0),
	 .last = CONST(INT32_MAX),
	 .params = {FD_("lowfd")}},

	{STREAMS("fopen", .params = {PATH, STREAM_MODE})},
	{STREAMS("fopen64", .params = {PATH, STREAM_MODE})},
	{STREAMS("_IO_fopen", .name = "fopen", .params = {PATH, STREAM_MODE})},
	{STREAMS("fdopen", .params = {FD_("fd"), STREAM_MODE})},
	{STREAMS("_IO_fdopen", .name = "fdopen", .params = {FD_("fd"), STREAM_MODE})},
	{TAKES("fdopen")},
	{TAKES("_IO_fdopen"), .name = "fdopen"},
	{REOPENS("freopen")},
	{REOPENS("freopen64")},
	{STREAMS("popen", .params = {{"command", PARAM_STRING}, STREAM_MODE})},
	{STREAMS("_IO_popen", .name = "popen", .params = {{"command", PARAM_STRING}, STREAM_MODE})},
	{STREAMS("tmpfile")},
	{STREAMS("tmpfile64")},
	{STREAMS("fmemopen", .params = {{"buf", PARAM_POINTER}, {"size", PARAM_SIZE}, STREAM_MODE})},
	{STREAMS("open_memstream", .params = {{"ptr", PARAM_POINTER}, {"sizeloc", PARAM_POINTER}})},
	{STREAMS("open_wmemstream", .params = {{"ptr", PARAM_POINTER}, {"sizeloc", PARAM_POINTER}})},
	{STREAMS("fopencookie", .params = {{"cookie", PARAM_POINTER}, STREAM_MODE})},
	{ENDS("fclose")},
	{ENDS("_IO_fclose"), .name = "fclose"},
	{ENDS("pclose")},
	{.symbol = "fcloseall", .role = ROLE_RELEASE, .resource = FP, .id = CONST(1), .last = CONST(UINT64_MAX)},

	{LISTS("opendir", .params = {PATH})},
	/* What scandirat() reads, where its library's own functions have names. */
	{LISTS("__opendirat", .name = "opendirat", .params = {FD_("dirfd"), PATH})},
	{LISTS("fdopendir", .params = {FD_("fd")})},
	{TAKES("fdopendir")},
	{.symbol = "closedir",
	 .role = ROLE_RELEASE,
	 .resource = DIRECTORY,
	 .id = ARG(0),
	 .params = {{"dirp", PARAM_POINTER}}},

	{.symbol = "bind",
	 .role = ROLE_CALL,
	 .resource = ADDRESS,
	 .id = ARG_INT(0),
	 .result = TYPE_INT,
	 .success = OK_ZERO,
	 .params = {FD_("sockfd"), {"addr", PARAM_POINTER}, {"addrlen", PARAM_UINT}}},
	/* It may well be under way when it returns -1. */
	{.symbol = "connect",
	 .role = ROLE_CALL,
	 .resource = ADDRESS,
	 .id = ARG_INT(0),
	 .result = TYPE_INT,
	 .success = OK_ALWAYS,
	 .params = {FD_("sockfd"), {"addr", PARAM_POINTER}, {"addrlen", PARAM_UINT}}},
};

const struct module module_file = {
	.api = MODULE_API,
	.name = "file",
	.summary = "descriptors, FILE pointers and directory streams, from open() and its like to close()",
	.version_major = 1,
	.version_minor = 0,
	MODULE_TABLES(resources, functions),
};

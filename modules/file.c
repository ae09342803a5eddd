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
#include "modules/words.h"
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
	.success = OK_NOT_MINUS_1, R_ERRNO(PARAM_INT), .params = {__VA_ARGS__}
#define FD_(name)                                                                                                      \
	{                                                                                                              \
		P_INT(name)                                                                                            \
	}
#define PATH                                                                                                           \
	{                                                                                                              \
		P_STRING("pathname")                                                                                   \
	}
#define NAME                                                                                                           \
	{                                                                                                              \
		P_STRING("name")                                                                                       \
	}
#define TEMPLATE                                                                                                       \
	{                                                                                                              \
		"template", PARAM_STRING, .is_result = true                                                            \
	}
#define DIRFD                                                                                                          \
	{                                                                                                              \
		P_DIRFD("dirfd")                                                                                       \
	}
#define FLAGS(table)                                                                                                   \
	{                                                                                                              \
		P_FLAGS("flags", words_##table)                                                                        \
	}
#define NO_FLAGS                                                                                                       \
	{                                                                                                              \
		"flags", PARAM_FLAGS                                                                                   \
	}

/* A function that gives two in an array, which is argument n. */
#define OPENS_TWO(from, n)                                                                                             \
	.symbol = from, .role = ROLE_ALLOC, .resource = FD, .id = POINTEE_INT(n, 0), .id_count = 2, .size = CONST(1),  \
	.result = TYPE_INT, .success = OK_ZERO, R_ERRNO(PARAM_INT)

#define DUPLICATES(from)                                                                                               \
	OPENS(from, FD_("fd"), {P_WORD("cmd", words_fcntl)},                                                           \
	      {"arg", PARAM_HEX_LONG, .with = 1, .cases = cases_fcntl}),                                               \
		.conditions = {{.test = TEST_EQUALS, .or_next = true, .value = ARG_INT(1), .other = CONST(F_DUPFD)},   \
			       {.test = TEST_EQUALS, .value = ARG_INT(1), .other = CONST(F_DUPFD_CLOEXEC)}}

/* Onto a descriptor, which is closed if it is open. */
#define DUPLICATES_TO(from, ...)                                                                                       \
	.symbol = from, .role = ROLE_REALLOC, .resource = FD, .id = RESULT, .size = CONST(1), .released = ARG_INT(1),  \
	.result = TYPE_INT, .success = OK_NOT_MINUS_1, .can_fail = true, .may_release_none = true, R_ERRNO(PARAM_INT), \
	.params = {FD_("oldfd"), FD_("newfd"), __VA_ARGS__}
/* Onto itself it does nothing. */
#define UNLESS_SAME .conditions = {{.test = TEST_DIFFERS, .value = ARG_INT(0), .other = ARG_INT(1)}}

#define CLOSES(from)                                                                                                   \
	.symbol = from, .role = ROLE_RELEASE, .resource = FD, .id = ARG_INT(0), .result = TYPE_INT,                    \
	.success = OK_ZERO, .fails_unknown = true, R_ERRNO(PARAM_INT)

/* The stream closes the descriptor that it is given. */
#define TAKES(from)                                                                                                    \
	.symbol = from, .role = ROLE_RELEASE, .resource = FD, .id = ARG_INT(0), .can_fail = true,                      \
	.may_release_none = true, R_ERRNO(PARAM_POINTER)

#define STREAMS(from, ...)                                                                                             \
	.symbol = from, .role = ROLE_ALLOC, .resource = FP, .id = RESULT, .size = CONST(1), R_ERRNO(PARAM_POINTER),    \
	.params = {__VA_ARGS__}
#define STREAM_MODE                                                                                                    \
	{                                                                                                              \
		P_STRING("mode")                                                                                       \
	}
#define STREAM                                                                                                         \
	{                                                                                                              \
		P_POINTER("stream")                                                                                    \
	}

/* The old stream is closed even if no new one can be opened. */
#define REOPENS(from)                                                                                                  \
	.symbol = from, .role = ROLE_REALLOC, .resource = FP, .id = RESULT, .size = CONST(1), .released = ARG(2),      \
	.can_fail = true, .may_release_none = true, .releases_anyway = true, R_ERRNO(PARAM_POINTER),                   \
	.params = {PATH, STREAM_MODE, STREAM}

/* Of stdin, stdout and stderr nobody has seen how they were opened. */
#define ENDS(from, succeeds)                                                                                           \
	.symbol = from, .role = ROLE_RELEASE, .resource = FP, .id = ARG(0), .may_release_none = true,                  \
	.result = TYPE_INT, .success = succeeds, R_ERRNO(PARAM_INT), .params = {STREAM}

#define LISTS(from, ...)                                                                                               \
	.symbol = from, .role = ROLE_ALLOC, .resource = DIRECTORY, .id = RESULT, .size = CONST(1),                     \
	R_ERRNO(PARAM_POINTER), .params = {__VA_ARGS__}

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
	.success = OK_NOT_MINUS_1, .look = looks, .looks_again = true, R_ERRNO(PARAM_INT)
#define RECEIVES_SEVERAL                                                                                               \
	FD_("sockfd"), {P_POINTER("msgvec")}, {P_UINT("vlen")}, FLAGS(message),                                        \
	{                                                                                                              \
		P_POINTER("timeout")                                                                                   \
	}
#define SOCKET                                                                                                         \
	{P_WORD("domain", words_family)}, {P_FLAGS("type", words_socket)},                                             \
	{                                                                                                              \
		"protocol", PARAM_INT, .with = 0, .cases = cases_protocol                                              \
	}

static const struct function functions[] = {
	{OPENS("open", PATH, FLAGS(open), {P_MODE_IF(1)})},
	{OPENS("open64", PATH, FLAGS(open), {P_MODE_IF(1)})},
	{OPENS("__open", PATH, FLAGS(open), {P_MODE_IF(1)}), .name = "open"},
	{OPENS("__open64", PATH, FLAGS(open), {P_MODE_IF(1)}), .name = "open64"},
	{OPENS("__open_2", PATH, FLAGS(open)), .name = "open"},
	{OPENS("__open64_2", PATH, FLAGS(open)), .name = "open64"},
	{OPENS("__open_nocancel", PATH, FLAGS(open), {P_MODE_IF(1)}), .name = "open"},
	{OPENS("__open64_nocancel", PATH, FLAGS(open), {P_MODE_IF(1)}), .name = "open64"},
	{OPENS("openat", DIRFD, PATH, FLAGS(open), {P_MODE_IF(2)})},
	{OPENS("openat64", DIRFD, PATH, FLAGS(open), {P_MODE_IF(2)})},
	{OPENS("__openat_2", DIRFD, PATH, FLAGS(open)), .name = "openat"},
	{OPENS("__openat64_2", DIRFD, PATH, FLAGS(open)), .name = "openat64"},
	{OPENS("open_by_handle_at", FD_("mount_fd"), {P_POINTER("handle")}, FLAGS(open))},
	{OPENS("creat", PATH, {P_MODE})},
	{OPENS("creat64", PATH, {P_MODE})},
	{OPENS("mkstemp", TEMPLATE)},
	{OPENS("mkstemp64", TEMPLATE)},
	{OPENS("mkostemp", TEMPLATE, FLAGS(open_mode_bits))},
	{OPENS("mkostemp64", TEMPLATE, FLAGS(open_mode_bits))},
	{OPENS("mkstemps", TEMPLATE, FD_("suffixlen"))},
	{OPENS("mkstemps64", TEMPLATE, FD_("suffixlen"))},
	{OPENS("mkostemps", TEMPLATE, FD_("suffixlen"), FLAGS(open_mode_bits))},
	{OPENS("mkostemps64", TEMPLATE, FD_("suffixlen"), FLAGS(open_mode_bits))},
	{OPENS("memfd_create", NAME, FLAGS(memfd))},
	{OPENS("shm_open", NAME, {P_FLAGS("oflag", words_open)}, {P_MODE})},
	{OPENS("mq_open", NAME, {P_FLAGS("oflag", words_open)}, {P_MODE_IF(1)},
	       {"attr", PARAM_POINTER, .with = 1, .needs = OPEN_MAKES})},
	{OPENS("__mq_open_2", NAME, {P_FLAGS("oflag", words_open)}), .name = "mq_open"},
	{OPENS("dup", FD_("oldfd"))},
	{DUPLICATES_TO("dup2"), UNLESS_SAME},
	{DUPLICATES_TO("__dup2"), .name = "dup2", UNLESS_SAME},
	/* Onto itself it fails. */
	{DUPLICATES_TO("dup3", FLAGS(dup))},
	{DUPLICATES("fcntl")},
	{DUPLICATES("fcntl64")},
	{DUPLICATES("__fcntl"), .name = "fcntl"},
	{OPENS_TWO("pipe", 0), .params = {{P_INTS_OUT("pipefd", 2)}}},
	{OPENS_TWO("__pipe", 0), .name = "pipe", .params = {{P_INTS_OUT("pipefd", 2)}}},
	{OPENS_TWO("pipe2", 0), .params = {{P_INTS_OUT("pipefd", 2)}, FLAGS(pipe)}},
	{OPENS("socket", SOCKET)},
	{OPENS("__socket", SOCKET), .name = "socket"},
	{OPENS_TWO("socketpair", 3), .params = {SOCKET, {P_INTS_OUT("sv", 2)}}},
	{OPENS("accept", FD_("sockfd"), {P_ADDRESS_OUT(2)}, {P_LENGTH_OUT})},
	{OPENS("accept4", FD_("sockfd"), {P_ADDRESS_OUT(2)}, {P_LENGTH_OUT}, FLAGS(accept))},
	{RECEIVES("recvmsg", look_at_message), .params = {FD_("sockfd"), {P_POINTER("msg")}, FLAGS(message)}},
	{RECEIVES("recvmmsg", look_at_several), .params = {RECEIVES_SEVERAL}},
	/* The same where a 32-bit program has times of 64 bits. */
	{RECEIVES("__recvmmsg64", look_at_several), .name = "recvmmsg", .params = {RECEIVES_SEVERAL}},
	{RECEIVES("__recvmmsg_time64", look_at_several), .name = "recvmmsg", .params = {RECEIVES_SEVERAL}},
	{OPENS("eventfd", {P_UINT("initval")}, FLAGS(eventfd))},
	/* With a descriptor it changes that one, and returns it. */
	{OPENS("signalfd", FD_("fd"), {P_POINTER("mask")}, FLAGS(signalfd)),
	 .conditions = {{.test = TEST_EQUALS, .value = ARG_INT(0), .other = CONST((uint64_t)-1)}}},
	{OPENS("timerfd_create", {P_WORD("clockid", words_clock)}, FLAGS(timerfd))},
	{OPENS("epoll_create", FD_("size"))},
	{OPENS("epoll_create1", FLAGS(epoll))},
	{OPENS("inotify_init")},
	{OPENS("inotify_init1", FLAGS(inotify))},
	{OPENS("fanotify_init", FLAGS(fanotify), {P_FLAGS("event_f_flags", words_open)})},
	{OPENS("pidfd_open", FD_("pid"), FLAGS(pidfd))},
	{OPENS("pidfd_getfd", FD_("pidfd"), FD_("targetfd"), NO_FLAGS)},
	{OPENS("posix_openpt", FLAGS(open))},
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
	 R_ERRNO(PARAM_INT),
	 .params = {{P_INTS_OUT("amaster", 1)},
		    {P_INTS_OUT("aslave", 1)},
		    {"name", PARAM_STRING, .is_result = true},
		    {P_POINTER("termp")},
		    {P_POINTER("winp")}}},
	{OPENS("fsopen", {P_STRING("fsname")}, FLAGS(fsopen))},
	{OPENS("fsmount", FD_("fsfd"), FLAGS(fsmount), {P_FLAGS("attr_flags", words_mount_attr)})},
	{OPENS("fspick", DIRFD, {P_STRING("path")}, FLAGS(fspick))},
	{OPENS("open_tree", DIRFD, {P_STRING("path")}, FLAGS(open_tree))},

	{CLOSES("close"), .params = {FD_("fd")}},
	{CLOSES("__close"), .name = "close", .params = {FD_("fd")}},
	{CLOSES("mq_close"), .params = {FD_("mqdes")}},
	/* glibc closes by it what it has opened itself, which may not have been seen. */
	{.symbol = "__close_nocancel",
	 .name = "close",
	 .role = ROLE_RELEASE,
	 .resource = FD,
	 .id = ARG_INT(0),
	 .result = TYPE_INT,
	 .success = OK_ZERO,
	 .may_release_none = true,
	 R_ERRNO(PARAM_INT),
	 .params = {FD_("fd")}},
	{.symbol = "close_range",
	 .role = ROLE_RELEASE,
	 .resource = FD,
	 .id = ARG_UINT(0),
	 .last = ARG_UINT(1),
	 .conditions = {{.test = TEST_AT_MOST, .value = ARG_UINT(0), .other = ARG_UINT(1)},
			/* CLOSE_RANGE_UNSHARE at most: CLOSE_RANGE_CLOEXEC closes none, and others fail */
			{.test = TEST_AT_MOST, .value = ARG_UINT(2), .other = CONST(2)}},
	 .result = TYPE_INT,
	 .success = OK_ZERO,
	 .can_fail = true,
	 R_ERRNO(PARAM_INT),
	 .params = {{P_UINT("first")}, {P_UINT("last")}, FLAGS(close_range)}},
	{.symbol = "closefrom",
	 .role = ROLE_RELEASE,
	 .resource = FD,
	 .id = ARG_INT(0),
	 .last = CONST(INT32_MAX),
	 .params = {FD_("lowfd")}},

	{STREAMS("fopen", PATH, STREAM_MODE)},
	{STREAMS("fopen64", PATH, STREAM_MODE)},
	{STREAMS("_IO_fopen", PATH, STREAM_MODE), .name = "fopen"},
	{STREAMS("fdopen", FD_("fd"), STREAM_MODE)},
	{STREAMS("_IO_fdopen", FD_("fd"), STREAM_MODE), .name = "fdopen"},
	{TAKES("fdopen"), .params = {FD_("fd"), STREAM_MODE}},
	{TAKES("_IO_fdopen"), .name = "fdopen", .params = {FD_("fd"), STREAM_MODE}},
	{REOPENS("freopen")},
	{REOPENS("freopen64")},
	{STREAMS("popen", {P_STRING("command")}, {P_STRING("type")})},
	{STREAMS("_IO_popen", {P_STRING("command")}, {P_STRING("type")}), .name = "popen"},
	{STREAMS("tmpfile")},
	{STREAMS("tmpfile64")},
	{STREAMS("fmemopen", {P_POINTER("buf")}, {P_SIZE("size")}, STREAM_MODE)},
	{STREAMS("open_memstream", {P_POINTER("ptr")}, {P_POINTER("sizeloc")})},
	{STREAMS("open_wmemstream", {P_POINTER("ptr")}, {P_POINTER("sizeloc")})},
	/* A struct by value follows. */
	{STREAMS("fopencookie", {P_POINTER("cookie")}, STREAM_MODE)},
	{ENDS("fclose", OK_ZERO)},
	{ENDS("_IO_fclose", OK_ZERO), .name = "fclose"},
	{ENDS("pclose", OK_NOT_MINUS_1)},
	{.symbol = "fcloseall",
	 .role = ROLE_RELEASE,
	 .resource = FP,
	 .id = CONST(1),
	 .last = CONST(UINT64_MAX),
	 .result = TYPE_INT,
	 .success = OK_ZERO,
	 R_ERRNO(PARAM_INT)},

	{LISTS("opendir", NAME)},
	/* What scandirat() reads, where its library's own functions have names. */
	{LISTS("__opendirat", DIRFD, NAME), .name = "opendirat"},
	{LISTS("fdopendir", FD_("fd"))},
	{TAKES("fdopendir"), .params = {FD_("fd")}},
	{.symbol = "closedir",
	 .role = ROLE_RELEASE,
	 .resource = DIRECTORY,
	 .id = ARG(0),
	 .result = TYPE_INT,
	 .success = OK_ZERO,
	 R_ERRNO(PARAM_INT),
	 .params = {{P_POINTER("dirp")}}},

	{.symbol = "bind",
	 .role = ROLE_CALL,
	 .resource = ADDRESS,
	 .id = ARG_INT(0),
	 .result = TYPE_INT,
	 .success = OK_ZERO,
	 R_ERRNO(PARAM_INT),
	 .params = {FD_("sockfd"), {P_ADDRESS(2)}, {P_UINT("addrlen")}}},
	/* It may well be under way when it returns -1. */
	{.symbol = "connect",
	 .role = ROLE_CALL,
	 .resource = ADDRESS,
	 .id = ARG_INT(0),
	 .result = TYPE_INT,
	 .success = OK_ALWAYS,
	 R_ERRNO(PARAM_INT),
	 .params = {FD_("sockfd"), {P_ADDRESS(2)}, {P_UINT("addrlen")}}},
};

const struct module module_file = {
	.api = MODULE_API,
	.name = "file",
	.summary = "descriptors, FILE pointers and directory streams, from open() and its like to close()",
	.version_major = 1,
	.version_minor = 0,
	MODULE_TABLES(resources, functions),
};

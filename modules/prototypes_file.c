/* Files, descriptors, sockets, memory. */
#include "config.h"
#include "modules/prototypes_rows.h"

#define FD                                                                                                             \
	{                                                                                                              \
		P_INT("fd")                                                                                            \
	}
#define SOCKET                                                                                                         \
	{                                                                                                              \
		P_INT("sockfd")                                                                                        \
	}
#define PATH                                                                                                           \
	{                                                                                                              \
		P_STRING("pathname")                                                                                   \
	}
#define DIRFD                                                                                                          \
	{                                                                                                              \
		P_DIRFD("dirfd")                                                                                       \
	}
#define BUFFER                                                                                                         \
	{P_BYTES("buf", 2)},                                                                                           \
	{                                                                                                              \
		P_SIZE("count")                                                                                        \
	}
#define BUFFER_OUT                                                                                                     \
	{P_BYTES_OUT("buf", 2)},                                                                                       \
	{                                                                                                              \
		P_SIZE("count")                                                                                        \
	}
#define VECTOR                                                                                                         \
	{P_POINTER("iov")},                                                                                            \
	{                                                                                                              \
		P_INT("iovcnt")                                                                                        \
	}
#define OFFSET64                                                                                                       \
	{                                                                                                              \
		"offset", PARAM_INT64                                                                                  \
	}
#define WHENCE                                                                                                         \
	{                                                                                                              \
		P_WORD("whence", words_whence)                                                                         \
	}
#define NO_FLAGS                                                                                                       \
	{                                                                                                              \
		"flags", PARAM_FLAGS                                                                                   \
	}
#define ACCESS                                                                                                         \
	{                                                                                                              \
		P_FLAGS("mode", words_access)                                                                          \
	}
#define AT_FLAGS                                                                                                       \
	{                                                                                                              \
		P_FLAGS("flags", words_at)                                                                             \
	}
#define STAT                                                                                                           \
	{                                                                                                              \
		P_POINTER("statbuf")                                                                                   \
	}
#define OWNER                                                                                                          \
	{P_INT("owner")},                                                                                              \
	{                                                                                                              \
		P_INT("group")                                                                                         \
	}
#define POLLS                                                                                                          \
	{P_POINTER("fds")},                                                                                            \
	{                                                                                                              \
		P_SIZE("nfds")                                                                                         \
	}
#define EPOLLS                                                                                                         \
	{P_INT("epfd")}, {P_POINTER("events")}, {P_INT("maxevents")},                                                  \
	{                                                                                                              \
		P_INT("timeout")                                                                                       \
	}
#define MESSAGE                                                                                                        \
	{                                                                                                              \
		P_FLAGS("flags", words_message)                                                                        \
	}
#define OPTION                                                                                                         \
	{P_WORD("level", words_level)},                                                                                \
	{                                                                                                              \
		"optname", PARAM_INT, .with = 1, .cases = cases_socket_option                                          \
	}

static const struct param_word words_rename[] = {{WORD_OF("RENAME_NOREPLACE", 1, 0, 0, 0)},
						 {WORD_OF("RENAME_EXCHANGE", 2, 0, 0, 0)},
						 {WORD_OF("RENAME_WHITEOUT", 4, 0, 0, 0)},
						 {.name = NULL}};

const struct function prototypes_file[] = {
	COUNTS("read", FD, BUFFER_OUT),
	COUNTS("__read_chk", FD, BUFFER_OUT, {P_SIZE("buflen")}),
	COUNTS("write", FD, BUFFER),
	COUNTS("pread", FD, BUFFER_OUT, {P_LONG("offset")}),
	COUNTS("pread64", FD, BUFFER_OUT, OFFSET64),
	COUNTS("pwrite", FD, BUFFER, {P_LONG("offset")}),
	COUNTS("pwrite64", FD, BUFFER, OFFSET64),
	COUNTS("readv", FD, VECTOR),
	COUNTS("writev", FD, VECTOR),
	{SAYS("lseek", PARAM_LONG, TYPE_WORD, OK_NOT_MINUS_1, FD, {P_LONG("offset")}, WHENCE), .sets_errno = true},
	{SAYS("lseek64", PARAM_INT64, TYPE_WORD, OK_NOT_MINUS_1, FD, OFFSET64, WHENCE), .sets_errno = true},
	FAILS("ftruncate", FD, {P_LONG("length")}),
	FAILS("ftruncate64", FD, {"length", PARAM_INT64}),
	FAILS("truncate", {P_STRING("path")}, {P_LONG("length")}),
	FAILS("truncate64", {P_STRING("path")}, {"length", PARAM_INT64}),
	FAILS("fsync", FD),
	FAILS("fdatasync", FD),
	FAILS("flock", FD, {P_FLAGS("operation", words_lock)}),
	{SAYS("isatty", PARAM_INT, TYPE_INT, OK_NONZERO, FD), .sets_errno = true},
	FAILS("ioctl", FD, {"request", PARAM_HEX_LONG, .words = words_ioctl}, {P_POINTER("argp")}),
	COUNTS("sendfile", {P_INT("out_fd")}, {P_INT("in_fd")}, {P_POINTER("offset")}, {P_SIZE("count")}),
	COUNTS("sendfile64", {P_INT("out_fd")}, {P_INT("in_fd")}, {P_POINTER("offset")}, {P_SIZE("count")}),
	COUNTS("copy_file_range", {P_INT("fd_in")}, {P_POINTER("off_in")}, {P_INT("fd_out")}, {P_POINTER("off_out")},
	       {P_SIZE("len")}, NO_FLAGS),
	FAILS("access", PATH, ACCESS),
	FAILS("eaccess", PATH, ACCESS),
	FAILS("faccessat", DIRFD, PATH, ACCESS, AT_FLAGS),
	FAILS("stat", PATH, STAT),
	FAILS("stat64", PATH, STAT),
	FAILS("lstat", PATH, STAT),
	FAILS("lstat64", PATH, STAT),
	FAILS("fstat", FD, STAT),
	FAILS("fstat64", FD, STAT),
	FAILS("fstatat", DIRFD, PATH, STAT, AT_FLAGS),
	FAILS("fstatat64", DIRFD, PATH, STAT, AT_FLAGS),
	FAILS("__xstat", {P_INT("ver")}, PATH, STAT),
	FAILS("__xstat64", {P_INT("ver")}, PATH, STAT),
	FAILS("__lxstat", {P_INT("ver")}, PATH, STAT),
	FAILS("__lxstat64", {P_INT("ver")}, PATH, STAT),
	FAILS("__fxstat", {P_INT("ver")}, FD, STAT),
	FAILS("__fxstat64", {P_INT("ver")}, FD, STAT),
	FAILS("__fxstatat", {P_INT("ver")}, DIRFD, PATH, STAT, AT_FLAGS),
	FAILS("__fxstatat64", {P_INT("ver")}, DIRFD, PATH, STAT, AT_FLAGS),
	FAILS("statx", DIRFD, PATH, AT_FLAGS, {"mask", PARAM_HEX}, {P_POINTER("statxbuf")}),
	FAILS("statfs", {P_STRING("path")}, {P_POINTER("buf")}),
	FAILS("statfs64", {P_STRING("path")}, {P_POINTER("buf")}),
	FAILS("fstatfs", FD, {P_POINTER("buf")}),
	FAILS("fstatfs64", FD, {P_POINTER("buf")}),
	FAILS("statvfs", {P_STRING("path")}, {P_POINTER("buf")}),
	FAILS("statvfs64", {P_STRING("path")}, {P_POINTER("buf")}),
	FAILS("chmod", PATH, {P_MODE}),
	FAILS("fchmod", FD, {P_MODE}),
	FAILS("fchmodat", DIRFD, PATH, {P_MODE}, AT_FLAGS),
	FAILS("chown", PATH, OWNER),
	FAILS("lchown", PATH, OWNER),
	FAILS("fchown", FD, OWNER),
	FAILS("fchownat", DIRFD, PATH, OWNER, AT_FLAGS),
	FAILS("utimes", {P_STRING("filename")}, {P_POINTER("times")}),
	FAILS("utimensat", DIRFD, PATH, {P_POINTER("times")}, AT_FLAGS),
	FAILS("futimens", FD, {P_POINTER("times")}),
	FAILS("unlink", PATH),
	FAILS("unlinkat", DIRFD, PATH, AT_FLAGS),
	FAILS("remove", PATH),
	FAILS("rmdir", PATH),
	FAILS("mkdir", PATH, {P_MODE}),
	FAILS("mkdirat", DIRFD, PATH, {P_MODE}),
	FAILS("mkfifo", PATH, {P_MODE}),
	POINTS("mkdtemp", {"template", PARAM_STRING, .is_result = true}),
	FAILS("rename", {P_STRING("oldpath")}, {P_STRING("newpath")}),
	FAILS("renameat", {P_DIRFD("olddirfd")}, {P_STRING("oldpath")}, {P_DIRFD("newdirfd")}, {P_STRING("newpath")}),
	FAILS("renameat2", {P_DIRFD("olddirfd")}, {P_STRING("oldpath")}, {P_DIRFD("newdirfd")}, {P_STRING("newpath")},
	      {P_FLAGS("flags", words_rename)}),
	FAILS("link", {P_STRING("oldpath")}, {P_STRING("newpath")}),
	FAILS("linkat", {P_DIRFD("olddirfd")}, {P_STRING("oldpath")}, {P_DIRFD("newdirfd")}, {P_STRING("newpath")},
	      AT_FLAGS),
	FAILS("symlink", {P_STRING("target")}, {P_STRING("linkpath")}),
	FAILS("symlinkat", {P_STRING("target")}, {P_DIRFD("newdirfd")}, {P_STRING("linkpath")}),
	COUNTS("readlink", PATH, {P_BYTES_OUT("buf", 2)}, {P_SIZE("bufsiz")}),
	COUNTS("readlinkat", DIRFD, PATH, {P_BYTES_OUT("buf", 3)}, {P_SIZE("bufsiz")}),
	{SAYS("realpath", PARAM_STRING, TYPE_WORD, OK_NONZERO, {P_STRING("path")}, {P_POINTER("resolved_path")}),
	 .sets_errno = true},
	FAILS("chdir", {P_STRING("path")}),
	FAILS("fchdir", FD),
	FAILS("chroot", {P_STRING("path")}),
	{SAYS("getcwd", PARAM_STRING, TYPE_WORD, OK_NONZERO, {P_POINTER("buf")}, {P_SIZE("size")}), .sets_errno = true},
	FINDS("readdir", {P_POINTER("dirp")}),
	FINDS("readdir64", {P_POINTER("dirp")}),
	NOTHING("rewinddir", {P_POINTER("dirp")}),
	FAILS("dirfd", {P_POINTER("dirp")}),
	FAILS("scandir", {P_STRING("dirp")}, {P_POINTER_OUT("namelist")}, {"filter", PARAM_FUNCTION},
	      {"compar", PARAM_FUNCTION}),
	FAILS("mount", {P_STRING("source")}, {P_STRING("target")}, {P_STRING("filesystemtype")},
	      {"mountflags", PARAM_HEX_LONG}, {P_POINTER("data")}),
	FAILS("umount", {P_STRING("target")}),
	FAILS("umount2", {P_STRING("target")}, {"flags", PARAM_HEX}),
	{SAYS("umask", PARAM_OCTAL, TYPE_UINT, OK_ALWAYS, {"mask", PARAM_OCTAL})},
	FAILS("select", {P_INT("nfds")}, {P_POINTER("readfds")}, {P_POINTER("writefds")}, {P_POINTER("exceptfds")},
	      {P_POINTER("timeout")}),
	FAILS("pselect", {P_INT("nfds")}, {P_POINTER("readfds")}, {P_POINTER("writefds")}, {P_POINTER("exceptfds")},
	      {P_POINTER("timeout")}, {P_POINTER("sigmask")}),
	FAILS("poll", POLLS, {P_INT("timeout")}),
	FAILS("ppoll", POLLS, {P_POINTER("tmo_p")}, {P_POINTER("sigmask")}),
	FAILS("epoll_ctl", {P_INT("epfd")}, {P_WORD("op", words_epoll_op)}, FD, {P_POINTER("event")}),
	FAILS("epoll_wait", EPOLLS),
	FAILS("epoll_pwait", EPOLLS, {P_POINTER("sigmask")}),
	FAILS("inotify_add_watch", FD, PATH, {"mask", PARAM_HEX}),
	FAILS("inotify_rm_watch", FD, {P_INT("wd")}),
	FAILS("timerfd_settime", FD, {"flags", PARAM_HEX}, {P_POINTER("new_value")}, {P_POINTER("old_value")}),
	COUNTS("send", SOCKET, {P_BYTES("buf", 2)}, {P_SIZE("len")}, MESSAGE),
	COUNTS("sendto", SOCKET, {P_BYTES("buf", 2)}, {P_SIZE("len")}, MESSAGE,
	       {"dest_addr", PARAM_SOCKADDR, .with = 5}, {P_UINT("addrlen")}),
	COUNTS("sendmsg", SOCKET, {P_POINTER("msg")}, MESSAGE),
	FAILS("sendmmsg", SOCKET, {P_POINTER("msgvec")}, {P_UINT("vlen")}, MESSAGE),
	COUNTS("recv", SOCKET, {P_BYTES_OUT("buf", 2)}, {P_SIZE("len")}, MESSAGE),
	COUNTS("__recv_chk", SOCKET, {P_BYTES_OUT("buf", 2)}, {P_SIZE("len")}, {P_SIZE("buflen")}, MESSAGE),
	COUNTS("recvfrom", SOCKET, {P_BYTES_OUT("buf", 2)}, {P_SIZE("len")}, MESSAGE,
	       {"src_addr", PARAM_SOCKADDR, .with = 5, .is_result = true}, {P_LENGTH_OUT}),
	FAILS("listen", SOCKET, {P_INT("backlog")}),
	FAILS("shutdown", SOCKET, {P_WORD("how", words_shutdown)}),
	FAILS("getsockname", SOCKET, {P_ADDRESS_OUT(2)}, {P_LENGTH_OUT}),
	FAILS("getpeername", SOCKET, {P_ADDRESS_OUT(2)}, {P_LENGTH_OUT}),
	FAILS("setsockopt", SOCKET, OPTION, {P_BYTES("optval", 4)}, {P_UINT("optlen")}),
	FAILS("getsockopt", SOCKET, OPTION, {P_POINTER("optval")}, {P_INTS_OUT("optlen", 1)}),
	{SAYS("getaddrinfo", PARAM_INT, TYPE_INT, OK_ZERO, {P_STRING("node")}, {P_STRING("service")},
	      {P_POINTER("hints")}, {P_POINTER_OUT("res")}),
	 .returns.words = words_name_error},
	NOTHING("freeaddrinfo", {P_POINTER("res")}),
	{SAYS("getnameinfo", PARAM_INT, TYPE_INT, OK_ZERO, {P_ADDRESS(1)}, {P_UINT("addrlen")},
	      {"host", PARAM_STRING, .is_result = true}, {P_UINT("hostlen")}, {"serv", PARAM_STRING, .is_result = true},
	      {P_UINT("servlen")}, {"flags", PARAM_HEX}),
	 .returns.words = words_name_error},
	TEXT("gai_strerror", {"errcode", PARAM_INT, .words = words_name_error}),
	FINDS("gethostbyname", {P_STRING("name")}),
	FINDS("gethostbyname2", {P_STRING("name")}, {P_WORD("af", words_family)}),
	FINDS("getservbyname", {P_STRING("name")}, {P_STRING("proto")}),
	FINDS("getprotobyname", {P_STRING("name")}),
	FAILS("inet_pton", {P_WORD("af", words_family)}, {P_STRING("src")}, {P_POINTER("dst")}),
	{SAYS("inet_ntop", PARAM_STRING, TYPE_WORD, OK_NONZERO, {P_WORD("af", words_family)}, {P_POINTER("src")},
	      {P_POINTER("dst")}, {P_UINT("size")}),
	 .sets_errno = true},
	{SAYS("inet_addr", PARAM_HEX, TYPE_UINT, OK_ALWAYS, {P_STRING("cp")})},
	{SAYS("if_nametoindex", PARAM_UINT, TYPE_UINT, OK_NONZERO, {P_STRING("ifname")}), .sets_errno = true},
	FAILS("gethostname", {"name", PARAM_STRING, .is_result = true}, {P_SIZE("len")}),
	FAILS("mprotect", {P_POINTER("addr")}, {P_SIZE("len")}, {P_FLAGS("prot", words_prot)}),
	FAILS("msync", {P_POINTER("addr")}, {P_SIZE("length")}, {P_FLAGS("flags", words_msync)}),
	FAILS("madvise", {P_POINTER("addr")}, {P_SIZE("length")}, {P_WORD("advice", words_madvise)}),
	FAILS("mlock", {P_POINTER("addr")}, {P_SIZE("len")}),
	FAILS("munlock", {P_POINTER("addr")}, {P_SIZE("len")}),
	FAILS("mlockall", {"flags", PARAM_HEX}),
	FAILS("brk", {P_POINTER("addr")}),
	{SAYS("sbrk", PARAM_POINTER, TYPE_WORD, OK_NOT_MINUS_1, {P_LONG("increment")}), .sets_errno = true},
	FAILS("semget", {P_WORD("key", words_key)}, {P_INT("nsems")},
	      {"semflg", PARAM_FLAGS_MODE, .words = words_shmget}),
	FAILS("semop", {P_INT("semid")}, {P_POINTER("sops")}, {P_SIZE("nsops")}),
	FAILS("msgget", {P_WORD("key", words_key)}, {"msgflg", PARAM_FLAGS_MODE, .words = words_shmget}),
	{.symbol = NULL},
};

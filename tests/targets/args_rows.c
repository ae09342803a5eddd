/* Calls of module functions by names that args_calls.c and args_more.c do not use: glibc's own names, those for large
 * files, 64-bit times and _FORTIFY_SOURCE, with the text that -a must show of each (known.py). For glibc only, because
 * other libraries have few of these names. */
#define _GNU_SOURCE
#include "args_said.h"
#include <dirent.h>
#include <malloc.h>
#include <mqueue.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <threads.h>
#include <time.h>
#include <wchar.h>

/* The compiler must not replace calls by code of its own. */
#define FN(name) static __typeof__(name) *volatile p_##name = name

static const char *const nowhere = "/nowhere/at/all";

/* Functions that no header declares. */
int __open_2(const char *, int);
int __open64_2(const char *, int);
int __openat_2(int, const char *, int);
int __openat64_2(int, const char *, int);
int __open(const char *, int, ...);
int __open64(const char *, int, ...);
int __mq_open_2(const char *, int);
int __dup2(int, int);
int __fcntl(int, int, ...);
int __pipe(int *);
int __close(int);
int __socket(int, int, int);
FILE *_IO_fopen(const char *, const char *);
FILE *_IO_fdopen(int, const char *);
FILE *_IO_popen(const char *, const char *);
int _IO_fclose(FILE *);
void *__mempcpy(void *, const void *, size_t);
char *__strdup(const char *);
char *__strndup(const char *, size_t);

/* ---- Memory ---- */

static void memory(void)
{
	PTR("memalign", memalign(64, 30016), "alignment=64\tsize=30016");
	NOTHING("free", free(last_pointer), "ptr=%s", at(last_pointer));
	PTR("valloc", valloc(30001), "size=30001");
	NOTHING("free", free(last_pointer), "ptr=%s", at(last_pointer));
	PTR("pvalloc", pvalloc(30001), "size=30001");
	NOTHING("free", free(last_pointer), "ptr=%s", at(last_pointer));
}

/* ---- Descriptors ---- */

static void opening(void)
{
	INT("creat64", creat64(path, 0600), "pathname=\"%s\"\tmode=0600", path);
	CLOSE(last);
	INT("open64", open64(path, O_RDONLY), "pathname=\"%s\"\tflags=O_RDONLY", path);
	CLOSE(last);
	INT("open64", open64(nowhere, O_RDONLY), "pathname=\"%s\"\tflags=O_RDONLY", nowhere);
	INT("open", __open(path, O_RDONLY), "pathname=\"%s\"\tflags=O_RDONLY", path);
	CLOSE(last);
	INT("open64", __open64(path, O_RDONLY), "pathname=\"%s\"\tflags=O_RDONLY", path);
	CLOSE(last);
	INT("open", __open_2(path, O_RDWR), "pathname=\"%s\"\tflags=O_RDWR", path);
	CLOSE(last);
	INT("open", __open_2(nowhere, O_RDWR), "pathname=\"%s\"\tflags=O_RDWR", nowhere);
	INT("open64", __open64_2(path, O_RDWR), "pathname=\"%s\"\tflags=O_RDWR", path);
	CLOSE(last);
	INT("openat64", openat64(AT_FDCWD, path, O_RDWR), "dirfd=AT_FDCWD\tpathname=\"%s\"\tflags=O_RDWR", path);
	CLOSE(last);
	INT("openat", __openat_2(AT_FDCWD, path, O_RDWR), "dirfd=AT_FDCWD\tpathname=\"%s\"\tflags=O_RDWR", path);
	CLOSE(last);
	INT("openat64", __openat64_2(AT_FDCWD, path, O_RDWR), "dirfd=AT_FDCWD\tpathname=\"%s\"\tflags=O_RDWR", path);
	const int other = last;

	INT("close", __close(other), "fd=%d", other);
	struct file_handle handle = {.handle_bytes = 0};

	INT("open_by_handle_at", open_by_handle_at(-1, &handle, O_RDONLY), "mount_fd=-1\thandle=%s\tflags=O_RDONLY",
	    at(&handle));
	INT("mq_open", __mq_open_2("/no/such", O_RDONLY), "name=\"/no/such\"\toflag=O_RDONLY");
	const int fd = open(path, O_RDWR);

	INT("dup2", __dup2(fd, 78), "oldfd=%d\tnewfd=78", fd);
	INT("fcntl", __fcntl(fd, F_DUPFD, 100), "fd=%d\tcmd=F_DUPFD\targ=100", fd);
	CLOSE(last);
	INT("fcntl64", fcntl64(fd, F_DUPFD, 100), "fd=%d\tcmd=F_DUPFD\targ=100", fd);
	CLOSE(last);
	INT("dup2", dup2(fd, 950), "oldfd=%d\tnewfd=950", fd);
	INT("close_range", close_range(950, 951, 0), "first=950\tlast=951\tflags=0");
	INT("dup2", dup2(fd, 960), "oldfd=%d\tnewfd=960", fd);
	NOTHING("closefrom", closefrom(955), "lowfd=955");
	CLOSE(78);
	INT("socket", __socket(AF_UNIX, SOCK_DGRAM, 0), "domain=AF_UNIX\ttype=SOCK_DGRAM\tprotocol=0");
	CLOSE(last);
	INT("mq_close", mq_close(-1), "mqdes=-1");
	CLOSE(fd);
	int ends[2];

	INT("pipe", __pipe(ends), "pipefd=[%d, %d]", ends[0], ends[1]);
	CLOSE(ends[0]);
	CLOSE(ends[1]);
}

static void named(void)
{
	char template[128];

#define NAMED(name, suffix, call, fmt, ...)                                                                            \
	do {                                                                                                           \
		snprintf(template, sizeof(template), "%s/XXXXXX" suffix, folder);                                      \
		INT(name, call, fmt "template=\"%s\"", ##__VA_ARGS__, template);                                       \
		CLOSE(last);                                                                                           \
		unlink(template);                                                                                      \
	} while (0)
	NAMED("mkstemp64", "", mkstemp64(template), "");
	NAMED("mkostemp64", "", mkostemp64(template, O_CLOEXEC), "flags=O_CLOEXEC\t");
	NAMED("mkstemps64", ".c", mkstemps64(template, 2), "suffixlen=2\t");
	NAMED("mkostemps64", ".c", mkostemps64(template, 2, O_APPEND), "suffixlen=2\tflags=O_APPEND\t");
#if !defined(_FILE_OFFSET_BITS) || _FILE_OFFSET_BITS != 64 /* otherwise it is mkostemps64 */
	NAMED("mkostemps", ".c", mkostemps(template, 2, O_APPEND), "suffixlen=2\tflags=O_APPEND\t");
	strcpy(template, "none");
	INT("mkostemps", mkostemps(template, 2, 0), "suffixlen=2\tflags=0\ttemplate=\"none\"");
#endif
}

static void messages(void)
{
	char control[CMSG_SPACE(sizeof(int))] = {0}, byte = 'x';
	struct iovec vector = {&byte, 1};
	struct mmsghdr messages[1] = {{.msg_hdr = {.msg_iov = &vector,
						   .msg_iovlen = 1,
						   .msg_control = control,
						   .msg_controllen = sizeof(control)}}};
	struct cmsghdr *const header = CMSG_FIRSTHDR(&messages[0].msg_hdr);
	int fds[2];

	CHECK(!socketpair(AF_UNIX, SOCK_STREAM, 0, fds));
	pass_descriptor_0(header);
	CHECK(sendmsg(fds[0], &messages[0].msg_hdr, 0) == 1);
	INT("recvmmsg", recvmmsg(fds[1], messages, 1, MSG_DONTWAIT, NULL),
	    "sockfd=%d\tmsgvec=%s\tvlen=1\tflags=MSG_DONTWAIT\ttimeout=NULL", fds[1], at(messages));
	memcpy(&last, CMSG_DATA(header), sizeof(last));
	CLOSE(last);
	INT("recvmmsg", recvmmsg(-1, messages, 1, 0, NULL), "sockfd=-1\tmsgvec=%s\tvlen=1\tflags=0\ttimeout=NULL",
	    at(messages));
	close(fds[0]);
	close(fds[1]);
}

/* ---- Streams ---- */

static void streams(void)
{
	wchar_t *text = NULL;
	size_t size = 0;

	PTR("fopen64", fopen64(path, "w+"), "pathname=\"%s\"\tmode=\"w+\"", path);
	PTR("freopen64", freopen64(path, "r", last_pointer), "pathname=\"%s\"\tmode=\"r\"\tstream=%s", path,
	    at(last_pointer));
	INT("fclose", fclose(last_pointer), "stream=%s", at(last_pointer));
	PTR("fopen", _IO_fopen(path, "r"), "pathname=\"%s\"\tmode=\"r\"", path);
	INT("fclose", _IO_fclose(last_pointer), "stream=%s", at(last_pointer));
	const int fd = open(path, O_RDONLY);

	PTR("fdopen", _IO_fdopen(fd, "r"), "fd=%d\tmode=\"r\"", fd);
	INT("fclose", fclose(last_pointer), "stream=%s", at(last_pointer));
	PTR("popen", _IO_popen("exit 3", "r"), "command=\"exit 3\"\ttype=\"r\"");
	INT("pclose", pclose(last_pointer), "stream=%s", at(last_pointer));
	PTR("tmpfile64", tmpfile64(), "%s", "");
	INT("fclose", fclose(last_pointer), "stream=%s", at(last_pointer));
	PTR("open_wmemstream", open_wmemstream(&text, &size), "ptr=%s\tsizeloc=%s", at(&text), at(&size));
	INT("fclose", fclose(last_pointer), "stream=%s", at(last_pointer));
	free(text);
	PTR("fopencookie", fopencookie(folder, "r", (cookie_io_functions_t){0}), "cookie=%s\tmode=\"r\"", at(folder));
	INT("fcloseall", fcloseall(), "%s", "");
}

/* ---- Mappings and segments ---- */

static void mappings(void)
{
	MAPPED("mmap64", "MAP_FAILED", mmap64(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
	       "addr=NULL\tlength=4096\tprot=PROT_READ\tflags=MAP_PRIVATE|MAP_ANONYMOUS\tfd=-1\toffset=0");
	INT("munmap", munmap(last_pointer, 4096), "addr=%s\tlength=4096", at(last_pointer));
}

static void segments(void)
{
	const int id = shmget(IPC_PRIVATE, 30001, IPC_CREAT | 0600);

	INT("shmctl", shmctl(id, IPC_RMID, NULL), "shmid=%d\tcmd=IPC_RMID\tbuf=NULL", id);
	INT("shmctl", shmctl(id, IPC_RMID, NULL), "shmid=%d\tcmd=IPC_RMID\tbuf=NULL", id);
}

/* ---- Threads ---- */

static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;

static void *routine(void *arg)
{
	pthread_mutex_lock(&held);
	pthread_mutex_unlock(&held);
	return arg;
}

static int c11_routine(void *arg)
{
	(void)arg;
	return 7;
}

static pthread_t waiting_thread(void)
{
	pthread_t thread;

	pthread_mutex_lock(&held);
	CHECK(!pthread_create(&thread, NULL, routine, folder));
	return thread;
}

static void threads(void)
{
	const struct timespec past = {1, 0}, future = {0x7fffff00, 0};
	pthread_t thread = waiting_thread();
	void *result;
	thrd_t c11;

	ERR("pthread_tryjoin_np", pthread_tryjoin_np(thread, &result), "thread=%s\tretval=%s", at((void *)thread),
	    at(&result));
	ERR("pthread_timedjoin_np", pthread_timedjoin_np(thread, &result, &past), "thread=%s\tabstime=%s\tretval=%s",
	    at((void *)thread), at(&past), at(&result));
	ERR("pthread_clockjoin_np", pthread_clockjoin_np(thread, &result, CLOCK_MONOTONIC, &past),
	    "thread=%s\tclockid=CLOCK_MONOTONIC\tabstime=%s\tretval=%s", at((void *)thread), at(&past), at(&result));
	pthread_mutex_unlock(&held);
	ERR("pthread_timedjoin_np", pthread_timedjoin_np(thread, &result, &future),
	    "thread=%s\tabstime=%s\tretval=%s -> %s", at((void *)thread), at(&future), at(&result), at(folder));
	thread = waiting_thread();
	pthread_mutex_unlock(&held);
	ERR("pthread_clockjoin_np", pthread_clockjoin_np(thread, &result, CLOCK_REALTIME, &future),
	    "thread=%s\tclockid=CLOCK_REALTIME\tabstime=%s\tretval=%s -> %s", at((void *)thread), at(&future),
	    at(&result), at(folder));
	CHECK(thrd_create(&c11, c11_routine, NULL) == thrd_success);
	CHECK(thrd_detach(c11) == thrd_success);
	said("thrd_detach", "thrd_success", 0, "thr=%s", at((void *)c11));
}

/* ---- Transfers ---- */

#define COPIES(what, type)        type *__##what##_chk(type *, const type *, size_t, size_t)
#define COPIES_STRING(what, type) type *__##what##_chk(type *, const type *, size_t)

COPIES(memcpy, void);
COPIES(memmove, void);
COPIES(mempcpy, void);
COPIES(strncpy, char);
COPIES(strncat, char);
COPIES(stpncpy, char);
COPIES(wcsncpy, wchar_t);
COPIES(wcsncat, wchar_t);
COPIES(wcpncpy, wchar_t);
COPIES(wmemcpy, wchar_t);
COPIES(wmemmove, wchar_t);
COPIES(wmempcpy, wchar_t);
COPIES_STRING(strcpy, char);
COPIES_STRING(strcat, char);
COPIES_STRING(stpcpy, char);
COPIES_STRING(wcscpy, wchar_t);
COPIES_STRING(wcscat, wchar_t);
COPIES_STRING(wcpcpy, wchar_t);
void *__memset_chk(void *, int, size_t, size_t);
wchar_t *__wmemset_chk(wchar_t *, wchar_t, size_t, size_t);

static void checked(char *s, wchar_t *w)
{
	static const char two[] = "two";
	static const wchar_t wide_two[] = L"two";

	PTR("memcpy", __memcpy_chk(s, two, N(4), 40), "dest=%s\tsrc=%s\tn=4\tdestlen=40", at(s), at(two));
	PTR("memmove", __memmove_chk(s, two, N(4), 40), "dest=%s\tsrc=%s\tn=4\tdestlen=40", at(s), at(two));
	PTR("mempcpy", __mempcpy_chk(s, two, N(4), 40), "dest=%s\tsrc=%s\tn=4\tdestlen=40", at(s), at(two));
	PTR("memset", __memset_chk(s, 'a', N(3), 40), "s=%s\tc='a'\tn=3\tdestlen=40", at(s));
	PTR("strcpy", __strcpy_chk(s, S("three"), 40), "dest=%s\tsrc=\"three\"\tdestlen=40", at(s));
	PTR("strcat", __strcat_chk(s, S(" more"), 40), "dest=\"three\"\tsrc=\" more\"\tdestlen=40%s", "");
	PTR("strncpy", __strncpy_chk(s, S("longer"), N(4), 40), "dest=%s\tsrc=\"long\"\tn=4\tdestlen=40", at(s));
	s[4] = '\0';
	PTR("strncat", __strncat_chk(s, S("xyz"), N(2), 40), "dest=\"long\"\tsrc=\"xy\"\tn=2\tdestlen=40%s", "");
	PTR("stpcpy", __stpcpy_chk(s, S("four"), 40), "dest=%s\tsrc=\"four\"\tdestlen=40", at(s));
	PTR("stpncpy", __stpncpy_chk(s, S("five"), N(9), 40), "dest=%s\tsrc=\"five\"\tn=9\tdestlen=40", at(s));
	PTR("wcscpy", __wcscpy_chk(w, S(L"nine"), 40), "dest=%s\tsrc=L\"nine\"\tdestlen=40", at(w));
	PTR("wcscat", __wcscat_chk(w, S(L"ten"), 40), "dest=L\"nine\"\tsrc=L\"ten\"\tdestlen=40%s", "");
	PTR("wcsncpy", __wcsncpy_chk(w, S(L"eleven"), N(3), 40), "dest=%s\tsrc=L\"ele\"\tn=3\tdestlen=40", at(w));
	w[3] = 0;
	PTR("wcsncat", __wcsncat_chk(w, S(L"xyz"), N(2), 40), "dest=L\"ele\"\tsrc=L\"xy\"\tn=2\tdestlen=40%s", "");
	PTR("wcpcpy", __wcpcpy_chk(w, S(L"six"), 40), "dest=%s\tsrc=L\"six\"\tdestlen=40", at(w));
	PTR("wcpncpy", __wcpncpy_chk(w, S(L"six"), N(2), 40), "dest=%s\tsrc=L\"si\"\tn=2\tdestlen=40", at(w));
	PTR("wmemcpy", __wmemcpy_chk(w, wide_two, N(4), 40), "dest=%s\tsrc=%s\tn=4\tdestlen=40", at(w), at(wide_two));
	PTR("wmemmove", __wmemmove_chk(w, wide_two, N(4), 40), "dest=%s\tsrc=%s\tn=4\tdestlen=40", at(w), at(wide_two));
	PTR("wmempcpy", __wmempcpy_chk(w, wide_two, N(4), 40), "dest=%s\tsrc=%s\tn=4\tdestlen=40", at(w), at(wide_two));
	PTR("wmemset", __wmemset_chk(w, L'b', N(4), 40), "s=%s\tc=L'b'\tn=4\tdestlen=40", at(w));
}

FN(bcopy);
FN(bzero);

static void transfers(void)
{
	static const wchar_t wide_two[] = L"two";
	char text[40] = "one", *s = text;
	wchar_t wide[40] = L"one", *w = wide;

	KEEP(s);
	KEEP(w);
	checked(s, w);
	NOTHING("bcopy", p_bcopy(folder, s, N(4)), "src=%s\tdest=%s\tn=4", at(folder), at(s));
	NOTHING("bzero", p_bzero(s, N(4)), "s=%s\tn=4", at(s));
	PTR("mempcpy", __mempcpy(s, folder, N(3)), "dest=%s\tsrc=%s\tn=3", at(s), at(folder));
	PTR("stpcpy", __stpcpy(s, S("four")), "dest=%s\tsrc=\"four\"", at(s));
	PTR("stpncpy", __stpncpy(s, S("five"), N(9)), "dest=%s\tsrc=\"five\"\tn=9", at(s));
	PTR("strdup", __strdup(S("six")), "s=\"six\"%s", "");
	free(last_pointer);
	PTR("strndup", __strndup(S("seven"), N(3)), "s=\"sev\"\tn=3%s", "");
	free(last_pointer);
	wcscpy(w, S(L"nine"));
	PTR("wcscat", wcscat(w, S(L"ten")), "dest=L\"nine\"\tsrc=L\"ten\"%s", "");
	PTR("wcsncat", wcsncat(w, S(L"xyz"), N(2)), "dest=L\"nineten\"\tsrc=L\"xy\"\tn=2%s", "");
	PTR("wcpcpy", wcpcpy(w, S(L"six")), "dest=%s\tsrc=L\"six\"", at(w));
	PTR("wcpncpy", wcpncpy(w, S(L"six"), N(2)), "dest=%s\tsrc=L\"si\"\tn=2", at(w));
	PTR("wmemmove", wmemmove(w, wide_two, N(4)), "dest=%s\tsrc=%s\tn=4", at(w), at(wide_two));
	PTR("wmempcpy", wmempcpy(w, wide_two, N(4)), "dest=%s\tsrc=%s\tn=4", at(w), at(wide_two));
}

int main(void)
{
	make_folder("rows");
	memory();
	opening();
	named();
	messages();
	mappings();
	segments();
	threads();
	transfers();
	streams();
	unlink(path);
	rmdir(folder);
	return 0;
}

/* More calls of functions that functrace's modules trace: those that few programs use. */
#define _GNU_SOURCE
#include "args_said.h"
#include <malloc.h>
#include <pthread.h>
#include <pty.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <threads.h>
#include <time.h>
#include <wchar.h>
#ifdef __GLIBC__
#include <mqueue.h>
#include <sys/mount.h>
#include <sys/pidfd.h>
#endif

/* ---- Memory ---- */

static void memory(void)
{
	PTR("memalign", memalign(N(64), N(30021)), "alignment=64\tsize=30021");
	NOTHING("free", free(last_pointer), "ptr=%s", at(last_pointer));
	PTR("memalign", memalign(N(64), N((size_t)-100)), "alignment=64\tsize=%zu", (size_t)-100);
#ifdef __GLIBC__
	PTR("valloc", valloc(N(30022)), "size=30022");
	NOTHING("free", free(last_pointer), "ptr=%s", at(last_pointer));
	PTR("valloc", valloc(N((size_t)-100)), "size=%zu", (size_t)-100);
	PTR("pvalloc", pvalloc(N(30023)), "size=30023");
	NOTHING("free", free(last_pointer), "ptr=%s", at(last_pointer));
	PTR("pvalloc", pvalloc(N((size_t)-100)), "size=%zu", (size_t)-100);
#endif
}

/* ---- Descriptors ---- */

/* Calls a function that completes a file name; the trace shows the completed one. */
#define TEMPLATE(name, call, suffix, ...)                                                                              \
	do {                                                                                                           \
		char completed[100];                                                                                   \
		snprintf(completed, sizeof(completed), "%s/tXXXXXX%s", folder, suffix);                                \
		errno = 0;                                                                                             \
		last = (call);                                                                                         \
		const int error_ = errno;                                                                              \
		char result_[16];                                                                                      \
		snprintf(result_, sizeof(result_), "%d", last);                                                        \
		said(name, result_, last == -1 ? error_ : 0, __VA_ARGS__, completed);                                  \
		if (last >= 0)                                                                                         \
			unlink(completed);                                                                             \
	} while (0)

static void templates(void)
{
	TEMPLATE("mkstemps", mkstemps(completed, 3), "end", "suffixlen=3\ttemplate=\"%s\"");
	CLOSE(last);
	TEMPLATE("mkostemps", mkostemps(completed, 3, O_CLOEXEC), "end",
		 "suffixlen=3\tflags=O_CLOEXEC\ttemplate=\"%s\"");
	CLOSE(last);
	TEMPLATE("mkstemps", mkstemps(completed, 5), "x", "suffixlen=5\ttemplate=\"%s\"");
	TEMPLATE("mkostemps", mkostemps(completed, 5, O_APPEND), "x", "suffixlen=5\tflags=O_APPEND\ttemplate=\"%s\"");
}

#ifdef __GLIBC__

static void wide_files(void)
{
	INT("open64", open64(path, O_WRONLY | O_CREAT | O_TRUNC, 0600),
	    "pathname=\"%s\"\tflags=O_WRONLY|O_CREAT|O_TRUNC\tmode=0600", path);
	CLOSE(last);
	INT("openat64", openat64(AT_FDCWD, path, O_RDONLY), "dirfd=AT_FDCWD\tpathname=\"%s\"\tflags=O_RDONLY", path);
	CLOSE(last);
	INT("openat64", openat64(77, "x", O_RDONLY), "dirfd=77\tpathname=\"x\"\tflags=O_RDONLY%s", "");
	INT("creat64", creat64(path, 0640), "pathname=\"%s\"\tmode=0640", path);
	CLOSE(last);
	PTR("fopen64", fopen64(path, "r"), "pathname=\"%s\"\tmode=\"r\"", path);
	PTR("freopen64", freopen64(path, "r+", last_pointer), "pathname=\"%s\"\tmode=\"r+\"\tstream=%s", path,
	    at(last_pointer));
	INT("fclose", fclose(last_pointer), "stream=%s", at(last_pointer));
	PTR("tmpfile64", tmpfile64(), "%s", "");
	INT("fclose", fclose(last_pointer), "stream=%s", at(last_pointer));
	TEMPLATE("mkstemp64", mkstemp64(completed), "", "template=\"%s\"");
	CLOSE(last);
	TEMPLATE("mkostemp64", mkostemp64(completed, O_CLOEXEC), "", "flags=O_CLOEXEC\ttemplate=\"%s\"");
	CLOSE(last);
	TEMPLATE("mkstemps64", mkstemps64(completed, 3), "end", "suffixlen=3\ttemplate=\"%s\"");
	CLOSE(last);
	TEMPLATE("mkostemps64", mkostemps64(completed, 3, 0), "end", "suffixlen=3\tflags=0\ttemplate=\"%s\"");
	CLOSE(last);
}

static void handles(void)
{
	struct {
		struct file_handle head;
		unsigned char bytes[MAX_HANDLE_SZ];
	} handle = {{.handle_bytes = MAX_HANDLE_SZ}, {0}};
	int mount;

	CHECK(!close(open(path, O_WRONLY | O_CREAT, 0600)));
	if (!name_to_handle_at(AT_FDCWD, path, &handle.head, &mount, 0)) {
		INT("open_by_handle_at", open_by_handle_at(AT_FDCWD, &handle.head, O_RDONLY),
		    "mount_fd=-100\thandle=%s\tflags=O_RDONLY", at(&handle));
		if (last >= 0)
			CLOSE(last);
	}
	INT("open_by_handle_at", open_by_handle_at(77, &handle.head, O_RDONLY),
	    "mount_fd=77\thandle=%s\tflags=O_RDONLY", at(&handle));
}

static void processes(void)
{
	INT("pidfd_open", pidfd_open(getpid(), 0), "pid=%d\tflags=0", (int)getpid());
	const int self = last;

	INT("pidfd_open", pidfd_open(-5, 0), "pid=-5\tflags=0");
	if (self < 0)
		return;
	INT("pidfd_getfd", pidfd_getfd(self, 2, 0), "pidfd=%d\ttargetfd=2\tflags=0", self);
	if (last >= 0)
		CLOSE(last);
	INT("pidfd_getfd", pidfd_getfd(self, 777, 0), "pidfd=%d\ttargetfd=777\tflags=0", self);
	CLOSE(self);
}

/* Makes calls that may need the right to mount, and prints each call with its actual result. */
static void mounts(void)
{
	INT("fsopen", fsopen("tmpfs", FSOPEN_CLOEXEC), "fsname=\"tmpfs\"\tflags=FSOPEN_CLOEXEC%s", "");
	if (last >= 0)
		CLOSE(last);
	INT("fsopen", fsopen("nonesuch", 0), "fsname=\"nonesuch\"\tflags=0%s", "");
	INT("fsmount", fsmount(77, FSMOUNT_CLOEXEC, 0), "fsfd=77\tflags=FSMOUNT_CLOEXEC\tattr_flags=0%s", "");
	INT("fspick", fspick(AT_FDCWD, "/nowhere", FSPICK_CLOEXEC),
	    "dirfd=AT_FDCWD\tpath=\"/nowhere\"\tflags=FSPICK_CLOEXEC%s", "");
	INT("open_tree", open_tree(AT_FDCWD, "/", OPEN_TREE_CLOEXEC),
	    "dirfd=AT_FDCWD\tpath=\"/\"\tflags=OPEN_TREE_CLOEXEC%s", "");
	if (last >= 0)
		CLOSE(last);
	INT("open_tree", open_tree(AT_FDCWD, "/nowhere", OPEN_TREE_CLONE),
	    "dirfd=AT_FDCWD\tpath=\"/nowhere\"\tflags=OPEN_TREE_CLONE%s", "");
}

static void queues(void)
{
	char name[40];

	snprintf(name, sizeof(name), "/functrace-%d", (int)getpid());
	const mqd_t queue = mq_open(name, O_RDWR | O_CREAT, 0600, NULL);

	if (queue == (mqd_t)-1)
		return; /* a kernel without queues */
	mq_unlink(name);
	INT("mq_close", mq_close(queue), "mqdes=%d", (int)queue);
	INT("mq_close", mq_close(queue), "mqdes=%d", (int)queue);
}

static ssize_t cookie_write(void *cookie, const char *bytes, size_t size)
{
	(void)cookie;
	(void)bytes;
	return (ssize_t)size;
}

static void cookies(void)
{
	PTR("fopencookie", fopencookie(folder, "w", (cookie_io_functions_t){.write = cookie_write}),
	    "cookie=%s\tmode=\"w\"", at(folder));
	INT("fclose", fclose(last_pointer), "stream=%s", at(last_pointer));
	PTR("fopencookie", fopencookie(NULL, "q", (cookie_io_functions_t){.write = cookie_write}),
	    "cookie=NULL\tmode=\"q\"%s", "");
}

static void terminals(void)
{
	int master, slave;

	INT("getpt", getpt(), "%s", "");
	CLOSE(last);
	errno = 0;
	last = openpty(&master, &slave, NULL, NULL, NULL);
	CHECK(!last);
	said("openpty", "0", 0, "termp=NULL\twinp=NULL\tamaster=[%d]\taslave=[%d]\tname=NULL", master, slave);
	CLOSE(slave);
	CLOSE(master);
}

#endif

static void messages(void)
{
	char control[CMSG_SPACE(sizeof(int))] = {0}, byte = 'x';
	struct iovec vector = {&byte, 1};
	struct mmsghdr messages[2] = {{.msg_hdr = {.msg_iov = &vector,
						   .msg_iovlen = 1,
						   .msg_control = control,
						   .msg_controllen = sizeof(control)}}};
	struct cmsghdr *const header = CMSG_FIRSTHDR(&messages[0].msg_hdr);
	int fds[2];

	CHECK(!socketpair(AF_UNIX, SOCK_DGRAM, 0, fds));
	pass_descriptor_0(header);
	CHECK(sendmsg(fds[0], &messages[0].msg_hdr, 0) == 1);
	INT("recvmmsg", recvmmsg(fds[1], messages, 1, MSG_DONTWAIT, NULL),
	    "sockfd=%d\tmsgvec=%s\tvlen=1\tflags=MSG_DONTWAIT\ttimeout=NULL", fds[1], at(messages));
	memcpy(&last, CMSG_DATA(header), sizeof(last));
	CLOSE(last);
	INT("recvmmsg", recvmmsg(fds[1], messages, 1, MSG_DONTWAIT, NULL),
	    "sockfd=%d\tmsgvec=%s\tvlen=1\tflags=MSG_DONTWAIT\ttimeout=NULL", fds[1], at(messages));
	close(fds[0]);
	close(fds[1]);
}

static void streams(void)
{
	wchar_t *text;
	size_t size;

	PTR("open_wmemstream", open_wmemstream(&text, &size), "ptr=%s\tsizeloc=%s", at(&text), at(&size));
	INT("fclose", fclose(last_pointer), "stream=%s", at(last_pointer));
	free(text);
}

/* ---- Threads ---- */

static pthread_barrier_t both;

static void *waiting(void *arg)
{
	pthread_barrier_wait(&both);
	return arg;
}

static int c11_waiting(void *arg)
{
	(void)arg;
	return 0;
}

static void threads(void)
{
	struct timespec past = {.tv_sec = 1}, future = {.tv_sec = time(NULL) + 1000};
	pthread_t thread;
	thrd_t c11;
	void *result;

	CHECK(!pthread_barrier_init(&both, NULL, 2));
#ifdef __GLIBC__
	CHECK(!pthread_create(&thread, NULL, waiting, folder));
	ERR("pthread_tryjoin_np", pthread_tryjoin_np(thread, &result), "thread=%s\tretval=%s", at((void *)thread),
	    at(&result));
	ERR("pthread_timedjoin_np", pthread_timedjoin_np(thread, &result, &past), "thread=%s\tabstime=%s\tretval=%s",
	    at((void *)thread), at(&past), at(&result));
	ERR("pthread_clockjoin_np", pthread_clockjoin_np(thread, &result, CLOCK_MONOTONIC, &past),
	    "thread=%s\tclockid=CLOCK_MONOTONIC\tabstime=%s\tretval=%s", at((void *)thread), at(&past), at(&result));
	pthread_barrier_wait(&both);
	ERR("pthread_timedjoin_np", pthread_timedjoin_np(thread, &result, &future),
	    "thread=%s\tabstime=%s\tretval=%s -> %s", at((void *)thread), at(&future), at(&result), at(folder));
	CHECK(!pthread_create(&thread, NULL, waiting, folder));
	pthread_barrier_wait(&both);
	ERR("pthread_clockjoin_np", pthread_clockjoin_np(thread, &result, CLOCK_REALTIME, &future),
	    "thread=%s\tclockid=CLOCK_REALTIME\tabstime=%s\tretval=%s -> %s", at((void *)thread), at(&future),
	    at(&result), at(folder));
#endif
	CHECK(thrd_create(&c11, c11_waiting, NULL) == thrd_success);
	CHECK(thrd_detach(c11) == thrd_success);
#ifdef __GLIBC__ /* musl's is the same function as pthread_detach */
	said("thrd_detach", "thrd_success", 0, "thr=%s", at((void *)c11));
#endif
	(void)thread;
	(void)result;
	(void)past;
	(void)future;
}

/* ---- Transfers ---- */

static void transfers(void)
{
	wchar_t wide[40] = L"one", *w = wide;

	KEEP(w);
	PTR("wcpcpy", wcpcpy(w, S(L"ten")), "dest=%s\tsrc=L\"ten\"", at(w));
	PTR("wcpncpy", wcpncpy(w, S(L"eleven"), N(3)), "dest=%s\tsrc=L\"ele\"\tn=3", at(w));
	w[3] = 0;
	PTR("wcscat", wcscat(w, S(L"x")), "dest=L\"ele\"\tsrc=L\"x\"%s", "");
	PTR("wcsncat", wcsncat(w, S(L"yz"), N(1)), "dest=L\"elex\"\tsrc=L\"y\"\tn=1%s", "");
	PTR("wmemmove", wmemmove(w + 1, w, N(3)), "dest=%s\tsrc=%s\tn=3", at(w + 1), at(w));
#ifdef __GLIBC__
	PTR("wmempcpy", wmempcpy(w, w + 4, N(3)), "dest=%s\tsrc=%s\tn=3", at(w), at(w + 4));
	char text[40] = "one", *s = text;
	void (*volatile p_bcopy)(const void *, void *, size_t) = bcopy;
	void (*volatile p_bzero)(void *, size_t) = bzero;

	NOTHING("bcopy", p_bcopy(folder, s, N(5)), "src=%s\tdest=%s\tn=5", at(folder), at(s));
	NOTHING("bzero", p_bzero(s, N(5)), "s=%s\tn=5", at(s));
#endif
}

/* ---- Functions that close many descriptors ---- */

static void ends(void)
{
#ifdef __GLIBC__
	const int high = 700;

	CHECK(dup2(2, high) == high && dup2(2, high + 1) == high + 1);
	INT("close_range", close_range(high, high + 1, 0), "first=%d\tlast=%d\tflags=0", high, high + 1);
	INT("-close_range", close_range(high, high - 1, 0), "first=%d\tlast=%d\tflags=0", high, high - 1);
	CHECK(dup2(2, 950) == 950);
	NOTHING("closefrom", closefrom(950), "lowfd=950");
	CHECK(fopen("/dev/null", "r"));
	INT("fcloseall", fcloseall(), "%s", "");
#endif
}

int main(void)
{
	make_folder("more");
	memory();
	templates();
#ifdef __GLIBC__
	wide_files();
	handles();
	processes();
	mounts();
	queues();
	cookies();
	terminals();
#endif
	messages();
	streams();
	threads();
	transfers();
	unlink(path);
	rmdir(folder);
	ends();
	return 0;
}

/* Successful and failing calls of functions that functrace's modules trace (args_more.c has more). */
#define _GNU_SOURCE
#include "args_said.h"
#include <dirent.h>
#include <mqueue.h>
#include <pthread.h>
#include <pty.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/fanotify.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <netinet/in.h>
#include <threads.h>
#include <wchar.h>

/* The compiler must not replace calls by code of its own. */
#define FN(name) static __typeof__(name) *volatile p_##name = name

FN(malloc);
FN(calloc);
FN(realloc);
FN(reallocarray);
FN(posix_memalign);
FN(aligned_alloc);
FN(free);

static const char *const nowhere = "/nowhere/at/all";

/* ---- Memory ---- */

static void memory(void)
{
	void *p;

	PTR("malloc", p_malloc(30001), "size=30001");
	p = last_pointer;
	PTR("realloc", p_realloc(p, 30002), "ptr=%s\tsize=30002", at(p));
	p = last_pointer;
	NOTHING("free", p_free(p), "ptr=%s", at(p));
	PTR("calloc", p_calloc(3, 10001), "nmemb=3\tsize=10001");
	p = last_pointer;
	PTR("reallocarray", p_reallocarray(p, 5, 7001), "ptr=%s\tnmemb=5\tsize=7001", at(p));
	NOTHING("free", p_free(last_pointer), "ptr=%s", at(last_pointer));
	PTR("malloc", p_malloc((size_t)-1), "size=%zu", (size_t)-1);
	PTR("calloc", p_calloc((size_t)-1, 7), "nmemb=%zu\tsize=7", (size_t)-1);
	PTR("aligned_alloc", p_aligned_alloc(64, 30016), "alignment=64\tsize=30016");
	NOTHING("free", p_free(last_pointer), "ptr=%s", at(last_pointer));
	ERR("posix_memalign", p_posix_memalign(&p, 128, 30003), "alignment=128\tsize=30003\tmemptr=%s -> %s", at(&p),
	    at(p));
	NOTHING("free", p_free(p), "ptr=%s", at(p));
	ERR("posix_memalign", p_posix_memalign(&p, 3, 30003), "alignment=3\tsize=30003\tmemptr=%s", at(&p));
}

/* ---- Descriptors ---- */

static void opening(void)
{
	INT("open", open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0640),
	    "pathname=\"%s\"\tflags=O_RDWR|O_CREAT|O_EXCL|O_CLOEXEC\tmode=0640", path);
	CLOSE(last);
	INT("open", open(path, O_WRONLY | O_APPEND | O_NOFOLLOW), "pathname=\"%s\"\tflags=O_WRONLY|O_APPEND|O_NOFOLLOW",
	    path);
	const int fd = last;

	INT("open", open(folder, O_DIRECTORY | O_NONBLOCK), "pathname=\"%s\"\tflags=O_RDONLY|O_NONBLOCK|O_DIRECTORY",
	    folder);
	const int dir = last;

	INT("open", open(nowhere, O_RDONLY), "pathname=\"%s\"\tflags=O_RDONLY", nowhere);
	INT("open", open((char *)16, O_RDONLY), "pathname=0x10 (unreadable)\tflags=O_RDONLY");
	INT("openat", openat(dir, "one", O_RDONLY | O_PATH), "dirfd=%d\tpathname=\"one\"\tflags=O_RDONLY|O_PATH", dir);
	CLOSE(last);
	INT("openat", openat(AT_FDCWD, nowhere, O_RDWR | O_SYNC),
	    "dirfd=AT_FDCWD\tpathname=\"%s\"\tflags=O_RDWR|O_SYNC", nowhere);
	INT("creat", creat(path, 0600), "pathname=\"%s\"\tmode=0600", path);
	CLOSE(last);
	INT("dup", dup(fd), "oldfd=%d", fd);
	CLOSE(last);
	INT("dup", dup(-7), "oldfd=-7");
	INT("dup2", dup2(fd, 77), "oldfd=%d\tnewfd=77", fd);
	INT("dup3", dup3(fd, 77, O_CLOEXEC), "oldfd=%d\tnewfd=77\tflags=O_CLOEXEC", fd);
	INT("dup3", dup3(fd, fd, 0), "oldfd=%d\tnewfd=%d\tflags=0", fd, fd);
	CLOSE(77);
	CLOSE(dir);
	CLOSE(fd);
	CLOSE(999);
}

static void controlling(void)
{
	const int fd = open(path, O_RDWR);
	struct flock lock = {.l_type = F_RDLCK};

	INT("fcntl", fcntl(fd, F_DUPFD, 100), "fd=%d\tcmd=F_DUPFD\targ=100", fd);
	INT("fcntl", fcntl(fd, F_DUPFD_CLOEXEC, 100), "fd=%d\tcmd=F_DUPFD_CLOEXEC\targ=100", fd);
	INT("fcntl", fcntl(-1, F_DUPFD, 100), "fd=-1\tcmd=F_DUPFD\targ=100");
	INT("-fcntl", fcntl(fd, F_GETFD), "fd=%d\tcmd=F_GETFD", fd);
	INT("-fcntl", fcntl(fd, F_SETFD, FD_CLOEXEC), "fd=%d\tcmd=F_SETFD\targ=FD_CLOEXEC", fd);
	INT("-fcntl", fcntl(fd, F_SETFL, O_APPEND | O_NONBLOCK), "fd=%d\tcmd=F_SETFL\targ=O_RDONLY|O_APPEND|O_NONBLOCK",
	    fd);
	INT("-fcntl", fcntl(fd, F_SETOWN, 0), "fd=%d\tcmd=F_SETOWN\targ=0", fd);
	INT("-fcntl", fcntl(fd, F_SETSIG, SIGUSR1), "fd=%d\tcmd=F_SETSIG\targ=SIGUSR1", fd);
	INT("-fcntl", fcntl(fd, F_SETLEASE, F_UNLCK), "fd=%d\tcmd=F_SETLEASE\targ=F_UNLCK", fd);
	INT("-fcntl", fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW),
	    "fd=%d\tcmd=F_ADD_SEALS\targ=F_SEAL_SHRINK|F_SEAL_GROW", fd);
	INT("-fcntl", fcntl(fd, F_OFD_SETLK, &lock), "fd=%d\tcmd=F_OFD_SETLK\targ=%s", fd, at(&lock));
	INT("-fcntl", fcntl(fd, 99, 10), "fd=%d\tcmd=0x63\targ=0xa", fd);
	close(fd);
	close(100);
	close(101);
}

static void pairs(void)
{
	int fds[2];

	INT("pipe", pipe(fds), "pipefd=[%d, %d]", fds[0], fds[1]);
	CLOSE(fds[0]);
	CLOSE(fds[1]);
	INT("pipe2", pipe2(fds, O_CLOEXEC | O_NONBLOCK), "flags=O_NONBLOCK|O_CLOEXEC\tpipefd=[%d, %d]", fds[0], fds[1]);
	CLOSE(fds[0]);
	CLOSE(fds[1]);
	INT("pipe2", pipe2(fds, O_DIRECT | 0x20), "flags=O_DIRECT|0x20\tpipefd=%s", at(fds));
	INT("socketpair", socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds),
	    "domain=AF_UNIX\ttype=SOCK_SEQPACKET|SOCK_CLOEXEC\tprotocol=0\tsv=[%d, %d]", fds[0], fds[1]);
	CLOSE(fds[0]);
	CLOSE(fds[1]);
	INT("socketpair", socketpair(AF_INET, SOCK_STREAM, IPPROTO_TCP, fds),
	    "domain=AF_INET\ttype=SOCK_STREAM\tprotocol=IPPROTO_TCP\tsv=%s", at(fds));
}

static void events(void)
{
	sigset_t none;

	sigemptyset(&none);
	INT("eventfd", eventfd(3, EFD_NONBLOCK | EFD_SEMAPHORE), "initval=3\tflags=EFD_SEMAPHORE|EFD_NONBLOCK");
	CLOSE(last);
	INT("eventfd", eventfd(0, 2), "initval=0\tflags=0x2");
	INT("signalfd", signalfd(-1, &none, SFD_CLOEXEC), "fd=-1\tmask=%s\tflags=SFD_CLOEXEC", at(&none));
	CLOSE(last);
	INT("timerfd_create", timerfd_create(CLOCK_BOOTTIME, TFD_NONBLOCK),
	    "clockid=CLOCK_BOOTTIME\tflags=TFD_NONBLOCK");
	CLOSE(last);
	INT("timerfd_create", timerfd_create(77, 0), "clockid=0x4d\tflags=0");
	INT("epoll_create", epoll_create(5), "size=5");
	CLOSE(last);
	INT("epoll_create1", epoll_create1(EPOLL_CLOEXEC), "flags=EPOLL_CLOEXEC");
	CLOSE(last);
	INT("inotify_init", inotify_init(), "%s", "");
	CLOSE(last);
	INT("inotify_init1", inotify_init1(IN_NONBLOCK | IN_CLOEXEC), "flags=IN_NONBLOCK|IN_CLOEXEC");
	CLOSE(last);
	INT("fanotify_init", fanotify_init(FAN_CLASS_CONTENT | FAN_NONBLOCK | 0x40000000, O_RDONLY),
	    "flags=FAN_CLASS_CONTENT|FAN_NONBLOCK|0x40000000\tevent_f_flags=O_RDONLY");
	INT("memfd_create", memfd_create("name\n", MFD_CLOEXEC), "name=\"name\\n\"\tflags=MFD_CLOEXEC");
	CLOSE(last);
	INT("posix_openpt", posix_openpt(O_RDWR | O_NOCTTY), "flags=O_RDWR|O_NOCTTY");
	if (last >= 0)
		CLOSE(last);
}

static void named(void)
{
	char template[128];

	snprintf(template, sizeof(template), "%s/XXXXXX", folder);
	INT("mkstemp", mkstemp(template), "template=\"%s\"", template);
	CLOSE(last);
	unlink(template);
	snprintf(template, sizeof(template), "%s/XXXXXX.c", folder);
	INT("mkstemps", mkstemps(template, 2), "suffixlen=2\ttemplate=\"%s\"", template);
	CLOSE(last);
	unlink(template);
	snprintf(template, sizeof(template), "%s/XXXXXX", folder);
	INT("mkostemp", mkostemp(template, O_APPEND | O_CLOEXEC), "flags=O_APPEND|O_CLOEXEC\ttemplate=\"%s\"",
	    template);
	CLOSE(last);
	unlink(template);
	strcpy(template, "none");
	INT("mkstemp", mkstemp(template), "template=\"none\"");
	snprintf(template, sizeof(template), "/functrace-args-%d", (int)getpid());
	INT("shm_open", shm_open(template, O_RDWR | O_CREAT | O_EXCL, 0600),
	    "name=\"%s\"\toflag=O_RDWR|O_CREAT|O_EXCL\tmode=0600", template);
	CLOSE(last);
	INT("shm_open", shm_open(template, O_RDWR | O_CREAT | O_EXCL, 0600),
	    "name=\"%s\"\toflag=O_RDWR|O_CREAT|O_EXCL\tmode=0600", template);
	INT("shm_unlink", shm_unlink(template), "name=\"%s\"", template);
	INT("shm_unlink", shm_unlink(template), "name=\"%s\"", template);
	INT("mq_open", mq_open("/no/such", O_RDONLY), "name=\"/no/such\"\toflag=O_RDONLY");
}

/* ---- Sockets ---- */

static void sockets(void)
{
	struct sockaddr_in here = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)}, peer;
	struct sockaddr_un local = {.sun_family = AF_UNIX};
	socklen_t size = sizeof(here);

	INT("socket", socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, IPPROTO_TCP),
	    "domain=AF_INET\ttype=SOCK_STREAM|SOCK_CLOEXEC\tprotocol=IPPROTO_TCP");
	const int server = last;

	INT("bind", bind(server, (struct sockaddr *)&here, sizeof(here)), "sockfd=%d\taddr=127.0.0.1:0\taddrlen=16",
	    server);
	INT("bind", bind(999, (struct sockaddr *)&here, sizeof(here)), "sockfd=999\taddr=127.0.0.1:0\taddrlen=16");
	CHECK(!listen(server, 3) && !getsockname(server, (struct sockaddr *)&here, &size));
	const int client = socket(AF_INET, SOCK_STREAM, 0);

	INT("connect", connect(client, (struct sockaddr *)&here, sizeof(here)),
	    "sockfd=%d\taddr=127.0.0.1:%d\taddrlen=16", client, ntohs(here.sin_port));
	size = sizeof(peer);
	INT("accept", accept(server, (struct sockaddr *)&peer, &size), "sockfd=%d\taddr=127.0.0.1:%d\taddrlen=[16]",
	    server, ntohs(peer.sin_port));
	CLOSE(last);
	close(client);
	const int other = socket(AF_INET, SOCK_STREAM, 0);

	CHECK(!connect(other, (struct sockaddr *)&here, sizeof(here)));
	INT("accept4", accept4(server, NULL, NULL, SOCK_NONBLOCK),
	    "sockfd=%d\tflags=SOCK_NONBLOCK\taddr=NULL\taddrlen=NULL", server);
	CLOSE(last);
	close(other);
	close(server);
	INT("accept", accept(999, NULL, NULL), "sockfd=999\taddr=NULL\taddrlen=NULL");
	INT("socket", socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0),
	    "domain=AF_UNIX\ttype=SOCK_DGRAM|SOCK_NONBLOCK\tprotocol=0");
	snprintf(local.sun_path, sizeof(local.sun_path), "%s/socket", folder);
	const int at_path = last;

	INT("connect", connect(at_path, (struct sockaddr *)&local, sizeof(local)),
	    "sockfd=%d\taddr=\"%s\"\taddrlen=%zu", at_path, local.sun_path, sizeof(local));
	CLOSE(at_path);
	INT("socket", socket(AF_NETLINK, SOCK_RAW, 0), "domain=AF_NETLINK\ttype=SOCK_RAW\tprotocol=NETLINK_ROUTE");
	CLOSE(last);
	INT("socket", socket(99, SOCK_RAW, 3), "domain=0x63\ttype=SOCK_RAW\tprotocol=3");
}

static void messages(void)
{
	char control[CMSG_SPACE(sizeof(int))] = {0}, byte = 'x';
	struct iovec vector = {&byte, 1};
	struct msghdr message = {
		.msg_iov = &vector, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control)};
	struct cmsghdr *const header = CMSG_FIRSTHDR(&message);
	int fds[2];

	CHECK(!socketpair(AF_UNIX, SOCK_STREAM, 0, fds));
	pass_descriptor_0(header);
	CHECK(sendmsg(fds[0], &message, 0) == 1);
	INT("recvmsg", recvmsg(fds[1], &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC),
	    "sockfd=%d\tmsg=%s\tflags=MSG_DONTWAIT|MSG_CMSG_CLOEXEC", fds[1], at(&message));
	memcpy(&last, CMSG_DATA(header), sizeof(last));
	CLOSE(last);
	INT("recvmsg", recvmsg(fds[1], &message, MSG_DONTWAIT), "sockfd=%d\tmsg=%s\tflags=MSG_DONTWAIT", fds[1],
	    at(&message));
	close(fds[0]);
	close(fds[1]);
}

/* ---- Streams ---- */

static void streams(void)
{
	char *text = NULL;
	size_t size = 0;
	FILE *f;

	PTR("fopen", fopen(path, "w+"), "pathname=\"%s\"\tmode=\"w+\"", path);
	f = last_pointer;
	PTR("freopen", freopen(path, "r", f), "pathname=\"%s\"\tmode=\"r\"\tstream=%s", path, at(f));
	f = last_pointer;
	INT("fclose", fclose(f), "stream=%s", at(f));
	PTR("fopen", fopen(nowhere, "r"), "pathname=\"%s\"\tmode=\"r\"", nowhere);
	const int fd = open(path, O_RDONLY);

	PTR("fdopen", fdopen(fd, "r"), "fd=%d\tmode=\"r\"", fd);
	INT("fclose", fclose(last_pointer), "stream=%s", at(last_pointer));
	PTR("popen", popen("exit 3", "r"), "command=\"exit 3\"\ttype=\"r\"");
	INT("pclose", pclose(last_pointer), "stream=%s", at(last_pointer));
	PTR("tmpfile", tmpfile(), "%s", "");
	INT("fclose", fclose(last_pointer), "stream=%s", at(last_pointer));
	PTR("fmemopen", fmemopen(path, 20, "r"), "buf=%s\tsize=20\tmode=\"r\"", at(path));
	INT("fclose", fclose(last_pointer), "stream=%s", at(last_pointer));
	PTR("open_memstream", open_memstream(&text, &size), "ptr=%s\tsizeloc=%s", at(&text), at(&size));
	INT("fclose", fclose(last_pointer), "stream=%s", at(last_pointer));
	free(text);
	PTR("opendir", opendir(folder), "name=\"%s\"", folder);
	INT("closedir", closedir(last_pointer), "dirp=%s", at(last_pointer));
	PTR("opendir", opendir(nowhere), "name=\"%s\"", nowhere);
	const int dir = open(folder, O_RDONLY);

	PTR("fdopendir", fdopendir(dir), "fd=%d", dir);
	INT("closedir", closedir(last_pointer), "dirp=%s", at(last_pointer));
}

/* ---- Mappings and segments ---- */

static void mappings(void)
{
	const size_t page = 4096;
	void *p;

	MAPPED("mmap", "MAP_FAILED", mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
	       "addr=NULL\tlength=4096\tprot=PROT_READ|PROT_WRITE\tflags=MAP_PRIVATE|MAP_ANONYMOUS\tfd=-1\toffset=0");
	p = last_pointer;
	MAPPED("mremap", "MAP_FAILED", mremap(p, page, 2 * page, MREMAP_MAYMOVE),
	       "old_address=%s\told_size=4096\tnew_size=8192\tflags=MREMAP_MAYMOVE", at(p));
	p = last_pointer;
	INT("munmap", munmap(p, 2 * page), "addr=%s\tlength=8192", at(p));
	MAPPED("mmap", "MAP_FAILED", mmap(NULL, 0, PROT_NONE, MAP_SHARED | MAP_NORESERVE, 7, 8192),
	       "addr=NULL\tlength=0\tprot=PROT_NONE\tflags=MAP_SHARED|MAP_NORESERVE\tfd=7\toffset=8192");
}

static void segments(void)
{
	void *p;

	INT("shmget", shmget(IPC_PRIVATE, 30001, IPC_CREAT | 0600),
	    "key=IPC_PRIVATE\tsize=30001\tshmflg=IPC_CREAT|0600");
	const int id = last;

	MAPPED("shmat", "-1", shmat(id, NULL, SHM_RDONLY), "shmid=%d\tshmaddr=NULL\tshmflg=SHM_RDONLY", id);
	p = last_pointer;
	INT("shmdt", shmdt(p), "shmaddr=%s", at(p));
	INT("shmctl", shmctl(id, IPC_RMID, NULL), "shmid=%d\tcmd=IPC_RMID\tbuf=NULL", id);
	INT("shmctl", shmctl(id, IPC_RMID, NULL), "shmid=%d\tcmd=IPC_RMID\tbuf=NULL", id);
	MAPPED("shmat", "-1", shmat(id, NULL, 0), "shmid=%d\tshmaddr=NULL\tshmflg=0", id);
	INT("shmdt", shmdt(folder), "shmaddr=%s", at(folder));
	INT("shmget", shmget((key_t)0x66123456, 0, IPC_CREAT | IPC_EXCL | 0640),
	    "key=0x66123456\tsize=0\tshmflg=IPC_CREAT|IPC_EXCL|0640");
}

/* ---- Threads ---- */

static void *routine(void *arg)
{
	return arg;
}

static int c11_routine(void *arg)
{
	(void)arg;
	return 7;
}

static void threads(void)
{
	pthread_t thread;
	thrd_t c11;
	void *result;
	int number;

	ERR("pthread_create", pthread_create(&thread, NULL, routine, folder),
	    "attr=NULL\tstart_routine=%s <routine>\targ=%s\tthread=%s -> %s", at((void *)routine), at(folder),
	    at(&thread), at((void *)thread));
	ERR("pthread_join", pthread_join(thread, &result), "thread=%s\tretval=%s -> %s", at((void *)thread),
	    at(&result), at(folder));
	ERR("pthread_create", pthread_create(&thread, NULL, routine, NULL),
	    "attr=NULL\tstart_routine=%s <routine>\targ=NULL\tthread=%s -> %s", at((void *)routine), at(&thread),
	    at((void *)thread));
	ERR("pthread_detach", pthread_detach(thread), "thread=%s", at((void *)thread));
	CHECK(thrd_create(&c11, c11_routine, NULL) == thrd_success);
	said("thrd_create", "thrd_success", 0, "func=%s <c11_routine>\targ=NULL\tthr=%s -> %s", at((void *)c11_routine),
	     at(&c11), at((void *)c11));
	CHECK(thrd_join(c11, &number) == thrd_success);
	said("thrd_join", "thrd_success", 0, "thr=%s\tres=[%d]", at((void *)c11), number);
}

/* ---- Transfers ---- */

static void transfers(void)
{
	static const char two[] = "two";
	char text[40] = "one", *s = text;
	wchar_t wide[40] = L"one", *w = wide;

	KEEP(s);
	KEEP(w);
	PTR("memcpy", memcpy(s, two, N(4)), "dest=%s\tsrc=%s\tn=4", at(s), at(two));
	PTR("memmove", memmove(s + 1, s, N(3)), "dest=%s\tsrc=%s\tn=3", at(s + 1), at(s));
	PTR("memset", memset(s, 'a', N(3)), "s=%s\tc='a'\tn=3", at(s));
	PTR("memccpy", memccpy(s, folder, '/', N(30)), "dest=%s\tsrc=%s\tc='/'\tn=30", at(s), at(folder));
	PTR("mempcpy", mempcpy(s, folder, N(3)), "dest=%s\tsrc=%s\tn=3", at(s), at(folder));
	PTR("strcpy", strcpy(s, S("three")), "dest=%s\tsrc=\"three\"", at(s));
	PTR("strcat", strcat(s, S(" more")), "dest=\"three\"\tsrc=\" more\"%s", "");
	PTR("strncpy", strncpy(s, S("a longer text"), N(4)), "dest=%s\tsrc=\"a lo\"\tn=4", at(s));
	s[4] = '\0';
	PTR("strncat", strncat(s, S("xyz"), N(2)), "dest=\"a lo\"\tsrc=\"xy\"\tn=2%s", "");
	PTR("stpcpy", stpcpy(s, S("four")), "dest=%s\tsrc=\"four\"", at(s));
	PTR("stpncpy", stpncpy(s, S("five"), N(9)), "dest=%s\tsrc=\"five\"\tn=9", at(s));
	PTR("strdup", strdup(S("six")), "s=\"six\"%s", "");
	free(last_pointer);
	PTR("strndup", strndup(S("seven"), N(3)), "s=\"sev\"\tn=3%s", "");
	free(last_pointer);
	PTR("wcsdup", wcsdup(S(L"eight")), "s=L\"eight\"%s", "");
	free(last_pointer);
	PTR("wcscpy", wcscpy(w, S(L"nine")), "dest=%s\tsrc=L\"nine\"", at(w));
	PTR("wcsncpy", wcsncpy(w, S(L"eleven"), N(3)), "dest=%s\tsrc=L\"ele\"\tn=3", at(w));
	INT("wcslen", wcslen(S(L"twelve")), "s=L\"twelve\"%s", "");
	INT("wcsnlen", wcsnlen(S(L"twelve"), N(4)), "s=L\"twel\"\tmaxlen=4%s", "");
	PTR("wmemcpy", wmemcpy(w, (wchar_t *)folder, N(4)), "dest=%s\tsrc=%s\tn=4", at(w), at(folder));
	PTR("wmemset", wmemset(w, L'b', N(4)), "s=%s\tc=L'b'\tn=4", at(w));
}

int main(void)
{
	make_folder("args");
	memory();
	opening();
	controlling();
	pairs();
	events();
	named();
	sockets();
	messages();
	streams();
	mappings();
	segments();
	threads();
	transfers();
	unlink(path);
	rmdir(folder);
	return 0;
}

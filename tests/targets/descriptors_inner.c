/* Descriptors and folders that the C library opens by internal functions, or returns in an array. */
#include "target.h"
#include "records.h"

#include <dirent.h>
#include <pty.h>
#include <sys/socket.h>

#ifdef __GLIBC__
extern DIR *__opendirat(int, const char *) __attribute__((weak));
#endif

static void done(int fd)
{
	CHECK(close(fd) == 0);
	closed_fd(fd, "close<fd>");
}

static void both(const char *name, const int fd[2])
{
	opened_fd(name, fd[0]);
	opened_fd(name, fd[1]);
}

/* Receives three messages at once. The first and the third contain a descriptor. */
static void received_several(void)
{
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(int))];
	} sent_control = {{0}};
	struct cmsghdr *const header = &sent_control.header;
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(2 * sizeof(int))];
	} control[3] = {{{0}}};
	char bytes[3];
	struct mmsghdr messages[3] = {{.msg_len = 0}};
	struct iovec vectors[3];
	int ends[2], got[2];

	CHECK(socketpair(AF_UNIX, SOCK_DGRAM, 0, ends) == 0);
	both("socketpair<fd>", ends);
	const int sent = opened_fd("open|open64<fd>", open("/dev/null", O_RDONLY));

	header->cmsg_level = SOL_SOCKET;
	header->cmsg_type = SCM_RIGHTS;
	header->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(header), &sent, sizeof(sent));
	for (int i = 0; i < 3; i++) {
		vectors[i] = (struct iovec){&bytes[i], 1};
		messages[i].msg_hdr = (struct msghdr){.msg_iov = &vectors[i],
						      .msg_iovlen = 1,
						      .msg_control = i == 1 ? NULL : header,
						      .msg_controllen = i == 1 ? 0 : CMSG_SPACE(sizeof(int))};
		CHECK(sendmsg(ends[0], &messages[i].msg_hdr, 0) == 1);
		messages[i].msg_hdr.msg_control = control[i].bytes;
		messages[i].msg_hdr.msg_controllen = sizeof(control[i].bytes);
	}
	CHECK(recvmmsg(ends[1], messages, 3, 0, NULL) == 3);
	memcpy(&got[0], CMSG_DATA(&control[0].header), sizeof(int));
	memcpy(&got[1], CMSG_DATA(&control[2].header), sizeof(int));
	both("recvmmsg<fd>", got);
	done(got[0]);
	done(got[1]);
	CHECK(recvmmsg(ends[1], messages, 3, MSG_DONTWAIT, NULL) == -1);
	done(sent);
	done(ends[0]);
	done(ends[1]);
}

/* glibc's openpty() opens its second descriptor by an ioctl (TIOCGPTPEER), without a call of open(). */
static void terminal(void)
{
	int ends[2];

	if (openpty(&ends[0], &ends[1], NULL, NULL, NULL))
		return;
	both("openpty<fd>", ends);
	done(ends[0]);
	done(ends[1]);
}

#ifdef __GLIBC__
/* scandirat() opens a folder by an internal function that has a name only in static programs, and closes it. */
static void scanned(void)
{
	const int base = opened_fd("open|open64<fd>", open("/", O_RDONLY | O_DIRECTORY));
	struct dirent **names;
	const int count = scandirat(base, "proc/self/task", &names, NULL, NULL);

	CHECK(count == 3);
	if (__opendirat) {
		opened("opendirat<dir>");
		released_last("closedir<dir>");
	}
	for (int i = 0; i < count; i++)
		free(names[i]);
	free(names);
	done(base);
}
#endif

#ifdef __GLIBC__
/* close_range() with an invalid flag closes nothing. */
static void refused(void)
{
	const int fd = opened_fd("open|open64<fd>", open("/dev/null", O_RDONLY));

	CHECK(close_range((unsigned)fd, (unsigned)fd, 1 << 30) == -1);
	done(fd);
}
#endif

int main(void)
{
	gate();
	received_several();
	terminal();
#ifdef __GLIBC__
	scanned();
	refused();
#endif
	gate();
	return 0;
}

/* timeouts: waits in epoll_wait() for half a second, as programs with timers do, and after EINTR for the rest of the
 * time. It ends when the time is over, and prints how often it was interrupted; status 1 if it returned too early. */
#include "target.h"
#include <sys/epoll.h>
#include <time.h>

#define MS 500

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

int main(void)
{
	const int fd = epoll_create1(EPOLL_CLOEXEC);
	const int64_t end = now_ms() + MS;
	struct epoll_event event;
	int64_t rest;
	int interrupted = 0, got = -1;

	void *p = malloc(100); /* so that there is a heap to scan */

	KEEP(p);
	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
	say("ready");
	while (got && (rest = end - now_ms()) > 0) {
		got = epoll_wait(fd, &event, 1, (int)rest + 1);
		interrupted += got < 0 && errno == EINTR;
		CHECK(got <= 0);
	}
	say("interrupted %d times", interrupted);
	return now_ms() < end;
}

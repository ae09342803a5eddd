/* timeouts: waits in epoll_wait() for half a second, as programs with timers do, and after EINTR for the rest of the
 * time; and again, until a wait was interrupted. Prints how often that was; status 1 if a wait returned too early. */
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
	struct epoll_event event;
	int64_t end, rest;
	int interrupted = 0, is_early = 0, got;

	void *p = malloc(100); /* so that there is a heap to scan */

	KEEP(p);
	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
	say("ready");
	/* On a busy machine a wait may be over before functrace first scans the program. Then nothing was tested, and
	 * the program waits again. */
	while (!interrupted && !is_early) {
		end = now_ms() + MS;
		got = -1;
		while (got && (rest = end - now_ms()) > 0) {
			got = epoll_wait(fd, &event, 1, (int)rest + 1);
			interrupted += got < 0 && errno == EINTR;
			CHECK(got <= 0);
		}
		is_early = now_ms() < end;
	}
	say("interrupted %d times", interrupted);
	return is_early;
}

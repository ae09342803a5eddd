/* regress_vforkstorm: threads whose vfork children allocate, again and again until the gate opens. When a tracer
 * detaches, parents sleep in the kernel until their children, which the tracer keeps stopped, continue. */
#include "target.h"
#include <stdatomic.h>
#include <sys/wait.h>

#define THREADS 3

static atomic_bool stop;
static atomic_uint wrong, made;

static void *work(void *data)
{
	while (!atomic_load(&stop)) {
		int status = -1;
		const pid_t pid = vfork();

		if (!pid) {
			void *p = malloc(2001);

			KEEP(p);
			free(p);
			_exit(0);
		}
		while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
			;
		wrong += status != 0;
		made++;
	}
	return data;
}

int main(void)
{
	pthread_t tid[THREADS];

	for (unsigned i = 0; i < THREADS; i++)
		CHECK(pthread_create(&tid[i], NULL, work, NULL) == 0);
	gate();
	/* Waits for the first child, because on a busy machine possibly no thread has run yet. */
	while (!atomic_load(&made))
		sleep_ms(1);
	atomic_store(&stop, 1);
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(tid[i], NULL);
	CHECK(made > 0);
	say("wrong %u", wrong);
	return wrong != 0;
}

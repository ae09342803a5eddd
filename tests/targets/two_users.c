/* two_users: started by root, it becomes another user, except for one thread (a direct system call changes only the
 * thread that makes it). */
#include "target.h"
#include <sys/syscall.h>

#define NOBODY 65534

static pthread_barrier_t changed, over;

static void become_nobody(void)
{
	CHECK(syscall(SYS_setresgid, NOBODY, NOBODY, NOBODY) == 0);
	CHECK(syscall(SYS_setresuid, NOBODY, NOBODY, NOBODY) == 0);
}

static void *work(void *data)
{
	if (!data)
		become_nobody();
	pthread_barrier_wait(&changed);
	pthread_barrier_wait(&over);
	void *p = malloc(37101);

	KEEP(p);
	free(p);
	return NULL;
}

int main(void)
{
	pthread_t tid[3];

	pthread_barrier_init(&changed, NULL, 4);
	pthread_barrier_init(&over, NULL, 4);
	for (unsigned i = 0; i < 3; i++)
		CHECK(pthread_create(&tid[i], NULL, work, i == 2 ? tid : NULL) == 0);
	become_nobody();
	pthread_barrier_wait(&changed);
	CHECK(prctl(PR_SET_DUMPABLE, 1) == 0);
	gate();
	pthread_barrier_wait(&over);
	for (unsigned i = 0; i < 3; i++)
		pthread_join(tid[i], NULL);
	say("all are well");
	return 5;
}

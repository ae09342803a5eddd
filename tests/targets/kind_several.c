/* Some live resources of each of several kinds, for the summary at the end and the list of leaks. */
#include "kind.h"
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/shm.h>

static void *do_nothing(void *data)
{
	return data;
}

int main(void)
{
	pthread_t id;
	char *block;

	gate();
	for (int i = 0; i < 2; i++)
		CHECK(pthread_create(&id, NULL, do_nothing, NULL) == 0);
	/* From now on the library has cached memory for the threads' stacks. */
	for (int i = 0; i < 3; i++) {
		block = malloc(30001);
		KEEP(block);
	}
	CHECK(open("/dev/null", O_RDONLY) >= 0);
	CHECK(mmap(NULL, 8192, PROT_READ, MAP_PRIVATE, open("/proc/self/exe", O_RDONLY), 0) != MAP_FAILED);
	const int segment = shmget(IPC_PRIVATE, 30004, 0600);

	CHECK(segment >= 0 && shmat(segment, NULL, 0) != (void *)-1);
	CHECK(syscall(
#ifdef SYS_shmctl
		      SYS_shmctl,
#else
		      SYS_ipc, 24,
#endif
		      segment, IPC_RMID, NULL) == 0);
	gate();
	return 0;
}

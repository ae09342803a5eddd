/* System V shared memory: each function in success and failure, with the kernel's counts of references. At the end the
 * program leaves no segment in the system. */
#include "kind.h"
#include <sys/ipc.h>
#include <sys/shm.h>
#include <sys/wait.h>

#define KEY ((key_t)(0x66000000 + getpid())) /* other programs are unlikely to use it */

/* Returns the number of attachments in the kernel's list of segments; -1 if the segment no longer exists. */
static long attached(int id)
{
	char text[65536], *line = text;
	const int fd = open("/proc/sysvipc/shm", O_RDONLY | O_CLOEXEC);
	size_t size = 0;
	ssize_t got;

	CHECK(fd >= 0);
	while ((got = read(fd, text + size, sizeof(text) - 1 - size)) > 0)
		size += (size_t)got;
	close(fd);
	text[size] = '\0';
	while ((line = strchr(line, '\n'))) {
		long found, count;

		if (sscanf(++line, "%*d %ld %*o %*u %*d %*d %ld", &found, &count) == 2 && found == id)
			return count;
	}
	return -1;
}

static void control(int id, int command, void *data, const char *name)
{
	CHECK(shmctl(id, command, data) >= 0);
	recorded("shmctl<control>(1) = %#x cmd=%s", (unsigned)id, name);
}

/* Removes a segment that is attached twice (IPC_RMID): the kernel removes it with its last attachment. */
static void removed(void)
{
	struct shmid_ds about;
	const int id = shmget(IPC_PRIVATE, 30001, 0600);

	CHECK(id >= 0);
	recorded("shmget<segment>(30001) = %#x", (unsigned)id);
	void *const a = shmat(id, NULL, 0), *const b = shmat(id, NULL, SHM_RDONLY);

	CHECK(a != (void *)-1 && b != (void *)-1 && attached(id) == 2);
	recorded("shmat<segment>(30001) = %#x", (unsigned)id);
	recorded("shmat<attachment>(30001) = %#lx", (unsigned long)a);
	recorded("shmat<segment>(30001) = %#x", (unsigned)id);
	recorded("shmat<attachment>(30001) = %#lx", (unsigned long)b);
	control(id, IPC_STAT, &about, "IPC_STAT");
	control(id, IPC_SET, &about, "IPC_SET");
	CHECK(about.shm_segsz == 30001);
	CHECK(shmctl(id, IPC_RMID, NULL) == 0);
	recorded("shmctl<segment>(%#x)", (unsigned)id);
	recorded("shmctl<control>(1) = %#x cmd=IPC_RMID", (unsigned)id);
	CHECK(attached(id) == 2 && shmdt(a) == 0 && attached(id) == 1);
	recorded("shmdt<segment>(%#x)", (unsigned)id);
	recorded("shmdt<attachment>(%#lx)", (unsigned long)a);
	CHECK(shmdt(b) == 0 && attached(id) == -1);
	recorded("shmdt<segment>(%#x)", (unsigned)id);
	recorded("shmdt<attachment>(%#lx)", (unsigned long)b);
	CHECK(shmat(id, NULL, 0) == (void *)-1 && shmctl(id, IPC_RMID, NULL) == -1);
	CHECK(shmdt(b) == -1 && shmdt((char *)b + 1) == -1);
}

/* Makes a segment with a key: the second shmget() for the key creates nothing. */
static void by_key(void)
{
	const int id = shmget(KEY, 30002, IPC_CREAT | IPC_EXCL | 0600);

	CHECK(id >= 0);
	recorded("shmget<segment>(30002) = %#x", (unsigned)id);
	CHECK(shmget(KEY, 30002, IPC_CREAT | 0600) == id && shmget(KEY, 0, 0) == id);
	CHECK(shmget(KEY, 1, IPC_CREAT | IPC_EXCL | 0600) == -1 && errno == EEXIST);
	CHECK(shmctl(id, IPC_RMID, NULL) == 0);
	recorded("shmctl<segment>(%#x)", (unsigned)id);
	recorded("shmctl<control>(1) = %#x cmd=IPC_RMID", (unsigned)id);
	CHECK(shmget(KEY, 0, 0) == -1 && errno == ENOENT);
}

/* A child creates a segment by an untraced system call. When this process attaches it, the trace has the size of the
 * mapping. */
static void of_another(void)
{
	int status, id;
	int to[2];

	CHECK(pipe(to) == 0);
	const pid_t child = fork();

	CHECK(child >= 0);
	if (!child) {
		id = (int)syscall(
#ifdef SYS_shmget
			SYS_shmget,
#else
			SYS_ipc, 23,
#endif
			IPC_PRIVATE, 30003, 0600);
		_exit(write(to[1], &id, sizeof(id)) != sizeof(id));
	}
	CHECK(read(to[0], &id, sizeof(id)) == sizeof(id) && waitpid(child, &status, 0) == child && id >= 0);
	void *const p = shmat(id, NULL, 0);

	CHECK(p != (void *)-1);
	recorded("shmat<segment>(32768) = %#x", (unsigned)id);
	recorded("shmat<attachment>(32768) = %#lx", (unsigned long)p);
	CHECK(shmdt(p) == 0);
	recorded("shmdt<segment>(%#x)", (unsigned)id);
	recorded("shmdt<attachment>(%#lx)", (unsigned long)p);
	/* IPC_RMID releases the reference of the segment's creation, which another process has made. */
	control(id, IPC_RMID, NULL, "IPC_RMID");
	close(to[0]);
	close(to[1]);
}

static void left_over(void)
{
	const int first_line = __LINE__ + 1;
	const int id = shmget(IPC_PRIVATE, 30004, 0600);

	CHECK(id >= 0);
	recorded("shmget<segment>(30004) = %#x", (unsigned)id);
	const int line = __LINE__ + 1;
	void *const p = shmat(id, NULL, 0);

	CHECK(p != (void *)-1);
	recorded("shmat<segment>(30004) = %#x", (unsigned)id);
	recorded("shmat<attachment>(30004) = %#lx", (unsigned long)p);
	left("segment", 1, 30004, first_line);
	left("attachment", 1, 30004, line);
	/* Removed by an untraced system call. */
	syscall(
#ifdef SYS_shmctl
		SYS_shmctl,
#else
		SYS_ipc, 24,
#endif
		id, IPC_RMID, NULL);
}

int main(void)
{
	gate();
	removed();
	by_key();
	of_another();
	left_over();
	gate();
	return 0;
}

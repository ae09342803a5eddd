/* placed WAY: busy for a moment, so that functrace puts it on one CPU; then it reads its CPUs, or creates another task
 * that reads its own, in the way that WAY names, and prints them. The output must be the same as that of an untraced
 * run. */
#include "target.h"
#include <sched.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/wait.h>

extern char **environ;

static const char *program;

static NOINLINE void be_busy(unsigned pairs)
{
	for (unsigned i = 0; i < pairs; i++) {
		void *p = malloc(36903);

		KEEP(p);
		free(p);
	}
}

static void say_set(const char *who, const cpu_set_t *set)
{
	char text[400];
	size_t used = 0;

	for (int cpu = 0; cpu < CPU_SETSIZE && used < sizeof(text) - 8; cpu++)
		if (CPU_ISSET(cpu, set))
			used += (size_t)snprintf(text + used, sizeof(text) - used, " %d", cpu);
	text[used] = '\0';
	say("%s:%s", who, text);
}

static void say_own(const char *who)
{
	cpu_set_t set;

	CHECK(sched_getaffinity(0, sizeof(set), &set) == 0);
	say_set(who, &set);
}

static void say_status(const char *path, int at)
{
	char text[8192];
	const int fd = at ? openat(AT_FDCWD, path, O_RDONLY) : open(path, O_RDONLY);
	const ssize_t size = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

	CHECK(size > 0);
	text[size] = '\0';
	char *line = strstr(text, "Cpus_allowed_list:");

	CHECK(line);
	*strchr(line, '\n') = '\0';
	say("%s", line);
	close(fd);
}

/* ---- Ways to read the CPUs ---- */

static void ask_affinity(void)
{
	say_own("sched_getaffinity");
}

static void ask_pthread(void)
{
	cpu_set_t set;

	CHECK(pthread_getaffinity_np(pthread_self(), sizeof(set), &set) == 0);
	say_set("pthread_getaffinity_np", &set);
}

/* Reads a thread's attributes (pthread_getattr_np), which contain its CPUs, too. */
static void ask_attributes(void)
{
#ifdef __GLIBC__
	pthread_attr_t attributes;
	cpu_set_t set;

	CHECK(pthread_getattr_np(pthread_self(), &attributes) == 0);
	CHECK(pthread_attr_getaffinity_np(&attributes, sizeof(set), &set) == 0);
	say_set("pthread_getattr_np", &set);
	pthread_attr_destroy(&attributes);
#else
	say("skip: this library's attributes have no CPUs");
	_exit(0);
#endif
}

static void ask_number(void)
{
	say("_SC_NPROCESSORS_ONLN: %ld", sysconf(_SC_NPROCESSORS_ONLN));
}

static void ask_nprocs(void)
{
	say("get_nprocs: %d", get_nprocs());
}

static void ask_syscall(void)
{
	unsigned long bits[CPU_SETSIZE / 8 / sizeof(long)] = {0};

	CHECK(syscall(SYS_sched_getaffinity, 0, sizeof(bits), bits) > 0);
	say("by syscall: %lx", bits[0]);
}

static void ask_open(void)
{
	say_status("/proc/self/status", 0);
}

static void ask_openat(void)
{
	say_status("/proc/self/status", 1);
}

static void ask_fopen(void)
{
	char line[256];
	FILE *file = fopen("/proc/self/status", "r");

	CHECK(file);
	while (fgets(line, sizeof(line), file))
		if (!strncmp(line, "Cpus_allowed_list:", 18))
			say("%.*s", (int)strcspn(line, "\n"), line);
	fclose(file);
}

/* Makes calls that do not read the CPUs, of functions that could: they must not end the placement. */
static void ask_nothing(void)
{
	const int fd = open("/dev/null", O_RDONLY);

	CHECK(fd >= 0 && sysconf(_SC_PAGESIZE) > 0);
	close(fd);
	say("nothing");
}

/* ---- Ways to choose CPUs ---- */

static void choose(int last)
{
	cpu_set_t set, one;
	int chosen = -1;

	CHECK(sched_getaffinity(0, sizeof(set), &set) == 0);
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &set) && (last || chosen < 0))
			chosen = cpu;
	CPU_ZERO(&one);
	CPU_SET(chosen, &one);
	be_busy(400);
	CHECK(sched_setaffinity(0, sizeof(one), &one) == 0);
	be_busy(600);
	say_own("chosen");
	const pid_t pid = fork();

	CHECK(pid >= 0);
	if (!pid) {
		say_own("its child");
		_exit(0);
	}
	CHECK(waitpid(pid, NULL, 0) == pid);
	be_busy(1200);
	CHECK(sched_setaffinity(0, sizeof(set), &set) == 0);
	be_busy(1200);
	say_own("all again");
}

static void choose_first(void)
{
	choose(0);
}

static void choose_last(void)
{
	choose(1);
}

/* ---- Ways to create tasks ---- */

static void wait_for_child(pid_t pid)
{
	int status;

	CHECK(pid > 0 && waitpid(pid, &status, 0) == pid);
	say("status %x", (unsigned)status);
	say_own("the parent");
}

static void *thread(void *data)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/task/%ld/status", (long)syscall(SYS_gettid));
	say_status(path, 0);
	say_own("a thread");
	return data;
}

static void make_thread(void)
{
	pthread_t tid;

	CHECK(pthread_create(&tid, NULL, thread, NULL) == 0 && pthread_join(tid, NULL) == 0);
	say_own("its maker");
}

static int ends[2];

static void *wait_for_end(void *data)
{
	char byte;

	CHECK(read(ends[0], &byte, 1) == 1);
	return data;
}

/* Is busy while a second thread sleeps. functrace must not put the program on one CPU, because even that thread might
 * read the CPUs in ways that cannot be traced. */
static void be_threaded(void)
{
	pthread_t tid;

	CHECK(pipe(ends) == 0 && pthread_create(&tid, NULL, wait_for_end, NULL) == 0);
	be_busy(2000);
	CHECK(write(ends[1], "e", 1) == 1 && pthread_join(tid, NULL) == 0);
	say("threaded");
}

/* A busy thread that is not the leader, and that --cpu=pin puts on one CPU, executes another program. */
static void *execute(void *data)
{
	be_busy(400);
	execl(program, program, "told", (char *)NULL);
	return data;
}

static void execute_by_thread(void)
{
	pthread_t tid;

	CHECK(pthread_create(&tid, NULL, execute, NULL) == 0);
	pthread_join(tid, NULL);
}

static void child(void)
{
	say_status("/proc/self/status", 0);
	say_own("a child");
	_exit(7);
}

static void make_fork(void)
{
	const pid_t pid = fork();

	if (!pid)
		child();
	wait_for_child(pid);
}

static int cloned(void *data)
{
	(void)data;
	child();
	return 0;
}

static void make_clone(void)
{
	static char stack[1 << 16] __attribute__((aligned(16)));

	wait_for_child(clone(cloned, stack + sizeof(stack), SIGCHLD, NULL));
}

static void make_vfork(void)
{
	const pid_t pid = vfork();

	if (!pid) {
		execl(program, program, "told", (char *)NULL);
		_exit(9);
	}
	wait_for_child(pid);
}

static void make_spawn(void)
{
	char *arguments[] = {(char *)program, (char *)"told", NULL};
	pid_t pid;

	CHECK(posix_spawn(&pid, program, NULL, NULL, arguments, environ) == 0);
	wait_for_child(pid);
}

static void make_system(void)
{
	char command[4200];

	snprintf(command, sizeof(command), "'%s' told", program);
	say("status %x", (unsigned)system(command));
	say_own("the parent");
}

static void make_exec(void)
{
	execl(program, program, "told", (char *)NULL);
}

/* Forks without a call of a library function. */
static void make_raw(void)
{
#ifdef __x86_64__
	long pid;

	__asm__ volatile("syscall" : "=a"(pid) : "a"((long)SYS_fork) : "rcx", "r11", "memory");
	if (!pid)
		child();
	wait_for_child((pid_t)pid);
#else
	say("skip: only written for x86-64");
	_exit(0);
#endif
}

static const struct {
	const char *name;
	void (*run)(void);
} ways[] = {
	{"affinity", ask_affinity}, {"pthread", ask_pthread}, {"number", ask_number}, {"nprocs", ask_nprocs},
	{"syscall", ask_syscall},   {"open", ask_open},       {"openat", ask_openat}, {"fopen", ask_fopen},
	{"nothing", ask_nothing},   {"first", choose_first},  {"last", choose_last},  {"thread", make_thread},
	{"fork", make_fork},        {"clone", make_clone},    {"vfork", make_vfork},  {"spawn", make_spawn},
	{"system", make_system},    {"exec", make_exec},      {"raw", make_raw},      {"attributes", ask_attributes},
	{"threaded", be_threaded},
};

int main(int argc, char **argv)
{
	program = argv[0];
	if (argc == 2 && !strcmp(argv[1], "told")) {
		say_status("/proc/self/status", 0);
		say_own("another program");
		return 7;
	}
	if (argc == 2 && (!strcmp(argv[1], "busy") || !strcmp(argv[1], "busy-at-times"))) {
		gate();
		for (;;) {
			be_busy(100);
			if (argv[1][4])
				sleep_ms(20);
		}
	}
	if (argc == 2 && !strcmp(argv[1], "thread-executes"))
		execute_by_thread();
	be_busy(130);
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
		if (argc == 2 && !strcmp(argv[1], ways[i].name)) {
			ways[i].run();
			return 0;
		}
	say("not known: %s", argc == 2 ? argv[1] : "(nothing)");
	return 2;
}

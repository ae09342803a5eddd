/* Runs hot() at a given depth of the stack, in one or more threads, and prints the times of each round:
 *
 *     round WALL CPU PAIRS
 *
 * WALL is the time from the start of the first thread to the end of the last one, in ns. CPU is the processor time, in
 * ns, that this program, its children and the process that traces it used meanwhile; on a busy machine it is more
 * accurate than WALL. PAIRS is the number of pairs of all threads.
 *
 *     --rounds=N    number of rounds (default: 1)
 *     --pairs=N     number of pairs per thread and round (1000)
 *     --threads=N   number of threads that run hot() (1)
 *     --idle=N      number of additional threads, which sleep (0)
 *     --frames=N    number of frames on the stack in hot(), including the callers of main (6)
 *     --pin=CPU     use only that processor
 *     --ask         run a round for each line of standard input, which contains the number of pairs
 *
 * A short round before the first one fills the caches; its times are not printed. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "hot.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define WARM_PAIRS 64
/* The smallest number of frames in hot() in the main thread and in other threads: hot(), descend() and their
 * callers. */
#define FRAMES_MAIN   6
#define FRAMES_THREAD 5

static unsigned rounds = 1, threads = 1, idle, frames = FRAMES_MAIN;
static unsigned long pairs = 1000;
static int ask;
static pthread_barrier_t begin, end;
static unsigned long round_pairs; /* 0: the threads end */

static uint64_t clock_of(clockid_t id)
{
	struct timespec t;

	if (clock_gettime(id, &t))
		return 0;
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Returns the processor time of this program and of the children for which it has waited, in ns. */
static uint64_t own_time(void)
{
	struct rusage children;

	getrusage(RUSAGE_CHILDREN, &children);
	return clock_of(CLOCK_PROCESS_CPUTIME_ID) +
	       (uint64_t)(children.ru_utime.tv_sec + children.ru_stime.tv_sec) * 1000000000u +
	       (uint64_t)(children.ru_utime.tv_usec + children.ru_stime.tv_usec) * 1000u;
}

static void say(const char *text)
{
	if (write(STDOUT_FILENO, text, strlen(text)) < 0)
		_exit(90);
}

/* Returns a number from /proc/PID/status; 0 if there is none. Does not allocate, because an allocation would be
 * traced. */
static int status_number(int pid, const char *key)
{
	char path[48], text[4096];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	const ssize_t got = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

	if (fd >= 0)
		close(fd);
	if (got <= 0)
		return 0;
	text[got] = '\0';
	const char *line = strstr(text, key);

	return line ? atoi(line + strlen(key)) : 0;
}

/* Returns the clock of the processor time of the process that traces this one. Sets *traced to whether there is one. */
static clockid_t tracer_clock(int *traced)
{
	const int tracer = status_number(getpid(), "\nTracerPid:");
	clockid_t id = CLOCK_MONOTONIC;

	*traced = tracer && !clock_getcpuclockid(status_number(tracer, "\nTgid:"), &id);
	return id;
}

__attribute__((noinline)) static void descend(unsigned more, unsigned long count)
{
	volatile char local[80];

	local[0] = (char)more;
	if (more)
		descend(more - 1, count);
	else
		hot(count);
	(void)local[0]; /* no tail call */
}

static void *work(void *unused)
{
	for (;;) {
		pthread_barrier_wait(&begin);
		if (!round_pairs)
			return unused;
		descend(frames > FRAMES_THREAD ? frames - FRAMES_THREAD : 0, round_pairs);
		pthread_barrier_wait(&end);
	}
}

static void *doze(void *unused)
{
	for (;;)
		pause();
	return unused;
}

static void run_round(unsigned long count)
{
	round_pairs = count;
	if (threads == 1) {
		descend(frames > FRAMES_MAIN ? frames - FRAMES_MAIN : 0, count);
		return;
	}
	pthread_barrier_wait(&begin);
	if (count)
		pthread_barrier_wait(&end);
}

static void measure(unsigned long count)
{
	char line[96];
	int traced;
	const clockid_t tracer = tracer_clock(&traced);
	const uint64_t others = traced ? clock_of(tracer) : 0;
	const uint64_t own = own_time();
	const uint64_t start = clock_of(CLOCK_MONOTONIC);

	run_round(count);
	const uint64_t wall = clock_of(CLOCK_MONOTONIC) - start;
	uint64_t cpu = own_time() - own;

	if (traced)
		cpu += clock_of(tracer) - others;
	snprintf(line, sizeof(line), "round %llu %llu %lu\n", (unsigned long long)wall, (unsigned long long)cpu,
		 count * threads);
	say(line);
}

static void serve(void)
{
	char line[64];
	size_t at = 0;

	say("ready\n");
	while (read(STDIN_FILENO, &line[at], 1) == 1) {
		if (line[at] != '\n') {
			at = at < sizeof(line) - 2 ? at + 1 : at;
			continue;
		}
		line[at] = '\0';
		at = 0;
		measure(strtoul(line, NULL, 10));
	}
}

static int pin(unsigned long cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	return sched_setaffinity(0, sizeof(set), &set);
}

static int option(const char *text)
{
	const char *equals = strchr(text, '=');
	const size_t length = equals ? (size_t)(equals - text) : strlen(text);
	const unsigned long value = equals ? strtoul(equals + 1, NULL, 10) : 0;

	if (!strncmp(text, "--rounds", length))
		rounds = (unsigned)value;
	else if (!strncmp(text, "--pairs", length))
		pairs = value;
	else if (!strncmp(text, "--threads", length))
		threads = (unsigned)value;
	else if (!strncmp(text, "--idle", length))
		idle = (unsigned)value;
	else if (!strncmp(text, "--frames", length))
		frames = (unsigned)value;
	else if (!strncmp(text, "--pin", length))
		return pin(value);
	else if (!strncmp(text, "--ask", length))
		ask = 1;
	else
		return -1;
	return 0;
}

static void start_threads(unsigned count, void *(*function)(void *))
{
	pthread_attr_t attributes;
	pthread_t thread;

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, 64u << 10);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	for (unsigned i = 0; i < count; i++)
		if (pthread_create(&thread, &attributes, function, NULL)) {
			say("no thread could be started\n");
			_exit(1);
		}
	pthread_attr_destroy(&attributes);
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (option(argv[i])) {
			say("what option?\n");
			return 2;
		}
	start_threads(idle, doze);
	if (threads > 1) {
		pthread_barrier_init(&begin, NULL, threads + 1);
		pthread_barrier_init(&end, NULL, threads + 1);
		start_threads(threads, work);
	}
	run_round(WARM_PAIRS);
	if (ask)
		serve();
	else
		for (unsigned i = 0; i < rounds; i++)
			measure(pairs);
	if (threads > 1)
		run_round(0);
	return 0;
}

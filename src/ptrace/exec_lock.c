/* Calls a function by SIGALRM while PTRACE_SEIZE may wait for an exec: see exec_lock.h. */
#include "config.h"
#include "ptrace/exec_lock.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <sys/time.h>

#define LOOK_EVERY_US 5000

static void (*volatile look_for_ends)(void);

static void on_alarm(int sig)
{
	const int error = errno;

	(void)sig;
	look_for_ends();
	errno = error;
}

static void set_alarm(int how, long microseconds)
{
	const struct itimerval timer = {{0, microseconds}, {0, microseconds}};
	sigset_t alarm;

	sigemptyset(&alarm);
	sigaddset(&alarm, SIGALRM);
	setitimer(ITIMER_REAL, &timer, NULL);
	pthread_sigmask(how, &alarm, NULL);
}

void exec_lock_watch(void (*look)(void))
{
	const struct sigaction action = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};

	look_for_ends = look;
	sigaction(SIGALRM, &action, NULL);
	set_alarm(SIG_UNBLOCK, LOOK_EVERY_US);
}

void exec_lock_unwatch(void)
{
	set_alarm(SIG_BLOCK, 0);
}

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

/* Sets a timer that sends one SIGALRM after this time; 0: stops the timer. */
static void set_timer(long microseconds)
{
	const struct itimerval timer = {.it_value = {0, microseconds}};

	setitimer(ITIMER_REAL, &timer, NULL);
}

static void mask_alarm(int how)
{
	sigset_t alarm;

	sigemptyset(&alarm);
	sigaddset(&alarm, SIGALRM);
	pthread_sigmask(how, &alarm, NULL);
}

/* Calls look_for_ends(), and only then sets the timer again: the call may take longer than the interval if there are
 * thousands of threads, and with a periodic timer the interrupted code would make no progress. */
static void on_alarm(int sig)
{
	const int error = errno;

	(void)sig;
	look_for_ends();
	set_timer(LOOK_EVERY_US);
	errno = error;
}

void exec_lock_watch(void (*look)(void))
{
	const struct sigaction action = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};

	look_for_ends = look;
	sigaction(SIGALRM, &action, NULL);
	set_timer(LOOK_EVERY_US);
	mask_alarm(SIG_UNBLOCK);
}

void exec_lock_unwatch(void)
{
	mask_alarm(SIG_BLOCK); /* first, because the handler sets the timer */
	set_timer(0);
}

/* sigtrap HOW: the program's own int3 and SIGTRAP.
 *
 *   handler   a handler; int3 and raise both reach it, and traced calls between them do not
 *   blocked   the same, with all signals blocked while it allocates
 *   at-once   blocked as soon as the handler is set, and then calls deeper in the stack
 *   ignored   SIGTRAP ignored while it allocates: stays ignored
 *   once      SA_RESETHAND|SA_NODEFER
 *   masked    no handler, and the signal is blocked while it allocates: a SIGTRAP that it sends itself is pending until
 *             sigtimedwait() takes it, also in a thread and a child that inherit the mask
 *   default   killed by its own int3, as in an untraced run */
#include "target.h"

#include <pthread.h>
#include <sys/wait.h>
#include <time.h>

static volatile int traps, codes[3];

static void on_trap(int signal, siginfo_t *info, void *context)
{
	(void)signal;
	traps++;
	codes[info->si_code == OWN_TRAP_CODE ? 0 : info->si_code == SI_TKILL ? 1 : 2]++;
	if (info->si_code == OWN_TRAP_CODE)
		past_own_trap(context);
}

static NOINLINE void own_int3(void)
{
	OWN_TRAP();
}

static NOINLINE void calls_deeper(unsigned depth)
{
	volatile char room[256];
	volatile char *p = room;

	KEEP(p);
	if (depth)
		calls_deeper(depth - 1);
	free(malloc(36101));
	KEEP(p);
}

static void some_calls(unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		free(malloc(36101));
}

static int is_blocked(void)
{
	sigset_t now;

	sigprocmask(SIG_SETMASK, NULL, &now);
	return sigismember(&now, SIGTRAP);
}

/* While SIGTRAP is blocked, sends it to the thread, then to the process, allocates each time, and takes the signal.
 * Returns the number of allocations. */
static unsigned take_blocked(void)
{
	const struct timespec at_once = {0};
	siginfo_t info;
	sigset_t trap;

	sigemptyset(&trap);
	sigaddset(&trap, SIGTRAP);
	some_calls(2);
	CHECK(is_blocked());
	raise(SIGTRAP); /* to the thread: it is pending together with the signals of hits */
	some_calls(2);
	CHECK(is_blocked());
	CHECK(sigtimedwait(&trap, &info, &at_once) == SIGTRAP && (info.si_code == SI_TKILL || info.si_code == SI_USER));
	kill(getpid(), SIGTRAP); /* to the process */
	some_calls(2);
	CHECK(sigtimedwait(&trap, &info, &at_once) == SIGTRAP && info.si_code == SI_USER);
	CHECK(is_blocked());
	return 6;
}

static void *in_thread(void *calls)
{
	*(unsigned *)calls += take_blocked();
	return NULL;
}

/* Tests the mask in a thread, in a forked child, and after each function that changes it. Returns the number of
 * calls. */
static unsigned masked(const sigset_t *all)
{
	unsigned calls = 0;
	sigset_t old, before;
	pthread_t thread;
	int status;

	for (unsigned i = 0; i < 10; i++) {
		sigprocmask(SIG_BLOCK, all, &old);
		CHECK(!sigismember(&old, SIGTRAP));
		calls += take_blocked();
		CHECK(pthread_create(&thread, NULL, in_thread, &calls) == 0);
		pthread_join(thread, NULL);
		const pid_t child = fork();

		if (!child)
			_exit(take_blocked() != 6);
		CHECK(waitpid(child, &status, 0) == child && status == 0);
		calls += 6; /* the child's */
		pthread_sigmask(SIG_SETMASK, &old, &before);
		CHECK(sigismember(&before, SIGTRAP));
		some_calls(1);
		CHECK(!is_blocked());
		calls++;
	}
	return calls;
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "handler";
	struct sigaction action = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO}, now;
	sigset_t all, old;
	unsigned calls = 0;

	if (!strcmp(how, "once"))
		action.sa_flags |= SA_RESETHAND | SA_NODEFER;
	if (!strcmp(how, "ignored"))
		action = (struct sigaction){.sa_handler = SIG_IGN};
	if (strcmp(how, "default") && strcmp(how, "masked"))
		sigaction(SIGTRAP, &action, NULL);
	sigfillset(&all);
	gate();
	if (!strcmp(how, "handler")) {
		for (unsigned i = 0; i < 50; i++) {
			own_int3();
			some_calls(1);
			raise(SIGTRAP);
			some_calls(1);
			calls += 2;
		}
		say("traps %d: by int3 %d, by raise %d, other %d", traps, codes[0], codes[1], codes[2]);
	} else if (!strcmp(how, "blocked")) {
		for (unsigned i = 0; i < 20; i++) {
			sigprocmask(SIG_SETMASK, &all, &old);
			some_calls(2);
			sigprocmask(SIG_SETMASK, NULL, &all);
			CHECK(sigismember(&all, SIGTRAP) && sigismember(&all, SIGTERM));
			some_calls(1);
			raise(SIGTRAP); /* pending until unblocked */
			sigprocmask(SIG_SETMASK, &old, NULL);
			own_int3();
			calls += 3;
		}
		say("traps %d: by int3 %d, by raise %d, other %d", traps, codes[0], codes[1], codes[2]);
	} else if (!strcmp(how, "at-once")) {
		for (unsigned i = 0; i < 20; i++) {
			sigaction(SIGTRAP, &action, NULL);
			sigprocmask(SIG_SETMASK, &all, &old);
			calls_deeper(3);
			sigprocmask(SIG_SETMASK, &old, NULL);
			sigprocmask(SIG_SETMASK, NULL, &old);
			CHECK(!sigismember(&old, SIGTRAP));
			own_int3();
			calls += 4;
		}
		say("traps %d: by int3 %d", traps, codes[0]);
	} else if (!strcmp(how, "ignored")) {
		for (unsigned i = 0; i < 20; i++) {
			some_calls(2);
			raise(SIGTRAP);
			calls += 2;
		}
		sigaction(SIGTRAP, NULL, &now);
		say("still ignored: %d", now.sa_handler == SIG_IGN);
	} else if (!strcmp(how, "masked")) {
		calls = masked(&all);
		say("SIGTRAP was blocked for as long as it was to be");
	} else if (!strcmp(how, "once")) {
		some_calls(3);
		own_int3();
		some_calls(3);
		calls += 6;
		sigaction(SIGTRAP, NULL, &now);
		say("traps %d, default again: %d", traps, now.sa_handler == SIG_DFL);
	} else {
		some_calls(4);
		calls += 4;
		expect_alloc(calls, 36101, "malloc");
		expect_release(calls, 36101, "free");
		own_int3();
		say("not reached");
	}
	if (strcmp(how, "ignored") && strcmp(how, "masked") && strcmp(how, "once") && strcmp(how, "default")) {
		sigaction(SIGTRAP, NULL, &now);
		say("handler kept: %d", now.sa_sigaction == on_trap);
	}
	expect_alloc(calls, 36101, "malloc");
	expect_release(calls, 36101, "free");
	gate();
	return 0;
}

#include "config.h"
#include "base/terminal_stop.h"

#include <signal.h>
#include <stddef.h>

void stop_by_terminal(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTSTP);
	raise(SIGTSTP);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	sigprocmask(SIG_BLOCK, &set, NULL);
}

/* Handles SIGTSTP instead of ncurses, which ignores this signal while it draws. With ncurses' handler, Ctrl-Z during
 * drawing would stop functrace, but this program would go on drawing over the shell. ncurses installs no handler for a
 * signal that already has one. */
#include "config.h"
#include "base/terminal_stop.h"
#include "live/screen_stop.h"

#ifdef HAVE_CURSES

#include <curses.h>
#include <signal.h>
#include <stddef.h>

static volatile sig_atomic_t is_asked;

static void note_stop(int signal)
{
	(void)signal;
	is_asked = 1;
}

void screen_handle_stop(void)
{
	const struct sigaction action = {.sa_handler = note_stop, .sa_flags = SA_RESTART};
	struct sigaction before;

	if (sigaction(SIGTSTP, NULL, &before) == 0 && before.sa_handler == SIG_DFL)
		sigaction(SIGTSTP, &action, NULL);
}

/* If SIGTSTP has come, leaves the screen and stops this process. SIGTTOU is blocked meanwhile, so that the terminal can
 * be reset even if the shell has already taken the terminal. */
void screen_stop_if_asked(void)
{
	sigset_t blocked, before;

	if (!is_asked)
		return;
	sigemptyset(&blocked);
	sigaddset(&blocked, SIGTSTP);
	sigaddset(&blocked, SIGTTOU);
	sigprocmask(SIG_BLOCK, &blocked, &before);
	endwin();
	signal(SIGTSTP, SIG_DFL);
	stop_by_terminal();
	screen_handle_stop();
	is_asked = 0;
	sigprocmask(SIG_SETMASK, &before, NULL);
	clearok(curscr, TRUE);
}

#endif

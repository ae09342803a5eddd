/* Keeps functrace's own processes apart from the user's, in job control and in ps: see shared_state.h. */
#include "config.h"
#include "engine/settings.h"
#include "engine/shared_state.h"
#include "base/msg.h"
#include "base/title.h"
#include "base/util.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Gives this process, the engine or the guardian, a low OOM score, because other processes depend on it: when memory
 * runs out, the kernel kills the process with the highest score. Lowering the score takes CAP_SYS_RESOURCE. */
static void protect_from_oom_killer(void)
{
	const int fd = open("/proc/self/oom_score_adj", O_RDWR | O_CLOEXEC);
	char now[16] = "";

	if (fd < 0)
		return;
	if (read(fd, now, sizeof(now) - 1) > 0 && atoi(now) > -900 && pwrite(fd, "-900", 4, 0) < 0)
		msg_debug(DBG_PROCESS, 1, "functrace is not protected from the OOM killer: %s", strerror(errno));
	close(fd);
}

void engine_hide(const struct shared_state *shared, const char *name)
{
	if (!shared->is_orphaned || setsid() < 0)
		setpgid(0, 0);
	title_set(name);
	protect_from_oom_killer();
}

void engine_ignore_signals(const struct settings *settings)
{
	static const int ignored[] = {SIGINT, SIGQUIT, SIGHUP, SIGTSTP, SIGTTIN, SIGTTOU, SIGPIPE, SIGXFSZ};

	for (size_t i = 0; i < ARRAY_SIZE(ignored); i++)
		signal(ignored[i], SIG_IGN);
	if (settings->target.toggle_signal)
		signal(settings->target.toggle_signal, SIG_IGN);
	if (settings->scan.request_signal)
		signal(settings->scan.request_signal, SIG_IGN);
	signal(SIGCHLD, SIG_DFL);
}

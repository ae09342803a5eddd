#include "config.h"
#include "uprobe/uprobe_helper.h"
#include "base/fd_message.h"
#include "base/time_units.h"
#include "base/util.h"
#include "proc/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

#define LOAD_MS 60000 /* the kernel checks the program in a tenth of a second, on a busy machine in seconds */
#define LINK_MS 10000
#define END_MS  1000
#define LACKS   "functrace lacks the capabilities CAP_BPF and CAP_PERFMON, and "

struct uprobe_helper {
	int socket;
	pid_t pid;
};

/* Returns the path of the helper in this program's folder, as in the folder of a build, or else the path of the
 * installed one. The caller frees it. */
static char *helper_path(void)
{
	char *const self = proc_link(getpid(), "exe");
	char *const slash = self ? strrchr(self, '/') : NULL;

	if (slash) {
		*slash = '\0';
		char *const beside = xasprintf("%s/functrace-probes", self);

		free(self);
		if (!access(beside, F_OK))
			return beside;
		free(beside);
	}
	return xstrdup(HELPER_FOLDER "/functrace-probes");
}

/* Waits for an answer. Returns false if the helper has ended, or does not answer in time. */
static bool receive_answer(int socket, int milliseconds, struct uprobe_answer *answer, int *fd)
{
	const uint64_t end = clock_ns(CLOCK_MONOTONIC) + (uint64_t)milliseconds * 1000000;
	struct pollfd poller = {.fd = socket, .events = POLLIN};

	for (;;) {
		const uint64_t now = clock_ns(CLOCK_MONOTONIC);
		const int got = poll(&poller, 1, now < end ? (int)((end - now) / 1000000) + 1 : 0);

		if (got > 0)
			break;
		if (got == 0 || errno != EINTR)
			return false;
	}
	if (fd_message_receive(socket, answer, sizeof(*answer), fd) <= 0)
		return false;
	answer->message[sizeof(answer->message) - 1] = '\0';
	return true;
}

/* Starts the helper with one end of a pair of sockets as its standard input. Returns 0 or -errno. */
static int spawn_helper(struct uprobe_helper *helper, const char *path)
{
	char *const argv[] = {(char *)(uintptr_t) "functrace-probes", NULL}, *const environment[] = {NULL};
	posix_spawn_file_actions_t actions;
	int sockets[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets))
		return -errno;
	int error = posix_spawn_file_actions_init(&actions);

	if (!error) {
		error = posix_spawn_file_actions_adddup2(&actions, sockets[1], STDIN_FILENO);
		for (int fd = STDOUT_FILENO; fd <= STDERR_FILENO && !error; fd++)
			error = posix_spawn_file_actions_addopen(&actions, fd, "/dev/null", O_WRONLY, 0);
		if (!error)
			error = posix_spawn(&helper->pid, path, &actions, NULL, argv, environment);
		posix_spawn_file_actions_destroy(&actions);
	}
	close(sockets[1]);
	helper->socket = sockets[0];
	return -error;
}

/* Writes why a helper that was started, or could not be, has no capabilities. */
static void explain_no_capabilities(const char *path, char *why, size_t size)
{
	struct statvfs mount;
	const char *reason = "this is a container";

	if (getxattr(path, "security.capability", NULL, 0) < 0) {
		snprintf(why, size,
			 LACKS "the helper %s has not been given them: as root, run setcap cap_bpf,cap_perfmon=ep %s",
			 path, path);
		return;
	}
	if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1)
		reason = "functrace was started with no_new_privs (setpriv, systemd's NoNewPrivileges=)";
	else if (!statvfs(path, &mount) && (mount.f_flag & ST_NOSUID))
		reason = "its file system is mounted with nosuid";
	snprintf(why, size, LACKS "the kernel does not give the helper %s those of its file, because %s", path, reason);
}

static void explain_spawn(const char *path, int error, char *why, size_t size)
{
	if (error == -ENOENT && !geteuid())
		snprintf(why, size, LACKS "root of a container usually has not got them: run functrace outside of it");
	else if (error == -ENOENT)
		snprintf(why, size, LACKS "its helper %s is not installed: run functrace as root", path);
	else if (error == -EACCES)
		snprintf(why, size,
			 LACKS "the helper %s may not be executed by this user: ask for membership of its group", path);
	else if (error == -EPERM)
		explain_no_capabilities(path, why, size);
	else
		snprintf(why, size, LACKS "its helper %s cannot be started: %s", path, strerror(-error));
}

static void explain_answer(const char *path, const struct uprobe_answer *answer, char *why, size_t size)
{
	if (answer->error == -EPERM)
		explain_no_capabilities(path, why, size);
	else if (answer->error == -EXDEV)
		snprintf(why, size,
			 LACKS "the helper %s does not work in a container: run functrace outside of it, or as root",
			 path);
	else
		snprintf(why, size, "the kernel does not load functrace's programs: %s%s%s", strerror(-answer->error),
			 answer->message[0] ? ": " : "", answer->message);
}

/* Lets the helper load the program, and receives the maps. */
static bool load_by_helper(const struct uprobe_helper *helper, const char *path, const struct uprobes_options *options,
			   int maps[UPROBE_MAPS], char *why, size_t size)
{
	const struct uprobe_request request = {.type = UPROBE_LOAD,
					       .frames = options->frames,
					       .entry_stacks = options->entry_stacks,
					       .signal = (uint32_t)options->signal,
					       .ring_size = options->ring_size};
	struct uprobe_answer answer;
	unsigned count = 0;

	fd_message_send(helper->socket, &request, sizeof(request), -1);
	while (count < UPROBE_MAPS && receive_answer(helper->socket, LOAD_MS, &answer, &maps[count])) {
		if (answer.error || maps[count] < 0) {
			explain_answer(path, &answer, why, size);
			break;
		}
		count++;
	}
	if (count == UPROBE_MAPS)
		return true;
	while (count--)
		close(maps[count]);
	return false;
}

struct uprobe_helper *uprobe_helper_start(const struct uprobes_options *options, int maps[UPROBE_MAPS], char *why,
					  size_t size)
{
	struct uprobe_helper *const helper = xcalloc(1, sizeof(*helper));
	char *const path = helper_path();
	helper->socket = -1;
	const int error = spawn_helper(helper, path);
	bool is_loaded = false;

	if (error) {
		explain_spawn(path, error, why, size);
	} else {
		snprintf(why, size, LACKS "its helper %s does not answer", path);
		is_loaded = load_by_helper(helper, path, options, maps, why, size);
	}
	free(path);
	if (is_loaded)
		return helper;
	uprobe_helper_free(helper);
	return NULL;
}

int uprobe_helper_link(struct uprobe_helper *helper, bool at_return, pid_t pid, int file,
		       const struct uprobe_site *sites, size_t count)
{
	struct uprobe_request request = {
		.type = UPROBE_LINK, .pid = pid, .at_return = at_return, .count = (uint32_t)count};
	struct uprobe_answer answer;
	int fd = -1;

	if (count > UPROBE_SITES_MAX)
		return -E2BIG;
	memcpy(request.sites, sites, count * sizeof(*sites));
	const int error = fd_message_send(helper->socket, &request, sizeof(request), file);

	if (error)
		return error;
	int none;

	if (receive_answer(helper->socket, LINK_MS, &answer, &fd)) {
		if (answer.error)
			return answer.error;
		if (fd >= 0 && receive_answer(helper->socket, LINK_MS, &answer, &none))
			return fd;
	}
	if (fd >= 0)
		close(fd);
	/* A late answer would be taken for that of the next request. */
	shutdown(helper->socket, SHUT_RDWR);
	return -EPIPE;
}

void uprobe_helper_free(struct uprobe_helper *helper)
{
	if (!helper)
		return;
	if (helper->socket >= 0)
		close(helper->socket);
	for (unsigned i = 0; helper->pid > 0 && i < END_MS && !waitpid(helper->pid, NULL, WNOHANG); i++)
		nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
	free(helper);
}

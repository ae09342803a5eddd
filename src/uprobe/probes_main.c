/* functrace-probes: loads functrace's program into the kernel, and makes links, for a functrace whose user may not do
 * so. An administrator gives this file the capabilities CAP_BPF and CAP_PERFMON (functrace(1), PROBES IN THE KERNEL).
 *
 * It gives away no more than ptrace gives its user already: it probes only tracees of its parent, and the program
 * records only what that tracer could read at that moment (hot_rights.bpf.h). Its peer may be any program of the user,
 * so everything in a request is checked. It uses neither arguments nor the environment, and no file but its peer's
 * descriptor, /proc and what libbpf reads from /sys. */
#include "config.h"
#include "uprobe/probes_rights.h"
#include "uprobe/probes_sites.h"
#include "uprobe/uprobe_helper.h"
#include "base/fd_message.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define RING_MIN (64u << 10)

struct served {
	int socket;
	int refusal; /* why no request is fulfilled: -errno, or 0 */
	struct uprobe_owner owner;
	struct uprobe_program *program;
};

/* Sends an answer with a descriptor, or -1. Waits until the peer has read earlier ones. */
static bool send_answer(const struct served *s, const struct uprobe_answer *answer, int fd)
{
	struct pollfd poller = {.fd = s->socket, .events = POLLOUT};
	int error;

	while ((error = fd_message_send(s->socket, answer, sizeof(*answer), fd)) == -EAGAIN)
		if (poll(&poller, 1, -1) < 0 || (poller.revents & (POLLERR | POLLHUP)))
			break;
	return !error;
}

/* Returns true if the options are ones that functrace could ask for. */
static bool are_valid_options(const struct uprobe_request *r)
{
	return r->ring_size >= RING_MIN && r->ring_size <= UPROBE_RING_MAX && !(r->ring_size & (r->ring_size - 1)) &&
	       r->frames <= UPROBE_FRAMES_MAX && r->entry_stacks <= 1 && (r->signal == 0 || r->signal == SIGURG);
}

static bool answer_load(struct served *s, const struct uprobe_request *r)
{
	const struct uprobes_options options = {.ring_size = r->ring_size,
						.frames = r->frames,
						.entry_stacks = r->entry_stacks,
						.signal = (int)r->signal};
	struct uprobe_answer answer = {.error = s->refusal};

	if (!answer.error && (s->program || !are_valid_options(r)))
		answer.error = -EINVAL;
	if (!answer.error)
		s->program =
			uprobe_program_load(&options, &s->owner, &answer.error, answer.message, sizeof(answer.message));
	if (answer.error == -EPERM && !s->refusal)
		answer.error = -EACCES; /* -EPERM says that this process lacks the capabilities */
	if (s->refusal == -EACCES)
		snprintf(answer.message, sizeof(answer.message), "the helper serves only the process that starts it");
	if (answer.error)
		return send_answer(s, &answer, -1);
	for (unsigned i = 0; i < UPROBE_MAPS; i++)
		if (!send_answer(s, &answer, uprobe_program_map(s->program, i)))
			return false;
	return true;
}

/* Makes the link that is asked for. Returns its descriptor or -errno. */
static int make_link(const struct served *s, const struct uprobe_request *r, int file)
{
	if (!s->program || file < 0 || r->at_return > 1 || !r->count || r->count > UPROBE_SITES_MAX)
		return -EINVAL;
	if (!probes_may_probe(&s->owner, r->pid))
		return -ESRCH;
	int error = probes_check_sites(file, r->sites, r->count, r->at_return);

	if (error)
		return error;
	const int link = uprobe_program_link(s->program, r->at_return, r->pid, file, r->sites, r->count);

	/* Another process may have got the number meanwhile. */
	if (link >= 0 && !probes_may_probe(&s->owner, r->pid)) {
		close(link);
		return -ESRCH;
	}
	return link;
}

/* Closes the file. */
static bool answer_link(const struct served *s, const struct uprobe_request *r, int file)
{
	const int link = s->refusal ? s->refusal : make_link(s, r, file);

	if (file >= 0)
		close(file);
	const struct uprobe_answer answer = {.error = link < 0 ? link : 0};
	const bool is_sent = send_answer(s, &answer, link < 0 ? -1 : link);

	if (link < 0)
		return is_sent;
	/* When the peer closes the link, its probes are removed, so no other descriptor of it may be open then. */
	close(link);
	return is_sent && send_answer(s, &answer, -1);
}

/* Answers one request. Returns false if the peer has gone, or sends something else. */
static bool serve_one(struct served *s)
{
	static struct uprobe_request request;
	struct pollfd poller = {.fd = s->socket, .events = POLLIN};
	bool goes_on = false;
	int fd;

	if (poll(&poller, 1, -1) < 0 || fd_message_receive(s->socket, &request, sizeof(request), &fd) <= 0)
		return false;
	if (request.type != UPROBE_LINK && fd >= 0)
		close(fd);
	if (request.type == UPROBE_LOAD)
		goes_on = answer_load(s, &request);
	else if (request.type == UPROBE_LINK)
		goes_on = answer_link(s, &request, fd);
	return goes_on && (s->refusal || probes_owner_lives(&s->owner));
}

static bool is_socket(int fd)
{
	struct stat info;

	return fstat(fd, &info) == 0 && S_ISSOCK(info.st_mode);
}

/* Keeps only the socket, and makes /dev/null of standard output and error. */
static bool leave_descriptors(void)
{
	const int fd = STDIN_FILENO;

	if (syscall(SYS_close_range, fd + 1, ~0u, 0))
		return false;
	return open("/dev/null", O_WRONLY) == STDOUT_FILENO && open("/dev/null", O_WRONLY) == STDERR_FILENO;
}

int main(void)
{
	struct served s = {.socket = STDIN_FILENO};
	sigset_t all;

	if (!is_socket(s.socket)) {
		fputs("functrace-probes: functrace runs this program; it does nothing by itself\n", stderr);
		return 2;
	}
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	clearenv();
	if (chdir("/") || !leave_descriptors())
		return 1;
	s.refusal = probes_reduce_rights();
	if (!s.refusal)
		s.refusal = probes_find_owner(s.socket, &s.owner);
	while (serve_one(&s))
		;
	return 0;
}

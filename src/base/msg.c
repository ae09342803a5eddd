/* Prints messages: see msg.h. */
#include "config.h"
#include "base/msg.h"
#include "base/terminal_escape.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define STATUS_MAX 160

static const char *program = "functrace";
static bool quiet;
unsigned char msg_debug_level[DBG_DOMAINS];

static const char *const domain_names[DBG_DOMAINS] = {
	[DBG_TRACER] = "tracer", [DBG_BREAKPOINT] = "breakpoint", [DBG_CALL] = "call",       [DBG_SYMBOLS] = "symbols",
	[DBG_UNWIND] = "unwind", [DBG_TRACE] = "trace",           [DBG_PROCESS] = "process",
};

void msg_set_program(const char *name)
{
	program = name;
}

void msg_set_quiet(bool on)
{
	quiet = on;
}

bool msg_is_quiet(void)
{
	return quiet;
}

static bool set_domain(const char *name, size_t length, unsigned char level)
{
	bool found = false;

	for (size_t i = 0; i < DBG_DOMAINS; i++)
		if ((length == 3 && !strncmp(name, "all", 3)) ||
		    (strlen(domain_names[i]) == length && !strncmp(name, domain_names[i], length))) {
			msg_debug_level[i] = level;
			found = true;
		}
	return found;
}

bool msg_set_debug(const char *spec)
{
	if (!spec)
		return set_domain("all", 3, 1);
	while (*spec) {
		const size_t item = strcspn(spec, ",");
		const char *colon = memchr(spec, ':', item);
		size_t name = item;
		unsigned char level = 1;

		if (colon) {
			name = (size_t)(colon - spec);
			if (item - name != 2 || colon[1] < '0' || colon[1] > '0' + MSG_DEBUG_MAX)
				return false;
			level = (unsigned char)(colon[1] - '0');
		}
		if (!set_domain(spec, name, level))
			return false;
		spec += item + (spec[item] == ',');
	}
	return true;
}

/* ---- Where lines are written ---- */

/* Protects the data below, because worker threads print messages too. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct {
	bool is_on;
	int terminal;
	_Atomic uint64_t *lost;
	char *kept; /* complete lines, and text that erases a status line: `size` bytes, at most `room` */
	size_t size, room;
} queue = {.terminal = STDERR_FILENO};

void msg_set_queue(int terminal, _Atomic uint64_t *lost)
{
	queue.is_on = true;
	queue.terminal = terminal;
	queue.lost = lost;
}

void msg_set_direct(void)
{
	queue.is_on = false;
	queue.terminal = STDERR_FILENO;
}

void msg_keep(size_t room)
{
	pthread_mutex_lock(&lock);
	if (!queue.kept)
		queue.kept = malloc(room);
	queue.room = queue.kept ? room : 0;
	pthread_mutex_unlock(&lock);
}

/* Writes the whole line or nothing, as the kernel guarantees for up to PIPE_BUF bytes. Returns false if the pipe is
 * full. Returns true if the line was written, or if no process reads the pipe any more, so that it need not be kept. */
static bool msg_enqueue(const void *line, size_t size)
{
	ssize_t done;

	do
		done = write(STDERR_FILENO, line, size);
	while (done < 0 && errno == EINTR);
	return done >= 0 || errno != EAGAIN;
}

static size_t whole_lines(const char *text, size_t size)
{
	const char *const end = memrchr(text, '\n', size < PIPE_BUF ? size : PIPE_BUF);

	return end ? (size_t)(end - text) + 1 : size;
}

/* Sends the kept lines, as many as fit into the pipe. Returns true if none is left. */
static bool enqueue_kept(void)
{
	size_t done = 0;

	while (done < queue.size) {
		const size_t size = whole_lines(queue.kept + done, queue.size - done);

		if (!msg_enqueue(queue.kept + done, size))
			break;
		done += size;
	}
	if (done)
		memmove(queue.kept, queue.kept + done, queue.size - done);
	queue.size -= done;
	return !queue.size;
}

/* Writes or keeps `line`, which has at most PIPE_BUF bytes. Returns false if it is lost. */
static bool msg_emit(const char *line, size_t size)
{
	if (!queue.is_on)
		return write_all(STDERR_FILENO, line, size, NULL) == 0;
	if (enqueue_kept() && msg_enqueue(line, size))
		return true;
	if (queue.size + size <= queue.room) {
		memcpy(queue.kept + queue.size, line, size);
		queue.size += size;
		return true;
	}
	atomic_fetch_add(queue.lost, 1);
	return false;
}

void msg_settle(int milliseconds)
{
	struct pollfd room = {.fd = STDERR_FILENO, .events = POLLOUT};

	if (!queue.is_on)
		return;
	pthread_mutex_lock(&lock);
	while (!enqueue_kept()) {
		const int found = poll(&room, 1, milliseconds);

		if (!found || (found < 0 && errno != EINTR))
			break;
	}
	for (size_t i = 0; i < queue.size; i++)
		if (queue.kept[i] == '\n')
			atomic_fetch_add(queue.lost, 1);
	queue.size = 0;
	pthread_mutex_unlock(&lock);
}

/* Returns true if the pipe contains lines that were not read yet. */
static bool is_waiting(void)
{
	int bytes;

	return queue.is_on && ioctl(STDERR_FILENO, FIONREAD, &bytes) == 0 && bytes > 0;
}

static size_t status_width; /* width of the status line that is shown; 0: none */

/* Overwrites the status line with "\r", blanks and "\r", which work on any terminal. */
static size_t clear_status(char *out)
{
	const size_t width = status_width;

	if (!width)
		return 0;
	out[0] = out[width + 1] = '\r';
	memset(out + 1, ' ', width);
	status_width = 0;
	return width + 2;
}

static void show_status(const char *text)
{
	char line[2 * STATUS_MAX + 8];
	struct winsize window;

	const size_t width = status_width;
	size_t room = STATUS_MAX, used = clear_status(line);

	if (ioctl(queue.terminal, TIOCGWINSZ, &window) == 0 && window.ws_col > 1 && window.ws_col - 1u < room)
		room = window.ws_col - 1u;
	if (text) {
		const int length = snprintf(line + used, room + 1, "%s: %s", program, text);

		status_width = length < 0 ? 0 : (size_t)length < room ? (size_t)length : room;
		used += status_width;
	}
	if (used && !msg_emit(line, used))
		status_width = width;
}

void msg_status(const char *text)
{
	if (text && is_waiting())
		return;
	pthread_mutex_lock(&lock);
	show_status(text);
	pthread_mutex_unlock(&lock);
}

const char *msg_debug_domains(void)
{
	static char names[16 * (DBG_DOMAINS + 1)];

	if (!names[0]) {
		for (size_t i = 0; i < DBG_DOMAINS; i++)
			strcat(strcat(names, domain_names[i]), ", ");
		strcat(names, "all");
	}
	return names;
}

static void write_message(const char *prefix, const char *fmt, va_list args)
{
	char line[PIPE_BUF], text[PIPE_BUF] = "";

	pthread_mutex_lock(&lock);
	const size_t width = status_width;
	const int cleared = (int)clear_status(line);
	int used = cleared + snprintf(line + cleared, sizeof(line) - 1 - (size_t)cleared, "%s: %s", program, prefix);

	vsnprintf(text, sizeof(text), fmt, args);
	/* Escapes the text, because it may contain names that other programs have chosen. */
	used += (int)plain_copy(line + used, sizeof(line) - 1 - (size_t)used, text, strchr(fmt, '\n'));
	line[used++] = '\n';
	if (!msg_emit(line, (size_t)used))
		status_width = width;
	pthread_mutex_unlock(&lock);
}

#define WRITE_MESSAGE(prefix)                                                                                          \
	do {                                                                                                           \
		va_list args;                                                                                          \
		va_start(args, fmt);                                                                                   \
		write_message(prefix, fmt, args);                                                                      \
		va_end(args);                                                                                          \
	} while (0)

void msg_error(const char *fmt, ...)
{
	WRITE_MESSAGE("");
}

void msg_warn(const char *fmt, ...)
{
	if (!quiet)
		WRITE_MESSAGE("warning: ");
}

void msg_info(const char *fmt, ...)
{
	if (!quiet)
		WRITE_MESSAGE("");
}

void msg_die(const char *fmt, ...)
{
	WRITE_MESSAGE("");
	_exit(1);
}

void msg_debug_write(enum msg_domain domain, const char *fmt, ...)
{
	char prefix[32];

	snprintf(prefix, sizeof(prefix), "[%s] ", domain_names[domain]);
	WRITE_MESSAGE(prefix);
}

/* Serves metrics over HTTP: see metrics_http.h. A thread of our own runs libmicrohttpd, because the library does not
 * limit the whole time of a connection: a client that sends a byte now and then would keep one of the few connections
 * for ever. */
#include "config.h"
#include "fleet/metrics_http.h"
#include "fleet/metrics_accept.h"
#include "base/worker.h"

#include <errno.h>
#include <microhttpd.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#define CONNECTIONS_MAX 16
#define IDLE_SECONDS    5  /* then a connection without data is closed */
#define WHOLE_SECONDS   15 /* then any connection is closed */
#define REQUEST_MAX     (16u << 10)
#define TICK_MS         1000

/* A connection that is open. */
struct http_connection {
	int fd; /* -1: this place is free */
	uint64_t began_ns;
};

struct metrics_http {
	struct metrics_text *text;
	struct MHD_Daemon *daemon;
	struct http_connection connections[CONNECTIONS_MAX]; /* used by the server's thread only */
	int over;                                            /* an eventfd: the thread ends when it is readable */
	pthread_t thread;
};

/* Answers, and closes the connection afterwards: a client comes once in many seconds. Takes the text's bytes. */
static enum MHD_Result http_answer(struct MHD_Connection *connection, unsigned status, struct buf *text,
				   const char *type)
{
	struct MHD_Response *const response =
		MHD_create_response_from_buffer(text->size, text->data, MHD_RESPMEM_MUST_FREE);

	if (!response) {
		buf_free(text);
		return MHD_NO;
	}
	MHD_add_response_header(response, "Content-Type", type);
	MHD_add_response_header(response, "Connection", "close");
	MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
	if (status == MHD_HTTP_OK)
		MHD_add_response_header(response, "Vary", "Accept");
	if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
		MHD_add_response_header(response, "Allow", "GET, HEAD");
	const enum MHD_Result result = MHD_queue_response(connection, status, response);

	MHD_destroy_response(response);
	return result;
}

/* libmicrohttpd calls this for a request; the first time before it has read a body, of which it needs none. */
static enum MHD_Result http_handle(void *context, struct MHD_Connection *connection, const char *path,
				   const char *method, const char *version, const char *upload, size_t *upload_size,
				   void **request)
{
	struct metrics_http *const http = context;
	struct buf text = {0};

	(void)version;
	(void)upload;
	(void)upload_size;
	(void)request;
	if (strcmp(path, "/metrics")) {
		buf_add_str(&text, "functrace has no such page; its metrics are at /metrics\n");
		return http_answer(connection, MHD_HTTP_NOT_FOUND, &text, "text/plain; charset=utf-8");
	}
	if (strcmp(method, MHD_HTTP_METHOD_GET) && strcmp(method, MHD_HTTP_METHOD_HEAD)) {
		buf_add_str(&text, "functrace's metrics can only be read: by GET or HEAD\n");
		return http_answer(connection, MHD_HTTP_METHOD_NOT_ALLOWED, &text, "text/plain; charset=utf-8");
	}
	const enum metrics_format format =
		metrics_accept(MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_ACCEPT));

	metrics_text_write(http->text, format, &text);
	return http_answer(connection, MHD_HTTP_OK, &text, metrics_text_type(format));
}

/* libmicrohttpd calls this when a connection begins, and before it closes the connection's descriptor. */
static void http_notice(void *context, struct MHD_Connection *connection, void **own,
			enum MHD_ConnectionNotificationCode what)
{
	struct metrics_http *const http = context;
	struct http_connection *place = *own;

	if (what == MHD_CONNECTION_NOTIFY_CLOSED) {
		if (place)
			place->fd = -1;
		return;
	}
	const union MHD_ConnectionInfo *const info =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);

	for (size_t i = 0; info && i < CONNECTIONS_MAX; i++) {
		place = &http->connections[i];
		if (place->fd >= 0)
			continue;
		*place = (struct http_connection){info->connect_fd, clock_ns(CLOCK_MONOTONIC)};
		*own = place;
		return;
	}
}

/* Ends connections that last too long: libmicrohttpd then reads their end. */
static void http_end_old(struct metrics_http *http)
{
	const uint64_t now = clock_ns(CLOCK_MONOTONIC);

	for (size_t i = 0; i < CONNECTIONS_MAX; i++) {
		const struct http_connection *const connection = &http->connections[i];

		if (connection->fd >= 0 && now - connection->began_ns > WHOLE_SECONDS * 1000000000ull)
			shutdown(connection->fd, SHUT_RDWR);
	}
}

static void *http_run(void *argument)
{
	struct metrics_http *const http = argument;
	const union MHD_DaemonInfo *const info = MHD_get_daemon_info(http->daemon, MHD_DAEMON_INFO_EPOLL_FD);
	struct pollfd fds[] = {{.fd = http->over, .events = POLLIN}, {.fd = info->epoll_fd, .events = POLLIN}};

	prctl(PR_SET_NAME, "metrics");
	cpus_use_all();
	while (!fds[0].revents) {
		MHD_UNSIGNED_LONG_LONG ms = TICK_MS;

		if (MHD_get_timeout(http->daemon, &ms) != MHD_YES || ms > TICK_MS)
			ms = TICK_MS;
		poll(fds, ARRAY_SIZE(fds), (int)ms);
		http_end_old(http);
		MHD_run(http->daemon);
	}
	return NULL;
}

bool metrics_http_is_possible(char *why, size_t size)
{
	if (MHD_is_feature_supported(MHD_FEATURE_EPOLL) == MHD_YES)
		return true;
	snprintf(why, size, "this libmicrohttpd has no epoll; write the metrics to a FILE, such as ./x.prom");
	return false;
}

/* Starts the server. Returns false, after undoing its work, if that is impossible. */
static bool http_start(struct metrics_http *http, int listener)
{
	http->daemon =
		MHD_start_daemon(MHD_USE_EPOLL, 0, NULL, NULL, http_handle, http, MHD_OPTION_LISTEN_SOCKET, listener,
				 MHD_OPTION_CONNECTION_LIMIT, (unsigned)CONNECTIONS_MAX, MHD_OPTION_CONNECTION_TIMEOUT,
				 (unsigned)IDLE_SECONDS, MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)REQUEST_MAX,
				 MHD_OPTION_NOTIFY_CONNECTION, http_notice, http, MHD_OPTION_END);
	/* After some errors libmicrohttpd has closed the listener, so it must not be closed again: another thread may
	 * have opened a file of this number. functrace ends soon. */
	if (!http->daemon)
		return false;
	cpus_remember();
	const int error = thread_start_masked(&http->thread, NULL, http_run, http);

	if (error) {
		MHD_stop_daemon(http->daemon);
		errno = error;
	}
	return !error;
}

struct metrics_http *metrics_http_open(struct metrics_text *text, int listener, char *why, size_t size)
{
	struct metrics_http *const http = xcalloc(1, sizeof(*http));

	http->text = text;
	for (size_t i = 0; i < CONNECTIONS_MAX; i++)
		http->connections[i].fd = -1;
	http->over = eventfd(0, EFD_CLOEXEC);
	if (http->over < 0)
		close(listener);
	if (http->over >= 0 && http_start(http, listener))
		return http;
	snprintf(why, size,
		 "the server of metrics could not be started (%s); write the metrics to a FILE, such as ./x.prom",
		 strerror(errno));
	if (http->over >= 0)
		close(http->over);
	free(http);
	return NULL;
}

void metrics_http_close(struct metrics_http *http)
{
	const uint64_t one = 1;

	write_all(http->over, &one, sizeof(one), NULL);
	pthread_join(http->thread, NULL);
	MHD_stop_daemon(http->daemon);
	close(http->over);
	free(http);
}

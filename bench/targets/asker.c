/* Clients of a server, which record the times of their requests and of the answers.
 *
 *     asker ADDRESS CLIENTS THINK_US END REQUEST
 *
 * ADDRESS is a port of this machine, or the path of a socket. Each client has its own connection. It sends REQUEST, in
 * which each %d is replaced by another number below 1000, reads the whole answer, and sends the next request THINK_US
 * microseconds later. END says where an answer ends: "http" (by Content-Length), "postgres" (at ReadyForQuery; REQUEST
 * is a query), or the text with which each answer ends. The program prints "ready" after twice as many answers as there
 * are clients. When its standard input ends, it writes three 64-bit integers for each answer: the client's number, the
 * time of the request and that of the answer, both in ns of CLOCK_MONOTONIC. A request without an answer gets the time
 * of the end. One thread runs all clients. */
#include "config.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define ROOM 65536 /* bytes of an answer, or of a request */

struct client {
	int fd;
	bool is_waiting; /* a request was sent, and its answer is not complete */
	uint64_t asked;  /* time of the last request; of the next one if !is_waiting */
	size_t size;     /* number of bytes of the answer that were received */
	char answer[ROOM];
};

static struct client *clients;
static uint64_t count, turn, think_ns;
static const char *end_of_answer, *request;

struct wait {
	uint64_t client, asked, answered;
};

static struct wait *waits;
static size_t wait_count, wait_room;

static void fail(const char *what)
{
	printf("%s: %s\n", what, strerror(errno));
	exit(1);
}

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void note(uint64_t client, uint64_t answered)
{
	if (wait_count == wait_room) {
		wait_room = wait_room ? 2 * wait_room : 65536;
		waits = realloc(waits, wait_room * sizeof(*waits));
		if (!waits)
			fail("no memory");
	}
	waits[wait_count++] = (struct wait){client, clients[client].asked, answered};
}

/* ---- Requests ---- */

static void send_all(int fd, const char *text, size_t size)
{
	while (size) {
		const ssize_t sent = send(fd, text, size, MSG_NOSIGNAL);

		if (sent < 0)
			fail("a request cannot be sent");
		text += sent;
		size -= (size_t)sent;
	}
}

static size_t put_request(char *text)
{
	size_t size = 0;

	for (const char *from = request; *from && size + 16 < ROOM; from++) {
		if (from[0] == '%' && from[1] == 'd') {
			size += (size_t)sprintf(text + size, "%u", (unsigned)(turn++ * 7 % 1000));
			from++;
		} else {
			text[size++] = *from;
		}
	}
	text[size++] = '\0';
	return size;
}

static void put_length(char *at, size_t size)
{
	const uint32_t length = htonl((uint32_t)size);

	memcpy(at, &length, 4);
}

static bool is_postgres(void)
{
	return !strcmp(end_of_answer, "postgres");
}

static void ask(struct client *client)
{
	static char text[ROOM + 5] = "Q";
	const size_t size = put_request(text + 5); /* includes the NUL, with which a query of postgres ends */

	put_length(text + 1, size + 4);
	client->size = 0;
	client->is_waiting = true;
	client->asked = now();
	if (is_postgres())
		send_all(client->fd, text, size + 5);
	else
		send_all(client->fd, text + 5, size - 1);
}

/* ---- Answers ---- */

static bool has_http(const struct client *client)
{
	const char *const body = strstr(client->answer, "\r\n\r\n"), *const length = strcasestr(client->answer,
												"content-length:");

	if (!body)
		return false;
	if (!length || length > body || strncmp(client->answer, "HTTP/1.1 200", 12)) {
		printf("an answer is not right: %.100s\n", client->answer);
		exit(1);
	}
	return client->size >= (size_t)(body + 4 - client->answer) + strtoul(length + 15, NULL, 10);
}

/* A message consists of a letter, the length of the rest (including the length itself), and the contents. */
static bool has_postgres(const struct client *client)
{
	uint32_t length;

	for (size_t at = 0; at + 5 <= client->size; at += 1 + ntohl(length)) {
		memcpy(&length, client->answer + at + 1, 4);
		if (client->answer[at] == 'E') {
			printf("postgres does not answer: %.100s\n", client->answer + at + 5);
			exit(1);
		}
		if (client->answer[at] == 'Z')
			return true;
	}
	return false;
}

static bool has_answer(const struct client *client)
{
	const size_t length = strlen(end_of_answer);

	if (!strcmp(end_of_answer, "http"))
		return has_http(client);
	if (is_postgres())
		return has_postgres(client);
	return client->size >= length && !memcmp(client->answer + client->size - length, end_of_answer, length);
}

/* Receives bytes. Returns true if the answer is complete. */
static bool take(struct client *client)
{
	const ssize_t got = recv(client->fd, client->answer + client->size, ROOM - 1 - client->size, 0);

	if (got <= 0) {
		errno = got ? errno : ECONNRESET;
		fail("an answer does not come");
	}
	/* Without this, a server that writes header and body separately waits for this kernel's delayed
	 * acknowledgement. */
	setsockopt(client->fd, IPPROTO_TCP, TCP_QUICKACK, &(int){1}, sizeof(int));
	client->size += (size_t)got;
	client->answer[client->size] = '\0';
	return has_answer(client);
}

/* ---- Connections ---- */

static int connected(const char *address)
{
	struct sockaddr_un path = {.sun_family = AF_UNIX};
	struct sockaddr_in port = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	const bool is_path = address[0] == '/';
	const int fd = socket(is_path ? AF_UNIX : AF_INET, SOCK_STREAM, 0);

	if (is_path && strlen(address) < sizeof(path.sun_path))
		strcpy(path.sun_path, address);
	port.sin_port = htons((uint16_t)atoi(address));
	if (fd < 0 || connect(fd, is_path ? (struct sockaddr *)&path : (struct sockaddr *)&port,
			      is_path ? sizeof(path) : sizeof(port)))
		fail("no connection");
	if (!is_path)
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
	return fd;
}

/* Sends the startup message of postgres' protocol 3.0. Its answer ends like all other answers. */
static void greet(struct client *client)
{
	static const char names[] = "user\0postgres\0database\0bench\0";
	char text[8 + sizeof(names)];

	put_length(text, sizeof(text));
	memcpy(text + 4, "\0\3\0\0", 4);
	memcpy(text + 8, names, sizeof(names));
	client->is_waiting = true;
	client->asked = now();
	send_all(client->fd, text, sizeof(text));
}

/* Waits until an answer arrives or a request is due, then receives and sends. All answers that have arrived get the
 * same time, which is taken before the first of them is read. */
static void look(struct pollfd *fds)
{
	uint64_t next = UINT64_MAX;

	for (uint64_t i = 0; i < count; i++)
		if (!clients[i].is_waiting && clients[i].asked < next)
			next = clients[i].asked;
	const uint64_t before = now(), ns = next == UINT64_MAX ? 1000000000u : next > before ? next - before : 0;

	for (uint64_t i = 0; i < count; i++)
		fds[i] = (struct pollfd){.fd = clients[i].fd, .events = POLLIN};
	fds[count] = (struct pollfd){.fd = STDIN_FILENO, .events = POLLIN};
	if (ppoll(fds, count + 1,
		  &(struct timespec){.tv_sec = (time_t)(ns / 1000000000u), .tv_nsec = (long)(ns % 1000000000u)},
		  NULL) < 0)
		fail("ppoll");
	const uint64_t time = now();

	for (uint64_t i = 0; i < count; i++) {
		struct client *const client = &clients[i];

		if (fds[i].revents && take(client)) {
			note(i, time);
			client->is_waiting = false;
			client->asked = time + think_ns;
		} else if (!client->is_waiting && client->asked <= time) {
			ask(client);
		}
	}
}

/* Lets this program run before all others, if that is allowed, because a client on another machine would not wait for a
 * processor either. A nice value has an effect only within the session if the kernel shares the processors among
 * sessions (autogroup). */
static void take_priority(void)
{
	if (sched_setscheduler(0, SCHED_FIFO, &(struct sched_param){.sched_priority = 1}) < 0)
		setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, 0) - 10);
}

int main(int argc, char **argv)
{
	bool is_ready = false;

	if (argc != 6)
		return 2;
	setvbuf(stdout, NULL, _IOFBF, 0);
	take_priority();
	count = strtoull(argv[2], NULL, 10);
	think_ns = strtoull(argv[3], NULL, 10) * 1000;
	end_of_answer = argv[4];
	request = argv[5];
	clients = calloc(count, sizeof(*clients));
	struct pollfd *const fds = calloc(count + 1, sizeof(*fds));

	if (!clients || !fds)
		fail("no memory");
	for (uint64_t i = 0; i < count; i++) {
		clients[i].fd = connected(argv[1]);
		/* The clients do not all send at the same time. */
		clients[i].asked = now() + think_ns * i / count;
		if (is_postgres())
			greet(&clients[i]);
	}
	do {
		look(fds);
		if (!is_ready && wait_count >= 2 * count) {
			is_ready = true;
			puts("ready");
			fflush(stdout);
		}
	} while (!fds[count].revents);
	for (uint64_t i = 0; i < count; i++)
		if (clients[i].is_waiting)
			note(i, now());
	fwrite(waits, sizeof(*waits), wait_count, stdout);
	return fflush(stdout) ? 1 : 0;
}

/* Opens the socket of metrics: see metrics_listen.h. */
#include "config.h"
#include "fleet/metrics_listen.h"
#include "base/util.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define BACKLOG 16

/* Splits [ADDRESS:]PORT. Returns the address, which the caller frees; *port gets the port. Returns NULL after writing
 * `why`. */
static char *listen_split(const char *where, const char **port, char *why, size_t size)
{
	const char *const colon = strrchr(where, ':'), *begin = where, *end = colon;
	uint64_t number;

	*port = colon ? colon + 1 : where;
	if (!**port || strspn(*port, "0123456789") != strlen(*port) || !parse_number(*port, 65535, &number)) {
		snprintf(why, size,
			 "%s is neither [ADDRESS:]PORT, with a port from 0 to 65535, nor a FILE, whose path has "
			 "a '/': give 9105, 127.0.0.1:9105 or ./functrace.prom",
			 where);
		return NULL;
	}
	if (!colon)
		return xstrdup("127.0.0.1");
	if (*where == '[' && colon > where && colon[-1] == ']') {
		begin++;
		end--;
	} else if (memchr(where, ':', (size_t)(colon - where))) {
		snprintf(why, size, "%s has an IPv6 address without brackets: write [ADDRESS]:PORT, such as [::1]:9105",
			 where);
		return NULL;
	}
	const size_t length = (size_t)(end - begin);

	return length == 9 && !memcmp(begin, "localhost", 9) ? xstrdup("127.0.0.1") : xstrndup(begin, length);
}

/* getaddrinfo() would take an empty text for the addresses of all networks, and knows no brackets. */
static bool listen_is_numeric(const char *where, const char *address)
{
	return *address && (*where == '[') == (strchr(address, ':') != NULL);
}

/* Opens a socket at the address. Returns a descriptor or -errno. */
static int listen_at(const struct addrinfo *address)
{
	const int one = 1, fd = socket(address->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0)
		return -errno;
	/* Otherwise the port of a functrace that has just ended could not be used for a minute. */
	if (!setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) &&
	    !bind(fd, address->ai_addr, address->ai_addrlen) && !listen(fd, BACKLOG))
		return fd;
	const int error = -errno;

	close(fd);
	return error;
}

static const char *listen_advice(int error)
{
	switch (error) {
	case -EADDRINUSE:
		return "another program uses this port: give another one, or 0 for any free port";
	case -EACCES:
		return "ports below 1024 may need root's rights: give a larger one";
	case -EADDRNOTAVAIL:
		return "this machine has no such address: 'ip address' lists those that it has";
	default:
		return "give another address, or a FILE, such as ./functrace.prom";
	}
}

static int listen_url(int fd, char url[METRICS_URL_SIZE])
{
	struct sockaddr_storage address;
	socklen_t size = sizeof(address);
	char host[INET6_ADDRSTRLEN + 24], port[8];

	if (getsockname(fd, (struct sockaddr *)&address, &size) ||
	    getnameinfo((struct sockaddr *)&address, size, host, sizeof(host), port, sizeof(port),
			NI_NUMERICHOST | NI_NUMERICSERV))
		return -EINVAL;
	snprintf(url, METRICS_URL_SIZE,
		 address.ss_family == AF_INET6 ? "http://[%s]:%s/metrics" : "http://%s:%s/metrics", host, port);
	return 0;
}

/* Parses [ADDRESS:]PORT. Returns the address, which the caller frees by freeaddrinfo(), or NULL after writing `why`. */
static struct addrinfo *listen_parse(const char *where, char *why, size_t size)
{
	const struct addrinfo hints = {.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV, .ai_socktype = SOCK_STREAM};
	struct addrinfo *found = NULL;
	const char *port;
	char *const address = listen_split(where, &port, why, size);

	if (address && (!listen_is_numeric(where, address) || getaddrinfo(address, port, &hints, &found))) {
		snprintf(why, size,
			 "%s has no numeric address: give one of this machine, such as 127.0.0.1:9105, [::1]:9105, or "
			 "0.0.0.0:9105 for all networks",
			 where);
		found = NULL;
	}
	free(address);
	return found;
}

bool metrics_listen_check(const char *where, char *why, size_t size)
{
	struct addrinfo *const found = listen_parse(where, why, size);

	if (found)
		freeaddrinfo(found);
	return found;
}

int metrics_listen(const char *where, char url[METRICS_URL_SIZE], char *why, size_t size)
{
	struct addrinfo *const found = listen_parse(where, why, size);

	if (!found)
		return -1;
	int fd = listen_at(found);
	const int error = fd < 0 ? fd : listen_url(fd, url);

	if (error) {
		snprintf(why, size, "metrics cannot be served at %s (%s); %s", where, strerror(-error),
			 listen_advice(error));
		if (fd >= 0)
			close(fd);
		fd = -1;
	}
	freeaddrinfo(found);
	return fd;
}

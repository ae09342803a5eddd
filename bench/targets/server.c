/* A server that forks for each connection.
 *
 *     server CALLS OBJECT...     each OBJECT is opened by dlopen
 *
 * It prints "ready PORT", a port of 127.0.0.1. A client sends one byte. For `g` the server forks a child, which makes
 * CALLS pairs of malloc and free, answers with one byte and ends; `q` ends the server. */
#include "hot.h"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

void hot(unsigned long count)
{
	for (unsigned long i = 0; i < count; i++) {
		void *p = malloc(100 + i % 100);

		KEEP(p);
		free(p);
	}
}

static int open_socket(void)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof(address);
	const int fd = socket(AF_INET, SOCK_STREAM, 0);
	char line[32];

	if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof(address)) || listen(fd, 64) ||
	    getsockname(fd, (struct sockaddr *)&address, &size))
		return -1;
	snprintf(line, sizeof(line), "ready %d\n", ntohs(address.sin_port));
	return write(STDOUT_FILENO, line, strlen(line)) > 0 ? fd : -1;
}

/* Serves a connection. Returns false if the server must end. */
static int serve(int fd, unsigned long calls)
{
	char byte = 0;

	if (read(fd, &byte, 1) == 1 && byte == 'g' && fork() == 0) {
		hot(calls);
		_exit(write(fd, "o", 1) != 1);
	}
	close(fd);
	return byte != 'q';
}

int main(int argc, char **argv)
{
	for (int i = 2; i < argc; i++)
		if (!dlopen(argv[i], RTLD_NOW)) {
			printf("%s\n", dlerror());
			return 1;
		}
	signal(SIGCHLD, SIG_IGN); /* the kernel removes ended children, so the server need not wait for them */
	const int listener = open_socket();

	for (int fd; listener >= 0 && (fd = accept(listener, NULL, NULL)) >= 0;)
		if (!serve(fd, argc > 1 ? strtoul(argv[1], NULL, 10) : 0))
			return 0;
	return 1;
}

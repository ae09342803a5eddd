/* Allocates through a wrapper, as most large programs do, until its standard input ends: its stacks differ in the
 * wrapper's caller, or in the caller of that. */
#include "target.h"
#include <poll.h>

static NOINLINE void *wrap(size_t size)
{
	void *volatile p = malloc(size);

	return p;
}

static NOINLINE void *make_list(void)
{
	void *volatile p = wrap(31001);

	return p;
}

static NOINLINE void *make_text(void)
{
	void *volatile p = wrap(31002);

	return p;
}

static NOINLINE void *read_settings(void)
{
	void *volatile p = make_text();

	return p;
}

static NOINLINE void *read_request_of_client(void)
{
	void *volatile p = make_text();

	return p;
}

int main(void)
{
	struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};

	while (!poll(&input, 1, 5)) {
		make_list();
		read_settings();
		read_request_of_client();
	}
	return 0;
}

/* Serves made-up requests, some thousand a second. A list grows, each fiftieth request forgets a block, a table always
 * has as many blocks, and all other blocks are released at once. A line on standard input ends the work; then it prints
 * how many bytes the list has, and how many are forgotten. It ends when its standard input does. */
#include "target.h"
#include <poll.h>
#include <string.h>

#define TABLE 500

static char *table[TABLE], **list;
static size_t grown, forgotten, count;

static void *filled(size_t size)
{
	char *const p = malloc(size);

	for (size_t i = 0; i < size; i++)
		p[i] = (char)rand();
	return p;
}

__attribute__((noinline)) static void grow_list(void)
{
	char **const more = realloc(list, (count + 1) * sizeof(*list));

	list = more;
	list[count++] = filled(200);
	grown += 200;
}

__attribute__((noinline)) static void forget_one(void)
{
	void *volatile p = filled(136);

	p = NULL;
	forgotten += 136;
}

__attribute__((noinline)) static void put_in_table(void)
{
	char **const place = &table[rand() % TABLE];

	free(*place);
	*place = filled(300);
}

__attribute__((noinline)) static void serve(unsigned long number)
{
	for (int i = 0; i < 3; i++)
		free(filled(16 + (size_t)rand() % 400));
	put_in_table();
	if (number % 10 == 0)
		grow_list();
	if (number % 50 == 0)
		forget_one();
}

int main(void)
{
	struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
	char line[64];

	for (unsigned long number = 0; !poll(&input, 1, 2);)
		for (int i = 0; i < 20; i++)
			serve(number++);
	if (read(STDIN_FILENO, line, sizeof(line)) <= 0)
		return 0;
	printf("%zu %zu\n", grown, forgotten);
	fflush(stdout);
	while (read(STDIN_FILENO, line, sizeof(line)) > 0)
		;
	return list == NULL && table[0] == NULL;
}

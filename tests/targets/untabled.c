/* A chain of functions with different frames, which is unwound although no table describes them (the builds
 * "untabled"); and blocks that the C library allocates for its caller, where the library has no tables (ARM). */
#define _GNU_SOURCE
#include "target.h"

#include <stdio.h>
#include <string.h>

#define SIZE        36401
#define STRING_SIZE 36402

static char string[STRING_SIZE];
static volatile int none;

NOINLINE int leaf(int n)
{
	char *p = malloc(SIZE);

	KEEP(p);
	free(p);
	return n;
}

NOINLINE int middle(int n, const char *text)
{
	char copy[64];

	memset(copy, n, sizeof(copy));
	__asm__ volatile("" : : "r"(copy) : "memory");
	return leaf(n) + copy[n & 7] + text[0];
}

NOINLINE int varied(int n)
{
	char *room = __builtin_alloca((size_t)(n & 63) + 16);

	room[0] = 1;
	KEEP(room);
	return middle(n, room) + room[0];
}

NOINLINE int outer(int a, int b, int c, int d, int e, int f, int g, int h)
{
	const double x = a * 1.5;

	return varied(a + none) + a * b + c * d + e * f + g * h + (int)x;
}

static int (*volatile through)(int, int, int, int, int, int, int, int) = outer;

NOINLINE int again(int n)
{
	return n > 3 ? through(n, 1, 2, 3, 4, 5, 6, 7) + 1 : again(n + 1) + n;
}

NOINLINE int by_strdup(void)
{
	char *p = strdup(string);
	const int first = *p;

	free(p);
	return first;
}

NOINLINE int by_asprintf(void)
{
	char *p = NULL;
	const int length = asprintf(&p, "%s", string);

	free(p);
	return length;
}

NOINLINE int by_getdelim(void)
{
	FILE *file = fmemopen(string, sizeof(string) - 1, "r");
	char *line = NULL;
	size_t size = 0;
	const int length = (int)getdelim(&line, &size, '\n', file);

	free(line);
	fclose(file);
	return length;
}

int main(void)
{
	memset(string, 'x', sizeof(string) - 1);
	return again(none) + by_strdup() + by_asprintf() + by_getdelim() == 0;
}

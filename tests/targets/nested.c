/* nested: blocks of known sizes that functions of the C library allocate for their callers; sizes that do not fit in 32
 * bits; sizes that overflow, which are no events. */
#include "target.h"
#include <wchar.h>

static char arena[16];
static volatile size_t most = SIZE_MAX, half = SIZE_MAX / 2, three = 3;

/* An allocator that returns addresses without memory, because some machines have too little for these sizes. */
void *je_malloc(size_t size);
void *je_calloc(size_t count, size_t size);
void *je_realloc(void *p, size_t size);
void je_free(void *p);
NOINLINE void *je_malloc(size_t size)
{
	return size < half ? arena : NULL;
}

NOINLINE void *je_calloc(size_t count, size_t size)
{
	return count && size < half / count ? arena : NULL;
}

NOINLINE void *je_realloc(void *p, size_t size)
{
	return size < half ? p : NULL;
}

NOINLINE void je_free(void *p)
{
	KEEP(p);
}

static void wide(void)
{
#ifdef __LP64__
	const size_t large = ((size_t)5 << 32) + 38001;
	void *p = je_malloc(large);

	CHECK(p);
	je_free(p);
	expect_alloc(1, large, "je_malloc");
	expect_release(1, large, "je_free");
	p = je_calloc((size_t)1 << 20, (size_t)1 << 21);
	CHECK(p);
	CHECK(!je_realloc(p, most)); /* fails: the old block stays live */
	p = je_realloc(p, ((size_t)1 << 46) + 7);
	je_free(p);
	expect_alloc(1, (size_t)1 << 41, "je_calloc");
	expect_release(1, (size_t)1 << 41, "je_realloc");
	expect_alloc(1, ((size_t)1 << 46) + 7, "je_realloc");
	expect_release(1, ((size_t)1 << 46) + 7, "je_free");
#endif
}

/* Requests sizes that are too large, and products that overflow: to 0, to a size that is too large, to sizes that could
 * be allocated. */
static void too_much(void)
{
	void *p = malloc(36401);

	CHECK(p);
	KEEP(p);
	CHECK(!malloc(most));
	CHECK(!malloc(half + 1));
	CHECK(!calloc(half, three));
	CHECK(!calloc(half + 1, 2));
	CHECK(!calloc(most / 36402 + 2, 36402));
	CHECK(!realloc(p, most));
	CHECK(!realloc(NULL, half + 1));
	CHECK(!reallocarray(p, half + 1, 2));
	CHECK(!reallocarray(p, most / 36403 + 2, 36403));
	CHECK(!je_malloc(most));
	free(p);
	expect_alloc(1, 36401, "malloc");
	expect_release(1, 36401, "free");
}

static void copies(void)
{
	static char text[36600];
	static wchar_t wide_text[9100];

	memset(text, 'x', sizeof(text) - 1);
	wmemset(wide_text, L'x', 9099);
	text[36501] = '\0';
	free(strdup(text));
	text[36501] = 'x';
	free(strndup(text, 36502));
	free(wcsdup(wide_text));
	expect_alloc(1, 36502, "malloc");
	expect_release(1, 36502, "free");
	expect_alloc(1, 36503, "malloc");
	expect_release(1, 36503, "free");
	expect_alloc(1, 36400, "malloc");
	expect_release(1, 36400, "free");
}

static void printed(void)
{
	char *text = NULL;

	/* However asprintf() grows the block meanwhile, in the end it has exactly this size. */
	CHECK(asprintf(&text, "%038002d", 7) == 38002);
	free(text);
	expect_alloc(1, 38003, "realloc|malloc");
	expect_release(1, 38003, "free");
}

static void read_lines(void)
{
	char path[] = "/tmp/functrace-lines-XXXXXX";
	static char line[36600];
	size_t room = 30601;
	char *text = malloc(room);
	const int fd = mkstemp(path);

	CHECK(fd >= 0 && text && unlink(path) == 0);
	memset(line, 'x', sizeof(line));
	line[99] = line[35099] = '\n';
	CHECK(write(fd, line, 35100) == 35100 && lseek(fd, 0, SEEK_SET) == 0);
	FILE *file = fdopen(fd, "r");

	CHECK(file);
	CHECK(getline(&text, &room, file) == 100 && room == 30601); /* no event */
	CHECK(getline(&text, &room, file) == 35000 && room > 35000);
	fclose(file);
	free(text);
	expect_alloc(1, 30601, "malloc");
	expect_release(1, 30601, "realloc");
	if (room >= 30000 && room <= 39999) { /* only if the C library has grown it to such a size */
		expect_alloc(1, room, "realloc");
		expect_release(1, room, "free");
	}
}

int main(void)
{
	gate();
	wide();
	too_much();
	copies();
	printed();
	read_lines();
#ifdef __GLIBC__
	char *folder = getcwd(NULL, 36901);

	CHECK(folder);
	free(folder);
	expect_alloc(1, 36901, "malloc");
	expect_release(1, 36901, "free");
#endif
	gate();
	return 0;
}

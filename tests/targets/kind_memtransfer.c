/* Functions that copy, set and measure memory, each with a size of its own. Only records about this program's buffers
 * are compared, because the C library's own copies are in the trace as well. */
#include "kind.h"
#include <sys/resource.h>
#include <wchar.h>

static char from[4096], to[4096];
static wchar_t wide_from[1024], wide_to[1024];

/* The expected records are printed at the end, because writing a line copies much memory. */
static struct said {
	const char *function;
	size_t size;
	const void *id;
} all[128];
static unsigned count;

static void say_later(const char *function, size_t size, const void *id)
{
	CHECK(count < 128);
	all[count++] = (struct said){function, size, id};
}

#define CALL(function, size, id, ...)                                                                                  \
	do {                                                                                                           \
		function(__VA_ARGS__);                                                                                 \
		say_later(#function, size, id);                                                                        \
	} while (0)

/* Calls a function that only computes a result, and uses the result, so that the compiler keeps the call. */
#define FIND(function, size, id, ...)                                                                                  \
	do {                                                                                                           \
		found = function(__VA_ARGS__);                                                                         \
		say_later(#function, size, id);                                                                        \
	} while (0)
static volatile size_t found;

/* Functions that no header declares. */
#if defined(__GLIBC__)
#define WITH_CHECKS
void *__memcpy_chk(void *, const void *, size_t, size_t);
void *__memmove_chk(void *, const void *, size_t, size_t);
void *__memset_chk(void *, int, size_t, size_t);
void *__mempcpy_chk(void *, const void *, size_t, size_t);
char *__strcpy_chk(char *, const char *, size_t);
char *__strcat_chk(char *, const char *, size_t);
char *__strncpy_chk(char *, const char *, size_t, size_t);
char *__strncat_chk(char *, const char *, size_t, size_t);
char *__stpcpy_chk(char *, const char *, size_t);
char *__stpncpy_chk(char *, const char *, size_t, size_t);
wchar_t *__wcscpy_chk(wchar_t *, const wchar_t *, size_t);
wchar_t *__wcscat_chk(wchar_t *, const wchar_t *, size_t);
wchar_t *__wcsncpy_chk(wchar_t *, const wchar_t *, size_t, size_t);
wchar_t *__wcsncat_chk(wchar_t *, const wchar_t *, size_t, size_t);
wchar_t *__wcpcpy_chk(wchar_t *, const wchar_t *, size_t);
wchar_t *__wcpncpy_chk(wchar_t *, const wchar_t *, size_t, size_t);
wchar_t *__wmemcpy_chk(wchar_t *, const wchar_t *, size_t, size_t);
wchar_t *__wmemmove_chk(wchar_t *, const wchar_t *, size_t, size_t);
wchar_t *__wmempcpy_chk(wchar_t *, const wchar_t *, size_t, size_t);
wchar_t *__wmemset_chk(wchar_t *, wchar_t, size_t, size_t);
char *__strdup(const char *);
char *__strndup(const char *, size_t);
#endif

static void bytes(void)
{
	CALL(bcopy, 101, to, from, to, 101);
	CALL(bzero, 102, to, to, 102);
	CALL(memcpy, 103, to, to, from, 103);
	memmove(to + 1, to, 104);
	say_later("memmove|memcpy", 104, to + 1);
	CALL(memset, 105, to, to, 0, 105);
	CALL(memccpy, 106, to, to, from, 'x', 106); /* the character is not found */
	CALL(memccpy, 107, to, to, from, 's', 107); /* the character is found */
	CALL(mempcpy, 108, to, to, from, 108);
	CALL(memcpy, 0, to, to, from, 0);
}

static void strings(void)
{
	CALL(strcpy, 14, to, to, "thirteen char");
	CALL(strcat, 27, to, to, "more thirteen");
	CALL(strncpy, 109, to, to, from, 109);
	to[20] = '\0';
	CALL(strncat, 110, to, to, "abc", 110);
	CALL(stpcpy, 4, to, to, "abc");
	CALL(stpncpy, 111, to, to, "abc", 111);
	CALL(strcpy, 1, to, to, "");
}

static void wide(void)
{
	CALL(wmemset, 400, wide_to, wide_to, L'w', 100);
	CALL(wmemcpy, 404, wide_to, wide_to, wide_from, 101);
	CALL(wmemmove, 408, wide_to + 1, wide_to + 1, wide_to, 102);
#ifdef __GLIBC__
	CALL(wmempcpy, 412, wide_to, wide_to, wide_from, 103);
#endif
	CALL(wcscpy, 56, wide_to, wide_to, L"thirteen char");
	CALL(wcscat, 108, wide_to, wide_to, L"more thirteen");
	FIND(wcslen, 108, wide_to, wide_to);
	FIND(wcsnlen, 24, wide_from, wide_from, 90);
	FIND(wcsnlen, 12, wide_from, wide_from, 3);
	CALL(wcsncpy, 416, wide_to, wide_to, wide_from, 104);
	CALL(wcsncat, 420, wide_to, wide_to, wide_from, 105);
	CALL(wcpcpy, 24, wide_to, wide_to, wide_from);
	CALL(wcpncpy, 424, wide_to, wide_to, wide_from, 106);
}

/* Nothing is released here: calls are compared by address, and another string could get the address of a released
 * one. */
static void duplicates(void)
{
	const char *p;
	const wchar_t *w;

	p = strdup("to be doubled");
	say_later("strdup", 14, p);
	p = strndup("to be doubled", 5);
	say_later("strndup", 6, p);
	p = strndup("to be doubled", 500);
	say_later("strndup", 14, p);
	w = wcsdup(L"to be doubled");
	say_later("wcsdup", 56, w);
}

/* Makes an allocation that fails: the trace must have no record with the id 0. */
static void failing(void)
{
	const struct rlimit none = {4096, RLIM_INFINITY};
	struct rlimit before;
	const size_t size = 16 << 20;
	char *const text = malloc(size);

	CHECK(text);
	for (size_t i = 0; i < size; i++)
		*(volatile char *)(text + i) = i + 1 < size ? 'x' : '\0';
	CHECK(getrlimit(RLIMIT_AS, &before) == 0 && setrlimit(RLIMIT_AS, &none) == 0);
	CHECK(!strdup(text) && !strndup(text, size));
	CHECK(setrlimit(RLIMIT_AS, &before) == 0);
	free(text);
}

static void checked(void)
{
#ifdef WITH_CHECKS
#define CHECKED(function, size, id, ...)                                                                               \
	do {                                                                                                           \
		__##function##_chk(__VA_ARGS__);                                                                       \
		say_later(#function, size, id);                                                                        \
	} while (0)
#define OWN(function, size, id, ...)                                                                                   \
	do {                                                                                                           \
		const void *const result = __##function(__VA_ARGS__);                                                  \
		say_later(#function, size, id);                                                                        \
	} while (0)
	const size_t most = sizeof(to), wide_most = sizeof(wide_to) / sizeof(wide_to[0]);

	CHECKED(memcpy, 203, to, to, from, 203, most);
	__memmove_chk(to + 1, to, 204, most - 1);
	say_later("memmove|memcpy", 204, to + 1);
	CHECKED(memset, 205, to, to, 0, 205, most);
	CHECKED(mempcpy, 208, to, to, from, 208, most);
	CHECKED(strcpy, 14, to, to, "thirteen char", most);
	CHECKED(strcat, 27, to, to, "more thirteen", most);
	CHECKED(strncpy, 209, to, to, from, 209, most);
	to[20] = '\0';
	CHECKED(strncat, 210, to, to, "abc", 210, most);
	CHECKED(stpcpy, 4, to, to, "abc", most);
	CHECKED(stpncpy, 211, to, to, "abc", 211, most);
	CHECKED(wmemset, 800, wide_to, wide_to, L'w', 200, wide_most);
	CHECKED(wmemcpy, 804, wide_to, wide_to, wide_from, 201, wide_most);
	CHECKED(wmemmove, 808, wide_to + 1, wide_to + 1, wide_to, 202, wide_most - 1);
	CHECKED(wmempcpy, 812, wide_to, wide_to, wide_from, 203, wide_most);
	CHECKED(wcscpy, 56, wide_to, wide_to, L"thirteen char", wide_most);
	CHECKED(wcscat, 108, wide_to, wide_to, L"more thirteen", wide_most);
	CHECKED(wcsncpy, 816, wide_to, wide_to, wide_from, 204, wide_most);
	CHECKED(wcsncat, 820, wide_to, wide_to, wide_from, 205, wide_most);
	CHECKED(wcpcpy, 24, wide_to, wide_to, wide_from, wide_most);
	CHECKED(wcpncpy, 824, wide_to, wide_to, wide_from, 206, wide_most);
	OWN(mempcpy, 301, to, to, from, 301);
	OWN(stpcpy, 4, to, to, "abc");
	OWN(stpncpy, 302, to, to, "abc", 302);
	OWN(strdup, 4, result, "abc");
	OWN(strndup, 3, result, "abc", 2);
#endif
}

int main(void)
{
	for (size_t i = 0; i < sizeof(from) - 1; i++)
		from[i] = "some text "[i % 10];
	for (size_t i = 0; i < 5; i++)
		wide_from[i] = L"wider"[i];
	gate();
	bytes();
	strings();
	wide();
	duplicates();
	failing();
	checked();
	gate();
	for (unsigned i = 0; i < count; i++)
		recorded("%s<memtransfer>(%zu) = %#lx", all[i].function, all[i].size, (unsigned long)all[i].id);
	return 0;
}

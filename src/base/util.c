/* Memory, strings, numbers, paths and small files: see util.h. */
#include "config.h"
#include "base/util.h"
#include "base/msg.h"
#include "base/time_units.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static void *checked(void *p)
{
	if (!p)
		msg_die("out of memory; functrace cannot go on");
	return p;
}

void *xmalloc(size_t size)
{
	return checked(malloc(size ? size : 1));
}

void *xcalloc(size_t count, size_t size)
{
	return checked(calloc(count ? count : 1, size ? size : 1));
}

void *xreallocarray(void *old, size_t count, size_t size)
{
	return checked(reallocarray(old, count ? count : 1, size ? size : 1));
}

char *xstrdup(const char *s)
{
	return checked(strdup(s));
}

char *xstrdup_or_null(const char *s)
{
	return s ? xstrdup(s) : NULL;
}

char *xstrndup(const char *s, size_t n)
{
	return checked(strndup(s, n));
}

char *xasprintf(const char *fmt, ...)
{
	va_list args;
	char *text = NULL;

	va_start(args, fmt);
	const int length = vasprintf(&text, fmt, args);
	va_end(args);
	return checked(length < 0 ? NULL : text);
}

void array_reserve(void **items, size_t *capacity, size_t count, size_t size)
{
	if (count < *capacity)
		return;
	const size_t wanted = *capacity ? *capacity * 2 : 8;

	*items = xreallocarray(*items, wanted, size);
	*capacity = wanted;
}

char *path_normalise(char *path)
{
	const bool absolute = *path == '/';
	char *to = path + absolute, *floor = to; /* ".." removes nothing before `floor` */

	for (const char *p = to; *p;) {
		const size_t length = strcspn(p, "/");
		const char *next = p + length + (p[length] == '/');

		if (length == 2 && !memcmp(p, "..", 2) && (to > floor || absolute)) {
			to -= to > floor; /* also removes the '/' after the component */
			while (to > floor && to[-1] != '/')
				to--;
		} else if (length && !(length == 1 && *p == '.')) {
			memmove(to, p, (size_t)(next - p));
			to += next - p;
			if (length == 2 && !memcmp(p, "..", 2))
				floor = to;
		}
		p = next;
	}
	*to = '\0';
	return path;
}

const char *path_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

bool path_is_folder(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISDIR(st.st_mode);
}

bool path_leads_to(const char *path, const struct stat *file)
{
	struct stat st;

	return !stat(path, &st) && st.st_dev == file->st_dev && st.st_ino == file->st_ino;
}

bool path_is_terminal(const char *path)
{
	struct stat st;

	if (stat(path, &st) || !S_ISCHR(st.st_mode))
		return false;
	const int fd = open(path, O_WRONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
	const bool is_terminal = fd >= 0 && isatty(fd);

	if (fd >= 0)
		close(fd);
	return is_terminal;
}

static bool has_hex_prefix(const char *text)
{
	return text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
}

/* Returns the value of a digit; more than 15 if c is no digit. */
static inline unsigned digit_of(char c)
{
	const unsigned decimal = (unsigned char)c - '0', letter = ((unsigned char)c | 0x20u) - 'a';

	return decimal < 10 ? decimal : letter < 6 ? letter + 10 : 16;
}

/* Parses a whole string as a number of this base. Replaces strtoull(), which would take half of the time of reading a
 * text trace, because such a trace consists mostly of numbers. */
static inline bool util_parse_digits(const char *digits, unsigned base, uint64_t max, uint64_t *value)
{
	uint64_t number = 0;
	const char *p = digits;

	for (; *p; p++) {
		const unsigned digit = digit_of(*p);

		if (digit >= base || number > UINT64_MAX / base ||
		    __builtin_add_overflow(number * base, (uint64_t)digit, &number))
			return false;
	}
	if (p == digits || number > max)
		return false;
	*value = number;
	return true;
}

size_t word_find(const char *const *words, size_t count, const char *word)
{
	size_t i = 0;

	while (i < count && strcmp(words[i], word))
		i++;
	return i;
}

bool parse_number(const char *text, uint64_t max, uint64_t *value)
{
	return has_hex_prefix(text) ? util_parse_digits(text + 2, 16, max, value)
				    : util_parse_digits(text, 10, max, value);
}

bool parse_number_hex(const char *text, uint64_t max, uint64_t *value)
{
	return util_parse_digits(has_hex_prefix(text) ? text + 2 : text, 16, max, value);
}

int open_regular(const char *path, struct stat *st)
{
	const int place = open(path, O_PATH | O_CLOEXEC);
	struct stat opened;
	char link[32];

	if (place < 0)
		return -1;
	if (fstat(place, st) || !S_ISREG(st->st_mode)) {
		close(place);
		errno = ENOEXEC;
		return -1;
	}
	snprintf(link, sizeof(link), "/proc/self/fd/%d", place);
	int fd = open(link, O_RDONLY | O_CLOEXEC);
	int error = errno;

	/* If /proc is not mounted, opens the path again. */
	if (fd < 0 && error == ENOENT) {
		fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
		error = errno;
		if (fd >= 0 && (fstat(fd, &opened) || opened.st_dev != st->st_dev || opened.st_ino != st->st_ino)) {
			close(fd);
			fd = -1;
			error = ENOEXEC;
		}
	}
	close(place);
	errno = error;
	return fd;
}

char *read_open_file(int fd, size_t max, size_t *size)
{
	size_t capacity = 4096, used = 0;
	char *text;

	if (fd < 0)
		return NULL;
	text = xmalloc(capacity + 1);
	for (;;) {
		const ssize_t got = read(fd, text + used, capacity - used);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0) {
			const int error = got < 0 ? errno : 0;

			close(fd);
			if (error) {
				free(text);
				errno = error;
				return NULL;
			}
			text[used] = '\0';
			if (size)
				*size = used;
			return text;
		}
		used += (size_t)got;
		if (used > max) {
			close(fd);
			free(text);
			errno = EFBIG;
			return NULL;
		}
		if (used == capacity) {
			capacity *= 2;
			text = xreallocarray(text, capacity + 1, 1);
		}
	}
}

char *read_file(const char *path, size_t max, size_t *size)
{
	return read_open_file(open(path, O_RDONLY | O_CLOEXEC), max, size);
}

char *read_regular_file(const char *path, size_t max, size_t *size)
{
	struct stat st;
	const int fd = open_regular(path, &st);

	if (fd >= 0 && st.st_size >= 0 && (uint64_t)st.st_size > max) {
		close(fd);
		errno = EFBIG;
		return NULL;
	}
	return read_open_file(fd, max, size);
}

uint64_t clock_ns(int clock_id)
{
	struct timespec now;

	clock_gettime(clock_id, &now);
	return (uint64_t)now.tv_sec * NS_PER_SECOND + (uint64_t)now.tv_nsec;
}

const char *number_grouped(uint64_t number, char text[32])
{
	char digits[24];
	const int length = snprintf(digits, sizeof(digits), "%" PRIu64, number);
	char *out = text;

	for (int i = 0; i < length; i++) {
		if (i && (length - i) % 3 == 0)
			*out++ = ',';
		*out++ = digits[i];
	}
	*out = '\0';
	return text;
}

uint64_t page_size(void)
{
	static uint64_t size;

	return size ? size : (size = (uint64_t)sysconf(_SC_PAGESIZE));
}

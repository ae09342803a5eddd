/* Memory that cannot fail, strings, checked arithmetic, small file reads.
 *
 * The x-functions end the program with a message when memory is exhausted:
 * the guardian then puts the target right.  They are only for sizes
 * that the program itself chose or has bounded; a size that a file or a tracee
 * gives is checked first. */
#ifndef FT_BASE_UTIL_H
#define FT_BASE_UTIL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdarg.h>

struct stat;

#define ARRAY_SIZE(a)       (sizeof(a) / sizeof((a)[0]))
#define FT_PRINTF(fmt, arg) __attribute__((format(printf, fmt, arg)))

/* libiberty, which demangles names, has functions of its own under these names. */
#define xmalloc   base_xmalloc
#define xcalloc   base_xcalloc
#define xstrdup   base_xstrdup
#define xstrndup  base_xstrndup
#define xasprintf base_xasprintf

void *xmalloc(size_t size);
void *xcalloc(size_t count, size_t size);
void *xreallocarray(void *old, size_t count, size_t size);
char *xstrdup(const char *s);
/* NULL of NULL. */
char *xstrdup_or_null(const char *s);
char *xstrndup(const char *s, size_t n);
char *xasprintf(const char *fmt, ...) FT_PRINTF(1, 2);

/* Makes room in the array *items (of *capacity elements of `size` bytes) for one
 * more than `count`; the array may move. */
void array_reserve(void **items, size_t *capacity, size_t count, size_t size);
#define ARRAY_GROW(items, capacity, count) array_reserve((void **)&(items), &(capacity), (count), sizeof(*(items)))

/* How many of the items are not above `key`, by binary search: member (.start, or ->start in an array of pointers) is
 * what they are ordered by, ascending. */
#define COUNT_UP_TO(items, count, member, key)                                                                         \
	({                                                                                                             \
		size_t low_ = 0, high_ = (count);                                                                      \
                                                                                                                       \
		while (low_ < high_) {                                                                                 \
			const size_t middle_ = low_ + (high_ - low_) / 2;                                              \
                                                                                                                       \
			if ((items)[middle_] member <= (key))                                                          \
				low_ = middle_ + 1;                                                                    \
			else                                                                                           \
				high_ = middle_;                                                                       \
		}                                                                                                      \
		low_;                                                                                                  \
	})

static inline uint64_t align_up(uint64_t value, uint64_t power_of_two)
{
	return (value + power_of_two - 1) & ~(power_of_two - 1);
}

static inline uint64_t align_down(uint64_t value, uint64_t power_of_two)
{
	return value & ~(power_of_two - 1);
}

/* a + b and a * b, UINT64_MAX where the result does not fit. */
static inline uint64_t add_saturated(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static inline uint64_t mul_saturated(uint64_t a, uint64_t b)
{
	uint64_t product;

	return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

/* Takes `.` and `dir/..` out of a path, in place, by its text alone. Returns `path`. */
char *path_normalise(char *path);
/* The name of a file: the part of its path behind the last '/'. */
const char *path_name(const char *path);
/* Whether there is a folder of that name. */
bool path_is_folder(const char *path);
/* Whether what is written there comes to a terminal. */
bool path_is_terminal(const char *path);

/* Parses a whole string as an unsigned number (0x hexadecimal, otherwise
 * decimal). False when it is empty, has other characters or is over `max`. */
bool parse_number(const char *text, uint64_t max, uint64_t *value);
/* Reads a hexadecimal number as parse_number() reads a decimal one, with 0x or without: an address as nm and objdump
 * print it, a mask. */
bool parse_number_hex(const char *text, uint64_t max, uint64_t *value);

/* 1234567 as "1,234,567", into `text`, which it returns. */
const char *number_grouped(uint64_t number, char text[32]);

/* Opens a regular file for reading, and says which one it is. Anything else is not opened at all: what a core file, a
 * trace or a program calls a file may be a fifo that somebody waits at, or a device that does something when it is
 * opened. -1 and errno; ENOEXEC: it is none. */
int open_regular(const char *path, struct stat *st);

/* Reads all of a file (at most `max` bytes, for /proc files without a size) into
 * a new NUL-terminated buffer that the caller frees. NULL and errno on error;
 * EFBIG when it is longer. *size may be NULL. */
char *read_file(const char *path, size_t max, size_t *size);
/* The same of a regular file only, and without waiting for one that is none: for a name that others have made. */
char *read_regular_file(const char *path, size_t max, size_t *size);
/* Takes those of descriptors 0 to 2 that are closed, so that no file that is opened later becomes standard output. To
 * use them fails with EBADF as before. */
void standard_fds_reserve(void);
/* Raises the soft limit of open files to the hard one (never in the target). */
void fds_raise_limit(void);
/* A file without a name, in $TMPDIR or /tmp, for reading and writing, close-on-exec: a descriptor, or -1 and errno. */
int temporary_file(void);

/* Writes all bytes, going on after EINTR and short writes. 0 or -errno; *done (may be NULL) gets the number of bytes
 * that were written. */
int write_all(int fd, const void *data, size_t size, size_t *done);
/* The same at a place of a file. False and errno: it cannot be written. */
bool write_all_at(int fd, const void *data, size_t size, uint64_t offset);

/* Bytes of a page of memory. */
uint64_t page_size(void);

/* CLOCK_MONOTONIC or CLOCK_REALTIME in nanoseconds. */
uint64_t clock_ns(int clock_id);

#endif

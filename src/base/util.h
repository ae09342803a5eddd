/* Memory allocation that cannot fail, strings, checked arithmetic, reading of small files.
 *
 * The x-functions end the program with a message when memory is exhausted. If the engine ends so, the guardian rescues
 * the targets. Use the x-functions only for sizes that functrace itself chose or has bounded; first check a size that
 * comes from a file or a target. */
#ifndef FT_BASE_UTIL_H
#define FT_BASE_UTIL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdarg.h>

struct stat;

#define ARRAY_SIZE(a)       (sizeof(a) / sizeof((a)[0]))
#define FT_PRINTF(fmt, arg) __attribute__((format(printf, fmt, arg)))

/* The linker gets other names, because libiberty, which demangles names, also defines an xmalloc() and others. */
#define xmalloc   base_xmalloc
#define xcalloc   base_xcalloc
#define xstrdup   base_xstrdup
#define xstrndup  base_xstrndup
#define xasprintf base_xasprintf

void *xmalloc(size_t size);
void *xcalloc(size_t count, size_t size);
void *xreallocarray(void *old, size_t count, size_t size);
char *xstrdup(const char *s);
/* Returns NULL for NULL. */
char *xstrdup_or_null(const char *s);
char *xstrndup(const char *s, size_t n);
char *xasprintf(const char *fmt, ...) FT_PRINTF(1, 2);

/* Makes room in the array *items (*capacity elements of `size` bytes) for one more element than `count`; the array
 * may move. */
void array_reserve(void **items, size_t *capacity, size_t count, size_t size);
#define ARRAY_GROW(items, capacity, count) array_reserve((void **)&(items), &(capacity), (count), sizeof(*(items)))

/* Returns the number of items whose `member` is at most `key`, by binary search. The items are in ascending order of
 * `member` (.start, or ->start in an array of pointers). */
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

/* Return a + b and a * b; UINT64_MAX if the result does not fit. */
static inline uint64_t add_saturated(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static inline uint64_t mul_saturated(uint64_t a, uint64_t b)
{
	uint64_t product;

	return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

/* Returns -1, 0 or 1, the order of two numbers as qsort() wants it. */
static inline int compare_u64(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

/* Removes `.` and `dir/..` from a path, in place, without reading the file system. Returns `path`. */
char *path_normalise(char *path);
/* Returns the part of the path after the last '/'. */
const char *path_name(const char *path);
/* Returns true if a directory of that name exists. */
bool path_is_folder(const char *path);
/* Returns true if the path, with symbolic links followed, leads to the file with this status. */
bool path_leads_to(const char *path, const struct stat *file);
/* Returns true if the path names a terminal. */
bool path_is_terminal(const char *path);

/* Returns the index of a word in a list of `count` words; returns `count` if the list does not contain it. */
size_t word_find(const char *const *words, size_t count, const char *word);

/* Parses a whole string as an unsigned number (0x hexadecimal, otherwise decimal). Returns false if it is empty, has
 * other characters or exceeds `max`. */
bool parse_number(const char *text, uint64_t max, uint64_t *value);
/* Parses a hexadecimal number, with or without 0x, as parse_number() does. Used for addresses as nm and objdump print
 * them, and for masks. */
bool parse_number_hex(const char *text, uint64_t max, uint64_t *value);

/* Writes 1234567 as "1,234,567" into `text`, and returns `text`. */
const char *number_grouped(uint64_t number, char text[32]);

/* Opens a regular file for reading, and gets its status. Opens no file of another type, because a file named by a core
 * file, a trace or a program may be a fifo, for which open() waits, or a device, on which open() may have an effect.
 * Returns a descriptor, or -1 and errno; ENOEXEC: the file is not a regular file. */
int open_regular(const char *path, struct stat *st);

/* Reads a whole file (at most `max` bytes; also files of /proc, which have no size) into a new NUL-terminated buffer,
 * which the caller frees. Returns NULL and errno on error; EFBIG: the file has more than `max` bytes. *size may be
 * NULL. */
char *read_file(const char *path, size_t max, size_t *size);
/* Does the same as read_file(), but only for regular files, and never waits at a fifo. Used for file names that other
 * programs have chosen. */
char *read_regular_file(const char *path, size_t max, size_t *size);
/* Reads the rest of an open file as read_file() does, and closes the descriptor. If the descriptor is -1, returns NULL
 * and does not change errno. */
char *read_open_file(int fd, size_t max, size_t *size);
/* Opens those of the descriptors 0 to 2 that are closed, so that no later file becomes standard output. Reads from
 * descriptor 0 and writes to the others still fail with EBADF. */
void standard_fds_reserve(void);
/* Raises the soft limit of open files to the hard limit. Must not be called in the process that becomes the target,
 * which keeps its own limit. */
void fds_raise_limit(void);
/* Opens a file without a name, in $TMPDIR or /tmp, for reading and writing, close-on-exec. Returns a descriptor, or
 * -1 and errno. */
int temporary_file(void);

/* Writes all bytes, continuing after EINTR and short writes. Returns 0 or -errno; *done (may be NULL) gets the number
 * of bytes that were written. */
int write_all(int fd, const void *data, size_t size, size_t *done);
/* Writes all bytes at an offset of a file. Returns false and errno if writing fails. */
bool write_all_at(int fd, const void *data, size_t size, uint64_t offset);
/* Reads `size` bytes at an offset of a file, continuing after EINTR and short reads. Returns 0 or -errno; -EIO if the
 * file ends earlier. */
int read_all_at(int fd, void *data, size_t size, uint64_t offset);

/* Returns the size of a memory page in bytes. */
uint64_t page_size(void);

/* Returns the time of CLOCK_MONOTONIC or CLOCK_REALTIME in nanoseconds. */
uint64_t clock_ns(int clock_id);

#endif

#include "config.h"
#include "symbols/objects/maps.h"
#include "proc/proc.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The largest texts that are read, in bytes: those of about a million mappings. By default the kernel allows a process
 * 65530 mappings. */
#define MAPS_MAX  (256u << 20)
#define SMAPS_MAX (1u << 30) /* smaps has 25 more lines for each mapping */
#define LOOK_BACK 64         /* number of mappings that maps_find_header() examines */

/* Reads a number that begins at *text, and moves *text after it. Returns false if there is none, or if it has more than
 * 64 bits. */
static bool maps_take_number(char **text, unsigned base, uint64_t *value)
{
	uint64_t number = 0;
	char *p = *text;

	for (;; p++) {
		unsigned digit;

		if (*p >= '0' && *p <= '9')
			digit = (unsigned)(*p - '0');
		else if (base == 16 && *p >= 'a' && *p <= 'f')
			digit = (unsigned)(*p - 'a') + 10;
		else
			break;
		if (__builtin_mul_overflow(number, (uint64_t)base, &number) ||
		    __builtin_add_overflow(number, (uint64_t)digit, &number))
			return false;
	}
	if (p == *text)
		return false;
	*text = p;
	*value = number;
	return true;
}

static bool take_char(char **text, char c)
{
	if (**text != c)
		return false;
	++*text;
	return true;
}

static bool take_hex(char **text, char end, uint64_t *value)
{
	return maps_take_number(text, 16, value) && take_char(text, end);
}

/* Replaces \012 by a newline. The kernel writes all other bytes of a path as they are (fs/proc/task_mmu.c escapes only
 * "\n"). */
static void unescape_newlines(char *path)
{
	const char *from = path;
	char *to = path;

	while (*from) {
		if (!strncmp(from, "\\012", 4)) {
			*to++ = '\n';
			from += 4;
		} else {
			*to++ = *from++;
		}
	}
	*to = '\0';
}

static void maps_take_path(char *path, struct mapping *mapping)
{
	mapping->deleted = proc_path_take_deleted(path);
	unescape_newlines(path);
	mapping->path = path;
}

/* Parses a line: START-END rwxp OFFSET MAJOR:MINOR INODE     PATH */
static bool maps_take_line(char *line, struct mapping *mapping)
{
	uint64_t major, minor;

	*mapping = (struct mapping){0};
	if (!take_hex(&line, '-', &mapping->start) || !take_hex(&line, ' ', &mapping->end) ||
	    mapping->end <= mapping->start)
		return false;
	if (strnlen(line, 5) < 5 || line[4] != ' ')
		return false;
	mapping->read = line[0] == 'r';
	mapping->write = line[1] == 'w';
	mapping->exec = line[2] == 'x';
	mapping->shared = line[3] == 's';
	line += 5;
	if (!take_hex(&line, ' ', &mapping->offset) || !take_hex(&line, ':', &major) || !take_hex(&line, ' ', &minor) ||
	    major > UINT32_MAX || minor > UINT32_MAX || !maps_take_number(&line, 10, &mapping->inode))
		return false;
	mapping->dev_major = (unsigned)major;
	mapping->dev_minor = (unsigned)minor;
	if (*line && *line != ' ')
		return false;
	line += strspn(line, " ");
	/* A name that the program has given to memory without a file (PR_SET_VMA_ANON_NAME) is no path. */
	if (!strncmp(line, "[anon:", 6))
		*line = '\0';
	maps_take_path(line, mapping);
	return true;
}

int maps_parse(char *text, struct maps *maps)
{
	size_t capacity = 0;
	char *line = text;
	uint64_t last_end = 0;

	*maps = (struct maps){.text = text};
	while (*line) {
		char *newline = strchr(line, '\n');
		struct mapping mapping;

		if (newline)
			*newline = '\0';
		if (!maps_take_line(line, &mapping)) {
			maps_free(maps);
			return -EINVAL;
		}
		/* The file is read in pieces, between which the process can change its mappings. A mapping that begins
		 * before the end of the previous mapping was listed already. */
		if (mapping.start >= last_end) {
			ARRAY_GROW(maps->items, capacity, maps->count);
			maps->items[maps->count++] = mapping;
			last_end = mapping.end;
		}
		if (!newline)
			break;
		line = newline + 1;
	}
	return 0;
}

int maps_read(pid_t pid, struct maps *maps)
{
	char *const path = proc_path(pid, "maps");
	char *const text = read_file(path, MAPS_MAX, NULL);
	const int unread = text ? 0 : -errno;

	*maps = (struct maps){0};
	free(path);
	if (unread)
		return unread;
	const int error = maps_parse(text, maps);

	if (error)
		return error;
	if (!maps->count) { /* the process is a zombie, or a kernel thread */
		maps_free(maps);
		return -ESRCH;
	}
	return 0;
}

/* Returns true if this line of smaps lists a mapping's flags, and `flag` is one of them. In smaps, each mapping has a
 * line as in maps, then lines "KEY: ...", one of which is, for example, "VmFlags: rd wr mr mw me ac mt". */
static bool has_flag(const char *line, const char *flag)
{
	static const char key[] = "VmFlags:";

	if (strncmp(line, key, sizeof(key) - 1) != 0)
		return false;
	return memmem(line, strcspn(line, "\n"), flag, strlen(flag)) != NULL;
}

/* Calls `take` for each line of flags in the text of smaps, with the index of its mapping. */
static void each_flags(const char *text, const struct maps *maps,
		       void (*take)(void *context, size_t index, const char *line), void *context)
{
	uint64_t start = 0, number;

	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		char *at = (char *)line;

		if (take_hex(&at, '-', &number)) {
			start = number;
		} else if (has_flag(line, " ")) {
			const size_t i = COUNT_UP_TO(maps->items, maps->count, .end, start);

			if (i < maps->count && maps->items[i].start <= start)
				take(context, i, line);
		}
	}
}

static void maps_mark_tagged(void *context, size_t index, const char *line)
{
	struct maps *const maps = context;

	maps->items[index].has_tags |= has_flag(line, " mt");
}

void maps_mark_tags(const char *text, struct maps *maps)
{
	each_flags(text, maps, maps_mark_tagged, maps);
}

static char *read_smaps(pid_t pid)
{
	char *const path = proc_path(pid, "smaps");
	char *const text = read_file(path, SMAPS_MAX, NULL);

	free(path);
	return text;
}

int maps_read_tags(pid_t pid, struct maps *maps)
{
	char *const text = read_smaps(pid);

	if (!text)
		return -errno;
	maps_mark_tags(text, maps);
	free(text);
	return 0;
}

static void mark_waiters(void *context, size_t index, const char *line)
{
	bool *const has_waiters = context;

	has_waiters[index] = has_flag(line, " um") || has_flag(line, " ui");
}

void maps_mark_waiters(const char *text, const struct maps *maps, bool *has_waiters)
{
	each_flags(text, maps, mark_waiters, has_waiters);
}

int maps_read_waiters(pid_t pid, const struct maps *maps, bool *has_waiters)
{
	char *const text = read_smaps(pid);

	if (!text)
		return -errno;
	maps_mark_waiters(text, maps, has_waiters);
	free(text);
	return 0;
}

void maps_free(struct maps *maps)
{
	free(maps->items);
	free(maps->text);
	*maps = (struct maps){0};
}

bool mapping_same_file(const struct mapping *a, const struct mapping *b)
{
	return a->inode == b->inode && a->dev_major == b->dev_major && a->dev_minor == b->dev_minor;
}

const struct mapping *maps_find_header(const struct maps *maps, size_t index)
{
	const struct mapping *const items = maps->items;

	for (size_t i = index + 1; i-- > 0 && index - i < LOOK_BACK;)
		if (!items[i].offset && mapping_same_file(&items[i], &items[index]))
			return &items[i];
	return NULL;
}

const struct mapping *maps_find(const struct maps *maps, uint64_t address)
{
	const size_t low = COUNT_UP_TO(maps->items, maps->count, .end, address);

	if (low == maps->count || maps->items[low].start > address)
		return NULL;
	return &maps->items[low];
}

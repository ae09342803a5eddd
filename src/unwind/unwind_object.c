/* Shares the data of ELF files among address spaces; see unwind_object.h. */
#include "config.h"
#include "unwind/unwind_object.h"
#include "base/hash.h"
#include "base/msg.h"
#include "base/timed.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#define UNUSED_MAX 64 /* maximum number of objects without references that are kept */

/* key -> first object of a list. There is no lock, because one thread uses all unwinders. */
static struct hash registry;
static size_t unused_count;
static uint64_t release_clock;

static uint64_t file_key(const struct stat *st)
{
	return hash_mix(st->st_ino ^ (uint64_t)st->st_dev << 40 ^ (uint64_t)st->st_mtim.tv_nsec) | 1;
}

static bool unwind_object_is_same_file(const struct unwind_object *object, const struct stat *st)
{
	return object->has_file && object->device == st->st_dev && object->inode == st->st_ino &&
	       object->size == st->st_size && object->mtime.tv_sec == st->st_mtim.tv_sec &&
	       object->mtime.tv_nsec == st->st_mtim.tv_nsec;
}

static struct unwind_object *unwind_object_find(uint64_t key, const struct stat *st, const char *build_id,
						const struct arch *arch)
{
	struct unwind_object *object = hash_get_ptr(&registry, key);

	for (; object; object = object->next)
		if (object->arch == arch && (st ? unwind_object_is_same_file(object, st)
						: !object->has_file && !strcmp(object->build_id, build_id)))
			return object;
	return NULL;
}

struct unwind_object *object_reference(struct unwind_object *object)
{
	if (!object->references++ && object->key)
		unused_count--;
	return object;
}

static void set_path(struct unwind_object *object, const char *path)
{
	free(object->path);
	object->path = xstrdup_or_null(path);
}

/* ---- Reading with a time limit ---- */

/* A file, and the results of reading it. */
struct unwind_object_reading {
	char *path;
	const struct arch *arch;
	struct stat st;
	bool has_file, has_cfi;
	struct cfi cfi;
};

static void unwind_object_reading_free(void *context)
{
	struct unwind_object_reading *const reading = context;

	cfi_close(&reading->cfi);
	free(reading->path);
	free(reading);
}

static void read_file_stat(void *context)
{
	struct unwind_object_reading *const reading = context;

	reading->has_file = !stat(reading->path, &reading->st) && S_ISREG(reading->st.st_mode);
}

static void read_file_cfi(void *context)
{
	struct unwind_object_reading *const reading = context;
	const int fd = open_regular(reading->path, &reading->st);

	reading->has_file = fd >= 0;
	reading->has_cfi = fd >= 0 && !cfi_open_file(&reading->cfi, fd, reading->arch);
}

/* Reads a file by `work`. Returns the result, for unwind_object_reading_free(); NULL if there is no path, or if
 * reading takes too long. */
static struct unwind_object_reading *read_path(const char *path, const struct arch *arch, void (*work)(void *context))
{
	struct unwind_object_reading *reading;

	if (!path)
		return NULL;
	reading = xcalloc(1, sizeof(*reading));
	*reading = (struct unwind_object_reading){.path = xstrdup(path), .arch = arch, .cfi = {.fd = -1}};
	return timed_do(work, unwind_object_reading_free, reading) ? reading : NULL;
}

static bool unwind_object_find_file(const char *path, const struct arch *arch, struct stat *st)
{
	struct unwind_object_reading *const reading = read_path(path, arch, read_file_stat);
	const bool has_file = reading && reading->has_file;

	if (has_file)
		*st = reading->st;
	if (reading)
		unwind_object_reading_free(reading);
	return has_file;
}

/* ---- Objects ---- */

struct unwind_object *object_get(const char *path, const char *build_id, const struct arch *arch)
{
	struct stat st;
	const bool has_file = unwind_object_find_file(path, arch, &st);
	const bool has_id = build_id && *build_id;
	const uint64_t key = has_file ? file_key(&st) : has_id ? hash_bytes(build_id, strlen(build_id)) | 1 : 0;
	struct unwind_object *object = key ? unwind_object_find(key, has_file ? &st : NULL, build_id, arch) : NULL;

	if (object) {
		/* The old path may belong to a process that has ended, and then cannot be opened any more. */
		if (object->state != OBJECT_OPEN) {
			set_path(object, has_file ? path : NULL);
			object->state = OBJECT_NEW;
		}
		return object_reference(object);
	}
	object = xcalloc(1, sizeof(*object));
	object->references = 1;
	object->key = key;
	object->arch = arch;
	object->build_id = xstrdup(has_id ? build_id : "");
	set_path(object, has_file ? path : NULL);
	if (has_file) {
		object->has_file = true;
		object->device = st.st_dev;
		object->inode = st.st_ino;
		object->size = st.st_size;
		object->mtime = st.st_mtim;
	}
	object->cfi.fd = -1;
	if (key) {
		object->next = hash_get_ptr(&registry, key);
		hash_set_ptr(&registry, key, object);
	}
	return object;
}

static void destroy(struct unwind_object *object)
{
	if (object->key) {
		struct unwind_object *first = hash_get_ptr(&registry, object->key), **link = &first;

		while (*link && *link != object)
			link = &(*link)->next;
		if (*link)
			*link = object->next;
		if (first)
			hash_set_ptr(&registry, object->key, first);
		else
			hash_remove(&registry, object->key, NULL);
		if (!registry.count)
			hash_free(&registry);
	}
	rows_free(&object->rows);
	hash_free(&object->sites);
	code_rows_free(&object->code_rows);
	code_rows_free(&object->interrupted_rows);
	cfi_close(&object->cfi);
	free(object->build_id);
	free(object->path);
	free(object);
}

static void drop_oldest(void)
{
	struct unwind_object *oldest = NULL;
	struct hash_entry *entry;

	for (size_t i = 0; (entry = hash_next(&registry, &i));)
		for (struct unwind_object *o = (void *)(uintptr_t)entry->value; o; o = o->next)
			if (!o->references && (!oldest || o->used < oldest->used))
				oldest = o;
	if (oldest) {
		unused_count--;
		destroy(oldest);
	}
}

void object_release(struct unwind_object *object)
{
	if (--object->references)
		return;
	if (!object->key || object->state != OBJECT_OPEN) {
		destroy(object);
		return;
	}
	object->used = ++release_clock;
	if (++unused_count > UNUSED_MAX)
		drop_oldest();
}

/* Opens the object's file. Fails if the path names another file now. */
static bool unwind_object_open_file(struct unwind_object *object)
{
	struct unwind_object_reading *const reading = read_path(object->path, object->arch, read_file_cfi);
	const bool is_open = reading && reading->has_cfi && unwind_object_is_same_file(object, &reading->st);

	if (is_open) {
		object->cfi = reading->cfi;
		reading->cfi = (struct cfi){.fd = -1};
	}
	if (reading)
		unwind_object_reading_free(reading);
	return is_open;
}

void object_prepare(struct unwind_object *object)
{
	if (object->state == OBJECT_NEW && object->has_file && unwind_object_open_file(object))
		object->state = OBJECT_OPEN;
}

bool object_open_slow(struct unwind_object *object, struct stack_memory *memory, uint64_t start)
{
	if (unwind_object_open_file(object) || !cfi_open_memory(&object->cfi, memory, start, object->arch)) {
		object->state = OBJECT_OPEN;
		return true;
	}
	msg_debug(DBG_UNWIND, 1, "no call frame information can be read for %s",
		  object->path ? object->path : "an object without a file");
	object->state = OBJECT_FAILED;
	return false;
}

/* The objects of a trace by position, and which file each one's names come from. */
#include "config.h"
#include "symbols/name_file.h"
#include "base/msg.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define UNUSED_FILES_MAX 32
#define RESULT_MAX       DWARF_FRAMES_MAX

struct named_object {
	uint64_t from, to;
	char *path, *open_path, *build_id;
	bool is_tried;
	struct name_file *file; /* NULL: none, or not tried yet */
};

struct names {
	struct names_options options;
	char *debug_path;
	Dwfl_Callbacks callbacks;
	struct named_object **objects; /* by ascending address, not overlapping */
	size_t count, capacity;
	struct name_file **files;
	size_t file_count, file_capacity;
	uint64_t clock;
	struct hash told; /* hashes of paths that something has been said of */
	struct frame_name result[RESULT_MAX];
};

static char *copy_or_null(const char *s)
{
	return s ? xstrdup(s) : NULL;
}

struct names *names_new(const struct names_options *options)
{
	struct names *names = xcalloc(1, sizeof(*names));

	elf_version(EV_CURRENT);
	names->options = (struct names_options){
		.sysroot = copy_or_null(options->sysroot),
		.debug_path = copy_or_null(options->debug_path),
		.debuginfod = options->debuginfod,
	};
	names->debug_path = name_file_debug_path(&names->options);
	name_file_set_callbacks(&names->callbacks, &names->debug_path);
	return names;
}

/* ---- Files ---- */

static void files_drop(struct names *names, size_t index)
{
	name_file_free(names->files[index]);
	names->files[index] = names->files[--names->file_count];
}

/* Closes what has been unused for longest. */
static void files_trim(struct names *names)
{
	size_t unused = 0, oldest = 0;

	for (size_t i = 0; i < names->file_count; i++) {
		if (names->files[i]->references)
			continue;
		if (!unused++ || names->files[i]->last_used < names->files[oldest]->last_used)
			oldest = i;
	}
	if (unused > UNUSED_FILES_MAX)
		files_drop(names, oldest);
}

static struct name_file *file_known(const struct names *names, const struct stat *st)
{
	struct elf_key key;

	elf_key_of(st, &key);
	for (size_t i = 0; i < names->file_count; i++) {
		const struct elf_key *other = &names->files[i]->key;

		if (key.device == other->device && key.inode == other->inode &&
		    key.size == other->size && key.mtime_sec == other->mtime_sec &&
		    key.mtime_nsec == other->mtime_nsec)
			return names->files[i];
	}
	return NULL;
}

/* The ELF file at a path, or NULL and errno (ENOEXEC: it is none). */
static struct name_file *file_at(struct names *names, const char *open_path,
				 const char *target_path)
{
	/* A trace can name a device or a pipe. */
	const int fd = open(open_path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct name_file *file;
	struct stat st;

	if (fd < 0)
		return NULL;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
		close(fd);
		errno = ENOEXEC;
		return NULL;
	}
	file = file_known(names, &st);
	if (file) {
		close(fd);
		return file;
	}
	file = name_file_new(fd, &st, open_path, target_path, &names->options, &names->callbacks);
	if (!file) {
		errno = ENOEXEC;
		return NULL;
	}
	ARRAY_GROW(names->files, names->file_capacity, names->file_count);
	names->files[names->file_count++] = file;
	return file;
}

/* ---- The right file for an object ---- */

static bool tell_once(struct names *names, const char *path)
{
	return hash_set(&names->told, hash_bytes(path, strlen(path)), 1);
}

static bool has_build_id(const struct named_object *object)
{
	return object->build_id && object->build_id[0];
}

static bool build_id_agrees(const struct named_object *object, const struct name_file *file)
{
	return has_build_id(object) && !strcasecmp(object->build_id, file->build_id);
}

/* In the folders of separate debug files, files lie by build-id: FOLDER/.build-id/ab/cdef....debug
 */
static struct name_file *file_by_build_id(struct names *names, const struct named_object *object)
{
	const char *folders = names->debug_path;
	struct name_file *file = NULL;

	if (!has_build_id(object) || strlen(object->build_id) < 4 ||
	    strspn(object->build_id, "0123456789abcdefABCDEF") != strlen(object->build_id))
		return NULL;
	while (*folders && !file) {
		const size_t length = strcspn(folders, ":");

		if (folders[0] == '/') {
			char *path = xasprintf("%.*s/.build-id/%.2s/%s.debug", (int)length, folders,
					       object->build_id, object->build_id + 2);

			file = file_at(names, path, object->path);
			free(path);
			if (file && !build_id_agrees(object, file))
				file = NULL;
		}
		folders += length + (folders[length] == ':');
	}
	return file;
}

static void tell_wrong_file(struct names *names, const struct named_object *object,
			    const char *path, const struct name_file *file)
{
	if (!tell_once(names, object->path))
		return;
	if (file->build_id[0])
		msg_warn("%s is not the file that was traced: its build-id is %s, the trace's %s. "
			 "Its "
			 "frames get no names; --sysroot=DIR names a folder with the old files.",
			 path, file->build_id, object->build_id);
	else
		msg_warn("%s is not the file that was traced: it has no build-id, the trace has "
			 "%s. Its "
			 "frames get no names; --sysroot=DIR names a folder with the old files.",
			 path, object->build_id);
}

/* Takes the file at that path if it may be the object's. must_agree: only a build-id proves it. */
static struct name_file *try_path(struct names *names, const struct named_object *object,
				  const char *path, bool must_agree)
{
	struct name_file *file = file_at(names, path, object->path);

	if (!file || build_id_agrees(object, file))
		return file;
	if (has_build_id(object)) {
		/* Names may still come from a debug file of that build-id. */
		struct name_file *debug = file_by_build_id(names, object);

		if (!debug)
			tell_wrong_file(names, object, path, file);
		errno = EINVAL;
		return debug;
	}
	return must_agree ? NULL : file;
}

static struct name_file *find_file(struct names *names, const struct named_object *object)
{
	struct name_file *file = NULL;
	int error;

	if (object->path[0] != '/' && !object->open_path)
		return NULL;
	if (object->open_path) {
		file = try_path(names, object, object->open_path, false);
		if (file)
			return file;
	}
	errno = ENOENT;
	if (names->options.sysroot) {
		char *path = xasprintf("%s%s", names->options.sysroot, object->path);

		file = try_path(names, object, path, false);
		free(path);
	}
	/* Another system's path, or one that had to be opened in another way: here it can be
	 * another file. */
	if (!file && object->path[0] == '/')
		file = try_path(names, object, object->path,
				names->options.sysroot || object->open_path);
	error = errno;
	if (!file)
		file = file_by_build_id(names, object);
	if (!file && error != EINVAL && tell_once(names, object->path))
		msg_debug(DBG_SYMBOLS, 1, "%s gives no names: %s", object->path, strerror(error));
	return file;
}

static void object_find_file(struct names *names, struct named_object *object)
{
	object->is_tried = true;
	object->file = find_file(names, object);
	if (object->file)
		object->file->references++;
	files_trim(names);
}

/* ---- Objects by position ---- */

static void object_release_file(struct names *names, struct named_object *object)
{
	if (object->file) {
		object->file->references--;
		object->file->last_used = ++names->clock;
	}
	object->file = NULL;
	object->is_tried = false;
}

static void object_free(struct names *names, struct named_object *object)
{
	object_release_file(names, object);
	free(object->path);
	free(object->open_path);
	free(object->build_id);
	free(object);
}

void names_free(struct names *names)
{
	if (!names)
		return;
	for (size_t i = 0; i < names->count; i++)
		object_free(names, names->objects[i]);
	for (size_t i = 0; i < names->file_count; i++)
		name_file_free(names->files[i]);
	free(names->objects);
	free(names->files);
	free(names->debug_path);
	free((char *)(uintptr_t)names->options.sysroot);
	free((char *)(uintptr_t)names->options.debug_path);
	hash_free(&names->told);
	free(names);
}

/* The first object that ends behind the address. */
static size_t first_from(const struct names *names, uint64_t address)
{
	size_t low = 0, high = names->count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (names->objects[middle]->to <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

void names_add_object(struct names *names, const struct record_object *record,
		      const char *open_path)
{
	if (record->from >= record->to)
		return;
	const size_t first = first_from(names, record->from);
	size_t last = first;
	struct named_object *object = xcalloc(1, sizeof(*object));

	while (last < names->count && names->objects[last]->from < record->to)
		object_free(names, names->objects[last++]);
	*object = (struct named_object){
		.from = record->from,
		.to = record->to,
		.path = xstrdup(record->path ? record->path : ""),
		.open_path = copy_or_null(open_path),
	};
	ARRAY_GROW(names->objects, names->capacity, names->count);
	memmove(names->objects + first + 1, names->objects + last,
		(names->count - last) * sizeof(struct named_object *));
	names->objects[first] = object;
	names->count = names->count + 1 - (last - first);
}

void names_add_build_id(struct names *names, const struct record_build_id *record)
{
	const size_t i = first_from(names, record->from);

	if (i == names->count || names->objects[i]->from != record->from || !record->hex)
		return;
	struct named_object *object = names->objects[i];

	object_release_file(names, object);
	free(object->build_id);
	object->build_id = xstrdup(record->hex);
}

size_t names_lookup(void *context, uint64_t address, const struct frame_name **lines)
{
	struct names *names = context;
	const size_t i = address ? first_from(names, address - 1) : names->count;
	size_t count = 0;

	*lines = names->result;
	if (i == names->count || names->objects[i]->from > address - 1)
		return 0;
	struct named_object *object = names->objects[i];

	if (!object->is_tried)
		object_find_file(names, object);
	if (object->file) {
		/* On ARM the lowest bit says that the caller is Thumb code. */
		const uint64_t back =
			object->file->machine == EM_ARM ? (address & ~(uint64_t)1) : address;
		const struct name_lines *found = name_file_lookup(
			object->file, back - 1 - object->from + object->file->origin);

		for (; count < found->count && count < RESULT_MAX; count++)
			names->result[count] = found->items[count];
	}
	if (!count)
		names->result[count++] = (struct frame_name){0};
	for (size_t n = 0; n < count; n++)
		names->result[n].module = object->path;
	return count;
}

/* Keeps the objects of a trace by address, and finds the file that contains an object's names. */
#include "config.h"
#include "arch/arch.h"
#include "symbols/names/debug_search.h"
#include "symbols/names/name_file.h"
#include "symbols/names/unnamed_frames.h"
#include "symbols/elf/refused_files.h"
#include "base/msg.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define UNUSED_FILES_MAX 32
#define RESULT_MAX       DWARF_FRAMES_MAX
#define HELD_MAX         64 /* maximum number of files that are kept open for named_object.held */

struct named_object {
	uint64_t from, to;
	char *path, *open_path, *build_id;
	int held; /* descriptor (O_PATH) of the file at open_path; -1: none */
	bool is_tried;
	struct name_file *file; /* NULL: there is none, or it was not searched for yet */
	uint64_t start;         /* address in the file at which the range begins */
};

struct name_files {
	struct name_file **items;
	size_t count, capacity;
	uint64_t clock;
	char *debug_path;
};

struct names {
	struct names_options options;
	struct named_object **objects; /* the objects by ascending address; they do not overlap */
	size_t count, capacity;
	struct name_files *files; /* points to `own`, or to the files of another struct names */
	struct name_files own;
	size_t held_count;
	bool has_start;
	int64_t start_sec, start_nsec; /* start time of the trace */
	struct hash reported;          /* hashes of paths or reasons about which a message was printed */
	struct frame_name result[RESULT_MAX];
	struct unnamed_frames unnamed;
};

struct names *names_new(const struct names_options *options)
{
	struct names *names = xcalloc(1, sizeof(*names));

	elf_version(EV_CURRENT);
	names->options = (struct names_options){
		.sysroot = xstrdup_or_null(options->sysroot),
		.debug_path = xstrdup_or_null(options->debug_path),
		.debuginfod = options->debuginfod,
		.holds_files = options->holds_files,
	};
	names->files = options->shares ? options->shares->files : &names->own;
	if (!options->shares)
		names->own.debug_path = name_file_debug_path(&names->options);
	return names;
}

void names_set_start(struct names *names, const struct record_process *process)
{
	names->has_start = process->start_sec > 0;
	names->start_sec = process->start_sec;
	/* In the text format, the start time has no fraction of a second. Then the end of that second is used, so that
	 * check_age() does not warn about a file that is older than the trace. */
	names->start_nsec = process->start_usec ? process->start_usec * INT64_C(1000) : 999999999;
}

/* ---- Files ---- */

static void files_drop(struct name_files *files, size_t index)
{
	name_file_free(files->items[index]);
	files->items[index] = files->items[--files->count];
}

/* If too many files are unused, closes the one that has been unused for longest. */
static void files_trim(struct name_files *files)
{
	size_t unused = 0, oldest = 0;

	for (size_t i = 0; i < files->count; i++) {
		if (files->items[i]->references)
			continue;
		if (!unused++ || files->items[i]->last_used < files->items[oldest]->last_used)
			oldest = i;
	}
	if (unused > UNUSED_FILES_MAX)
		files_drop(files, oldest);
}

static struct name_file *file_known(const struct name_files *files, const struct stat *st)
{
	struct elf_key key;

	elf_key_of(st, &key);
	for (size_t i = 0; i < files->count; i++)
		if (elf_key_equal(&key, &files->items[i]->key))
			return files->items[i];
	return NULL;
}

static bool report_once(struct names *names, const char *path)
{
	return hash_set(&names->reported, hash_bytes(path, strlen(path)), 1);
}

static void report_lacking(struct names *names, const char *path, const char *reason)
{
	if (report_once(names, path))
		msg_warn("no names were read from %s: %s. Its frames are shown as addresses. If the file can be read "
			 "later, functrace-postproc -r names them.",
			 path, reason);
}

/* Returns the ELF file at a path. Returns NULL and sets errno on failure (ENOEXEC: it is no ELF file). */
static struct name_file *file_at(struct names *names, const char *open_path, const char *target_path)
{
	struct name_files *const files = names->files;
	struct name_file *file;
	const char *reason;
	struct stat st;
	const int fd = open_regular(open_path, &st);

	if (fd < 0) {
		/* Paths in /proc/PID disappear when the process exits. */
		if (strncmp(open_path, "/proc/", 6) != 0)
			refused_open("file", open_path);
		return NULL;
	}
	file = file_known(files, &st);
	if (file) {
		close(fd);
		return file;
	}
	file = name_file_new(fd, &st, open_path, target_path, names->options.debuginfod, files->debug_path, &reason);
	close(fd);
	if (!file) {
		if (reason != elf_reason_no_elf)
			report_lacking(names, open_path, reason);
		errno = ENOEXEC;
		return NULL;
	}
	ARRAY_GROW(files->items, files->capacity, files->count);
	files->items[files->count++] = file;
	return file;
}

/* ---- The right file for an object ---- */

static bool names_has_build_id(const struct named_object *object)
{
	return object->build_id && object->build_id[0];
}

static bool build_id_agrees(const struct named_object *object, const struct name_file *file)
{
	return names_has_build_id(object) && !strcasecmp(object->build_id, file->build_id);
}

/* Finds a file by build-id in the folders of separate debug files: FOLDER/.build-id/ab/cdef....debug */
static struct name_file *file_by_build_id(struct names *names, const struct named_object *object)
{
	const char *folders = names->files->debug_path;
	struct name_file *file = NULL;

	if (!names_has_build_id(object) || strlen(object->build_id) < 4 ||
	    strspn(object->build_id, "0123456789abcdefABCDEF") != strlen(object->build_id))
		return NULL;
	while (*folders && !file) {
		const size_t length = strcspn(folders, ":");

		if (folders[0] == '/') {
			char *path = debug_search_build_id_path(folders, (int)length, object->build_id);

			file = file_at(names, path, object->path);
			free(path);
			if (file && !build_id_agrees(object, file))
				file = NULL;
		}
		folders += length + (folders[length] == ':');
	}
	return file;
}

static void names_report_wrong_file(struct names *names, const struct named_object *object, const char *path,
				    const char *build_id)
{
	if (!report_once(names, object->path))
		return;
	msg_warn("%s is not the file that was traced: its build-id is %s, the trace's %s. Its frames get no names. "
		 "Keep the file that was traced, or its debug file, and say where it is: --sysroot=DIR (then the file "
		 "is DIR%s) or --debug-path=DIR.",
		 path, *build_id ? build_id : "missing", object->build_id, object->path);
}

static bool is_after(int64_t sec, int64_t nsec, const struct names *names)
{
	return sec > names->start_sec || (sec == names->start_sec && nsec > names->start_nsec);
}

/* Warns about a file that may have been made after the trace. Without a build-id only the file's times can show this.
 * Packages and copies keep the mtime of the content, so the ctime is compared, too, except under --sysroot, where all
 * files are copies. */
static void check_age(struct names *names, const struct named_object *object, const struct name_file *file)
{
	const char *sysroot = names->options.sysroot;

	if (!names->has_start || names_has_build_id(object) ||
	    !(is_after((int64_t)file->key.mtime_sec, (int64_t)file->key.mtime_nsec, names) ||
	      (!sysroot && is_after(file->changed_sec, file->changed_nsec, names))) ||
	    !report_once(names, object->path))
		return;
	msg_warn("%s%s is newer than the trace, which has no build-id of it: if the file was built again since, the "
		 "names from it are wrong. Keep the file that was traced and say where it is: --sysroot=DIR (then the "
		 "file is DIR%s).",
		 sysroot ? sysroot : "", object->path, object->path);
}

/* A search for an object's file. */
struct names_search {
	struct names *names;
	const struct named_object *object;
	char *wrong_path; /* path of a file with another build-id; NULL: none */
	const char *wrong_build_id;
};

/* Returns the file at a path if it may be the object's. must_agree: the build-ids must be equal. */
static struct name_file *names_try_path(struct names_search *search, const char *path, bool must_agree)
{
	const struct named_object *object = search->object;
	struct name_file *file = file_at(search->names, path, object->path);

	if (!file || build_id_agrees(object, file))
		return file;
	if (names_has_build_id(object)) {
		if (!search->wrong_path) {
			search->wrong_path = xstrdup(path);
			search->wrong_build_id = file->build_id;
		}
		return NULL;
	}
	return must_agree ? NULL : file;
}

static struct name_file *try_paths(struct names_search *search)
{
	const struct named_object *object = search->object;
	const char *sysroot = search->names->options.sysroot;
	struct name_file *file = NULL;

	if (object->open_path)
		file = names_try_path(search, object->open_path, false);
	if (!file && sysroot) {
		char *path = xasprintf("%s%s", sysroot, object->path);

		file = names_try_path(search, path, false);
		free(path);
	}
	/* The path may be another system's (sysroot), or functrace had to open the object by another path (open_path).
	 * In both cases another file may have this path here, so the build-ids must be equal. */
	if (!file && object->path[0] == '/')
		file = names_try_path(search, object->path, sysroot || object->open_path);
	/* If no file at these paths is the object's, a separate debug file with the object's build-id may still contain
	 * the names. */
	return file ? file : file_by_build_id(search->names, object);
}

static struct name_file *names_find_file(struct names *names, const struct named_object *object)
{
	struct names_search search = {.names = names, .object = object};

	if (object->path[0] != '/' && !object->open_path)
		return NULL;
	errno = ENOENT;
	struct name_file *file = try_paths(&search);

	if (!file && search.wrong_path)
		names_report_wrong_file(names, object, search.wrong_path, search.wrong_build_id);
	else if (!file && report_once(names, object->path))
		msg_debug(DBG_SYMBOLS, 1, "%s gives no names: %s", object->path, strerror(errno));
	free(search.wrong_path);
	return file;
}

/* Finds the part of the file that was mapped at the object's range. If it cannot be determined, prints a warning and
 * returns false. */
static bool names_find_place(struct names *names, struct named_object *object, const struct name_file *file)
{
	enum name_place place = NAME_PLACE_FOUND;

	object->start = file->origin;
	/* Only functrace writes build-ids, and its ranges begin at file offset 0. */
	if (!names_has_build_id(object))
		place = name_file_place(file, object->to - object->from, &object->start);
	if (place == NAME_PLACE_FOUND)
		return true;
	if (report_once(names, object->path))
		msg_warn("the trace's address range of %s (%" PRIu64 " bytes) %s. Addresses in it get no names.%s",
			 object->path, object->to - object->from,
			 place == NAME_PLACE_SEVERAL ? "fits several parts of the file"
						     : "has neither the size of the whole file nor that of its code",
			 place == NAME_PLACE_SEVERAL ? ""
						     : " Keep the file that was traced and say where it is: "
						       "--sysroot=DIR.");
	return false;
}

static void object_find_file(struct names *names, struct named_object *object)
{
	struct name_file *file = names_find_file(names, object);

	object->is_tried = true;
	if (file && names_find_place(names, object, file)) {
		object->file = file;
		file->references++;
		check_age(names, object, file);
	}
	files_trim(names->files);
}

/* ---- Objects by position ---- */

static void object_release_file(struct names *names, struct named_object *object)
{
	if (object->file) {
		object->file->references--;
		object->file->last_used = ++names->files->clock;
	}
	object->file = NULL;
	object->is_tried = false;
}

/* Keeps the file of open_path open, unless `path` is the same file. Replaces open_path by the path of the descriptor,
 * by which the file can be opened as long as the descriptor is open. */
static void hold_file(struct names *names, struct named_object *object)
{
	struct stat st;

	if (!names->options.holds_files || !object->open_path || names->held_count == HELD_MAX)
		return;
	object->held = open(object->open_path, O_PATH | O_CLOEXEC);
	if (object->held < 0)
		return;
	if (fstat(object->held, &st) || path_leads_to(object->path, &st)) {
		close(object->held);
		object->held = -1;
		return;
	}
	names->held_count++;
	free(object->open_path);
	object->open_path = xasprintf("/proc/self/fd/%d", object->held);
}

static void named_object_free(struct names *names, struct named_object *object)
{
	object_release_file(names, object);
	if (object->held >= 0) {
		close(object->held);
		names->held_count--;
	}
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
		named_object_free(names, names->objects[i]);
	for (size_t i = 0; i < names->own.count; i++)
		name_file_free(names->own.items[i]);
	free(names->objects);
	free(names->own.items);
	free(names->own.debug_path);
	free((char *)(uintptr_t)names->options.sysroot);
	free((char *)(uintptr_t)names->options.debug_path);
	hash_free(&names->reported);
	unnamed_frames_free(&names->unnamed);
	free(names);
}

/* Returns the index of the first object that ends after the address. */
static size_t first_from(const struct names *names, uint64_t address)
{
	return COUNT_UP_TO(names->objects, names->count, ->to, address);
}

void names_add_object(struct names *names, const struct record_object *record, const char *open_path)
{
	if (record->from >= record->to)
		return;
	const size_t first = first_from(names, record->from);
	size_t last = first;
	struct named_object *object = xcalloc(1, sizeof(*object));

	while (last < names->count && names->objects[last]->from < record->to)
		named_object_free(names, names->objects[last++]);
	*object = (struct named_object){
		.from = record->from,
		.to = record->to,
		.path = xstrdup(record->path ? record->path : ""),
		.open_path = xstrdup_or_null(open_path),
		.held = -1,
	};
	hold_file(names, object);
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

static void report_without_lines(struct names *names, const struct named_object *object)
{
	const char *const reason = object->file->lacking;

	if (reason && report_once(names, reason))
		msg_warn("the debug information of %s is not read: %s. Its frames have no lines. Say where the "
			 "complete file or its debug file is: functrace-postproc -r --sysroot=DIR or --debug-path=DIR.",
			 object->path, reason);
}

size_t names_lookup(void *context, uint64_t address, const struct frame_name **lines)
{
	struct names *names = context;
	const size_t i = address ? first_from(names, address - 1) : names->count;
	size_t count = 0;

	*lines = names->result;
	names->unnamed.frames++;
	if (i == names->count || names->objects[i]->from > address - 1) {
		unnamed_frames_add(&names->unnamed, NULL, UNNAMED_NO_OBJECT);
		return 0;
	}
	struct named_object *object = names->objects[i];

	if (!object->is_tried)
		object_find_file(names, object);
	if (object->file) {
		const uint64_t back = arch_code_address(object->file->machine, address);
		const struct name_lines *found =
			name_file_lookup(object->file, back - 1 - object->from + object->start);

		report_without_lines(names, object);

		for (; count < found->count && count < RESULT_MAX; count++)
			names->result[count] = found->items[count];
	}
	if (!count) {
		unnamed_frames_add(&names->unnamed, object->path, object->file ? UNNAMED_NO_SYMBOL : UNNAMED_NO_FILE);
		names->result[count++] = (struct frame_name){0};
	}
	for (size_t n = 0; n < count; n++)
		names->result[n].module = object->path;
	return count;
}

bool names_explain(const struct names *names, struct buf *out)
{
	return unnamed_frames_explain(&names->unnamed, names->options.debuginfod, out);
}

/* Updates the list of a process's objects from its mappings. */
#include "config.h"
#include "symbols/objects/image_file.h"
#include "symbols/objects/load_layout.h"
#include "symbols/elf/elf_headers.h"
#include "symbols/elf/refused_files.h"
#include "symbols/objects/mapped_file.h"
#include "base/msg.h"
#include "base/timed.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define UNREAD_MAX 64

void object_free(struct object *object)
{
	if (!object)
		return;
	elf_file_unref(object->file);
	free(object->path);
	free(object->open_path);
	free(object->text);
	free(object);
}

struct object *object_clone(const struct object *from)
{
	struct object *to = xcalloc(1, sizeof(*to));

	*to = *from;
	elf_file_ref(to->file);
	to->path = xstrdup(from->path);
	to->open_path = xstrdup_or_null(from->open_path);
	to->text = from->text_count ? xcalloc(from->text_count, sizeof(*to->text)) : NULL;
	if (to->text)
		memcpy(to->text, from->text, from->text_count * sizeof(*to->text));
	return to;
}

/* ---- From mappings to objects ---- */

struct mapped_object_scan {
	pid_t pid;                         /* the process; not used with an image */
	const struct objects_image *image; /* NULL: the objects are those of process pid */
	/* path of the first missing file of an image; owned by the image's maps; NULL: none */
	const char *first_missing;
	size_t missing_count;
	struct maps maps;
	bool *taken;        /* mappings that are already assigned to an object, or known to belong to none */
	struct hash no_elf; /* files (device, inode) that are not objects */
	struct object **found;
	size_t count, capacity;
	struct object_list *list;
};

static uint64_t file_mix(const struct mapping *mapping)
{
	return hash_mix(mapping->inode ^ hash_mix((uint64_t)mapping->dev_major << 32 | mapping->dev_minor));
}

static bool is_vdso(const struct mapping *mapping)
{
	return !mapping->inode && !strcmp(mapping->path, "[vdso]");
}

/* Returns true if the summary at the end of the run should say that this file cannot be read. Mappings of devices,
 * shared memory and the like are not reported, because they contain no code of programs. */
static bool is_worth_a_word(const struct mapping *mapping)
{
	return mapping->path[0] == '/' && strncmp(mapping->path, "/dev/", 5) != 0 &&
	       strncmp(mapping->path, "/SYSV", 5) != 0 && strncmp(mapping->path, "/memfd:", 7) != 0;
}

static void note_unread(struct object_list *list, const struct mapping *mapping, const char *reason)
{
	if (!is_worth_a_word(mapping) || list->unread_count == UNREAD_MAX)
		return;
	char *text = xasprintf("%s: %s", mapping->path, reason);

	for (size_t i = 0; i < list->unread_count; i++)
		if (!strcmp(list->unread[i], text)) {
			free(text);
			return;
		}
	ARRAY_GROW(list->unread, list->unread_capacity, list->unread_count);
	list->unread[list->unread_count++] = text;
}

/* A mapped file, and the result of the search for it. */
struct mapped_file {
	pid_t pid;
	struct mapping mapping; /* the mapping, with its own copy of the path */
	char *open_path;
	struct elf_file *file;
	const char *reason;
};

/* Returns the ELF file of a source, from the cache of elf_file_read() if possible. */
static struct elf_file *file_of_source(const struct source *source, const char *path, const char **reason)
{
	const int fd = source_open(source);

	if (fd < 0) {
		*reason = "it cannot be opened for reading";
		return NULL;
	}
	struct elf_file *file = elf_file_read(fd, &source->st, reason);

	if (file && elf_is_cut(fd, &source->st))
		refused_say(refused_symbols, path, refused_cut);
	close(fd);
	return file;
}

static void read_mapped_file(void *context)
{
	struct mapped_file *const mapped = context;
	struct source source;

	if (!source_find(mapped->pid, &mapped->mapping, &source))
		return;
	mapped->file = file_of_source(&source, mapped->mapping.path, &mapped->reason);
	mapped->open_path = xstrdup(source.path);
	source_free(&source);
}

static void mapped_file_free(void *context)
{
	struct mapped_file *const mapped = context;

	elf_file_unref(mapped->file);
	free(mapped->open_path);
	free((char *)(uintptr_t)mapped->mapping.path);
	free(mapped);
}

/* Returns the file that was read from this mapping's memory before, so that it is not read again; returns NULL if there
 * is none. */
static struct elf_file *known_from_memory(const struct object_list *list, const struct mapping *mapping)
{
	const struct object *object = objects_find(list, mapping->start);

	if (!object || !object->file->key.from_memory || object->file->key.inode != mapping->inode ||
	    object->file->key.device != ((uint64_t)mapping->dev_major << 32 | mapping->dev_minor))
		return NULL;
	elf_file_ref(object->file);
	return object->file;
}

/* Reads the file from the memory of its mappings. */
static struct elf_file *file_of_memory(struct mapped_object_scan *scan, size_t index, const char **reason)
{
	const struct mapping *mapping = &scan->maps.items[index];
	struct elf_file *file = known_from_memory(scan->list, mapping);

	if (file)
		return file;
	const struct mapping *const first = maps_find_header(&scan->maps, index);

	if (!first) {
		*reason = "the file cannot be opened, and its header is not mapped";
		return NULL;
	}
	file = elf_file_from_process(scan->pid, first->start, first->end, false, reason);
	if (file)
		file->key = (struct elf_key){
			.device = (uint64_t)mapping->dev_major << 32 | mapping->dev_minor,
			.inode = mapping->inode,
			.from_memory = true,
		};
	return file;
}

/* Returns the path to show. The path of a deleted file ends with " (deleted)", because a later file at this path could
 * be mistaken for it. The ending is left out if the file has a build-id and a path in a file system (not
 * "/memfd:..."). */
static char *shown_path(const struct mapping *mapping, const struct elf_file *file)
{
	const bool mark = mapping->deleted &&
			  (!file->build_id[0] || mapping->path[0] != '/' || !strncmp(mapping->path, "/memfd:", 7));

	return xasprintf("%s%s", mapping->path, mark ? " (deleted)" : "");
}

static void add_found(struct mapped_object_scan *scan, struct object *object)
{
	object->base = object->bias + elf_file_origin(object->file);
	ARRAY_GROW(scan->found, scan->capacity, scan->count);
	scan->found[scan->count++] = object;
}

static void scan_vdso(struct mapped_object_scan *scan, size_t index)
{
	const struct mapping *mapping = &scan->maps.items[index];
	const char *reason = "";
	const struct object *known = objects_find(scan->list, mapping->start);
	struct elf_file *file = NULL;

	if (known && !strcmp(known->path, "[vdso]") && known->end == mapping->end) {
		file = known->file;
		elf_file_ref(file);
	} else {
		file = elf_file_from_process(scan->pid, mapping->start, mapping->end, true, &reason);
	}
	if (!file) {
		scan->taken[index] = true;
		msg_debug(DBG_SYMBOLS, 1, "[vdso] of process %d cannot be read: %s", (int)scan->pid, reason);
		return;
	}
	struct object *object = xcalloc(1, sizeof(*object));

	*object = (struct object){
		.file = file,
		.path = xstrdup("[vdso]"),
		.bias = mapping->start - elf_file_origin(file),
	};
	layout_fill(&scan->maps, index, object, scan->taken);
	object->start = mapping->start;
	object->end = object->lookup_end = mapping->end;
	add_found(scan, object);
}

/* Prints a warning, once for each file: functions whose names are only in its .symtab are not traced. */
static void report_partly_read(const struct mapping *mapping, const char *reason)
{
	static struct hash reported;

	if (hash_set(&reported, hash_bytes(mapping->path, strlen(mapping->path)), 1))
		msg_warn("%s is read from the process's memory, not from the file: %s. Functions with names only in "
			 ".symtab are not traced%s",
			 mapping->path, reason,
			 reason == timed_reason ? ". Trace again when it can be read faster."
						: ", and their frames have no names.");
}

/* Finds the file that a process has mapped, and the object's open_path. */
static void find_mapped_file(struct mapped_object_scan *scan, size_t index, struct object *object, const char **reason)
{
	struct mapped_file *const mapped = xcalloc(1, sizeof(*mapped));

	*mapped = (struct mapped_file){.pid = scan->pid, .mapping = scan->maps.items[index], .reason = *reason};
	mapped->mapping.path = xstrdup(mapped->mapping.path);
	if (!timed_do(read_mapped_file, mapped_file_free, mapped)) {
		*reason = timed_reason;
		return;
	}
	object->file = mapped->file;
	object->open_path = mapped->open_path;
	*reason = mapped->reason;
	mapped->file = NULL;
	mapped->open_path = NULL;
	mapped_file_free(mapped);
}

/* Finds the file of a mapping and the object's open_path, or sets *reason. */
static void mapped_object_find_file(struct mapped_object_scan *scan, size_t index, struct object *object,
				    const char **reason)
{
	if (scan->image) {
		object->file = image_file_find(scan->image, index, &object->open_path, reason);
		return;
	}
	find_mapped_file(scan, index, object, reason);
	/* If the mapped file cannot be read, for example because it is gone or the user has no right to read it, read
	 * it from the process's memory instead. */
	if (!object->file && *reason != elf_reason_no_elf) {
		const char *const of_file = *reason;

		free(object->open_path);
		object->open_path = NULL;
		object->file = file_of_memory(scan, index, reason);
		if (object->file && (of_file == timed_reason || elf_reason_is_excess(of_file)))
			report_partly_read(&scan->maps.items[index], of_file);
	}
}

/* Counts a missing file of an image if it may be a program or library. In core files of gdb only the path shows this,
 * because they do not contain the protection of mappings. */
static void note_missing(struct mapped_object_scan *scan, size_t index, const struct object *object)
{
	const char *const path = scan->maps.items[index].path;

	if (path[0] != '/' || (!object->file && !strstr(path, ".so") && index != 0))
		return;
	if (!scan->missing_count++)
		scan->first_missing = path;
}

static void report_missing(const struct mapped_object_scan *scan)
{
	const char *const path = scan->first_missing;

	if (scan->missing_count == 1)
		msg_warn("%s, which the process had mapped, is not here. Addresses in it get no names. Say where the "
			 "process's files are: --sysroot=DIR (then the file is DIR%s).",
			 path, path);
	else if (scan->missing_count)
		msg_warn("%zu files that the process had mapped are not here, the first is %s. Addresses in them get "
			 "no names. Say where the process's files are: --sysroot=DIR (then that file is DIR%s).",
			 scan->missing_count, path, path);
}

static void scan_file(struct mapped_object_scan *scan, size_t index)
{
	const struct mapping *mapping = &scan->maps.items[index];
	const char *reason = "";
	struct object *object = xcalloc(1, sizeof(*object));

	mapped_object_find_file(scan, index, object, &reason);
	if (reason == image_file_missing)
		note_missing(scan, index, object);
	if (object->file && !layout_find_bias(&scan->maps, index, object->file, &object->bias)) {
		reason = "an executable mapping is not one of its segments";
		elf_file_unref(object->file);
		object->file = NULL;
	} else if (!object->file) {
		hash_set(&scan->no_elf, file_mix(mapping), 1);
	}
	if (!object->file) {
		note_unread(scan->list, mapping, reason);
		object_free(object);
		return;
	}
	object->path = shown_path(mapping, object->file);
	layout_fill(&scan->maps, index, object, scan->taken);
	add_found(scan, object);
}

static void scan_mappings(struct mapped_object_scan *scan)
{
	scan->taken = xcalloc(scan->maps.count + 1, sizeof(*scan->taken));
	for (size_t i = 0; i < scan->maps.count; i++) {
		const struct mapping *mapping = &scan->maps.items[i];

		if (!mapping->exec || scan->taken[i])
			continue;
		if (is_vdso(mapping))
			scan_vdso(scan, i);
		else if (mapping->inode && !hash_get(&scan->no_elf, file_mix(mapping)))
			scan_file(scan, i);
	}
}

/* ---- Differences from the list ---- */

/* Updates an object of the list from `now`, the new struct for the same object, and frees `now`. */
static void refresh_object(struct object *kept, struct object *now)
{
	struct object old = *kept;

	kept->start = now->start;
	kept->end = now->end;
	kept->lookup_end = now->lookup_end;
	kept->open_path = now->open_path;
	kept->text = now->text;
	kept->text_count = now->text_count;
	now->open_path = old.open_path;
	now->text = old.text;
	object_free(now);
}

static int mapped_object_by_start(const void *a, const void *b)
{
	const struct object *const *left = a, *const *right = b;

	return (*left)->start < (*right)->start ? -1 : (*left)->start > (*right)->start;
}

/* Replaces the list's objects by those found in the mappings. An object that was in the list already keeps its
 * struct. */
static void mapped_object_replace(struct object_list *list, struct mapped_object_scan *scan,
				  void (*removed)(void *context, struct object *object),
				  void (*added)(void *context, struct object *object), void *context)
{
	static unsigned generations;
	const unsigned generation = ++generations;
	struct object **old = list->items;
	const size_t old_count = list->count;
	struct hash by_base = {0};

	for (size_t i = 0; i < old_count; i++)
		hash_set_ptr(&by_base, old[i]->base, old[i]);
	for (size_t i = 0; i < scan->count; i++) {
		struct object *now = scan->found[i];
		struct object *kept = hash_get_ptr(&by_base, now->base);

		now->generation = 0;
		if (kept && kept->file == now->file && kept->generation != generation &&
		    !strcmp(kept->path, now->path)) {
			refresh_object(kept, now);
			kept->generation = generation;
			scan->found[i] = kept;
		}
	}
	hash_free(&by_base);
	list->items = scan->found;
	list->count = scan->count;
	list->capacity = scan->capacity;
	if (list->count)
		qsort(list->items, list->count, sizeof(struct object *), mapped_object_by_start);
	for (size_t i = 0; i < old_count; i++) {
		if (old[i]->generation == generation)
			continue;
		if (removed)
			removed(context, old[i]);
		object_free(old[i]);
	}
	free(old);
	for (size_t i = 0; i < list->count; i++) {
		if (list->items[i]->generation == generation)
			continue;
		list->items[i]->generation = generation;
		if (added)
			added(context, list->items[i]);
	}
}

int objects_update(struct object_list *list, pid_t pid, void (*removed)(void *context, struct object *object),
		   void (*added)(void *context, struct object *object), void *context)
{
	struct mapped_object_scan scan = {.pid = pid, .list = list};
	const int error = maps_read(pid, &scan.maps);

	if (error)
		return error;
	scan_mappings(&scan);
	mapped_object_replace(list, &scan, removed, added, context);
	hash_free(&scan.no_elf);
	free(scan.taken);
	maps_free(&scan.maps);
	return 0;
}

void objects_of_image(struct object_list *list, const struct objects_image *image)
{
	struct mapped_object_scan scan = {.image = image, .list = list, .maps = *image->maps};

	scan_mappings(&scan);
	report_missing(&scan);
	mapped_object_replace(list, &scan, NULL, NULL, NULL);
	hash_free(&scan.no_elf);
	free(scan.taken);
}

void objects_free(struct object_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		object_free(list->items[i]);
	for (size_t i = 0; i < list->unread_count; i++)
		free(list->unread[i]);
	free(list->items);
	free(list->unread);
	*list = (struct object_list){0};
}

void objects_clone(const struct object_list *from, struct object_list *to)
{
	*to = (struct object_list){.count = from->count, .capacity = from->count};
	to->items = from->count ? xcalloc(from->count, sizeof(*to->items)) : NULL;
	for (size_t i = 0; i < from->count; i++)
		to->items[i] = object_clone(from->items[i]);
}

struct object *objects_find(const struct object_list *list, uint64_t address)
{
	const size_t low = COUNT_UP_TO(list->items, list->count, ->start, address);

	/* An object can be mapped into a gap of another one. */
	for (size_t i = low, n = 0; i-- > 0 && n < 8; n++)
		if (address < list->items[i]->end)
			return list->items[i];
	return NULL;
}

const struct text_range *object_text_at(const struct object *object, uint64_t address)
{
	for (size_t i = 0; i < object->text_count; i++)
		if (address >= object->text[i].start && address < object->text[i].end)
			return &object->text[i];
	return NULL;
}

#include "config.h"
#include "cli/named_files.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAMED_LINKS_MAX 40 /* maximum number of links that are followed, the same as the kernel's */

struct named_file {
	const char *option;
	char *path;
	bool is_written, exists;
	dev_t dev; /* device and inode of a file that exists */
	ino_t ino;
	char *place; /* path without links of a file that does not exist yet; NULL: unknown */
};

/* Returns the path of a link's target, which the caller frees; NULL if the path is no link. */
static char *named_files_target(const char *path, const char *folder)
{
	char target[PATH_MAX];
	const ssize_t length = readlink(path, target, sizeof(target) - 1);

	if (length < 0)
		return NULL;
	target[length] = '\0';
	return target[0] == '/' ? xstrdup(target) : xasprintf("%s/%s", folder, target);
}

/* Returns the place where a file that does not exist would be created: its path without links. If the last part of the
 * path is a link, follows it as well. Returns NULL if the folder does not exist. The caller frees the result. */
static char *named_files_place(const char *path)
{
	char *at = xstrdup(path), *place = NULL;

	for (unsigned links = 0; at && links <= NAMED_LINKS_MAX; links++) {
		const char *const slash = strrchr(at, '/');
		char *const parent = slash ? xstrndup(at, (size_t)(slash - at) + 1) : xstrdup(".");
		char *const folder = realpath(parent, NULL);

		free(parent);
		free(place);
		place = folder ? xasprintf("%s/%s", folder, slash ? slash + 1 : at) : NULL;
		char *const target = place ? named_files_target(place, folder) : NULL;

		free(folder);
		free(at);
		at = target;
	}
	free(at);
	return place;
}

void named_files_add(struct named_files *files, const char *option, const char *path, bool is_written)
{
	struct named_file file = {.option = option, .is_written = is_written};
	struct stat st;

	if (!path || !*path)
		return;
	if (!strcmp(path, "-"))
		file.exists = !fstat(is_written ? STDOUT_FILENO : STDIN_FILENO, &st);
	else if (!(file.exists = !stat(path, &st)) && errno == ENOENT)
		file.place = named_files_place(path);
	if (file.exists ? !S_ISREG(st.st_mode) : !file.place)
		return;
	if (file.exists) {
		file.dev = st.st_dev;
		file.ino = st.st_ino;
	}
	file.path = xstrdup(path);
	ARRAY_GROW(files->files, files->capacity, files->count);
	files->files[files->count++] = file;
}

void named_files_forget(struct named_files *files, const char *option)
{
	size_t count = 0;

	for (size_t i = 0; i < files->count; i++) {
		struct named_file *const file = &files->files[i];

		if (file->option && !strcmp(file->option, option)) {
			free(file->path);
			free(file->place);
		} else {
			files->files[count++] = *file;
		}
	}
	files->count = count;
}

static bool named_files_is_same(const struct named_file *one, const struct named_file *other)
{
	if (one->exists != other->exists)
		return false;
	return one->exists ? one->dev == other->dev && one->ino == other->ino : !strcmp(one->place, other->place);
}

static bool is_on_stdout(const struct named_file *file)
{
	return file->is_written && !strcmp(file->path, "-");
}

static char *clash_words(const struct named_file *output, const struct named_file *other)
{
	const char *const name = is_on_stdout(output) ? "standard output" : output->path;

	if (other->is_written)
		return xasprintf("%s is the output of both %s and %s, and can contain only one of them. Give another "
				 "file with %s.",
				 name, other->option, output->option, output->option);
	if (!other->option)
		return xasprintf("%s is an input too; writing it would destroy it. Give another file with %s.", name,
				 output->option);
	return xasprintf("%s is also read, as the file of %s; writing it would destroy it. Give another file with %s.",
			 name, other->option, output->option);
}

char *named_files_clash(const struct named_files *files)
{
	for (size_t i = 0; i < files->count; i++) {
		const struct named_file *const output = &files->files[i];

		for (size_t j = 0; output->is_written && j < files->count; j++) {
			const struct named_file *const other = &files->files[j];
			/* Each pair of outputs is compared once. Several outputs may go to standard output, one after
			 * the other. Standard output may be appended to a file that an option names, because such a
			 * file is read before anything is written. */
			const bool may_be_same = other->is_written
							 ? j >= i || (is_on_stdout(output) && is_on_stdout(other))
							 : other->option && is_on_stdout(output);

			if (!may_be_same && named_files_is_same(output, other))
				return clash_words(output, other);
		}
	}
	return NULL;
}

void named_files_free(struct named_files *files)
{
	for (size_t i = 0; i < files->count; i++) {
		free(files->files[i].path);
		free(files->files[i].place);
	}
	free(files->files);
	*files = (struct named_files){0};
}

const char *named_files_output(const char *path)
{
	static const char *const names[] = {"/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (!strcmp(path, names[i]))
			return "-";
	return path;
}

/* Finds processes by name, and names of processes: see process_search.h. */
#include "config.h"
#include "proc/process_search.h"
#include "proc/proc.h"
#include "base/buf.h"
#include "base/terminal_escape.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define COMM_MAX 15 /* length, in bytes, to which the kernel truncates a thread's name */

/* Returns a task whose /proc entry describes the process. The entry of the first thread has neither program nor command
 * line after the thread has ended. */
static pid_t task_of(pid_t pid)
{
	const pid_t live = proc_live_thread(pid);

	return live ? live : pid;
}

/* Returns the path of the process's program; NULL: unknown. */
static char *program_of(pid_t pid)
{
	char *const path = proc_link(task_of(pid), "exe");

	if (path)
		proc_path_take_deleted(path);
	return path;
}

/* Returns the file name of the process's program; NULL: unknown. */
static char *process_file_of(pid_t pid)
{
	char *const path = program_of(pid), *const file = path ? xstrdup(path_name(path)) : NULL;

	free(path);
	return file;
}

/* Returns the words of the command line, each with a NUL. */
static char *command_line(pid_t pid, size_t *size)
{
	return proc_read(task_of(pid), "cmdline", size);
}

/* Returns the first word of the command line, without directories: "bash" if the word is "-bash" (a login shell), and
 * "nginx" if it is "nginx:" (a title). NULL: there is none. */
static char *process_first_word(const char *line)
{
	const char *word = line ? line : "";
	char *first = xstrndup(word, strcspn(word, " "));
	char *name = xstrdup(path_name(first[0] == '-' ? first + 1 : first));
	const size_t length = strlen(name);

	free(first);
	if (length && name[length - 1] == ':')
		name[length - 1] = '\0';
	if (*name)
		return name;
	free(name);
	return NULL;
}

/* Returns true if `comm` is `name`, which the kernel truncates to COMM_MAX bytes. */
static bool process_begins(const char *comm, const char *name)
{
	return name && !strncmp(comm, name, COMM_MAX);
}

/* Returns the word of a script's command line that names the script, with its path; NULL: there is none. */
static const char *script_word(const char *line, size_t size, const char *comm)
{
	const char *word = line;

	for (unsigned n = 0; word && n < 4 && (size_t)(word - line) < size; n++, word += strlen(word) + 1)
		if (n && process_begins(comm, path_name(word)))
			return word;
	return NULL;
}

char *process_started_name(pid_t pid)
{
	size_t size = 0;
	char *comm = proc_comm(pid, pid), *line = command_line(pid, &size), *file = process_file_of(pid);
	char *word = process_first_word(line), *name;
	const char *script = comm && line ? script_word(line, size, comm) : NULL;

	if (!comm)
		name = xstrdup("?");
	else if (process_begins(comm, word))
		name = xstrdup(word);
	else if (script)
		name = xstrdup(path_name(script));
	else if (process_begins(comm, file))
		name = xstrdup(file);
	else
		/* The process has renamed its first thread ("MainThread"). If the program's file name begins with the
		 * first word of the command line (python3 in python3.11), this word is the name. */
		name = xstrdup(word && file && !strncmp(file, word, strlen(word)) ? word : comm);
	free(comm);
	free(line);
	free(file);
	free(word);
	return name;
}

char *process_command(pid_t pid, size_t most)
{
	size_t size = 0;
	char *line = command_line(pid, &size);

	while (line && size && !line[size - 1])
		size--;
	if (!line || !size) {
		char *const name = process_started_name(pid), *const text = xasprintf("[%s]", name);

		plain_mask(text, strlen(text), '?');
		free(line);
		free(name);
		return text;
	}
	plain_mask(line, size, ' ');
	char *const text = size > most ? xasprintf("%.*s...", (int)most - 3, line) : xstrndup(line, size);

	free(line);
	return text;
}

static int process_by_number(const void *a, const void *b)
{
	const pid_t x = *(const pid_t *)a, y = *(const pid_t *)b;

	return (x > y) - (x < y);
}

pid_t *processes_all(size_t *count)
{
	DIR *folder = opendir("/proc");
	const struct dirent *entry;
	size_t capacity = 0;
	pid_t *pids = NULL;

	*count = 0;
	while (folder && (entry = readdir(folder))) {
		const pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);

		if (pid <= 0 || pid == getpid())
			continue;
		ARRAY_GROW(pids, capacity, *count);
		pids[(*count)++] = pid;
	}
	if (folder)
		closedir(folder);
	if (pids)
		qsort(pids, *count, sizeof(*pids), process_by_number);
	return pids;
}

/* Returns the living processes for which wanted(pid, context) is true. */
static pid_t *select_processes(size_t *count, bool (*wanted)(pid_t pid, const void *context), const void *context)
{
	size_t all;
	pid_t *pids = processes_all(&all);

	*count = 0;
	for (size_t i = 0; i < all; i++)
		if (wanted(pids[i], context) && proc_live_thread(pids[i]))
			pids[(*count)++] = pids[i];
	return pids;
}

static bool is_child(pid_t pid, const void *parent)
{
	return proc_parent(pid) == *(const pid_t *)parent;
}

static bool process_is_named(pid_t pid, const void *name)
{
	char *known = process_started_name(pid), *file = process_file_of(pid);
	/* A kernel thread has a name, but no program. */
	const bool named = file && (!strcmp(known, name) || !strcmp(file, name));

	free(known);
	free(file);
	return named;
}

/* Returns true if a word of the command line is a path of the file, absolute or relative to the process's working
 * directory. */
static bool is_word_for(pid_t pid, const char *word, const struct stat *file)
{
	char *path = *word == '/' ? xstrdup(word) : xasprintf("/proc/%d/cwd/%s", task_of(pid), word);
	const bool same = path_leads_to(path, file);

	free(path);
	return same;
}

/* The words by which a process was started. */
struct start_words {
	char *program, *line, *comm; /* NULL: unknown */
	const char *script;          /* a word of `line`, or NULL */
};

static struct start_words start_words_of(pid_t pid)
{
	size_t size = 0;
	struct start_words words = {
		.program = program_of(pid), .line = command_line(pid, &size), .comm = proc_comm(pid, pid)};

	words.script = words.comm && words.line ? script_word(words.line, size, words.comm) : NULL;
	return words;
}

static void start_words_free(struct start_words *words)
{
	free(words->program);
	free(words->line);
	free(words->comm);
}

/* Returns true if the process runs the program or script at `path`: if this is the path of its program, even if that
 * file was deleted or replaced; or if the file at `path` is its program, its script, or the file that the first word of
 * its command line names. */
static bool is_run_by(pid_t pid, const void *path)
{
	struct start_words words = start_words_of(pid);
	struct stat file = {0};
	const bool exists = stat(path, &file) == 0;
	char *const link = proc_path(task_of(pid), "exe");
	/* A word without a '/' was found in PATH, not in the working directory. */
	const char *const started = words.line && strchr(words.line, '/') ? words.line : NULL;
	const bool found = words.program &&
			   (!strcmp(words.program, path) ||
			    (exists && (path_leads_to(link, &file) || (started && is_word_for(pid, started, &file)) ||
					(words.script && is_word_for(pid, words.script, &file)))));

	start_words_free(&words);
	free(link);
	return found;
}

/* Returns true if `path` is, as text, the first word or the script in the command line of the process. The process may
 * have been started in another folder, where this path leads to another file. */
static bool is_started_as(pid_t pid, const void *path)
{
	struct start_words words = start_words_of(pid);
	const bool found = words.program &&
			   ((words.line && !strcmp(words.line, path)) || (words.script && !strcmp(words.script, path)));

	start_words_free(&words);
	return found;
}

pid_t *process_children(pid_t pid, size_t *count)
{
	return select_processes(count, is_child, &pid);
}

static bool is_in_memory(pid_t pid, const void *other)
{
	const pid_t one = *(const pid_t *)other;

	return pid != one && processes_share_memory(pid, one);
}

bool processes_share_memory(pid_t one, pid_t other)
{
	const pid_t a = proc_live_thread(one), b = proc_live_thread(other);
	bool known;

	return a && b && proc_same_memory(a, b, &known);
}

pid_t *processes_in_memory(pid_t pid, size_t *count)
{
	return select_processes(count, is_in_memory, &pid);
}

pid_t *processes_named(const char *name, size_t *count)
{
	if (!strchr(name, '/'))
		return select_processes(count, process_is_named, name);
	pid_t *const pids = select_processes(count, is_run_by, name);

	if (*count)
		return pids;
	free(pids);
	return select_processes(count, is_started_as, name);
}

/* Returns true if the process belongs to another user, its program cannot be read, and `name` is its name or the first
 * word of its command line. The kernel lets every user read the name and the command line. */
static bool is_named_of_another(pid_t pid, const void *name)
{
	const long owner = proc_owner(pid);
	size_t size = 0;

	if (owner < 0 || (uid_t)owner == geteuid())
		return false;
	char *const known = process_started_name(pid), *const file = process_file_of(pid),
		    *const line = command_line(pid, &size);
	const bool named = !file && line && size && (!strcmp(known, name) || !strcmp(line, name));

	free(known);
	free(file);
	free(line);
	return named;
}

pid_t process_of_another_named(const char *name)
{
	size_t count;
	pid_t *const pids = select_processes(&count, is_named_of_another, name);
	const pid_t first = count ? pids[0] : 0;

	free(pids);
	return first;
}

bool process_has_other_mounts(pid_t pid)
{
	char path[32], root[8];
	struct stat own, its;

	snprintf(path, sizeof(path), "/proc/%d/root", pid);
	if (readlink(path, root, sizeof(root)) != 1 || root[0] != '/')
		return false;
	snprintf(path, sizeof(path), "/proc/%d/ns/mnt", pid);
	return stat("/proc/self/ns/mnt", &own) == 0 && stat(path, &its) == 0 &&
	       (own.st_dev != its.st_dev || own.st_ino != its.st_ino);
}

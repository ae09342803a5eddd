#include "config.h"
#include "live/watched.h"
#include "analysis/select/split.h"
#include "analysis/trace_writer.h"
#include "proc/proc.h"
#include "proc/process_search.h"
#include "trace/note_end.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Returns true if the record belongs to the shown process. A trace may have the records of several processes, but an
 * account has the sums of one. So if no process was chosen, sets watched->reason when a second process begins. */
static bool belongs_here(struct watched *watched, const struct record *record)
{
	const struct account *account = &watched->account;
	const struct record_process *process = &record->process;

	if (record->type != RECORD_PROCESS)
		return !watched->is_other;
	watched->is_other = watched->chosen_pid && !(process->has_pid && process->pid == watched->chosen_pid);
	if (watched->is_other)
		return false;
	if (!account->has_process)
		watched->key = split_key_of(process);
	else if (split_key_of(process) != watched->key)
		watched->reason = xstrdup(watched->chosen_pid
						  ? "several processes have this number, on several hosts or one after "
						    "another, and the view shows one: give it the rows of one"
						  : "the trace has several processes, and the view shows one: choose "
						    "it with --pid");
	return !watched->reason;
}

static bool read_record(struct watched *watched)
{
	struct record record;
	uint64_t calls;
	const int status = reader_next(watched->reader, &record);

	pthread_mutex_lock(watched->lock);
	if (status == 1 && belongs_here(watched, &record)) {
		output_feed_names(watched->names, &watched->account.objects, &record);
		account_put(&watched->account, &record);
		if (record.type == RECORD_NOTE && note_unread_calls_parse(record.note.text, &calls))
			watched->unread += calls;
	}
	if (status < 0)
		watched->reason = xstrdup(reader_error(watched->reader));
	watched->has_ended = status != 1 || watched->reason;
	const bool goes_on = !watched->has_ended;

	pthread_mutex_unlock(watched->lock);
	return goes_on;
}

static void end_reader(struct watched *watched)
{
	if (watched->reader)
		reader_close(watched->reader);
	else
		close(watched->fd);
}

/* The function of the reading thread: waits until the trace begins, and reads its records. */
static void *watched_read_records(void *context)
{
	struct watched *const watched = context;
	char error[512] = "";

	if (watched->fd >= 0)
		watched->reader = reader_new(watched->fd, &(struct reader_options){0}, error, sizeof(error));
	while (watched->reader && read_record(watched))
		;
	if (!watched->reader) {
		pthread_mutex_lock(watched->lock);
		watched->has_ended = true;
		watched->reason = xstrdup(error);
		pthread_mutex_unlock(watched->lock);
	}
	/* Close the descriptor now: the process may stay in the view for long, and other processes need descriptors. */
	if (watched->fd >= 0)
		end_reader(watched);
	return NULL;
}

struct watched *watched_new(int fd, struct reader *reader, uint32_t pid, struct profile *profile,
			    const struct names_options *options, pthread_mutex_t *lock)
{
	struct watched *const watched = xcalloc(1, sizeof(*watched));

	*watched = (struct watched){.fd = fd, .reader = reader, .lock = lock, .chosen_pid = pid};
	pthread_mutex_lock(lock);
	watched->names = names_new(options);
	pthread_mutex_unlock(lock);
	watched->resolver =
		(struct resolver){.profile = profile, .account = &watched->account, .names = watched->names};
	errno = pthread_create(&watched->thread, NULL, watched_read_records, watched);
	if (!errno)
		return watched;
	const int error = errno;

	names_free(watched->names);
	free(watched);
	if (fd >= 0)
		close(fd);
	errno = error;
	return NULL;
}

void watched_free(struct watched *watched)
{
	pthread_join(watched->thread, NULL);
	pthread_mutex_lock(watched->lock);
	resolver_free(&watched->resolver);
	names_free(watched->names);
	account_free(&watched->account);
	pthread_mutex_unlock(watched->lock);
	for (size_t i = 0; i < watched->looks_count; i++)
		free(watched->looks[i].sites);
	free(watched->looks);
	free(watched->program);
	free(watched->program_path);
	free(watched->reason);
	free(watched);
}

/* Returns the length of the program's path in the account's name. The names of rows say that they are estimates. */
static size_t watched_path_length(const struct account *account)
{
	const char *const more = account->intervals.count ? strstr(account->name, " (estimates of ") : NULL;

	return more ? (size_t)(more - account->name) : strlen(account->name);
}

/* Finds the name by which the program was started. It may be the name of a link to the program's file (redis-server,
 * which links to redis-check-rdb), but the trace contains only the path of the file. The name can be found only while
 * the program is running; otherwise the function returns the file's name. */
const char *watched_program(struct watched *watched)
{
	const struct account *account = &watched->account;

	if (!account->name)
		return NULL;
	char *const path = xstrndup(account->name, watched_path_length(account));

	if (watched->program && !strcmp(watched->program_path, path)) {
		free(path);
		return watched->program;
	}
	char *const running = proc_link((pid_t)account->pid, "exe");
	const bool is_running = running && !strcmp(running, path);

	free(watched->program);
	free(watched->program_path);
	watched->program = is_running ? process_started_name((pid_t)account->pid) : xstrdup(path_name(path));
	watched->program_path = path;
	free(running);
	return watched->program;
}

/* Returns the name under which the view shows an object. */
static const char *watched_module_name(const struct watched *watched, const char *path)
{
	return watched->program && !strcmp(path, watched->program_path) ? watched->program : path_name(path);
}

void watched_add_place(const struct watched *watched, const struct profile_frame *frame, struct buf *text)
{
	if (frame->file)
		buf_printf(text, " at %s:%u", path_name(frame->file), frame->line);
	else if (frame->module)
		buf_printf(text, " from %s", watched_module_name(watched, frame->module));
}

/* Finds the names of the site's frames; before that, drops all known names if the mapped objects have changed. */
void watched_resolve(struct watched *watched, const struct site *site)
{
	if (watched->epoch != watched->account.objects.epoch)
		resolver_forget(&watched->resolver);
	watched->resolver.frame_count = 0;
	if (site->stack)
		resolve_stack(&watched->resolver, site->stack);
	watched->epoch = watched->account.objects.epoch;
}

const struct resource_account *watched_resource(const struct watched *watched, const char *type, size_t *index)
{
	const struct resources *resources = &watched->account.resources;

	for (*index = 0; *index < resources->count; ++*index)
		if (!strcmp(resources->items[*index]->type, type))
			return resource_account_of(resources->items[*index]);
	return NULL;
}

/* Allocates space for new sites. */
static void grow_looks(struct looks *looks, size_t count)
{
	if (count <= looks->count)
		return;
	const size_t capacity = count + count / 2 + 64;

	looks->sites = xreallocarray(looks->sites, capacity, sizeof(*looks->sites));
	memset(looks->sites + looks->count, 0, (capacity - looks->count) * sizeof(*looks->sites));
	looks->count = capacity;
}

/* Counts blocks from before the trace as alive at the start, even if the record of the baseline was read later. */
static void note_baseline_blocks(struct looks *looks, const struct resource_account *account)
{
	const struct site *site = account->before;

	if (!site || site->tally.calls == looks->before.calls)
		return;
	/* The account takes a block of the baseline back if the call that allocated the block follows in the trace. */
	struct tally found = site->tally, taken_back = looks->before;

	tally_subtract(&found, &looks->before);
	tally_subtract(&taken_back, &site->tally);
	struct site_looks *const of = &looks->sites[site->number];
	struct tally *const lives[] = {&of->base, &of->last.live, &of->newest.live, &looks->base_live};
	uint64_t *const calls[] = {&of->last.calls, &of->newest.calls, &looks->last_calls, &looks->newest_calls};

	for (size_t i = 0; i < ARRAY_SIZE(lives); i++) {
		tally_join(lives[i], &found);
		tally_subtract(lives[i], &taken_back);
	}
	for (size_t i = 0; i < ARRAY_SIZE(calls); i++)
		*calls[i] += found.calls - taken_back.calls;
	looks->before = site->tally;
}

struct looks *watched_looks(struct watched *watched, size_t index, const struct resource_account *account)
{
	while (watched->looks_count <= index) {
		watched->looks = xreallocarray(watched->looks, watched->looks_count + 1, sizeof(*watched->looks));
		watched->looks[watched->looks_count++] = (struct looks){0};
	}
	struct looks *const looks = &watched->looks[index];

	grow_looks(looks, account->by_stack.site_count);
	note_baseline_blocks(looks, account);
	return looks;
}

static void for_each_resource(struct watched *watched, void (*note)(struct looks *, const struct resource_account *))
{
	for (size_t i = 0; i < watched->account.resources.count; i++) {
		const struct resource_account *account = resource_account_of(watched->account.resources.items[i]);

		if (account)
			note(watched_looks(watched, i, account), account);
	}
}

static void note_update(struct looks *looks, const struct resource_account *account)
{
	for (size_t i = 0; i < account->by_stack.site_count; i++) {
		const struct site *site = account->by_stack.sites[i];
		struct site_looks *const of = &looks->sites[site->number];

		of->last = of->newest;
		of->newest = (struct site_look){site->live, site->tally.calls};
	}
	looks->last_calls = looks->newest_calls;
	looks->newest_calls = account->allocations.calls + account->others.calls;
}

void watched_note_update(struct watched *watched)
{
	for_each_resource(watched, note_update);
}

static void note_baseline(struct looks *looks, const struct resource_account *account)
{
	for (size_t i = 0; i < account->by_stack.site_count; i++) {
		const struct site *site = account->by_stack.sites[i];

		looks->sites[site->number].base = site->live;
	}
	looks->base_live = account->live;
}

void watched_note_baseline(struct watched *watched)
{
	for_each_resource(watched, note_baseline);
}

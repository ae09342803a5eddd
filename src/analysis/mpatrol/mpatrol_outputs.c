#include "config.h"
#include "analysis/mpatrol/mpatrol_outputs.h"
#include "analysis/mpatrol/mpatrol_parts.h"
#include "base/buf.h"
#include "base/msg.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct mpatrol_outputs {
	struct stage stage;
	struct mpatrol_outputs_options options;
	struct mpatrol_events *events; /* NULL before the first record */
	struct omissions omissions;
	struct object_map objects;
	bool wide;
	struct mpatrol_table table; /* the `file` of each output is NULL if it is not wanted */
	struct mpatrol_sim sim;
	FILE *hatf;
};

static void take_event(void *context, const struct mpatrol_event *event)
{
	struct mpatrol_outputs *outputs = context;

	if (outputs->table.file)
		mpatrol_table_put(&outputs->table, event);
	if (outputs->hatf)
		mpatrol_hatf_put(outputs->hatf, outputs->wide, event);
	if (outputs->sim.file)
		mpatrol_sim_put(&outputs->sim, event);
}

static int mpatrol_outputs_open_file(const struct output_target *target, uint32_t pid, const char *suffix, FILE **file)
{
	char *name = NULL;
	const int fd = output_target_open(target, pid, suffix, &name);

	free(name);
	if (fd < 0)
		return fd;
	*file = fdopen(fd, "w");
	if (*file)
		return 0;
	close(fd);
	return -errno;
}

/* mptrace calls standard output "stdout". */
static const char *path_of(const char *path)
{
	return strcmp(path, "stdout") ? path : "-";
}

static int open_files(struct mpatrol_outputs *outputs, uint32_t pid)
{
	const struct mpatrol_outputs_options *options = &outputs->options;
	int error = 0;

	if (options->wants_table)
		error = mpatrol_outputs_open_file(&options->table, pid, ".mpatrol.txt", &outputs->table.file);
	if (!error && options->hatf_path)
		error = mpatrol_outputs_open_file(&(struct output_target){.path = path_of(options->hatf_path),
									  .input = options->input,
									  .option = "--hatf-file"},
						  pid, ".hatf", &outputs->hatf);
	if (!error && options->sim_path)
		error = mpatrol_outputs_open_file(&(struct output_target){.path = path_of(options->sim_path),
									  .input = options->input,
									  .option = "--sim-file"},
						  pid, ".c", &outputs->sim.file);
	return error;
}

static int mpatrol_outputs_begin(struct mpatrol_outputs *outputs, const struct record *record)
{
	const struct mpatrol_outputs_options *options = &outputs->options;
	const bool has_process = record->type == RECORD_PROCESS;
	const struct mpatrol_events_options events = {
		.namer = options->names ? names_lookup : NULL,
		.namer_context = options->names,
		.emit = take_event,
		.context = outputs,
		.omissions = &outputs->omissions,
	};

	outputs->wide = !has_process || record_process_is_wide(&record->process);
	const int error = open_files(outputs, has_process ? record->process.pid : 0);

	if (error)
		return error;
	outputs->events = mpatrol_events_new(&events);
	outputs->table.wide = outputs->wide;
	if (outputs->table.file && options->is_live)
		setlinebuf(outputs->table.file);
	if (outputs->hatf && options->is_live)
		setlinebuf(outputs->hatf);
	if (outputs->table.file)
		mpatrol_table_begin(&outputs->table);
	if (outputs->hatf)
		mpatrol_hatf_begin(outputs->hatf, options->input_name);
	if (outputs->sim.file)
		mpatrol_sim_begin(&outputs->sim, options->input_name);
	return 0;
}

static int mpatrol_outputs_put(struct stage *stage, const struct record *record)
{
	struct mpatrol_outputs *outputs = (struct mpatrol_outputs *)stage;
	const int error = outputs->events ? 0 : mpatrol_outputs_begin(outputs, record);

	if (error)
		return error;
	output_feed_names(outputs->options.names, &outputs->objects, record);
	mpatrol_events_put(outputs->events, record);
	return 0;
}

/* Closes a file. Returns `error`. If that is 0 and the file could not be written, returns a negative errno after a
 * message. */
static int close_file(FILE **file, const char *what, int error)
{
	if (!*file)
		return error;
	const bool failed = ferror(*file);

	errno = EIO;
	if ((fclose(*file) != 0 || failed) && !error) {
		error = -errno;
		msg_error("cannot write %s: %s; the output is incomplete. Give another place.", what, strerror(errno));
	}
	*file = NULL;
	return error;
}

static int mpatrol_outputs_finish(struct stage *stage)
{
	struct mpatrol_outputs *outputs = (struct mpatrol_outputs *)stage;
	struct buf words = {0};
	int error = 0;

	if (!outputs->events)
		return 0;
	mpatrol_events_finish(outputs->events);
	if (outputs->table.file)
		mpatrol_table_end(&outputs->table);
	if (outputs->sim.file)
		mpatrol_sim_end(&outputs->sim);
	error = close_file(&outputs->table.file, "the table", error);
	error = close_file(&outputs->hatf, "the HATF file", error);
	error = close_file(&outputs->sim.file, "the program", error);
	if (omissions_words(&words, &outputs->omissions, OMISSIONS_CALL))
		msg_warn("left out: %s", buf_str(&words));
	buf_free(&words);
	return error;
}

static void outputs_free(struct stage *stage)
{
	struct mpatrol_outputs *outputs = (struct mpatrol_outputs *)stage;

	if (outputs->events)
		mpatrol_events_free(outputs->events);
	object_map_free(&outputs->objects);
	mpatrol_sim_free(&outputs->sim);
	mpatrol_table_free(&outputs->table);
	if (outputs->table.file)
		fclose(outputs->table.file);
	if (outputs->hatf)
		fclose(outputs->hatf);
	if (outputs->sim.file)
		fclose(outputs->sim.file);
	free(outputs);
}

struct stage *mpatrol_outputs_new(const struct mpatrol_outputs_options *options)
{
	struct mpatrol_outputs *outputs = xcalloc(1, sizeof(*outputs));

	*outputs = (struct mpatrol_outputs){
		.stage = {.put = mpatrol_outputs_put, .finish = mpatrol_outputs_finish, .free = outputs_free},
		.options = *options,
	};
	return &outputs->stage;
}

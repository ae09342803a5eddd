#include "config.h"
#include "analysis/mpatrol/mpatrol_outputs.h"
#include "analysis/mpatrol/mpatrol_parts.h"
#include "analysis/stream.h"
#include "base/buf.h"
#include "base/msg.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct mpatrol_outputs {
	struct stage stage;
	struct mpatrol_outputs_options options;
	struct mpatrol_events *events; /* NULL before the first record */
	struct omissions omissions;
	struct object_map objects;
	bool wide;
	/* The streams to which the parts of the output (mpatrol_parts.h) write. If a part is not wanted, its file is
	 * NULL. */
	struct stream table_stream, hatf_stream, sim_stream;
	struct mpatrol_table table;
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

static int open_file(struct mpatrol_outputs *outputs, const char *path, const char *option, uint32_t pid,
		     const char *suffix, struct stream *stream)
{
	const struct output_target target = {.path = path, .input = outputs->options.input, .option = option};

	return stream_open(stream, &target, pid, suffix);
}

static int open_files(struct mpatrol_outputs *outputs, uint32_t pid)
{
	const struct mpatrol_outputs_options *options = &outputs->options;
	int error = 0;

	if (options->wants_table)
		error = stream_open(&outputs->table_stream, &options->table, pid, ".mpatrol.txt");
	if (!error && options->hatf_path)
		error = open_file(outputs, options->hatf_path, "--hatf-file", pid, ".hatf", &outputs->hatf_stream);
	if (!error && options->sim_path)
		error = open_file(outputs, options->sim_path, "--sim-file", pid, ".c", &outputs->sim_stream);
	outputs->table.file = outputs->table_stream.out;
	outputs->hatf = outputs->hatf_stream.out;
	outputs->sim.file = outputs->sim_stream.out;
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

/* Closes all streams. error: as in stream_close(). */
static int close_files(struct mpatrol_outputs *outputs, int error)
{
	error = stream_close(&outputs->table_stream, error);
	error = stream_close(&outputs->hatf_stream, error);
	return stream_close(&outputs->sim_stream, error);
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
	error = close_files(outputs, 0);
	if (omissions_words(&words, &outputs->omissions, OMISSIONS_CALL))
		msg_warn("the output has no place for these, which were left out: %s", buf_str(&words));
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
	close_files(outputs, -ECANCELED);
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

#include "config.h"
#include "postproc/postproc_run.h"
#include "analysis/select/unmatched_filters.h"
#include "analysis/clock.h"
#include "analysis/leaks/sp_rtrace_order.h"
#include "analysis/leaks/leaks.h"
#include "analysis/mpatrol/mpatrol_outputs.h"
#include "analysis/object_map.h"
#include "analysis/leaks/reorder.h"
#include "analysis/leaks/min_count.h"
#include "analysis/select/split.h"
#include "analysis/leaks/leak_summary.h"
#include "analysis/trim.h"
#include "analysis/unused_threads.h"
#include "base/msg.h"
#include "base/terminal_escape.h"
#include "profile/profile_stage.h"
#include "report/stats_report.h"
#include "trace/note_end.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { STAGES_MAX = 13 };

struct postproc_run_state;

/* The stages through which the records of one process pass. */
struct postproc_run_chain {
	struct postproc_run_state *run;
	struct names *names; /* NULL if no names are needed */
	/* All stages, from the last to the first. The chain owns them. */
	struct stage *stages[STAGES_MAX];
	size_t stage_count;
	struct stage *prepare, *summary;
	struct stage *unmatched, *select; /* NULL if not needed */
	struct stage *clock;              /* NULL if all calls are shown, without filters */
	struct filter filter;
	struct stack_filter *stack_filter; /* NULL if no filter needs names */
	struct stats_options stats;        /* for --stats */
};

struct postproc_run_state {
	const struct postproc_options *options;
	struct postproc_input *input;
	struct output_sequence *sequence; /* NULL if there is only one input */
	struct views *views;              /* NULL if there are no views */
	/* the chain of each process; the first one is made before its process is known */
	struct postproc_run_chain **chains;
	size_t chain_count, chain_capacity;
	bool has_begun; /* a process record was passed to the first chain */
	struct stage *split;
	bool learned;   /* learn_late_objects() has read the input in advance */
	bool has_texts; /* the trace itself contains the names of frames */
	bool was_read;  /* the trace was read as far as it can be read; no stage has ended reading early */
	/* finds out if the trace has an end note; one struct is enough, because in formats with such notes a trace has
	 * one process */
	struct trace_end end;
};

/* If the record is an object that replaces no other, or the build-id of such an object, passes it in advance to the
 * stages that need it. Objects that replace others are passed only when their records are reached. *is_new: whether the
 * last object replaced no other; the record of its build-id may follow. */
static void learn_object(const struct postproc_run_chain *chain, struct object_map *objects, bool *is_new,
			 const struct record *record)
{
	if (record->type == RECORD_BUILD_ID && *is_new && chain->names)
		names_add_build_id(chain->names, &record->build_id);
	if (record->type != RECORD_OBJECT)
		return;
	*is_new = object_map_check(objects, &record->object) == OBJECT_NEW;
	if (!*is_new)
		return;
	object_map_put(objects, &record->object);
	if (chain->names)
		names_add_object(chain->names, &record->object, NULL);
	if (chain->unmatched)
		unmatched_filters_learn(chain->unmatched, &record->object);
	if (chain->select)
		select_learn(chain->select, &record->object);
}

/* Reads the objects in advance, if a stage needs them and the input can be read twice, because sp-rtrace may write an
 * object after calls whose stacks contain it, even at the end of the trace. */
static void learn_late_objects(struct postproc_run_state *run)
{
	const struct reader_options options = {.encoding = run->options->reading.input_encoding,
					       .layout = run->options->reading.layout};
	const struct postproc_run_chain *chain = run->chains[0];
	struct object_map objects = {0};
	struct record record;
	bool is_new = false;
	char error[512];

	if ((!chain->names && !run->options->select.call_address) || run->options->reading.follow ||
	    !postproc_input_is_file(run->input))
		return;
	char *path = xasprintf("/proc/self/fd/%d", run->input->fd);
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct reader *reader = fd < 0 ? NULL : reader_new(fd, &options, error, sizeof(error));

	while (reader && reader_next(reader, &record) == 1 && reader_is_compat(reader))
		learn_object(chain, &objects, &is_new, &record);
	run->learned = reader;
	if (reader)
		reader_close(reader);
	else if (fd >= 0)
		close(fd);
	object_map_free(&objects);
	free(path);
}

static bool is_compat(void *context)
{
	const struct postproc_run_state *run = context;

	if (!encoding_can(run->options->writing.output_encoding, ENCODING_COMPAT))
		return false;
	return run->options->writing.dialect == DIALECT_AS_INPUT ? reader_is_compat(run->input->reader)
								 : run->options->writing.dialect == DIALECT_COMPAT;
}

static bool wants_layout(void *context)
{
	const struct postproc_run_state *run = context;

	return is_compat(context) && encoding_can(run->options->writing.output_encoding, ENCODING_COMPAT_LAYOUT);
}

static struct stage *add_stage(struct postproc_run_chain *chain, struct stage *stage)
{
	chain->stages[chain->stage_count++] = stage;
	return stage;
}

/* Returns true if a stage before the output filters by names. */
static bool filters_names(const struct postproc_options *options)
{
	return options->filters.stacks.pattern_count || options->filters.stacks.suppressions;
}

/* Returns true if an option other than --suppressions filters calls. */
static bool filters_calls(const struct postproc_options *options)
{
	const struct select_options *select = &options->select;

	return select->include || select->exclude || select->call_address || select->by_context ||
	       postproc_filters_want(&options->filters) || options->filters.stacks.pattern_count;
}

/* Returns true if the output contains only blocks that are live at the end: with -l, --between or --older. */
static bool is_of_alive(const struct postproc_options *options)
{
	return options->leaks || filter_options_want_alive(&options->filters.filter);
}

/* Returns the clock, or NULL. Stages are made from the last to the first. The clock's stage is an exception: it is made
 * first, because other stages need its address, but it gets each record before the stages that use the clock. */
static const struct trace_clock *trace_clock_of(const struct postproc_run_chain *chain)
{
	return chain->clock ? clock_of(chain->clock) : NULL;
}

static struct stage *make_output(struct postproc_run_chain *chain)
{
	struct postproc_run_state *run = chain->run;
	const struct postproc_options *options = run->options;
	const struct output_target target = {.path = options->writing.output,
					     .input = run->input->fd,
					     .input_path = run->input->path,
					     .sequence = run->sequence};

	if (options->resolve || run->views || filters_names(options))
		chain->names = names_new(&options->names);
	if (run->views)
		return views_stage(run->views, chain->names, trace_clock_of(chain), &target);
	struct names *const shown = options->resolve ? chain->names : NULL;

	if (options->resolve && !postproc_wants_mpatrol(options) &&
	    !encoding_can(options->writing.output_encoding, ENCODING_NAMES))
		msg_warn("only the formats %s have a place for names; -r does nothing with -f %s",
			 encoding_names(ENCODING_WRITE | ENCODING_NAMES),
			 encoding_name(options->writing.output_encoding));
	if (options->stats) {
		chain->stats =
			(struct stats_options){.target = target, .names = shown, .selection = &options->filters.words};
		return profile_stage_new(&(struct profile_stage_options){
			.names = shown, .done = stats_report, .context = &chain->stats});
	}
	if (postproc_wants_mpatrol(options)) {
		const struct mpatrol_outputs_options outputs = {
			.wants_table = options->mpatrol_table,
			.table = target,
			.hatf_path = options->writing.hatf_path,
			.sim_path = options->writing.sim_path,
			.input_name = run->input->name,
			.input = run->input->fd,
			.is_live = options->reading.follow || !postproc_input_is_file(run->input),
			.names = shown,
		};

		return mpatrol_outputs_new(&outputs);
	}
	const struct output_options output = {
		.target = target,
		.encoding = options->writing.output_encoding,
		.writer = {.line_buffered = options->reading.follow, .cycle_size = options->writing.cycle_size},
		.packing = options->writing.packing,
		.is_compat = is_compat,
		.is_compat_context = run,
		.names = shown,
	};

	return output_new(&output);
}

/* Makes the stage that selects calls. */
static struct stage *make_select(struct postproc_run_chain *chain, struct stage *next, bool is_trace)
{
	const struct postproc_options *options = chain->run->options;
	struct select_options select = options->select;

	select.by_allocation = !is_trace;
	if (filters_names(options))
		chain->stack_filter = stack_filter_new(&options->filters.stacks, chain->names);
	chain->filter = (struct filter){
		.options = options->filters.filter,
		.clock = trace_clock_of(chain),
		.judge = chain->stack_filter ? stack_filter_judge(chain->stack_filter) : NULL,
	};
	if (postproc_filters_want(&options->filters) || chain->stack_filter)
		select.filter = &chain->filter;
	if (chain->summary && chain->stack_filter) {
		summary_sources(chain->summary)->lines = stack_filter_suppressed;
		summary_sources(chain->summary)->lines_context = chain->stack_filter;
	}
	return chain->select = add_stage(chain, select_new(next, &select));
}

/* Makes the stages, from the last to the first. Leaks are found among all calls and filtered afterwards: an allocation
 * with a release is no leak, even if the release is outside the wanted contexts or addresses. */
static void make_stages(struct postproc_run_chain *chain)
{
	struct postproc_run_state *run = chain->run;
	const struct postproc_options *options = run->options;

	if (filters_calls(options) || filters_names(options))
		chain->clock = clock_new(NULL);
	struct stage *stage = add_stage(chain, make_output(chain));
	const bool is_trace = !options->stats && !postproc_wants_mpatrol(options) && !run->views;

	if (is_trace && !options->reading.follow) {
		const struct layout_options layout = {
			.is_wanted = wants_layout,
			.context = run,
			.hold_calls = !options->leaks && !options->compress,
		};

		stage = add_stage(chain, sp_rtrace_order_new(stage, &layout));
	}
	if (options->leaks)
		stage = chain->summary = add_stage(chain, summary_new(stage));
	if (options->compress)
		stage = add_stage(chain, call_groups_new(stage, options->order));
	if ((chain->clock || options->prepare.choose_resources) && !options->compress && is_trace)
		stage = add_stage(chain, thread_names_new(stage));
	if (options->leaks && options->filters.min_count) {
		stage = add_stage(chain, min_count_new(stage, options->filters.min_count));
		summary_sources(chain->summary)->min_count = stage;
	}
	/* Suppressions need the whole stacks of a profile, so those are cut later (profile_trim()). */
	if (options->prepare.trim && !(run->views && run->views->profile))
		stage = add_stage(chain, trim_new(stage, options->prepare.depth));
	if (chain->clock)
		stage = make_select(chain, stage, is_trace);
	if (options->leaks) {
		stage = add_stage(chain, leaks_new(stage, options->leak_kinds));
		summary_sources(chain->summary)->leaks = stage;
		summary_sources(chain->summary)->are_all = !filters_calls(options);
		if (chain->stack_filter)
			stack_filter_set_leaks(chain->stack_filter, stage);
	} else if (is_of_alive(options)) {
		stage = add_stage(chain, leaks_new(stage, LEAK_KINDS_ALL));
		leaks_keep_before(stage);
	}
	if (chain->clock || options->select.sysroot)
		stage = chain->unmatched = add_stage(chain, unmatched_filters_new(stage, &options->select));
	if (chain->clock) {
		chain->clock->next = stage;
		stage = add_stage(chain, chain->clock);
	}
	chain->prepare = add_stage(chain, prepare_new(stage, &options->prepare));
	add_stage(chain, reorder_new(chain->prepare));
}

static struct postproc_run_chain *add_chain(struct postproc_run_state *run)
{
	struct postproc_run_chain *chain = xcalloc(1, sizeof(*chain));

	chain->run = run;
	ARRAY_GROW(run->chains, run->chain_capacity, run->chain_count);
	run->chains[run->chain_count++] = chain;
	make_stages(chain);
	return chain;
}

static bool is_folder_or_none(const char *path)
{
	return !path || path_is_folder(path);
}

/* Returns the first stage for a new process. If the output is a folder, each process gets a file of its own in it.
 * Returns NULL after a message if the output is one file and another process has it already. */
static struct stage *begin_process(void *context)
{
	struct postproc_run_state *run = context;
	const struct writing_options *to = &run->options->writing;
	const struct postproc_run_chain *chain = run->chains[0];

	if (run->has_begun) {
		const bool joins = run->views && run->views->profile;

		if (!joins && (!to->output || !path_is_folder(to->output) || !is_folder_or_none(to->hatf_path) ||
			       !is_folder_or_none(to->sim_path))) {
			msg_error(
				"%s has several processes, and a file can contain only one: give a folder with -o, or "
				"choose one process with --pid",
				run->input->name);
			return NULL;
		}
		chain = add_chain(run);
	}
	run->has_begun = true;
	return chain->stages[chain->stage_count - 1];
}

/* Appends to `unmatched` a sentence for each filter that matched nothing; the sentences are reported as errors. If the
 * output contains only live blocks, an empty result is valid, so only a warning is printed, in case a name is
 * mistyped. */
static void report_filter(const struct postproc_run_chain *chain, struct buf *unmatched)
{
	struct buf out = {0};

	filter_report(&chain->filter, &out);
	if (chain->stack_filter)
		stack_filter_report(chain->stack_filter, &out);
	if (!is_of_alive(chain->run->options))
		buf_add(unmatched, out.data, out.size);
	else if (out.size)
		msg_warn("%.*s", (int)strcspn(buf_str(&out), "\n"), buf_str(&out));
	buf_free(&out);
}

/* If the span of --between begins after the end of the trace, appends a sentence about it to `unmatched` and returns
 * true. filter_report() does this for --time, and for --older an empty result is valid. */
static bool report_beyond(const struct postproc_run_chain *chain, struct buf *unmatched)
{
	const struct trace_clock *clock = trace_clock_of(chain);
	const struct filter_options *asked = &chain->run->options->filters.filter;

	if (!clock || !clock->has_begun || !asked->between || clock_span(clock, asked->between_from) <= clock->last)
		return false;
	buf_printf(unmatched, "--between=%s matches nothing: the trace ends after ", asked->between);
	clock_add_time(unmatched, clock->has_times, clock->last);
	buf_add_str(unmatched, "\n");
	return true;
}

/* Appends a sentence to `unmatched` for each filter that matched nothing in one of the processes. */
static void check_choices(const struct postproc_run_state *run, struct buf *unmatched)
{
	const bool may_be_late = reader_is_compat(run->input->reader) && !run->learned;

	for (size_t i = 0; i < run->chain_count; i++) {
		const struct postproc_run_chain *chain = run->chains[i];

		prepare_report(chain->prepare, unmatched);
		if (chain->unmatched)
			unmatched_filters_report(chain->unmatched, chain->select ? select_count(chain->select) : 0,
						 may_be_late, unmatched);
		if (!report_beyond(chain, unmatched))
			report_filter(chain, unmatched);
	}
}

/* Reports that the trace has no end note: as an error with --error-exitcode, else as a warning for exports and
 * mpatrol's outputs, which cannot show this. */
static void report_incomplete(const struct postproc_run_state *run)
{
	const struct postproc_options *options = run->options;

	if (options->error_exitcode)
		msg_error("%s: --error-exitcode cannot tell whether there are leaks: the trace has no "
			  "end " TRACE_END_MISSING,
			  run->input->name);
	else if (options->views.export || postproc_wants_mpatrol(options))
		msg_warn("%s: incomplete: the trace has no end " TRACE_END_MISSING, run->input->name);
}

/* Reads all records and passes them through the stages. Returns 0 at the end of the trace, or a negative errno after a
 * message. */
static int postproc_run_read_records(struct postproc_run_state *run)
{
	struct reader *const reader = run->input->reader;
	struct record record;
	int status = 1, error = 0;

	while (!error && (status = postproc_input_next(run->input, &record)) == 1) {
		trace_end_put(&run->end, &record);
		run->has_texts |=
			record.type == RECORD_ESTIMATE || (record.type == RECORD_CALL && record.call.frame_texts);
		error = stage_put(run->split, &record);
	}
	run->was_read = status <= 0;
	if (!error)
		error = stage_finish(run->split);
	if (status < 0)
		msg_error("%s: %s", run->input->name, reader_error(reader));
	const uint64_t skipped = reader_skipped(reader);

	if (skipped)
		msg_warn("%s: %" PRIu64 " packets were skipped: their types are unknown, or they are out of place",
			 run->input->name, skipped);
	return error ? error : status;
}

/* Prints the reason why names are missing. Prints it only for the first process with missing names, because the
 * processes of a trace mostly run the same program. */
static void explain_names(const struct postproc_run_state *run)
{
	struct buf text = {0};
	bool is_said = run->has_texts;

	for (size_t i = 0; i < run->chain_count && !is_said; i++)
		is_said = run->chains[i]->names && names_explain(run->chains[i]->names, &text);
	if (text.size)
		msg_warn("%s: %s", run->input->name, buf_str(&text));
	buf_free(&text);
}

static void chain_free(struct postproc_run_chain *chain)
{
	while (chain->stage_count) {
		struct stage *stage = chain->stages[--chain->stage_count];

		stage->free(stage);
	}
	stack_filter_free(chain->stack_filter);
	if (chain->names)
		names_free(chain->names);
	free(chain);
}

static void clean_up(struct postproc_run_state *run)
{
	run->split->free(run->split);
	for (size_t i = 0; i < run->chain_count; i++)
		chain_free(run->chains[i]);
	free(run->chains);
}

static bool found_leaks(const struct postproc_run_state *run)
{
	for (size_t i = 0; i < run->chain_count; i++)
		if (run->chains[i]->summary && summary_count(run->chains[i]->summary))
			return true;
	return false;
}

void postproc_run(struct postproc_input *input, const struct postproc_options *options,
		  struct output_sequence *sequence, struct views *views, struct postproc_outcome *outcome)
{
	struct postproc_run_state run = {.options = options, .input = input, .sequence = sequence, .views = views};
	const struct split_options split = {.pid = options->prepare.pid, .begin = begin_process, .context = &run};

	*outcome = (struct postproc_outcome){0};
	add_chain(&run);
	run.split = split_new(&split);
	learn_late_objects(&run);
	outcome->sound = postproc_run_read_records(&run) == 0;
	outcome->sound &= postproc_input_check(input);
	if (outcome->sound && options->prepare.pid && !run.has_begun) {
		plain_add(&outcome->unmatched, sequence ? "it" : input->name);
		buf_printf(&outcome->unmatched, " has no process %" PRIu32 "\n", options->prepare.pid);
	} else if (outcome->sound) {
		check_choices(&run, &outcome->unmatched);
	}
	outcome->found_leaks = found_leaks(&run);
	outcome->is_incomplete = run.was_read && trace_end_is_missing(&run.end) && !options->reading.follow;
	if (outcome->is_incomplete)
		report_incomplete(&run);
	explain_names(&run);
	clean_up(&run);
}

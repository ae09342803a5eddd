/* functrace-postproc: reads a trace, sends it through the stages that the options ask for, writes
 * it. */
#include "config.h"
#include "postproc-dump.h"
#include "postproc-options.h"
#include "analysis/choices.h"
#include "analysis/layout.h"
#include "analysis/leaks.h"
#include "analysis/mpatrol_outputs.h"
#include "analysis/object_map.h"
#include "analysis/output.h"
#include "analysis/reorder.h"
#include "analysis/split.h"
#include "analysis/summary.h"
#include "analysis/threads.h"
#include "base/msg.h"
#include "report/stats.h"
#include "trace/reader.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { STAGES_MAX = 12 };

/* So many damaged places are named, the rest is counted. */
enum { COMPLAINTS_MAX = 10 };

struct postproc;

/* What the records of one process go through. */
struct chain {
	struct postproc *postproc;
	struct names *names; /* NULL: none are wanted */
	/* Last to first; each is freed. */
	struct stage *stages[STAGES_MAX];
	size_t stage_count;
	struct stage *prepare, *summary;
	struct stage *choices, *select; /* NULL: none is needed */
};

struct postproc {
	struct postproc_options options;
	const char *input_name;
	int input;
	struct reader *reader;
	char *map; /* the text of the file beside the input; NULL none */
	struct index_set include, exclude;
	struct chain **chains; /* the first one is there before its process is known */
	size_t chain_count, chain_capacity;
	bool has_begun; /* the first one has a process */
	struct stage *split;
	unsigned complaints;
	bool learned; /* late objects */
};

static bool open_input(struct postproc *postproc)
{
	const char *path = postproc->options.input;

	if (!path || !strcmp(path, "-")) {
		postproc->input_name = "standard input";
		postproc->input = STDIN_FILENO;
		return true;
	}
	postproc->input_name = path;
	postproc->input = open(path, O_RDONLY | O_CLOEXEC);
	if (postproc->input < 0)
		msg_error("cannot open %s: %s", path, strerror(errno));
	return postproc->input >= 0;
}

static bool is_regular(int fd)
{
	struct stat stat;

	return !fstat(fd, &stat) && S_ISREG(stat.st_mode);
}

static void go_on(int signal)
{
	(void)signal;
}

/* Ctrl-C at a live trace ends the program that is traced, or the wait for more of a file; the results so far are
 * still to be shown. The second Ctrl-C ends this program. */
static void outlive_interrupt(const struct postproc *postproc)
{
	const struct sigaction action = {.sa_handler = go_on, .sa_flags = (int)SA_RESETHAND};

	if (is_regular(postproc->input) && !postproc->options.follow)
		return;
	sigaction(SIGINT, &action, NULL);
	if (postproc->options.follow)
		sigaction(SIGTERM, &action, NULL);
}

static void complain(void *context, const char *clause)
{
	struct postproc *postproc = context;

	if (postproc->complaints++ < COMPLAINTS_MAX)
		msg_warn("%s: %s", postproc->input_name, clause);
}

#define MAP_MAX (4u << 20)

/* Where it lies: INPUT.map. */
static void read_map(struct postproc *postproc)
{
	if (postproc->input == STDIN_FILENO)
		return;
	char *const path = xasprintf("%s" ENCODING_MAP_SUFFIX, postproc->input_name);

	postproc->map = read_file(path, MAP_MAX, NULL);
	free(path);
}

static bool open_reader(struct postproc *postproc)
{
	struct reader_options options = {
		.encoding = postproc->options.input_encoding,
		.follow = postproc->options.follow,
		.complain = complain,
		.complain_context = postproc,
	};
	char error[512] = "";

	outlive_interrupt(postproc);
	read_map(postproc);
	options.map = postproc->map;
	postproc->reader = reader_new(postproc->input, &options, error, sizeof(error));
	if (!postproc->reader)
		msg_error("%s: %s", postproc->input_name, error);
	return postproc->reader;
}

/* An object that is declared where nothing was, and its build-id; those that replace others come in
 * their time. */
static void learn_object(const struct chain *chain, struct object_map *objects, bool *is_new,
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
	if (chain->choices)
		choices_learn(chain->choices, &record->object);
	if (chain->select)
		select_learn(chain->select, &record->object);
}

/* sp-rtrace may write an object after the calls that go through it, even last. Where the input can
 * be read twice, they are looked for first. */
static void learn_late_objects(struct postproc *postproc)
{
	const struct reader_options options = {.encoding = postproc->options.input_encoding};
	const struct chain *chain = postproc->chains[0];
	struct object_map objects = {0};
	struct record record;
	bool is_new = false;
	char error[512];

	if ((!chain->names && !postproc->options.select.call_address) || postproc->options.follow ||
	    !is_regular(postproc->input))
		return;
	char *path = xasprintf("/proc/self/fd/%d", postproc->input);
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct reader *reader = fd < 0 ? NULL : reader_new(fd, &options, error, sizeof(error));

	while (reader && reader_next(reader, &record) == 1 && reader_is_compat(reader))
		learn_object(chain, &objects, &is_new, &record);
	postproc->learned = reader;
	if (reader)
		reader_close(reader);
	else if (fd >= 0)
		close(fd);
	object_map_free(&objects);
	free(path);
}

static bool read_indices(const char *path, struct index_set *set)
{
	size_t line = 0;
	const int error = path ? index_set_read(set, path, &line) : 0;

	if (error == -EINVAL)
		msg_error("%s, line %zu: there should be an event's number", path, line);
	else if (error)
		msg_error("cannot read %s: %s", path, strerror(-error));
	return !error;
}

/* Folders that options name must be there: nobody would miss a file that is not found in them. */
static bool check_folders(const char *option, const char *folders, const char *separator)
{
	bool sound = true;

	for (const char *p = folders; p && *p; p += *p != '\0') {
		const size_t length = strcspn(p, separator);
		char *folder = xstrndup(p, length);

		if (length && !path_is_folder(folder)) {
			msg_error("%s=%s: there is no such folder", option, folder);
			sound = false;
		}
		free(folder);
		p += length;
	}
	return sound;
}

static bool is_compat(void *context)
{
	const struct postproc *postproc = context;

	if (!encoding_can(postproc->options.output_encoding, ENCODING_COMPAT))
		return false;
	return postproc->options.dialect == DIALECT_AS_INPUT ? reader_is_compat(postproc->reader)
							     : postproc->options.dialect == DIALECT_COMPAT;
}

static bool wants_layout(void *context)
{
	const struct postproc *postproc = context;

	return is_compat(context) && encoding_can(postproc->options.output_encoding, ENCODING_COMPAT_LAYOUT);
}

static struct stage *add_stage(struct chain *chain, struct stage *stage)
{
	chain->stages[chain->stage_count++] = stage;
	return stage;
}

static struct stage *make_output(struct chain *chain)
{
	struct postproc *postproc = chain->postproc;
	const struct postproc_options *options = &postproc->options;
	const struct output_target target = {.path = options->output,
					     .input = postproc->input,
					     .input_path = postproc->input == STDIN_FILENO ? NULL : options->input};

	if (options->resolve)
		chain->names = names_new(&options->names);
	if (options->resolve && !postproc_wants_mpatrol(options) &&
	    !encoding_can(options->output_encoding, ENCODING_NAMES))
		msg_warn("names have a place only in %s; -r does nothing with -f %s",
			 encoding_names(ENCODING_WRITE | ENCODING_NAMES), encoding_name(options->output_encoding));
	if (options->stats) {
		const struct stats_options stats = {.target = target, .names = chain->names};

		return stats_new(&stats);
	}
	if (postproc_wants_mpatrol(options)) {
		const struct mpatrol_outputs_options outputs = {
			.wants_table = options->mpatrol_table,
			.table = target,
			.hatf_path = options->hatf_path,
			.sim_path = options->sim_path,
			.input_name = postproc->input_name,
			.input = postproc->input,
			.is_live = options->follow || !is_regular(postproc->input),
			.names = chain->names,
		};

		return mpatrol_outputs_new(&outputs);
	}
	const struct output_options output = {
		.target = target,
		.encoding = options->output_encoding,
		.writer = {.line_buffered = options->follow},
		.is_compat = is_compat,
		.is_compat_context = postproc,
		.names = chain->names,
	};

	return output_new(&output);
}

/* The stages, from the last to the first. Leaks are found among all calls and chosen from then: a
 * release outside the chosen contexts or addresses is a release all the same. */
static void make_stages(struct chain *chain)
{
	struct postproc *postproc = chain->postproc;
	struct postproc_options *options = &postproc->options;
	struct stage *stage = add_stage(chain, make_output(chain));

	if (!options->stats && !postproc_wants_mpatrol(options) && !options->follow) {
		const struct layout_options layout = {
			.is_wanted = wants_layout,
			.context = postproc,
			.hold_calls = !options->leaks && !options->compress,
		};

		stage = add_stage(chain, layout_new(stage, &layout));
	}
	if (options->leaks)
		stage = chain->summary = add_stage(chain, summary_new(stage));
	if (options->compress)
		stage = add_stage(chain, compress_new(stage, options->order));
	if (options->include_path)
		options->select.include = &postproc->include;
	if (options->exclude_path)
		options->select.exclude = &postproc->exclude;
	if (options->call_address.object)
		options->select.call_address = &options->call_address;
	const bool selects = options->include_path || options->exclude_path || options->call_address.object ||
			     options->select.by_context;

	if ((selects || options->prepare.choose_resources) && !options->compress && !options->stats)
		stage = add_stage(chain, threads_new(stage));
	if (selects)
		stage = chain->select = add_stage(chain, select_new(stage, &options->select));
	if (options->leaks) {
		stage = add_stage(chain, leaks_new(stage));
		summary_set_leaks(chain->summary, stage);
	}
	if (selects || options->select.sysroot)
		stage = chain->choices = add_stage(chain, choices_new(stage, &options->select));
	chain->prepare = add_stage(chain, prepare_new(stage, &options->prepare));
	add_stage(chain, reorder_new(chain->prepare));
}

static struct chain *add_chain(struct postproc *postproc)
{
	struct chain *chain = xcalloc(1, sizeof(*chain));

	chain->postproc = postproc;
	ARRAY_GROW(postproc->chains, postproc->chain_capacity, postproc->chain_count);
	postproc->chains[postproc->chain_count++] = chain;
	make_stages(chain);
	return chain;
}

static bool is_folder_or_none(const char *path)
{
	return !path || path_is_folder(path);
}

/* Each process gets a file of its own, where there is a folder for them. */
static struct stage *begin_process(void *context)
{
	struct postproc *postproc = context;
	const struct postproc_options *options = &postproc->options;
	const struct chain *chain = postproc->chains[0];

	if (postproc->has_begun) {
		if (!options->output || !path_is_folder(options->output) || !is_folder_or_none(options->hatf_path) ||
		    !is_folder_or_none(options->sim_path)) {
			msg_error("%s has several processes, and one file has a place for one: give a folder with -o, "
				  "or choose one process with --pid",
				  postproc->input_name);
			return NULL;
		}
		chain = add_chain(postproc);
	}
	postproc->has_begun = true;
	return chain->stages[chain->stage_count - 1];
}

/* Whether each choice of the command line matched something, in each process. A script must not take the result of one
 * that did not for that of a program without faults. */
static bool check_choices(const struct postproc *postproc)
{
	const bool may_be_late = reader_is_compat(postproc->reader) && !postproc->learned;
	bool sound = true;

	for (size_t i = 0; i < postproc->chain_count; i++) {
		const struct chain *chain = postproc->chains[i];

		sound &= prepare_report(chain->prepare);
		if (chain->choices &&
		    !choices_report(chain->choices, chain->select ? select_count(chain->select) : 0, may_be_late))
			sound = false;
	}
	return sound;
}

/* Whether the trace was sound as far as it could be read; if not, says where it was damaged. */
static bool check_sound(const struct postproc *postproc)
{
	const uint64_t complaints = reader_complaints(postproc->reader);

	if (!complaints)
		return true;
	msg_error("%s is damaged in %" PRIu64 " place%s%s; what should stand there is missing from all that is shown",
		  postproc->input_name, complaints, complaints > 1 ? "s" : "",
		  complaints > COMPLAINTS_MAX ? ", of which the first ten are named above" : "");
	return false;
}

/* Reads to the end, or as far as the input goes. */
static bool run(struct postproc *postproc)
{
	const struct split_options split = {
		.pid = postproc->options.prepare.pid, .begin = begin_process, .context = postproc};
	struct record record;
	int status = 1, error = 0;

	add_chain(postproc);
	postproc->split = split_new(&split);
	learn_late_objects(postproc);
	while (!error && (status = reader_next(postproc->reader, &record)) == 1)
		error = stage_put(postproc->split, &record);
	if (!error)
		error = stage_finish(postproc->split);
	if (status < 0)
		msg_error("%s: %s", postproc->input_name, reader_error(postproc->reader));
	const uint64_t skipped = reader_skipped(postproc->reader);

	if (skipped)
		msg_warn("%s: %" PRIu64 " packets of unknown types were skipped", postproc->input_name, skipped);
	if (!error && !status && postproc->options.prepare.pid && !postproc->has_begun) {
		msg_error("%s has no process %" PRIu32, postproc->input_name, postproc->options.prepare.pid);
		return false;
	}
	if (!check_sound(postproc) || error || status)
		return false;
	return check_choices(postproc);
}

static void chain_free(struct chain *chain)
{
	while (chain->stage_count) {
		struct stage *stage = chain->stages[--chain->stage_count];

		stage->free(stage);
	}
	if (chain->names)
		names_free(chain->names);
	free(chain);
}

static void clean_up(struct postproc *postproc)
{
	if (postproc->split)
		postproc->split->free(postproc->split);
	for (size_t i = 0; i < postproc->chain_count; i++)
		chain_free(postproc->chains[i]);
	free(postproc->chains);
	if (postproc->reader)
		reader_close(postproc->reader);
	free(postproc->map);
	index_set_free(&postproc->include);
	index_set_free(&postproc->exclude);
	call_address_free(&postproc->options.call_address);
}

static bool found_leaks(const struct postproc *postproc)
{
	for (size_t i = 0; i < postproc->chain_count; i++)
		if (postproc->chains[i]->summary && summary_count(postproc->chains[i]->summary))
			return true;
	return false;
}

int main(int argc, char **argv)
{
	struct postproc postproc = {0};
	int status = EXIT_FAILURE;

	msg_set_program("functrace-postproc");
	postproc_options_parse(argc, argv, &postproc.options);
	if (postproc.options.show_format)
		return postproc_show_format();
	if (postproc.options.expand_events)
		return open_input(&postproc) ? postproc_expand(&postproc.options, postproc.input, postproc.input_name)
					     : EXIT_FAILURE;
	if (!read_indices(postproc.options.include_path, &postproc.include) ||
	    !read_indices(postproc.options.exclude_path, &postproc.exclude) ||
	    !check_folders("--sysroot", postproc.options.select.sysroot, "") ||
	    !check_folders("--debug-path", postproc.options.names.debug_path, ":") || !open_input(&postproc) ||
	    !open_reader(&postproc))
		goto out;
	if (postproc.options.dump) {
		status = postproc_dump(postproc.reader, &postproc.options, postproc.input, postproc.input_name);
		goto out;
	}
	if (!run(&postproc))
		goto out;
	status = found_leaks(&postproc) ? postproc.options.error_exitcode : EXIT_SUCCESS;
out:
	clean_up(&postproc);
	return status;
}

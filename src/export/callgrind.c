/* Writes a file like callgrind's, for KCachegrind and callgrind_annotate: what each line of each function has allocated
 * or has alive, itself and in the functions that it calls. The format has a place for memory only.
 *
 * The readers add up the costs of the calls of a function, so the cost of a recursive function would be counted at each
 * level. As with callgrind's --separate-recs, the second occurrence of a function in a stack is a function of its own,
 * "f'2": f has the whole cost, once. */
#include "config.h"
#include "export/export.h"
#include "base/terminal_escape.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* A function at a level of recursion. Functions have numbers: first those of the frames, then those that allocate. */
struct callgrind_node {
	size_t function;
	size_t level; /* of recursion: 1 is the outermost */
};

struct edge {
	struct callgrind_node caller, callee; /* callee is the caller: its own cost */
	unsigned line;                        /* of the caller */
	struct tally cost;
};

struct callgrind_function {
	const char *name, *module, *file; /* name: NULL for that of the frame */
	const struct profile_frame *frame;
};

struct callgrind {
	struct callgrind_function *functions;
	size_t function_count;
	size_t *function_of; /* a frame's number -> its function's */
	struct edge *edges;
	size_t edge_count, edge_capacity;
	struct tally total;
	struct buf room;
	FILE *out;
};

static int compare_pointers(const void *a, const void *b)
{
	const uintptr_t x = (uintptr_t)a, y = (uintptr_t)b;

	return x < y ? -1 : x > y;
}

/* Orders frames by function. Strings of frames are interned, so equal strings have equal pointers. Each frame without a
 * function is a function of its own. */
static int compare_frames(const void *a, const void *b)
{
	const struct profile_frame *x = *(const struct profile_frame *const *)a;
	const struct profile_frame *y = *(const struct profile_frame *const *)b;
	int order = compare_pointers(x->function, y->function);

	if (!order)
		order = compare_pointers(x->module, y->module);
	if (!order)
		order = compare_pointers(x->file, y->file);
	if (order)
		return order;
	return x->number < y->number ? -1 : x->number > y->number;
}

static bool same_function(const struct profile_frame *x, const struct profile_frame *y)
{
	return x->function && x->function == y->function && x->module == y->module && x->file == y->file;
}

static void number_functions(struct callgrind *callgrind, const struct profile *profile)
{
	const struct profile_frame **frames = xcalloc(profile->frame_count + 1, sizeof(*frames));

	callgrind->functions = xcalloc(profile->frame_count + profile->group_count + 1, sizeof(*callgrind->functions));
	callgrind->function_of = xcalloc(profile->frame_count + 1, sizeof(*callgrind->function_of));
	for (size_t i = 0; i < profile->frame_count; i++)
		frames[i] = profile->frames[i];
	qsort(frames, profile->frame_count, sizeof(*frames), compare_frames);
	for (size_t i = 0; i < profile->frame_count; i++) {
		if (!i || !same_function(frames[i - 1], frames[i]))
			callgrind->functions[callgrind->function_count++] = (struct callgrind_function){
				frames[i]->function, frames[i]->module, frames[i]->file, frames[i]};
		callgrind->function_of[frames[i]->number] = callgrind->function_count - 1;
	}
	free(frames);
}

/* Returns the number of the function that was called to allocate. There are few of these. */
static size_t allocator_of(struct callgrind *callgrind, const char *name)
{
	size_t i = callgrind->function_count;

	name = name ? name : "?";
	while (i-- > 0 && !callgrind->functions[i].frame)
		if (!strcmp(callgrind->functions[i].name, name))
			return i;
	callgrind->functions[callgrind->function_count] = (struct callgrind_function){.name = name};
	return callgrind->function_count++;
}

static void add_edge(struct callgrind *callgrind, const struct edge *edge)
{
	ARRAY_GROW(callgrind->edges, callgrind->edge_capacity, callgrind->edge_count);
	callgrind->edges[callgrind->edge_count++] = *edge;
}

static int compare_nodes(const struct callgrind_node *x, const struct callgrind_node *y)
{
	if (x->function != y->function)
		return x->function < y->function ? -1 : 1;
	return x->level < y->level ? -1 : x->level > y->level;
}

static int compare_edges(const void *a, const void *b)
{
	const struct edge *x = a, *y = b;
	int order = compare_nodes(&x->caller, &y->caller);

	if (!order)
		order = compare_nodes(&x->callee, &y->callee);
	return order ? order : x->line < y->line ? -1 : x->line > y->line;
}

/* Sorts the edges and joins equal ones. */
static void join_edges(struct callgrind *callgrind)
{
	size_t kept = 0;

	if (callgrind->edge_count)
		qsort(callgrind->edges, callgrind->edge_count, sizeof(*callgrind->edges), compare_edges);
	for (size_t i = 0; i < callgrind->edge_count; i++)
		if (kept && !compare_edges(&callgrind->edges[kept - 1], &callgrind->edges[i]))
			tally_join(&callgrind->edges[kept - 1].cost, &callgrind->edges[i].cost);
		else
			callgrind->edges[kept++] = callgrind->edges[i];
	callgrind->edge_count = kept;
}

struct occurrence {
	size_t group; /* the last one that contained the function, counted from 1 */
	size_t level; /* how often the function is in that group */
};

static void callgrind_add_group(struct callgrind *callgrind, const struct profile_group *group,
				const struct tally *cost, struct occurrence *occurrences, size_t number)
{
	const struct callgrind_node allocator = {allocator_of(callgrind, group->function), 1};
	struct callgrind_node caller = {0};
	unsigned line = 0;

	tally_join(&callgrind->total, cost);
	for (uint32_t i = group->frame_count; i-- > 0;) {
		const size_t function = callgrind->function_of[group->frames[i]->number];
		struct occurrence *occurrence = &occurrences[function];

		if (occurrence->group != number)
			*occurrence = (struct occurrence){.group = number};
		const struct callgrind_node callee = {function, ++occurrence->level};

		if (caller.level)
			add_edge(callgrind, &(struct edge){caller, callee, line, *cost});
		caller = callee;
		line = group->frames[i]->line;
	}
	if (caller.level)
		add_edge(callgrind, &(struct edge){caller, allocator, line, *cost});
	add_edge(callgrind, &(struct edge){allocator, allocator, 0, *cost});
}

/* Writes "fn=(2) name". The number makes names possible that begin with a parenthesis. */
static void callgrind_write_name(const struct callgrind *callgrind, const char *key, size_t number, const char *name)
{
	fprintf(callgrind->out, "%s=(%zu) ", key, number + 1);
	plain_print(callgrind->out, name);
}

/* Writes a node, with the keys for a caller or those for a callee. */
static void callgrind_write_node(struct callgrind *callgrind, const struct callgrind_node *node, const char *object_key,
				 const char *file_key, const char *function_key)
{
	const struct callgrind_function *function = &callgrind->functions[node->function];
	const char *name = function->name ? function->name : export_frame_name(function->frame, &callgrind->room);

	callgrind_write_name(callgrind, object_key, node->function, function->module ? function->module : "???");
	fputc('\n', callgrind->out);
	callgrind_write_name(callgrind, file_key, node->function, function->file ? function->file : "???");
	fputc('\n', callgrind->out);
	callgrind_write_name(callgrind, function_key, (node->level - 1) * callgrind->function_count + node->function,
			     name);
	if (node->level > 1)
		fprintf(callgrind->out, "'%zu", node->level);
	fputc('\n', callgrind->out);
}

static void write_edges(struct callgrind *callgrind)
{
	for (size_t i = 0; i < callgrind->edge_count; i++) {
		const struct edge *edge = &callgrind->edges[i];

		if (!i || compare_nodes(&edge[-1].caller, &edge->caller)) {
			fputc('\n', callgrind->out);
			callgrind_write_node(callgrind, &edge->caller, "ob", "fl", "fn");
		}
		if (compare_nodes(&edge->callee, &edge->caller)) {
			callgrind_write_node(callgrind, &edge->callee, "cob", "cfi", "cfn");
			fprintf(callgrind->out, "calls=%" PRIu64 " 0\n", edge->cost.calls);
		}
		fprintf(callgrind->out, "%u %" PRIu64 " %" PRIu64 "\n", edge->line, edge->cost.bytes, edge->cost.calls);
	}
}

static struct tally cost_of(const struct profile_group *group, enum export_weight weight)
{
	const struct figures figures = export_figures(group);

	switch (weight) {
	case WEIGHT_LIVE:
		return figures.live;
	case WEIGHT_PEAK:
		return figures.at_peak;
	case WEIGHT_LOST:
		return export_lost_of(group);
	case WEIGHT_ALLOCATED:
	case WEIGHT_COUNT:
		break;
	}
	return figures.allocated;
}

static int callgrind_write(const struct profile *profile, const struct export_options *options, FILE *out)
{
	const struct profile_resource *memory = export_memory(profile);
	struct callgrind callgrind = {.out = out};
	struct occurrence *occurrences;

	number_functions(&callgrind, profile);
	occurrences = xcalloc(callgrind.function_count + 1, sizeof(*occurrences));
	for (size_t i = 0; i < profile->group_count; i++) {
		const struct tally cost = cost_of(profile->groups[i], options->weight);

		if (profile->groups[i]->resource == memory && (cost.calls || cost.bytes))
			callgrind_add_group(&callgrind, profile->groups[i], &cost, occurrences, i + 1);
	}
	join_edges(&callgrind);
	fputs("# callgrind format\nversion: 1\ncreator: functrace " PACKAGE_VERSION "\npositions: line\n"
	      "events: Bytes Blocks\n",
	      out);
	fprintf(out, "summary: %" PRIu64 " %" PRIu64 "\n", callgrind.total.bytes, callgrind.total.calls);
	write_edges(&callgrind);
	fprintf(out, "\ntotals: %" PRIu64 " %" PRIu64 "\n", callgrind.total.bytes, callgrind.total.calls);
	free(occurrences);
	free(callgrind.functions);
	free(callgrind.function_of);
	free(callgrind.edges);
	buf_free(&callgrind.room);
	return 0;
}

const struct export export_callgrind = {
	.name = "callgrind",
	.suffix = ".callgrind",
	.is_weighted = true,
	.compares = true,
	.write = callgrind_write,
};

/* Writes a file in callgrind's format, for KCachegrind and callgrind_annotate: for each source line of each function
 * the cost of the line itself and of the functions that it calls. The cost is the memory that --weight chooses.
 *
 * These programs add up the costs of all calls of a function, so they would count the cost of a recursive function once
 * for each level. Therefore the second occurrence of function f in a stack is written as a separate function "f'2", as
 * by callgrind's --separate-recs. */
#include "config.h"
#include "export/export.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* A function at a level of recursion. `function` is an index in callgrind.functions: functions with frames come first,
 * then allocating functions. */
struct callgrind_node {
	size_t function;
	size_t level; /* level of recursion; 1 is the outermost */
};

struct edge {
	struct callgrind_node caller, callee; /* if both are equal, the cost is the caller's own */
	unsigned line;                        /* line in the caller */
	struct tally cost;
};

struct occurrence {
	size_t group; /* number, from 1 on, of the last group that contained the function */
	size_t level; /* how often the function occurs in that group's stack so far */
};

struct callgrind {
	struct profile_frame *functions; /* a frame of each function; allocating functions have only a name */
	size_t function_count, framed;   /* framed: number of functions with frames */
	size_t *function_of;             /* number of a frame -> number of its function */
	struct edge *edges;
	size_t edge_count, edge_capacity;
	struct occurrence *occurrences; /* one element for each function with frames */
	struct tally total;
	struct buf room;
	FILE *out;
};

/* Compares the functions of two frames. Strings of frames are interned, so equal strings have equal pointers. Each
 * frame without a function's name is a function of its own. */
static int callgrind_compare_functions(const struct profile_frame *x, const struct profile_frame *y)
{
	const int order = compare_u64((uintptr_t)x->function, (uintptr_t)y->function)
				  ?: compare_u64((uintptr_t)x->module, (uintptr_t)y->module)
				  ?: compare_u64((uintptr_t)x->file, (uintptr_t)y->file);

	return order || x->function ? order : compare_u64(x->number, y->number);
}

/* Orders frames by function. */
static int compare_frames(const void *a, const void *b)
{
	const struct profile_frame *x = *(const struct profile_frame *const *)a;
	const struct profile_frame *y = *(const struct profile_frame *const *)b;

	return callgrind_compare_functions(x, y) ?: compare_u64(x->number, y->number);
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
		if (!i || callgrind_compare_functions(frames[i - 1], frames[i]))
			callgrind->functions[callgrind->function_count++] = *frames[i];
		callgrind->function_of[frames[i]->number] = callgrind->function_count - 1;
	}
	callgrind->framed = callgrind->function_count;
	free(frames);
	callgrind->occurrences = xcalloc(callgrind->function_count + 1, sizeof(*callgrind->occurrences));
}

/* Returns the index of the allocating function with that name; adds the function if it is new. Searches all allocating
 * functions, because they are few. */
static size_t allocator_of(struct callgrind *callgrind, const char *name)
{
	size_t i = callgrind->function_count;

	while (i-- > callgrind->framed)
		if (!strcmp(callgrind->functions[i].function, name))
			return i;
	callgrind->functions[callgrind->function_count] = (struct profile_frame){.function = name};
	return callgrind->function_count++;
}

static void add_edge(struct callgrind *callgrind, const struct edge *edge)
{
	ARRAY_GROW(callgrind->edges, callgrind->edge_capacity, callgrind->edge_count);
	callgrind->edges[callgrind->edge_count++] = *edge;
}

static int compare_nodes(const struct callgrind_node *x, const struct callgrind_node *y)
{
	return compare_u64(x->function, y->function) ?: compare_u64(x->level, y->level);
}

static int compare_edges(const void *a, const void *b)
{
	const struct edge *x = a, *y = b;

	return compare_nodes(&x->caller, &y->caller) ?: compare_nodes(&x->callee, &y->callee)
		       ?: compare_u64(x->line, y->line);
}

/* Sorts the edges, and adds up the costs of edges with the same caller, callee and line. */
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

static void callgrind_add_group(struct callgrind *callgrind, const struct profile_group *group,
				const struct tally *cost)
{
	const struct callgrind_node allocator = {allocator_of(callgrind, group->function), 1};
	struct callgrind_node caller = {0};
	unsigned line = 0;

	tally_join(&callgrind->total, cost);
	for (uint32_t i = group->frame_count; i-- > 0;) {
		const size_t function = callgrind->function_of[group->frames[i]->number];
		struct occurrence *occurrence = &callgrind->occurrences[function];

		if (occurrence->group != group->number + 1)
			*occurrence = (struct occurrence){.group = group->number + 1};
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

/* Writes a name with its number, for example "fn=(2) name". Because of the number, the name itself may begin with a
 * parenthesis. */
static void callgrind_write_name(const struct callgrind *callgrind, const char *key, size_t number, const char *name)
{
	fprintf(callgrind->out, "%s=(%zu) ", key, number + 1);
	plain_print(callgrind->out, name ? name : "???");
}

/* Writes a node. keys: the keys for its object, file and function; a newline in a key ends the line before. */
static void callgrind_write_node(struct callgrind *callgrind, const struct callgrind_node *node,
				 const char *const keys[3])
{
	const struct profile_frame *function = &callgrind->functions[node->function];
	const size_t number = (node->level - 1) * callgrind->function_count + node->function;

	callgrind_write_name(callgrind, keys[0], node->function, function->module);
	callgrind_write_name(callgrind, keys[1], node->function, function->file);
	callgrind_write_name(callgrind, keys[2], number, export_frame_name(function, &callgrind->room));
	if (node->level > 1)
		fprintf(callgrind->out, "'%zu", node->level);
	fputc('\n', callgrind->out);
}

static void write_edges(struct callgrind *callgrind)
{
	static const char *const caller_keys[] = {"\nob", "\nfl", "\nfn"};
	static const char *const callee_keys[] = {"cob", "\ncfi", "\ncfn"};

	for (size_t i = 0; i < callgrind->edge_count; i++) {
		const struct edge *edge = &callgrind->edges[i];

		if (!i || compare_nodes(&edge[-1].caller, &edge->caller))
			callgrind_write_node(callgrind, &edge->caller, caller_keys);
		if (compare_nodes(&edge->callee, &edge->caller)) {
			callgrind_write_node(callgrind, &edge->callee, callee_keys);
			fprintf(callgrind->out, "calls=%" PRIu64 " 0\n", edge->cost.calls);
		}
		fprintf(callgrind->out, "%u %" PRIu64 " %" PRIu64 "\n", edge->line, edge->cost.bytes, edge->cost.calls);
	}
}

static int callgrind_write(const struct profile *profile, const struct export_options *options, FILE *out)
{
	const struct profile_resource *memory = export_memory(profile);
	struct callgrind callgrind = {.out = out};

	number_functions(&callgrind, profile);
	for (size_t i = 0; i < profile->group_count; i++) {
		const struct tally cost = export_tally_of(profile->groups[i], options->weight);

		if (profile->groups[i]->resource == memory && (cost.calls || cost.bytes))
			callgrind_add_group(&callgrind, profile->groups[i], &cost);
	}
	join_edges(&callgrind);
	fputs("# callgrind format\nversion: 1\ncreator: functrace " PACKAGE_VERSION "\npositions: line\n"
	      "events: Bytes Blocks\n",
	      out);
	fprintf(out, "summary: %" PRIu64 " %" PRIu64 "\n", callgrind.total.bytes, callgrind.total.calls);
	write_edges(&callgrind);
	fprintf(out, "\ntotals: %" PRIu64 " %" PRIu64 "\n", callgrind.total.bytes, callgrind.total.calls);
	free(callgrind.occurrences);
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

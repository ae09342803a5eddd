/* Writes the report as a tree: from main down to the allocating functions, or from these up to their callers. */
#include "config.h"
#include "report/report_parts.h"

#include <inttypes.h>
#include <stdlib.h>

/* Of a node's children, the largest is always shown. Other children that have less than 1 / SHARE_MIN of the whole, or
 * come after the first CHILDREN_DEFAULT (with --top=N, after the first N), are summed up in one line. INDENT_MAX: the
 * deepest level that is indented more than the level above it. */
enum { SHARE_MIN = 100, CHILDREN_DEFAULT = 10, INDENT_MAX = 30 };

struct report_tree_node {
	const struct profile_frame *frame; /* NULL: the node is the allocating function `function` */
	const char *function;
	/* The merged frames are at several lines, in several files, or only some of them are inlined. */
	bool has_lines, has_files, is_partly_inlined;
	struct tally figure;
	uint64_t key;             /* order of the nodes: bytes or number */
	size_t first_child, next; /* indices of nodes; 0 (the root) means none */
};

struct tree {
	struct report *report;
	const struct profile_resource *resource;
	struct report_tree_node *nodes;
	size_t count, capacity;
	struct hash children; /* hash of parent and function -> index of the node */
};

/* Returns a hash that is equal for nodes that are merged: those of one function in one object below the same parent. */
static uint64_t report_tree_node_key(size_t parent, const struct profile_frame *frame, const char *function)
{
	uint64_t key = hash_mix(parent * 2 + (frame != NULL));

	if (!frame)
		return hash_mix(key + (uintptr_t)function);
	if (!frame->function)
		return hash_mix(key + (uintptr_t)frame);
	return hash_mix(hash_mix(key + (uintptr_t)frame->function) + (uintptr_t)frame->module);
}

static bool is_same_node(const struct report_tree_node *node, const struct profile_frame *frame, const char *function)
{
	if (!frame || !node->frame)
		return !frame && !node->frame && node->function == function;
	return node->frame == frame ||
	       (frame->function && node->frame->function == frame->function && node->frame->module == frame->module);
}

/* Notes the differences between a frame that is merged into a node and the node's first frame. Returns the node's
 * index. */
static size_t report_tree_merge(struct tree *tree, size_t index, const struct profile_frame *frame)
{
	struct report_tree_node *node = &tree->nodes[index];

	if (!frame || frame == node->frame)
		return index;
	node->has_files |= frame->file != node->frame->file;
	node->has_lines |= frame->line != node->frame->line;
	node->is_partly_inlined |= frame->inlined != node->frame->inlined;
	return index;
}

static size_t child_of(struct tree *tree, size_t parent, const struct profile_frame *frame, const char *function)
{
	const uint64_t key = report_tree_node_key(parent, frame, function);
	uint64_t *place = hash_place(&tree->children, key);

	/* If the found node has the same hash but is for another function, search all children. */
	if (*place && is_same_node(&tree->nodes[*place], frame, function))
		return report_tree_merge(tree, *place, frame);
	if (*place)
		for (size_t i = tree->nodes[parent].first_child; i; i = tree->nodes[i].next)
			if (is_same_node(&tree->nodes[i], frame, function))
				return report_tree_merge(tree, i, frame);
	ARRAY_GROW(tree->nodes, tree->capacity, tree->count);
	tree->nodes[tree->count] = (struct report_tree_node){
		.frame = frame, .function = function, .next = tree->nodes[parent].first_child};
	tree->nodes[parent].first_child = tree->count;
	*place = tree->count;
	return tree->count++;
}

static void report_tree_add_group(struct tree *tree, const struct profile_group *group)
{
	const struct tally figure = report_figure(tree->report, group);
	const uint32_t count = report_frame_count(group);
	const bool down = tree->report->options.tree == TREE_DOWN;
	size_t node = 0;

	if (!figure.calls)
		return;
	tally_join(&tree->nodes[0].figure, &figure);
	if (!down) {
		node = child_of(tree, node, NULL, group->function);
		tally_join(&tree->nodes[node].figure, &figure);
	}
	for (uint32_t i = 0; i < count; i++) {
		node = child_of(tree, node, group->frames[down ? count - 1 - i : i], NULL);
		tally_join(&tree->nodes[node].figure, &figure);
	}
	if (down) {
		node = child_of(tree, node, NULL, group->function);
		tally_join(&tree->nodes[node].figure, &figure);
	}
}

static int report_tree_compare_children(const void *a, const void *b, void *context)
{
	const struct tree *tree = context;
	const size_t x = *(const size_t *)a, y = *(const size_t *)b;
	const struct report_tree_node *first = &tree->nodes[x], *second = &tree->nodes[y];

	return compare_u64(second->key, first->key) ?: compare_u64(x, y);
}

/* Adds the node's frame. Leaves out the file, the line or "(inlined)" if the frames that are merged into the node do
 * not agree on it. */
static void report_tree_add_frame(struct report *report, const struct report_tree_node *node)
{
	struct profile_frame frame = *node->frame;

	if (node->has_files)
		frame.file = NULL;
	if (node->has_lines)
		frame.line = 0;
	if (node->is_partly_inlined)
		frame.inlined = false;
	report_add_frame(report, &frame);
}

static void report_tree_write_node(struct tree *tree, const struct report_tree_node *node, unsigned indent)
{
	struct report *report = tree->report;
	struct lines *lines = &report->lines;
	char figure[32];

	lines_add(lines, "  ");
	report_add_share(report, node->key, tree->nodes[0].key);
	lines_colour(lines, COLOUR_FIGURE);
	lines_add(lines, " %15s  ", number_grouped(node->key, figure));
	lines_colour(lines, COLOUR_NONE);
	lines_add(lines, "%*s", (int)(2 * (indent < INDENT_MAX ? indent : INDENT_MAX)), "");
	if (node->frame)
		report_tree_add_frame(report, node);
	else
		lines_add_name(lines, node->function ? node->function : "?");
	lines_end(lines);
}

/* A node that is still to be written, with its depth. In struct pending_list, the last item is written next. */
struct pending {
	size_t node;
	unsigned indent;
	size_t left_out; /* if not 0: this is no node, but a line for this number of small nodes of one parent */
	uint64_t left_out_key;
};

struct pending_list {
	struct pending *items;
	size_t count, capacity;
};

static void report_tree_push(struct pending_list *list, struct pending item)
{
	ARRAY_GROW(list->items, list->capacity, list->count);
	list->items[list->count++] = item;
}

static void push_children(struct tree *tree, struct pending_list *list, size_t parent, unsigned indent)
{
	const size_t top = tree->report->options.top ? tree->report->options.top : CHILDREN_DEFAULT;
	const uint64_t least = tree->nodes[0].key / SHARE_MIN;
	size_t *children = NULL, count = 0, capacity = 0, shown = 0;
	struct pending rest = {.indent = indent};

	for (size_t i = tree->nodes[parent].first_child; i; i = tree->nodes[i].next) {
		ARRAY_GROW(children, capacity, count);
		children[count++] = i;
	}
	if (count)
		qsort_r(children, count, sizeof(*children), report_tree_compare_children, tree);
	while (shown < count && shown < top && (!shown || tree->nodes[children[shown]].key >= least))
		shown++;
	for (size_t i = shown; i < count; i++) {
		rest.left_out++;
		rest.left_out_key = add_saturated(rest.left_out_key, tree->nodes[children[i]].key);
	}
	if (rest.left_out)
		report_tree_push(list, rest);
	for (size_t i = shown; i-- > 0;)
		report_tree_push(list, (struct pending){.node = children[i], .indent = indent});
	free(children);
}

static void report_tree_write_rest(struct tree *tree, const struct pending *rest)
{
	char figure[32];

	lines_add(&tree->report->lines, "  ");
	report_add_share(tree->report, rest->left_out_key, tree->nodes[0].key);
	lines_add(&tree->report->lines, " %15s  %*s(%zu more)", number_grouped(rest->left_out_key, figure),
		  (int)(2 * (rest->indent < INDENT_MAX ? rest->indent : INDENT_MAX)), "", rest->left_out);
	lines_end(&tree->report->lines);
}

static void write_tree(struct tree *tree)
{
	struct pending_list list = {0};

	push_children(tree, &list, 0, 0);
	while (list.count) {
		const struct pending item = list.items[--list.count];
		const struct report_tree_node *node = &tree->nodes[item.node];

		if (item.left_out) {
			report_tree_write_rest(tree, &item);
			continue;
		}
		report_tree_write_node(tree, node, item.indent);
		/* If a node has only one child, with the same figure, the child is not indented further. */
		const size_t child = node->first_child;
		const bool is_chain = child && !tree->nodes[child].next && tree->nodes[child].key == node->key;

		push_children(tree, &list, item.node, item.indent + !is_chain);
	}
	free(list.items);
}

void report_tree(struct report *report, const struct profile_resource *resource)
{
	struct tree tree = {.report = report, .resource = resource};

	ARRAY_GROW(tree.nodes, tree.capacity, tree.count);
	tree.nodes[tree.count++] = (struct report_tree_node){0};
	for (size_t i = 0; i < report->profile->group_count; i++)
		if (report->profile->groups[i]->resource == resource)
			report_tree_add_group(&tree, report->profile->groups[i]);
	for (size_t i = 0; i < tree.count; i++)
		tree.nodes[i].key = report_key(resource, &tree.nodes[i].figure);
	LINE(&report->lines, "%s", "");
	lines_colour(&report->lines, COLOUR_TITLE);
	LINE(&report->lines, "  share %17s  %s", report_has_bytes(resource) ? "bytes" : "count",
	     report->options.tree == TREE_DOWN ? "calls, from the start of the program"
					       : "callers of the allocating "
						 "functions");
	write_tree(&tree);
	free(tree.nodes);
	hash_free(&tree.children);
}

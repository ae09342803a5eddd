/* Writes a file in massif's format, for ms_print and massif-visualizer: the heap at the moments of the timeline, at the
 * peak (of a single process) and at the end. Every tenth moment, the peak and the end have a tree of stacks, the
 * innermost frames first. As in massif by default, nodes with less than a hundredth of the whole are summed up; frames
 * deeper than DEPTH are left out. */
#include "config.h"
#include "export/export.h"

#include <inttypes.h>
#include <stdlib.h>

enum { DEPTH = 30, DETAILED = 10 };

struct part {
	const struct profile_group *group;
	uint64_t bytes;
};

struct massif {
	const struct profile *profile;
	const struct profile_resource *memory;
	struct part *parts; /* groups with bytes in the snapshot, in the order of their frames */
	size_t count;
	uint64_t total;
	size_t snapshot, processes; /* number of the next snapshot; number of processes, without the older trace's */
	FILE *out;
};

/* A child of a node. It is the elements of `parts` from `first` to before `end`, which have the same frame at the
 * child's depth. */
struct child {
	size_t first, end;
	uint64_t bytes;
};

static int massif_compare_stacks(const void *a, const void *b)
{
	const struct profile_group *x = ((const struct part *)a)->group, *y = ((const struct part *)b)->group;

	for (uint32_t i = 0; i < x->frame_count && i < y->frame_count; i++)
		if (x->frames[i] != y->frames[i])
			return compare_u64(x->frames[i]->number, y->frames[i]->number);
	return compare_u64(x->frame_count, y->frame_count) ?: compare_u64(x->number, y->number);
}

static int massif_compare_children(const void *a, const void *b)
{
	const struct child *x = a, *y = b;

	return compare_u64(y->bytes, x->bytes) ?: compare_u64(x->first, y->first);
}

/* Returns the children of a node, the largest first; the caller frees them. The node is the elements of `parts` from
 * `first` to before `end`, which have the same frames up to this depth. */
static struct child *children_of(const struct massif *massif, size_t first, size_t end, uint32_t depth, size_t *count)
{
	struct child *children = xcalloc(end - first, sizeof(*children));

	*count = 0;
	while (first < end && massif->parts[first].group->frame_count <= depth)
		first++;
	while (first < end) {
		struct child *child = &children[(*count)++];
		const struct profile_frame *frame = massif->parts[first].group->frames[depth];

		child->first = first;
		for (; first < end && massif->parts[first].group->frames[depth] == frame; first++)
			child->bytes = add_saturated(child->bytes, massif->parts[first].bytes);
		child->end = first;
	}
	qsort(children, *count, sizeof(*children), massif_compare_children);
	return children;
}

static void massif_write_frame(struct massif *massif, const struct profile_frame *frame)
{
	struct buf text = {0};

	export_add_frame(&text, frame);
	buf_write(&text, massif->out);
	buf_free(&text);
}

/* Writes a node with the number of its children, then the children. The depth of the recursion is limited to DEPTH. */
static void massif_write_node(struct massif *massif, const struct child *node, uint32_t depth)
{
	const struct profile_frame *frame = depth ? massif->parts[node->first].group->frames[depth - 1] : NULL;
	struct child *children = NULL;
	size_t count = 0, shown = 0;
	uint64_t rest = 0;

	if (depth < DEPTH && node->first < node->end)
		children = children_of(massif, node->first, node->end, depth, &count);
	while (shown < count && children[shown].bytes >= massif->total / 100 + (massif->total % 100 != 0))
		shown++;
	for (size_t i = shown; i < count; i++)
		rest = add_saturated(rest, children[i].bytes);
	fprintf(massif->out, "%*sn%zu: %" PRIu64 " ", (int)depth, "", shown + (shown < count), node->bytes);
	if (frame)
		massif_write_frame(massif, frame);
	else
		fputs("(heap allocation functions) malloc/new/new[], --alloc-fns, etc.", massif->out);
	fputc('\n', massif->out);
	for (size_t i = 0; i < shown; i++)
		massif_write_node(massif, &children[i], depth + 1);
	if (shown < count)
		fprintf(massif->out, "%*sn0: %" PRIu64 " in %zu place%s, below massif's threshold (1.00%%)\n",
			(int)depth + 1, "", rest, count - shown, count - shown == 1 ? "" : "s, all");
	free(children);
}

/* Kinds of snapshots: at a moment of the timeline, without or with a tree; at the peak; at the end. */
enum massif_snapshot { SNAPSHOT_EMPTY, SNAPSHOT_DETAILED, SNAPSHOT_PEAK, SNAPSHOT_END };

static uint64_t bytes_in_snapshot(const struct massif *massif, const struct profile_group *group,
				  enum massif_snapshot kind, uint64_t since)
{
	return kind == SNAPSHOT_PEAK  ? group->at_peak.bytes
	       : kind == SNAPSHOT_END ? group->live.bytes
				      : profile_group_at(massif->profile, group, since).bytes;
}

static void write_snapshot(struct massif *massif, enum massif_snapshot kind, uint64_t since)
{
	static const char *const trees[] = {"empty", "detailed", "peak", "detailed"};

	massif->count = 0;
	massif->total = 0;
	for (size_t i = 0; i < massif->profile->group_count; i++) {
		const struct profile_group *const group = massif->profile->groups[i];
		const uint64_t bytes =
			group->resource == massif->memory ? bytes_in_snapshot(massif, group, kind, since) : 0;

		if (bytes)
			massif->parts[massif->count++] = (struct part){group, bytes};
		massif->total = add_saturated(massif->total, bytes);
	}
	fprintf(massif->out,
		"#-----------\nsnapshot=%zu\n#-----------\ntime=%" PRIu64 "\nmem_heap_B=%" PRIu64
		"\nmem_heap_extra_B=0\nmem_stacks_B=0\nheap_tree=%s\n",
		massif->snapshot++, massif->profile->has_times ? since / 1000000 : since, massif->total, trees[kind]);
	if (kind == SNAPSHOT_EMPTY)
		return;
	qsort(massif->parts, massif->count, sizeof(*massif->parts), massif_compare_stacks);
	massif_write_node(massif, &(struct child){0, massif->count, massif->total}, 0);
}

/* Returns the longest distance between two successive moments in a process's timeline. */
static uint64_t width_of(const struct profile *profile, const struct profile_resource *memory)
{
	uint64_t width = 1;

	for (size_t i = 0; i < profile->process_count; i++) {
		const struct resource_account *account =
			profile_resource_account(profile->processes[i].account, memory);

		if (account && !profile->processes[i].is_old && account->timeline.moment_width > width)
			width = account->timeline.moment_width;
	}
	/* If a process begins late, the profile is longer than each process's timeline. So the width is doubled until
	 * TIMELINE_MOMENTS moments are enough for the profile. */
	while (profile->end_since / width >= TIMELINE_MOMENTS)
		width *= 2;
	return width;
}

static void write_snapshots(struct massif *massif)
{
	const struct profile *profile = massif->profile;
	const uint64_t width = width_of(profile, massif->memory), peak = massif->memory->peak_since;
	/* The peaks of several processes may be at different times, so there is no common peak. */
	bool has_peak = massif->processes == 1 && massif->memory->peak.bytes;

	for (uint64_t i = 0;; i++) {
		/* Compares indexes, because i * width could overflow after the last moment of a long trace. */
		const bool is_end = i > profile->end_since / width;

		if (has_peak && (is_end || peak < i * width)) {
			write_snapshot(massif, SNAPSHOT_PEAK, peak);
			has_peak = false;
		}
		if (is_end)
			break;
		write_snapshot(massif, i % DETAILED == DETAILED - 1 ? SNAPSHOT_DETAILED : SNAPSHOT_EMPTY, i * width);
	}
	write_snapshot(massif, SNAPSHOT_END, profile->end_since);
}

/* Prints the peak of the resident memory at the end of the first line, because the format has no place for it; ms_print
 * shows this line as the arguments. Also sets massif->processes, the number of processes. */
static void massif_print_resident(struct massif *massif)
{
	uint64_t peak = 0;
	bool is_known = false;

	for (size_t i = 0; i < massif->profile->process_count; i++) {
		const struct resident *resident = &massif->profile->processes[i].account->resident;

		if (massif->profile->processes[i].is_old)
			continue;
		massif->processes++;
		is_known |= resident->is_known;
		if (resident->is_known && resident->peak > peak)
			peak = resident->peak;
	}
	if (is_known)
		fprintf(massif->out, ", peak RSS %" PRIu64 " B%s", peak,
			massif->processes > 1 ? " of one process" : "");
	else
		fputs(", peak RSS unknown", massif->out);
}

static int massif_write(const struct profile *profile, const struct export_options *options, FILE *out)
{
	struct massif massif = {.profile = profile, .memory = export_memory(profile), .out = out};

	(void)options;
	fputs("desc: functrace " PACKAGE_VERSION, out);
	massif_print_resident(&massif);
	fputs("\ncmd: ", out);
	plain_print(out, export_command(profile_first_account(profile)));
	fprintf(out, "\ntime_unit: %s\n", profile->has_times ? "ms" : "i");
	massif.parts = xcalloc(profile->group_count + 1, sizeof(*massif.parts));
	if (massif.memory)
		write_snapshots(&massif);
	free(massif.parts);
	return 0;
}

const struct export export_massif = {
	.name = "massif",
	.suffix = ".massif",
	.write = massif_write,
};

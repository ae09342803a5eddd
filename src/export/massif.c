/* Writes a file like massif's, for ms_print and massif-visualizer: the heap at the moments of the timeline, at the peak
 * and at the end. Every tenth moment, the peak and the end have a tree of stacks, innermost frames first. Like massif
 * by default, it sums up what is below a hundredth of the whole, or deeper than DEPTH frames. The format has a place
 * for memory only. */
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
	struct part *parts; /* groups with live blocks, in the order of their frames */
	size_t count;
	uint64_t total;
	size_t snapshot;
	FILE *out;
};

/* The parts from `first` to before `end`, which have the frame at this depth in common. */
struct child {
	size_t first, end;
	uint64_t bytes;
};

static int massif_compare_stacks(const void *a, const void *b)
{
	const struct profile_group *x = ((const struct part *)a)->group, *y = ((const struct part *)b)->group;

	for (uint32_t i = 0; i < x->frame_count && i < y->frame_count; i++)
		if (x->frames[i]->number != y->frames[i]->number)
			return x->frames[i]->number < y->frames[i]->number ? -1 : 1;
	if (x->frame_count != y->frame_count)
		return x->frame_count < y->frame_count ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

static int massif_compare_children(const void *a, const void *b)
{
	const struct child *x = a, *y = b;

	if (x->bytes != y->bytes)
		return x->bytes > y->bytes ? -1 : 1;
	return x->first < y->first ? -1 : 1;
}

/* The parts from `first` to before `end` have the same frames up to this depth, so they are one node. Returns the
 * node's children, the largest first; the caller frees them. */
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
			child->bytes += massif->parts[first].bytes;
		child->end = first;
	}
	qsort(children, *count, sizeof(*children), massif_compare_children);
	return children;
}

static void massif_write_frame(struct massif *massif, const struct profile_frame *frame)
{
	struct buf text = {0};

	export_add_frame(&text, frame);
	fwrite(text.data, 1, text.size, massif->out);
	buf_free(&text);
}

/* Writes a node, with the number of its children, and then the children. Recurses up to DEPTH deep. */
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
		rest += children[i].bytes;
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

/* Collects the parts of a snapshot: `what` returns a group's tally. */
static void massif_collect(struct massif *massif,
			   struct tally (*what)(const struct profile *, const struct profile_group *, uint64_t),
			   uint64_t since)
{
	massif->count = 0;
	massif->total = 0;
	for (size_t i = 0; i < massif->profile->group_count; i++) {
		const struct profile_group *group = massif->profile->groups[i];

		if (group->resource != massif->memory)
			continue;
		const uint64_t bytes = what(massif->profile, group, since).bytes;

		if (!bytes)
			continue;
		massif->parts[massif->count++] = (struct part){group, bytes};
		massif->total += bytes;
	}
}

static struct tally tally_at_peak(const struct profile *profile, const struct profile_group *group, uint64_t since)
{
	(void)profile;
	(void)since;
	return group->at_peak;
}

static struct tally tally_at_end(const struct profile *profile, const struct profile_group *group, uint64_t since)
{
	(void)profile;
	(void)since;
	return group->live;
}

static void write_snapshot(struct massif *massif, uint64_t since, const char *tree)
{
	fprintf(massif->out,
		"#-----------\nsnapshot=%zu\n#-----------\ntime=%" PRIu64 "\nmem_heap_B=%" PRIu64
		"\nmem_heap_extra_B=0\nmem_stacks_B=0\nheap_tree=%s\n",
		massif->snapshot++, massif->profile->has_times ? since / 1000000 : since, massif->total, tree);
	if (*tree == 'e')
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
	/* A process that begins late makes the whole longer than each process. */
	while (profile->end_since / width >= TIMELINE_MOMENTS)
		width *= 2;
	return width;
}

static void write_snapshots(struct massif *massif)
{
	const struct profile *profile = massif->profile;
	const uint64_t width = width_of(profile, massif->memory), peak = massif->memory->peak_since;
	/* The peaks of several processes may be at different times, so there is no common peak. */
	size_t processes = 0;

	for (size_t i = 0; i < profile->process_count; i++)
		processes += !profile->processes[i].is_old;
	bool has_peak = processes == 1 && massif->memory->peak.bytes;

	for (uint64_t i = 0; i * width <= profile->end_since; i++) {
		if (has_peak && peak < i * width) {
			massif_collect(massif, tally_at_peak, peak);
			write_snapshot(massif, peak, "peak");
			has_peak = false;
		}
		massif_collect(massif, profile_group_at, i * width);
		write_snapshot(massif, i * width, i % DETAILED == DETAILED - 1 ? "detailed" : "empty");
	}
	if (has_peak) {
		massif_collect(massif, tally_at_peak, peak);
		write_snapshot(massif, peak, "peak");
	}
	massif_collect(massif, tally_at_end, profile->end_since);
	write_snapshot(massif, profile->end_since, "detailed");
}

/* Appends the peak of the resident memory to the first line, which ms_print shows as the arguments. The format has no
 * other place for it. */
static void massif_add_resident(struct buf *head, const struct profile *profile)
{
	uint64_t peak = 0;
	size_t processes = 0, known = 0;

	for (size_t i = 0; i < profile->process_count; i++) {
		const struct resident *resident = &profile->processes[i].account->resident;

		if (profile->processes[i].is_old)
			continue;
		processes++;
		known += resident->is_known;
		if (resident->is_known && resident->peak > peak)
			peak = resident->peak;
	}
	if (known)
		buf_printf(head, ", peak RSS %" PRIu64 " B%s", peak, processes > 1 ? " of one process" : "");
	else
		buf_add_str(head, ", peak RSS unknown");
}

static int massif_write(const struct profile *profile, const struct export_options *options, FILE *out)
{
	struct massif massif = {.profile = profile, .memory = export_memory(profile), .out = out};
	const struct account *account = profile->process_count ? profile->processes[0].account : NULL;
	const char *command = account ? account->command ? account->command : account->name : NULL;

	struct buf head = {0};

	(void)options;
	buf_add_str(&head, "desc: functrace " PACKAGE_VERSION);
	massif_add_resident(&head, profile);
	buf_add_str(&head, "\ncmd: ");
	export_add_text(&head, command ? command : "?");
	fprintf(out, "%s\ntime_unit: %s\n", buf_str(&head), profile->has_times ? "ms" : "i");
	buf_free(&head);
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

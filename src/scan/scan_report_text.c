#include "config.h"
#include "scan/scan_report.h"
#include "base/terminal_escape.h"

#include <inttypes.h>
#include <string.h>

static const char *const words[CLASSES] = {
	[CLASS_LOST] = "definitely lost",
	[CLASS_INDIRECT] = "indirectly lost",
	[CLASS_POSSIBLE] = "possibly lost",
	[CLASS_REACHABLE] = "still reachable",
};

static const char *plural(uint64_t count)
{
	return count == 1 ? "" : "s";
}

/* Prints "224,000 bytes in 4,000 blocks". */
static void print_sum(FILE *out, struct scan_sum sum)
{
	char bytes[32], blocks[32];

	fprintf(out, "%s byte%s in %s block%s", number_grouped(sum.bytes, bytes), plural(sum.bytes),
		number_grouped(sum.blocks, blocks), plural(sum.blocks));
}

static void print_time(FILE *out, time_t time)
{
	char text[32];
	struct tm tm;

	if (gmtime_r(&time, &tm) && strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &tm))
		fprintf(out, ", %s UTC", text);
}

/* The end of messages about memory or registers that were not copied: says what this means for the classes. */
static const char partial[] = ", and may have pointers: blocks that no known pointer leads to are only possibly lost";

static void print_pause(FILE *out, const struct scan_report *report)
{
	const struct snapshot_figures *pause = report->pause;
	char bytes[32];

	plain_print(out, report->program);
	fprintf(out, " (%d)", report->pid);
	if (report->scans > 1) {
		fprintf(out, ", scan %" PRIu64 " of %" PRIu64, report->scan, report->scans);
		print_time(out, report->time.tv_sec);
	}
	if (report->core) {
		fprintf(out, ": a core file of %zu thread%s, %s bytes of variables\n", pause->threads,
			plural(pause->threads), number_grouped(pause->bytes, bytes));
		if (pause->unreadable)
			fprintf(out, "  %s bytes of memory are not in the file%s\n",
				number_grouped(pause->unreadable, bytes), partial);
		if (!pause->threads)
			fprintf(out, "  the file has no registers of threads: blocks that only registers or stacks "
				     "lead to seem lost\n");
		return;
	}
	fprintf(out, ": %zu thread%s stopped for %.1f ms, %s bytes copied\n", pause->threads, plural(pause->threads),
		(double)pause->pause_ns / 1e6, number_grouped(pause->bytes, bytes));
	if (report->program_before) {
		fprintf(out, "  the process has executed another program since the previous scan, which was of ");
		plain_print(out, report->program_before);
		fprintf(out, ": growth is counted anew\n");
	}
	if (report->inconsistent)
		fprintf(out,
			"  %" PRIu64 " earlier cop%s not used: a thread was inside malloc or free, or could not be "
			"stopped\n",
			report->inconsistent, report->inconsistent == 1 ? "y was" : "ies were");
	if (pause->is_stopped)
		fprintf(out, "  a signal had stopped the process before; it is still stopped\n");
	if (pause->moving)
		fprintf(out, "  %zu thread%s inside the kernel could not be stopped, so %s registers are unknown%s\n",
			pause->moving, plural(pause->moving), pause->moving == 1 ? "its" : "their", partial);
	if (pause->sharers)
		fprintf(out, "  %zu other process%s this memory and %s not stopped, so %s registers are unknown%s\n",
			pause->sharers, pause->sharers == 1 ? " uses" : "es use", pause->sharers == 1 ? "was" : "were",
			pause->sharers == 1 ? "its" : "their", partial);
	if (pause->left_out)
		fprintf(out, "  %s bytes of very wide mappings were not scanned%s\n",
			number_grouped(pause->left_out, bytes), partial);
	if (pause->unreadable)
		fprintf(out, "  %s bytes could not be read%s\n", number_grouped(pause->unreadable, bytes), partial);
	if (pause->shared_left_out)
		fprintf(out, "  %s bytes of shared memory that this process has not touched were not copied%s\n",
			number_grouped(pause->shared_left_out, bytes), partial);
}

static void print_classes(FILE *out, const struct scan_report *report)
{
	fputc('\n', out);
	for (size_t i = 0; i < CLASSES; i++) {
		fprintf(out, "%17s: ", words[i]);
		print_sum(out, report->groups->sums[i]);
		fputc('\n', out);
	}
	if (!report->is_compared)
		return;
	fprintf(out, "%17s: ", "lost before, too");
	print_sum(out, report->groups->still_lost);
	fputc('\n', out);
}

static void print_type(FILE *out, const struct scan_report *report, const struct scan_group *group)
{
	const char *name = scan_type_name(report->types, group->type);

	fputs("  ", out);
	plain_print(out, name ? name : "?");
}

static void print_more(FILE *out, size_t more)
{
	if (more)
		fprintf(out, "  and %zu more group%s: --top=N\n", more, plural(more));
}

static void print_lost(FILE *out, const struct scan_report *report, enum scan_class class)
{
	struct scan_groups *groups = report->groups;
	char bytes[32], blocks[32];
	size_t more = 0;

	if (!groups->sums[class].blocks)
		return;
	scan_groups_sort(groups, class);
	fprintf(out, "\n%s, by size and type%s:\n%14s %10s %9s  type (a block)\n",
		class == CLASS_LOST ? "Definitely lost" : "Possibly lost",
		class == CLASS_LOST ? ", with the blocks indirectly lost through them" : "", "bytes", "blocks", "size");
	for (size_t i = 0; i < groups->count && groups->items[i].sums[class].blocks; i++) {
		const struct scan_group *group = &groups->items[i];

		if (i >= report->top) {
			more++;
			continue;
		}
		fprintf(out, "%14s %10s %9" PRIu64, number_grouped((uint64_t)group->rank, bytes),
			number_grouped(group->sums[class].blocks, blocks), group->size);
		print_type(out, report, group);
		fprintf(out, " (0x%" PRIx64 ")\n", group->examples[class]);
	}
	print_more(out, more);
}

static void print_growth(FILE *out, const struct scan_report *report)
{
	struct scan_groups *groups = report->groups;
	char bytes[32], more_bytes[34], more_blocks[34];
	size_t more = 0;

	if (!report->is_compared)
		return;
	scan_groups_sort_growth(groups);
	fprintf(out, "\nGrown in %.1f s, by size and type:%s\n", (double)report->since_last_ns / 1e9,
		groups->count && groups->items[0].rank > 0 ? "" : " nothing");
	for (size_t i = 0; i < groups->count && groups->items[i].rank > 0; i++) {
		const struct scan_group *group = &groups->items[i];

		if (i >= report->top) {
			more++;
			continue;
		}
		snprintf(more_bytes, sizeof(more_bytes), "+%s", number_grouped((uint64_t)group->rank, bytes));
		snprintf(more_blocks, sizeof(more_blocks), "+%s",
			 number_grouped(scan_group_all(group).blocks - group->before.blocks, bytes));
		fprintf(out, "%14s %10s %9" PRIu64, more_bytes, more_blocks, group->size);
		print_type(out, report, group);
		fprintf(out, ", now %s\n", number_grouped(scan_group_all(group).bytes, bytes));
	}
	print_more(out, more);
}

static void print_owners(FILE *out, const struct scan_report *report)
{
	char bytes[32], blocks[32];

	if (!report->owner_count)
		return;
	fprintf(out, "\nReachable and possibly lost blocks, by the first root that was found to lead to them:\n");
	fprintf(out, "%14s %10s  root\n", "bytes", "blocks");
	for (size_t i = 0; i < report->owner_count && i < report->top; i++) {
		fprintf(out, "%14s %10s  ", number_grouped(report->owners[i].sum.bytes, bytes),
			number_grouped(report->owners[i].sum.blocks, blocks));
		plain_print(out, report->owners[i].name);
		fputc('\n', out);
	}
	if (report->owner_count > report->top)
		fprintf(out, "  and %zu more root%s: --top=N\n", report->owner_count - report->top,
			plural(report->owner_count - report->top));
}

/* Prints the commands that show which source lines allocate. A scan cannot show the lines, because the functions that
 * allocated have returned. */
static void print_next(FILE *out, const struct scan_report *report)
{
	const struct scan_groups *groups = report->groups;

	if (report->scan != report->scans && report->scans)
		return;
	if (report->core)
		fputs("\nThe source lines that allocate: functrace --report PROGRAM, from its start\n", out);
	else
		fprintf(out,
			"\nThe source lines that allocate, while the process runs on: functrace -t %d --report "
			"--duration=60\n",
			report->pid);
	if (!report->core && !report->why_count && groups->sums[CLASS_REACHABLE].blocks)
		fprintf(out, "What keeps a block: functrace --scan -t %d --why=ADDRESS\n", report->pid);
}

static void print_figures(FILE *out, const struct scan_report *report)
{
	char number[32];

	fprintf(out, "\nThe allocator (%s):\n", report->allocator);
	for (size_t i = 0; i < report->figure_count; i++)
		if (report->figures[i].value)
			fprintf(out, "%14s %-5s  %s (%s)\n", number_grouped(report->figures[i].value, number),
				report->figures[i].is_count ? "" : "bytes", report->figures[i].words,
				report->figures[i].name);
}

static void print_step(FILE *out, const struct scan_step *step)
{
	char size[32];

	if (step->root) {
		plain_print(out, step->root);
	} else if (step->left_out) {
		fprintf(out, "%zu more block%s", step->left_out, plural(step->left_out));
	} else {
		fprintf(out, "0x%" PRIx64 ", %s bytes%s", step->address, number_grouped(step->size, size),
			step->type ? ", " : "");
		plain_print(out, step->type ? step->type : "");
	}
	fputc('\n', out);
}

static void print_way(FILE *out, const struct scan_retained_by *why)
{
	if (!why->is_block)
		fprintf(out, "  no block of the heap is there now\n");
	else if (why->class == CLASS_INDIRECT)
		fprintf(out, "  only lost blocks, beginning with one that is definitely lost:\n");
	for (size_t i = 0; i < why->step_count; i++) {
		fputs(i ? "  -> " : "  ", out);
		print_step(out, &why->steps[i]);
	}
	if (why->is_block && why->class == CLASS_LOST)
		fprintf(out, "  nothing: it is definitely lost\n");
	else if (why->is_doubtful)
		fprintf(out, "  no pointer was found; perhaps one is in memory that was not copied\n");
}

static void print_whys(FILE *out, const struct scan_report *report)
{
	for (size_t i = 0; i < report->why_count; i++) {
		fprintf(out, "\nWhat keeps 0x%" PRIx64 ":\n", report->whys[i].address);
		print_way(out, &report->whys[i]);
	}
}

/* Prints the addresses of --why that are in no block. This comes before all results. */
static void print_no_blocks(FILE *out, const struct scan_report *report)
{
	for (size_t i = 0; i < report->why_count; i++)
		if (!report->whys[i].is_block)
			fprintf(out, "  0x%" PRIx64 " (--why) is in no block of the heap\n", report->whys[i].address);
}

void scan_report_text(FILE *out, struct scan_report *report)
{
	print_pause(out, report);
	print_no_blocks(out, report);
	print_classes(out, report);
	print_lost(out, report, CLASS_LOST);
	print_lost(out, report, CLASS_POSSIBLE);
	print_growth(out, report);
	print_owners(out, report);
	print_figures(out, report);
	print_whys(out, report);
	print_next(out, report);
}

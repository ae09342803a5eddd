/* Writes the rows of a trace: a line of JSON for each stack, and one for each process and kind of resource. The columns
 * are those of a watch (row_line.h), so that exact figures and estimates go into one table of a database. */
#include "config.h"
#include "export/export.h"
#include "base/time_units.h"
#include "export/row_line.h"

#include <math.h>
#include <stdlib.h>

/* The frames of a stack, as a row has them. */
struct export_row_frames {
	struct watch_frame *items;
	size_t count, capacity;
};

/* Returns what all rows of a process have in common. A trace does not say on which host it was recorded, and when the
 * process was started. */
static struct row_line export_rows_of_process(const struct account *account)
{
	const char *const program = account->name && *account->name ? account->name : NULL;
	struct row_line row = row_line_unknown();

	row.service = program ? path_name(program) : NULL;
	row.program = program;
	row.pid = account->pid;
	row.way = "trace";
	row.verdict = "exact";
	if (account->start_sec <= 0 || !account->has_times)
		return row;
	row.interval_begin_ns = mul_saturated((uint64_t)account->start_sec, NS_PER_SECOND);
	row.watch_begin_ns = row.interval_begin_ns;
	row.interval_end_ns = add_saturated(row.interval_begin_ns, account->last.since);
	return row;
}

/* Sets the figures of blocks. is_counted_only: the sizes of blocks mean nothing. */
static void export_rows_set_figures(struct row_line *row, const struct account *account, const struct tally *allocated,
				    const struct tally *live, bool is_counted_only)
{
	const double seconds = account->has_times ? (double)account->last.since / (double)NS_PER_SECOND : 0;

	row->blocks = (double)live->calls;
	row->live = is_counted_only ? NAN : (double)live->bytes;
	row->live_low = row->live_high = row->live;
	if (seconds <= 0)
		return;
	row->call_rate = (double)allocated->calls / seconds;
	row->allocated_rate = is_counted_only ? NAN : (double)allocated->bytes / seconds;
}

/* Bytes that are definitely or indirectly lost, as other exports count them. */
static double export_rows_lost(const struct tally lost[LOST_KINDS])
{
	return (double)add_saturated(lost[LOST_DEFINITELY].bytes, lost[LOST_INDIRECTLY].bytes);
}

/* Fills in the frames of a site. Equal frames of a profile may have several addresses, so that the offsets come from
 * the site's own stack, which -b does not cut. Inlined functions have the address of the function around them. */
static void export_rows_take_frames(struct export_row_frames *frames, const struct profile_group *group,
				    const struct stack *stack)
{
	uint32_t at = 0; /* index of the address in `stack` */

	frames->count = 0;
	for (uint32_t i = 0; i < group->frame_count; i++) {
		const struct profile_frame *const frame = group->frames[i];
		const struct mapped_object *const object =
			stack && stack->objects && at < stack->count ? stack->objects[at] : NULL;
		const uint64_t address = stack && at < stack->count ? stack->frames[at] : frame->address;

		ARRAY_GROW(frames->items, frames->capacity, frames->count);
		frames->items[frames->count++] = (struct watch_frame){
			.function = frame->function,
			.file = frame->file,
			.line = frame->line,
			.object = frame->module,
			.build_id = object ? object->build_id : frame->build_id,
			.offset = object ? address - object->from : address,
		};
		at += !frame->inlined;
	}
}

/* Sets the build-ids of the programs' files, which are known if a stack goes through the file. */
static void export_rows_find_build_ids(const struct profile_group *group, struct row_line *processes)
{
	for (size_t i = 0; i < group->member_count; i++) {
		struct row_line *const process = &processes[group->members[i].process];
		const struct stack *const stack = group->members[i].site->stack;

		if (process->build_id || !process->program || !stack || !stack->objects)
			continue;
		for (uint32_t k = 0; k < stack->count && !process->build_id; k++)
			if (stack->objects[k] && !strcmp(stack->objects[k]->path, process->program))
				process->build_id = stack->objects[k]->build_id;
	}
}

static void export_rows_add_group(struct buf *out, const struct profile *profile, const struct profile_group *group,
				  const struct row_line *processes, struct export_row_frames *frames)
{
	for (size_t i = 0; i < group->member_count; i++) {
		const struct profile_member *const member = &group->members[i];
		const struct profile_process *const process = &profile->processes[member->process];
		struct row_line row = processes[member->process];

		export_rows_take_frames(frames, group, member->site->stack);
		row.scope = "stack";
		row.kind = group->resource->type;
		row.frames = frames->items;
		row.frame_count = frames->count;
		row.has_id = group->has_stack;
		row.id = row_stack_id(frames->items, frames->count);
		export_rows_set_figures(&row, process->account, &member->site->tally, &member->site->live,
					member->resource->counts_alone);
		if (resource_account_has_scan(member->resource))
			row.lost = export_rows_lost(member->site->lost);
		row_line_add(out, &row);
	}
}

static void export_rows_add_resource(struct buf *out, const struct account *account, const struct row_line *process,
				     const struct profile_resource *resource)
{
	const struct resource_account *const own = profile_resource_account(account, resource);
	struct row_line row = *process;
	double lost = 0;

	if (!own)
		return;
	struct tally allocated = own->allocations, live = own->live;

	/* As in a watch's rows, blocks from before the trace do not belong to the live ones. */
	if (own->before) {
		tally_subtract(&allocated, &own->before->tally);
		tally_subtract(&live, &own->before->live);
		row.before = (double)own->before->live.bytes;
	}
	row.scope = "interval";
	row.kind = resource->type;
	export_rows_set_figures(&row, account, &allocated, &live, own->counts_alone);
	for (size_t i = 0; i < own->by_stack.site_count; i++)
		lost += export_rows_lost(own->by_stack.sites[i]->lost);
	if (resource_account_has_scan(own))
		row.lost = lost;
	row.stacks = (double)own->by_stack.stack_count;
	row.calls_seen = (double)allocated.calls;
	row_line_add(out, &row);
}

static int export_rows_write(const struct profile *profile, const struct export_options *options, FILE *out)
{
	struct row_line *const processes = xcalloc(profile->process_count + 1, sizeof(*processes));
	struct export_row_frames frames = {0};
	struct buf line = {0};

	(void)options;
	for (size_t i = 0; i < profile->process_count; i++)
		processes[i] = export_rows_of_process(profile->processes[i].account);
	for (size_t i = 0; i < profile->group_count; i++)
		export_rows_find_build_ids(profile->groups[i], processes);
	for (size_t i = 0; i < profile->group_count; i++) {
		const struct profile_group *const group = profile->groups[i];

		/* Calls that allocate nothing have no live blocks, and blocks from before the trace have no stack. */
		if (!(group->resource->flags & RESOURCE_CALL) && !group->is_before)
			export_rows_add_group(&line, profile, group, processes, &frames);
		buf_write(&line, out);
		line.size = 0;
	}
	for (size_t i = 0; i < profile->process_count; i++)
		for (size_t k = 0; k < profile->resource_count; k++)
			if (!(profile->resources[k]->flags & RESOURCE_CALL))
				export_rows_add_resource(&line, profile->processes[i].account, &processes[i],
							 profile->resources[k]);
	buf_write(&line, out);
	buf_free(&line);
	free(frames.items);
	free(processes);
	return 0;
}

const struct export export_rows = {
	.name = "rows",
	.suffix = ".rows.jsonl",
	.write = export_rows_write,
};

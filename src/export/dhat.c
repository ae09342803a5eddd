/* Writes a file in version 2 of the format of valgrind's DHAT, for its viewer dh_view.html: for each stack the
 * allocated memory, its lifetimes, and the live memory at the stack's own peak, at the peak of all stacks and at the
 * end. Reads and writes of blocks are unknown. */
#include "config.h"
#include "base/json.h"
#include "export/export.h"

#include <inttypes.h>

/* Blocks with a shorter average lifetime, in the file's unit of time, are shown as short-lived. DHAT writes 500. */
#define SHORT_LIVED 500

struct dhat {
	const struct profile *profile;
	struct buf table;    /* the texts of frames as JSON strings, one in each line */
	struct hash text_of; /* frame or interned function name -> number of its text; number 0 is the root */
	size_t texts;
	FILE *out;
};

/* Returns a time in microseconds, or in calls if the trace has no times. */
static uint64_t in_units(const struct dhat *dhat, uint64_t since)
{
	return dhat->profile->has_times ? since / 1000 : since;
}

static void add_table_line(struct dhat *dhat, const char *text)
{
	buf_add_str(&dhat->table, dhat->texts++ ? "\n ," : "");
	json_add_string(&dhat->table, text);
}

/* Returns the number of the text for a frame; if `frame` is NULL, for the function that was called to allocate. */
static uint64_t text_number(struct dhat *dhat, const struct profile_frame *frame, const char *function)
{
	uint64_t *const number = hash_place(&dhat->text_of, frame ? (uintptr_t)frame : (uintptr_t)function);

	if (!*number) {
		struct buf text = {0};

		*number = dhat->texts;
		if (frame)
			export_add_frame(&text, frame);
		else
			plain_add(&text, function);
		add_table_line(dhat, buf_str(&text));
		buf_free(&text);
	}
	return *number;
}

/* Writes the frames of a group. The viewer distinguishes stacks only by their frames, so an incomplete stack gets a
 * last frame that names the reason. */
static void dhat_add_frames(struct dhat *dhat, const struct profile_group *group)
{
	static const char *const ends[] = {
		[STACK_CUT] = "(more frames were not taken)",
		[STACK_LOST] = "(the stack could not be followed further)",
	};

	fprintf(dhat->out, "\n  ,\"fs\":[%" PRIu64, text_number(dhat, NULL, group->function));
	for (uint32_t i = 0; i < group->frame_count; i++)
		fprintf(dhat->out, ",%" PRIu64, text_number(dhat, group->frames[i], NULL));
	const char *const end = group->has_stack ? ends[group->end] : "(no stack was taken)";

	if (end)
		fprintf(dhat->out, ",%" PRIu64, text_number(dhat, NULL, end));
	fputs("]\n  }", dhat->out);
}

static void dhat_write_group(struct dhat *dhat, const struct profile_group *group, char separator)
{
	fprintf(dhat->out, "\n %c{\"tb\":%" PRIu64 ",\"tbk\":%" PRIu64 ",\"tl\":%" PRIu64, separator,
		group->allocated.bytes, group->allocated.calls,
		in_units(dhat, add_saturated(group->lifetimes, group->ages)));
	fprintf(dhat->out, "\n  ,\"mb\":%" PRIu64 ",\"mbk\":%" PRIu64, group->own_peak.bytes, group->own_peak.calls);
	fprintf(dhat->out, ",\"gb\":%" PRIu64 ",\"gbk\":%" PRIu64, group->at_peak.bytes, group->at_peak.calls);
	fprintf(dhat->out, ",\"eb\":%" PRIu64 ",\"ebk\":%" PRIu64, group->live.bytes, group->live.calls);
	dhat_add_frames(dhat, group);
}

static void dhat_write_head(const struct dhat *dhat, const struct profile_resource *memory)
{
	const struct profile *const profile = dhat->profile;
	const struct account *const account = profile_first_account(profile);

	fputs("{\"dhatFileVersion\":2,\"mode\":\"heap\",\"verb\":\"Allocated\",\"bklt\":true,\"bkacc\":false\n,",
	      dhat->out);
	fputs(profile->has_times ? "\"tu\":\"\xc2\xb5s\",\"Mtu\":\"s\"" : "\"tu\":\"calls\",\"Mtu\":\"Mcall\"",
	      dhat->out);
	fprintf(dhat->out, ",\"tuth\":%d\n", SHORT_LIVED);
	export_print_json(dhat->out, ",\"cmd\":", export_command(account));
	/* Several processes have no common peak; then `tg` is the time of the last process's peak. */
	fprintf(dhat->out, ",\"pid\":%" PRIu32 ",\"te\":%" PRIu64 ",\"tg\":%" PRIu64 "\n,\"pps\":[", account->pid,
		in_units(dhat, profile->end_since), memory ? in_units(dhat, memory->peak_since) : 0);
}

static int dhat_write(const struct profile *profile, const struct export_options *options, FILE *out)
{
	const struct profile_resource *const memory = export_memory(profile);
	struct dhat dhat = {.profile = profile, .out = out};
	char separator = ' ';

	(void)options;
	add_table_line(&dhat, "[root]");
	dhat_write_head(&dhat, memory);
	for (size_t i = 0; i < profile->group_count; i++) {
		const struct profile_group *const group = profile->groups[i];

		/* Leaves out a group that has neither allocations nor blocks at the peak. The baseline's group may have
		 * blocks at the peak, but no allocations: account.c subtracts a block of the baseline from the group's
		 * allocations if the call that allocated the block comes later in the trace. */
		if (group->resource != memory || (!group->allocated.calls && !group->at_peak.calls))
			continue;
		dhat_write_group(&dhat, group, separator);
		separator = ',';
	}
	fputs("\n ]\n,\"ftbl\":\n [", out);
	buf_write(&dhat.table, out);
	fputs("\n ]\n}\n", out);
	hash_free(&dhat.text_of);
	buf_free(&dhat.table);
	return 0;
}

const struct export export_dhat = {
	.name = "dhat",
	.suffix = ".dhat.json",
	.write = dhat_write,
};

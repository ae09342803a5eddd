#include "config.h"
#include "scan/scan_report.h"
#include "base/buf.h"
#include "base/json.h"

#include <inttypes.h>

static const char *const names[CLASSES] = {
	[CLASS_LOST] = "definitely_lost",
	[CLASS_INDIRECT] = "indirectly_lost",
	[CLASS_POSSIBLE] = "possibly_lost",
	[CLASS_REACHABLE] = "still_reachable",
};

static void add_sum(struct buf *out, const char *name, struct scan_sum sum)
{
	buf_printf(out, "\"%s\":{\"bytes\":%" PRIu64 ",\"blocks\":%" PRIu64 "}", name, sum.bytes, sum.blocks);
}

static void add_sums(struct buf *out, const struct scan_sum sums[CLASSES])
{
	for (size_t i = 0; i < CLASSES; i++) {
		if (i)
			buf_add_char(out, ',');
		add_sum(out, names[i], sums[i]);
	}
}

/* Adds the source of the data: a core file, or the time at which a process was scanned. */
static void add_origin(struct buf *out, const struct scan_report *report)
{
	if (report->core) {
		buf_add_str(out, "\"core\":");
		json_add_string(out, report->core);
	} else {
		buf_printf(out, "\"time\":%lld.%03ld", (long long)report->time.tv_sec, report->time.tv_nsec / 1000000);
	}
	buf_add_char(out, ',');
	if (!report->program_before)
		return;
	buf_add_str(out, "\"program_before\":");
	json_add_string(out, report->program_before);
	buf_add_char(out, ',');
}

static void add_pause(struct buf *out, const struct scan_report *report)
{
	const struct snapshot_figures *pause = report->pause;

	buf_printf(out,
		   "\"pause_ns\":%" PRIu64 ",\"copied_bytes\":%" PRIu64 ",\"threads\":%zu,\"threads_not_stopped\":%zu,"
		   "\"processes_not_stopped\":%zu,"
		   "\"was_stopped\":%s,\"inconsistent_copies\":%" PRIu64 ",\"bytes_left_out\":%" PRIu64
		   ",\"bytes_unreadable\":%" PRIu64 ",\"bytes_of_shared_left_out\":%" PRIu64,
		   pause->pause_ns, pause->bytes, pause->threads, pause->moving, pause->sharers,
		   pause->is_stopped ? "true" : "false", report->inconsistent, pause->left_out, pause->unreadable,
		   pause->shared_left_out);
}

static void add_groups(struct buf *out, const struct scan_report *report)
{
	struct scan_groups *groups = report->groups;

	scan_groups_sort(groups, CLASS_LOST);
	buf_add_str(out, ",\"groups\":[");
	for (size_t i = 0; i < groups->count; i++) {
		const struct scan_group *group = &groups->items[i];

		buf_printf(out, "%s{\"size\":%" PRIu64 ",\"type\":", i ? "," : "", group->size);
		json_add_string(out, scan_type_name(report->types, group->type));
		buf_printf(out, ",\"example\":\"0x%" PRIx64 "\",", scan_group_example(group));
		add_sums(out, group->sums);
		buf_add_char(out, ',');
		add_sum(out, "lost_by_it", group->kept_lost);
		if (report->is_compared) {
			buf_add_char(out, ',');
			add_sum(out, "before", group->before);
		}
		buf_add_char(out, '}');
	}
	buf_add_char(out, ']');
}

/* Adds the groups that have grown since the previous scan, with their growth in bytes and blocks; the group that has
 * grown most comes first. */
static void add_growth(struct buf *out, const struct scan_report *report)
{
	struct scan_groups *groups = report->groups;

	if (!report->is_compared)
		return;
	scan_groups_sort_growth(groups);
	buf_printf(out, ",\"since_last_ns\":%" PRIu64 ",\"grown\":[", report->since_last_ns);
	for (size_t i = 0; i < groups->count && groups->items[i].rank > 0; i++) {
		const struct scan_group *group = &groups->items[i];

		buf_printf(out, "%s{\"size\":%" PRIu64 ",\"type\":", i ? "," : "", group->size);
		json_add_string(out, scan_type_name(report->types, group->type));
		buf_printf(out, ",\"bytes\":%" PRId64 ",\"blocks\":%" PRIu64 "}", group->rank,
			   scan_group_all(group).blocks - group->before.blocks);
	}
	buf_add_char(out, ']');
}

static void add_owners(struct buf *out, const struct scan_report *report)
{
	buf_add_str(out, ",\"owners\":[");
	for (size_t i = 0; i < report->owner_count; i++) {
		buf_add_str(out, i ? ",{\"root\":" : "{\"root\":");
		json_add_string(out, report->owners[i].name);
		buf_printf(out, ",\"bytes\":%" PRIu64 ",\"blocks\":%" PRIu64 "}", report->owners[i].sum.bytes,
			   report->owners[i].sum.blocks);
	}
	buf_add_char(out, ']');
}

static void scan_report_json_add_figures(struct buf *out, const struct scan_report *report)
{
	buf_add_str(out, ",\"allocator\":{\"name\":");
	json_add_string(out, report->allocator);
	for (size_t i = 0; i < report->figure_count; i++)
		buf_printf(out, ",\"%s\":%" PRIu64, report->figures[i].name, report->figures[i].value);
	buf_add_char(out, '}');
}

static void scan_report_json_add_step(struct buf *out, const struct scan_step *step)
{
	if (step->root) {
		buf_add_str(out, "{\"root\":");
		json_add_string(out, step->root);
		if (step->address)
			buf_printf(out, ",\"at\":\"0x%" PRIx64 "\"", step->address);
	} else if (step->left_out) {
		buf_printf(out, "{\"left_out\":%zu", step->left_out);
	} else {
		buf_printf(out, "{\"address\":\"0x%" PRIx64 "\",\"size\":%" PRIu64 ",\"type\":", step->address,
			   step->size);
		json_add_string(out, step->type);
	}
	buf_add_char(out, '}');
}

static void scan_report_json_add_whys(struct buf *out, const struct scan_report *report)
{
	if (!report->why_count)
		return;
	buf_add_str(out, ",\"why\":[");
	for (size_t i = 0; i < report->why_count; i++) {
		const struct scan_retained_by *why = &report->whys[i];

		buf_printf(out, "%s{\"address\":\"0x%" PRIx64 "\",\"class\":", i ? "," : "", why->address);
		json_add_string(out, why->is_block ? names[why->class] : NULL);
		buf_add_str(out, ",\"path\":[");
		for (size_t k = 0; k < why->step_count; k++) {
			if (k)
				buf_add_char(out, ',');
			scan_report_json_add_step(out, &why->steps[k]);
		}
		buf_add_str(out, "]}");
	}
	buf_add_char(out, ']');
}

void scan_report_json(FILE *out, struct scan_report *report)
{
	struct buf text = {0};

	buf_printf(&text, "{\"pid\":%d,\"program\":", report->pid);
	json_add_string(&text, report->program);
	buf_printf(&text, ",\"scan\":%" PRIu64 ",", report->scan);
	add_origin(&text, report);
	add_pause(&text, report);
	buf_add_char(&text, ',');
	add_sums(&text, report->groups->sums);
	if (report->is_compared) {
		buf_add_char(&text, ',');
		add_sum(&text, "still_lost", report->groups->still_lost);
	}
	add_groups(&text, report);
	add_growth(&text, report);
	add_owners(&text, report);
	scan_report_json_add_figures(&text, report);
	scan_report_json_add_whys(&text, report);
	buf_add_str(&text, "}\n");
	buf_write(&text, out);
	buf_free(&text);
}

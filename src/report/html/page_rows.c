/* Writes the rows of the page: one for each group that still fits below the limit, the greatest group first. Each other
 * group is added to the row of folded groups at the innermost node of its stack that exists already, or, if there is no
 * room for such a row, at the root. */
#include "config.h"
#include "report/html/page_parts.h"
#include "base/util.h"

#include <inttypes.h>
#include <stdlib.h>

/* The figures of a row: of one group, or of several folded groups. */
struct page_rows_row {
	size_t kind, node;
	const char *function; /* "" for folded groups */
	uint64_t groups;      /* number of folded groups */
	unsigned end;
	bool is_before; /* some blocks are from before the trace, so their lifetimes are unknown */
	struct tally allocated, live, at_peak, temporary;
	struct tally lost[LOST_KINDS];
	struct tally old; /* live in the older trace, or at the time of --diff=@T, for comparison */
	uint64_t lifetimes, released, first, greatest_age, least_age;
	struct tally *moments;
};

struct page_rows_ranked {
	const struct profile_group *group;
	double rank; /* the greatest of the group's shares of its kind's sums (live, peak, lost and others) */
};

struct rows {
	struct page_stacks *stacks;
	const struct profile *profile;
	const struct page_axis *axis;
	struct buf *json; /* the rows as JSON, a buffer for each kind */
	size_t kinds;
	size_t left;        /* maximum number of bytes for groups */
	size_t left_folded; /* bytes left for rows of folded groups */
	struct page_rows_row *folded;
	size_t folded_count, folded_capacity;
	struct hash folded_of; /* hash of kind and node -> index in `folded` + 1 */
};

static size_t rows_size(const struct rows *rows)
{
	size_t size = page_stacks_size(rows->stacks);

	for (size_t i = 0; i < rows->kinds; i++)
		size += rows->json[i].size;
	return size;
}

static void add_moments(struct buf *out, const struct page_rows_row *row, size_t count)
{
	struct tally last = {0};
	bool is_first = true;

	buf_add_str(out, ",[");
	for (size_t i = 0; i < count; i++) {
		const struct tally *at = &row->moments[i];

		if (at->calls == last.calls && at->bytes == last.bytes)
			continue;
		buf_printf(out, "%s%zu", is_first ? "" : ",", i);
		page_add_next(out, at->calls);
		page_add_next(out, at->bytes);
		is_first = false;
		last = *at;
	}
	buf_add_char(out, ']');
}

static void page_rows_add_tally(struct buf *out, const struct tally *tally)
{
	page_add_next(out, tally->calls);
	page_add_next(out, tally->bytes);
}

static bool has_lost(const struct tally lost[LOST_KINDS])
{
	for (unsigned i = 0; i < LOST_KINDS; i++)
		if (lost[i].calls)
			return true;
	return false;
}

static void page_rows_add_lost(struct buf *out, const struct page_rows_row *row)
{
	if (!has_lost(row->lost))
		return;
	for (unsigned i = 0; i < LOST_KINDS; i++) {
		buf_add_str(out, i ? "," : ",[");
		page_add_number(out, row->lost[i].calls);
		page_add_next(out, row->lost[i].bytes);
	}
	buf_add_char(out, ']');
}

static void page_rows_add_row(struct rows *rows, const struct page_rows_row *row)
{
	struct buf *out = &rows->json[row->kind];
	const size_t name = *row->function ? page_name_add(rows->stacks, row->function) : 0;

	buf_printf(out, "%s[%zu,%zu", out->size ? ",\n" : "", row->node, name);
	page_add_next(out, row->groups);
	page_add_next(out, row->end);
	page_rows_add_tally(out, &row->allocated);
	page_rows_add_tally(out, &row->live);
	page_rows_add_tally(out, &row->at_peak);
	page_rows_add_tally(out, &row->temporary);
	page_add_next(out, row->released);
	if (row->is_before)
		buf_add_str(out, ",null");
	else
		page_add_next(out, row->released ? row->lifetimes / row->released : 0);
	page_add_next(out, row->first == UINT64_MAX ? 0 : row->first);
	page_add_next(out, row->live.calls ? row->greatest_age : 0);
	page_add_next(out, row->live.calls ? row->least_age : 0);
	add_moments(out, row, rows->axis->moment_count);
	page_rows_add_lost(out, row);
	if (rows->profile->has_old) {
		buf_add_str(out, has_lost(row->lost) ? "" : ",null");
		page_rows_add_tally(out, &row->old);
	}
	buf_add_char(out, ']');
}

/* Adds a group's figures to a row. */
static void page_rows_join(const struct rows *rows, struct page_rows_row *row, const struct profile_group *group)
{
	row->groups++;
	tally_join(&row->allocated, &group->allocated);
	tally_join(&row->live, &group->live);
	tally_join(&row->at_peak, &group->at_peak);
	tally_join(&row->temporary, &group->temporary);
	for (unsigned i = 0; i < LOST_KINDS; i++)
		tally_join(&row->lost[i], &group->lost[i]);
	/* For a group that cannot be compared, this adds its present live blocks, so that the group has no growth. */
	tally_join(&row->old, profile_group_old_live(group));
	row->lifetimes = add_saturated(row->lifetimes, group->lifetimes);
	row->released += group->released;
	row->is_before |= group->is_before;
	if (group->first_since < row->first)
		row->first = group->first_since;
	if (group->live.calls && group->greatest_age > row->greatest_age)
		row->greatest_age = group->greatest_age;
	if (group->live.calls && group->least_age < row->least_age)
		row->least_age = group->least_age;
	for (size_t i = 0; i < rows->axis->moment_count; i++) {
		const struct tally at = profile_group_at(rows->profile, group, i * rows->axis->moment_width);

		tally_join(&row->moments[i], &at);
	}
}

static struct page_rows_row row_new(const struct rows *rows, size_t kind, size_t node)
{
	return (struct page_rows_row){.kind = kind,
				      .node = node,
				      .function = "",
				      .first = UINT64_MAX,
				      .least_age = UINT64_MAX,
				      .moments = xcalloc(rows->axis->moment_count + 1, sizeof(struct tally))};
}

static void page_rows_add_group(struct rows *rows, const struct profile_group *group)
{
	struct page_rows_row row = row_new(rows, group->resource->number, page_node_add(rows->stacks, group));

	page_rows_join(rows, &row, group);
	row.groups = 0;
	row.function = group->function;
	row.end = group->has_stack ? (unsigned)group->end : PAGE_NO_STACK;
	page_rows_add_row(rows, &row);
	free(row.moments);
}

/* Returns the row for the folded groups of a node. If there is no room for another such row, returns the root's row for
 * folded groups. */
static struct page_rows_row *folded_row(struct rows *rows, size_t kind, size_t node)
{
	/* Size in bytes of a row in the page, and of each moment of its timeline, if all numbers have 20 digits. */
	enum { COST = 540, MOMENT_COST = 47 };
	const size_t cost = COST + MOMENT_COST * rows->axis->moment_count;
	uint64_t *place = hash_place(&rows->folded_of, (uint64_t)node * PAGE_KINDS + kind + 1);

	if (!*place && node && cost > rows->left_folded)
		return folded_row(rows, kind, 0);
	if (!*place) {
		rows->left_folded -= node ? cost : 0;
		ARRAY_GROW(rows->folded, rows->folded_capacity, rows->folded_count);
		rows->folded[rows->folded_count] = row_new(rows, kind, node);
		*place = ++rows->folded_count;
	}
	return &rows->folded[*place - 1];
}

static void page_rows_take_group(struct rows *rows, const struct profile_group *group)
{
	enum { ROW_COST = 180 };
	size_t cost;
	const size_t node = page_node_find(rows->stacks, group, &cost);
	const size_t before = rows_size(rows);

	if (before + cost + ROW_COST <= rows->left)
		page_rows_add_group(rows, group);
	else
		page_rows_join(rows, folded_row(rows, group->resource->number, node), group);
}

static double page_rows_rank_of(const struct profile_group *group)
{
	const struct profile_resource *kind = group->resource;
	const struct tally *allocated = kind->flags & RESOURCE_CALL ? &kind->others : &kind->allocated;
	struct tally lost = {0}, all_lost = {0};

	for (unsigned i = 0; i < LOST_KINDS; i++) {
		tally_join(&lost, &group->lost[i]);
		tally_join(&all_lost, &kind->lost[i]);
	}
	const double shares[] = {
		report_share_of(lost.bytes, all_lost.bytes),
		report_share_of(lost.calls, all_lost.calls),
		report_share_of(group->live.bytes, kind->live.bytes),
		report_share_of(group->live.calls, kind->live.calls),
		report_share_of(group->at_peak.bytes, kind->peak.bytes),
		report_share_of(group->allocated.bytes, allocated->bytes),
		report_share_of(group->allocated.calls, allocated->calls),
		report_share_of(group->temporary.bytes, kind->temporary.bytes),
		report_share_of(group->old.live.bytes, kind->old.live.bytes),
		report_share_of(group->old.live.calls, kind->old.live.calls),
	};
	double rank = 0;

	for (size_t i = 0; i < ARRAY_SIZE(shares); i++)
		if (shares[i] > rank)
			rank = shares[i];
	return rank;
}

static int page_rows_compare_ranked(const void *a, const void *b)
{
	const struct page_rows_ranked *x = a, *y = b;

	if (x->rank != y->rank)
		return x->rank < y->rank ? 1 : -1;
	return compare_u64(x->group->number, y->group->number);
}

void page_rows(struct page_stacks *stacks, const struct profile *profile, const struct page_axis *axis,
	       const struct page_limits *limits, struct buf *json, size_t kinds)
{
	struct rows rows = {
		.stacks = stacks,
		.profile = profile,
		.axis = axis,
		.json = json,
		.kinds = kinds,
		.left = limits->groups,
		.left_folded = limits->folded,
	};
	struct page_rows_ranked *ranked = xcalloc(profile->group_count + 1, sizeof(*ranked));
	size_t count = 0;

	for (size_t i = 0; i < profile->group_count; i++)
		if (profile->groups[i]->resource->number < kinds &&
		    (profile->groups[i]->allocated.calls || profile->groups[i]->old.live.calls))
			ranked[count++] =
				(struct page_rows_ranked){profile->groups[i], page_rows_rank_of(profile->groups[i])};
	qsort(ranked, count, sizeof(*ranked), page_rows_compare_ranked);
	for (size_t i = 0; i < count; i++)
		page_rows_take_group(&rows, ranked[i].group);
	for (size_t i = 0; i < rows.folded_count; i++) {
		page_rows_add_row(&rows, &rows.folded[i]);
		free(rows.folded[i].moments);
	}
	free(rows.folded);
	hash_free(&rows.folded_of);
	free(ranked);
}

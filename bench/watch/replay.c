#include "config.h"
#include "replay.h"
#include "base/hash.h"
#include "base/util.h"
#include "watch/recent.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define EIGHTHS 8 /* of the horizon, at whose ends a stack's live blocks are counted */

struct block {
	uint64_t born, died; /* died: UINT64_MAX: never */
	uint32_t size, stack, size_class;
	bool is_lost;
};

struct counted {
	double bytes[EIGHTHS + 1];
	uint64_t blocks[EIGHTHS + 1];
};

struct replaying {
	const struct replay_options *options;
	struct watch *watch;
	struct watch_recent *recent;
	struct block *blocks; /* in the order of their allocations */
	size_t block_count;
	uint64_t begin, end;      /* ns: of the watch */
	struct hash at;           /* address -> number of the block there + 1 */
	struct hash counts, lost; /* by class: chunks in use; blocks lost since the watch began */
	uint64_t random, changes;
};

/* Returns the size of a block's chunk. jemalloc's classes are 8, the multiples of 16 up to 128, and then four of each
 * doubling. */
static uint32_t class_of(const struct replay_options *options, uint32_t size)
{
	uint32_t step = 16;

	if (!options->is_jemalloc)
		return size + 8 <= 32 ? 32 : (size + 8 + 15) & ~15u;
	if (size <= 8)
		return 8;
	while (size > 8ull * step)
		step *= 2;
	return (size + step - 1) & -step;
}

static double draw(struct replaying *r)
{
	r->random ^= r->random << 13;
	r->random ^= r->random >> 7;
	r->random ^= r->random << 17;
	return (double)(r->random >> 11) / 9007199254740992.0;
}

/* ---- The heap, as looks see it ---- */

static const struct block *block_at(const struct replaying *r, uint64_t address)
{
	const uint64_t *const number = hash_get(&r->at, address);

	return number && *number ? &r->blocks[*number - 1] : NULL;
}

static uint64_t mix(uint64_t value)
{
	value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9ull;
	value = (value ^ value >> 27) * 0x94d049bb133111ebull;
	return value ^ value >> 31;
}

/* A share of the blocks, and each lost one, keeps its contents; the others change them all the time. */
static bool chunk_at(void *context, uint64_t address, struct watch_chunk *chunk)
{
	struct replaying *const r = context;
	const struct block *const block = block_at(r, address);

	if (!block)
		return false;
	const uint64_t print = mix((uint64_t)(block - r->blocks) + r->options->seed * 1000003);

	chunk->size_class = block->size_class;
	if (r->options->same > 0)
		chunk->print = (double)(print >> 11) / 9007199254740992.0 < r->options->same
				       ? print | 1
				       : mix(print + ++r->changes) | 1;
	return true;
}

static uint64_t count_of(void *context, uint32_t size_class)
{
	const uint64_t *const count = hash_get(&((struct replaying *)context)->counts, size_class);

	return count ? *count : 0;
}

static bool is_lost(void *context, uint64_t address)
{
	const struct block *const block = block_at(context, address);

	return block && block->is_lost;
}

static uint64_t lost_count(void *context, uint32_t size_class)
{
	const uint64_t *const count = hash_get(&((struct replaying *)context)->lost, size_class);

	return count ? *count : 0;
}

/* ---- Replaying ---- */

static void pair_events(struct replaying *r, const struct replay_event *events, size_t count)
{
	r->blocks = xreallocarray(NULL, count + 1, sizeof(*r->blocks));
	for (size_t i = 0; i < count; i++) {
		uint64_t *const number = hash_place(&r->at, events[i].address);

		if (*number)
			r->blocks[*number - 1].died = events[i].time;
		*number = 0;
		if (!events[i].is_allocation)
			continue;
		r->blocks[r->block_count++] = (struct block){.born = events[i].time,
							     .died = UINT64_MAX,
							     .size = events[i].size,
							     .stack = events[i].stack,
							     .size_class = class_of(r->options, events[i].size)};
		*number = r->block_count;
	}
	for (size_t i = 0; i < r->block_count; i++)
		r->blocks[i].is_lost = r->options->lost_size && r->blocks[i].size == r->options->lost_size &&
				       r->blocks[i].died == UINT64_MAX;
	hash_free(&r->at);
	r->at = (struct hash){0};
}

/* The next thing that the watch does. */
struct schedule {
	uint64_t period, window, look; /* ns */
	uint64_t period_at;            /* begin of the current period, in which one window has a random place */
	uint64_t begin, end;           /* of the next window; begin is UINT64_MAX within it */
	uint64_t look_at;
};

static void plan_window(struct replaying *r, struct schedule *s)
{
	const bool is_regular = r->options->is_regular;

	if (s->period_at < s->end && !is_regular)
		s->period_at = s->end;
	s->begin = s->period_at + (uint64_t)(draw(r) * (double)(s->period - (is_regular ? s->window : 0)));
	s->end = s->begin + s->window;
	s->period_at += s->period;
}

/* Does what the watch does before `now`. The work is the time. */
static void advance(struct replaying *r, struct schedule *s, uint64_t now)
{
	const struct watch_heap heap = {r, chunk_at, count_of, r->options->lost_size ? is_lost : NULL, lost_count};

	for (;;) {
		const bool in_window = s->begin == UINT64_MAX;
		const uint64_t next = in_window ? s->end : s->begin;

		if (s->look_at <= next && s->look_at <= now && s->look_at <= r->end) {
			watch_look(r->watch, s->look_at, s->look_at - r->begin, &heap);
			watch_recent_look(r->recent, s->look_at, s->look_at - r->begin, &heap);
			s->look_at += s->look;
		} else if (in_window && s->end <= now) {
			watch_window_end(r->watch, s->end, s->end - r->begin, &heap);
			watch_recent_window_end(r->recent, s->end, s->end - r->begin, &heap);
			plan_window(r, s);
		} else if (!in_window && s->begin <= now && s->end <= r->end) {
			watch_window_begin(r->watch, s->begin, s->begin - r->begin);
			watch_recent_window_begin(r->recent, s->begin, s->begin - r->begin);
			s->begin = UINT64_MAX;
		} else {
			return;
		}
	}
}

static void apply(struct replaying *r, const struct replay_event *event, size_t *next, bool in_window)
{
	uint64_t *const number = hash_place(&r->at, event->address);
	const struct block *const before = *number ? &r->blocks[*number - 1] : NULL;

	if (before)
		--*hash_place(&r->counts, before->size_class);
	if (before && !event->is_allocation && in_window) {
		watch_released(r->watch, event->time, event->address, before->size_class);
		watch_recent_released(r->recent, event->time, event->address, before->size_class);
	}
	*number = 0;
	if (!event->is_allocation)
		return;
	const struct block *const block = &r->blocks[*next];

	*number = ++*next;
	++*hash_place(&r->counts, block->size_class);
	if (block->is_lost && event->time >= r->begin)
		++*hash_place(&r->lost, block->size_class);
	if (!in_window)
		return;
	watch_allocated(r->watch, event->time, event->address, block->size, block->size_class, block->stack);
	watch_recent_allocated(r->recent, event->time, event->address, block->size, block->size_class, block->stack);
}

static void run(struct replaying *r, const struct replay_event *events, size_t count)
{
	struct schedule s = {.window = (uint64_t)(r->options->window * 1e9),
			     .period = (uint64_t)(r->options->window / r->options->share * 1e9),
			     .look = (uint64_t)(r->options->look * 1e9),
			     .period_at = r->begin};
	size_t next = 0;

	s.look_at = r->begin + s.look;
	plan_window(r, &s);
	for (size_t i = 0; i < count && events[i].time <= r->end; i++) {
		advance(r, &s, events[i].time);
		apply(r, &events[i], &next, s.begin == UINT64_MAX);
	}
	advance(r, &s, r->end);
}

/* ---- The truth ---- */

static int kind_of(const struct counted *c, uint64_t blocks)
{
	const double first = (double)c->blocks[0], last = (double)c->blocks[EIGHTHS], rise = last - first;
	double most = 0, least = INFINITY;
	bool falls = false;

	for (unsigned i = 0; i <= EIGHTHS; i++)
		most = (double)c->blocks[i] > most ? (double)c->blocks[i] : most;
	for (unsigned i = 0; i < EIGHTHS; i++) {
		const double step = (double)c->blocks[i + 1] - (double)c->blocks[i];

		falls |= most > 10 && step < -0.1 * most;
		if (i % 2 == 0) {
			const double two = (double)c->blocks[i + 2] - (double)c->blocks[i];

			least = two < least ? two : least;
		}
	}
	if (rise >= 20 && least >= 0.03 * rise && last - (double)c->blocks[EIGHTHS - 2] >= 0.08 * rise &&
	    rise >= 0.25 * last)
		return 1;
	const double half = fabs(last - (double)c->blocks[EIGHTHS / 2]);

	return blocks >= 20 && (falls || half <= (0.05 * most > 5 ? 0.05 * most : 5)) ? -1 : 0;
}

static void find_truth(const struct replaying *r, struct replay *to)
{
	for (size_t i = 0; i < r->block_count; i++)
		to->stack_count = r->blocks[i].stack >= to->stack_count ? r->blocks[i].stack + 1 : to->stack_count;
	to->stacks = xcalloc(to->stack_count + 1, sizeof(*to->stacks));
	struct counted *const counted = xcalloc(to->stack_count + 1, sizeof(*counted));

	for (size_t i = 0; i < r->block_count; i++) {
		const struct block *const b = &r->blocks[i];
		struct replay_stack *const stack = &to->stacks[b->stack];

		if (b->born >= r->begin && b->born < r->end) {
			stack->blocks++;
			if (b->died > r->end) {
				stack->live += b->size;
				stack->live_blocks++;
				stack->lost += b->is_lost ? b->size : 0;
			}
		}
		for (unsigned k = 0; k <= EIGHTHS; k++) {
			const uint64_t at = r->begin + (r->end - r->begin) / EIGHTHS * k;

			if (b->born >= at || b->died <= at)
				continue;
			counted[b->stack].bytes[k] += b->size;
			counted[b->stack].blocks[k]++;
		}
	}
	for (size_t i = 0; i < to->stack_count; i++) {
		to->stacks[i].growth =
			(counted[i].bytes[EIGHTHS] - counted[i].bytes[0]) / ((double)(r->end - r->begin) / 1e9);
		to->stacks[i].kind = kind_of(&counted[i], to->stacks[i].blocks);
	}
	free(counted);
}

struct replay *replay_trace(const struct replay_event *events, size_t count, const struct replay_options *options)
{
	struct replaying r = {.options = options, .random = options->seed * 7919 + 13};

	if (!count || options->look <= 0 || options->window <= 0 || options->share <= 0 || options->share > 1)
		return NULL;
	const uint64_t first = events[0].time, last = events[count - 1].time, look = (uint64_t)(options->look * 1e9);

	r.begin = first + (uint64_t)((double)(last - first) * options->from);
	r.end = r.begin + (last - r.begin) / look * look;
	if (r.end == r.begin || (double)(r.end - r.begin) / 1e9 < 2 * options->window / options->share)
		return NULL;
	struct replay *const to = xcalloc(1, sizeof(*to));

	for (unsigned i = 0; i < 8; i++)
		draw(&r);
	const size_t samples_max = options->samples_max ? options->samples_max : WATCH_SAMPLES_MAX;

	r.watch = watch_new(&(struct watch_options){.samples_max = samples_max, .seed = options->seed}, r.begin);
	r.recent = watch_recent_new(options->seed, r.begin, 0);
	pair_events(&r, events, count);
	run(&r, events, count);
	to->result = watch_estimate(r.watch);
	watch_recent_apply(r.recent, r.end, to->result);
	to->share = to->result->share;
	find_truth(&r, to);
	watch_free(r.watch);
	watch_recent_free(r.recent);
	hash_free(&r.at);
	hash_free(&r.counts);
	hash_free(&r.lost);
	free(r.blocks);
	return to;
}

void replay_free(struct replay *replay)
{
	if (!replay)
		return;
	watch_result_free(replay->result);
	free(replay->stacks);
	free(replay);
}

/* ---- Scores ---- */

static int by_value(const void *a, const void *b)
{
	const double one = *(const double *)a, other = *(const double *)b;

	return (one > other) - (one < other);
}

static bool is_resolved(const struct replay *replay, size_t stack)
{
	return (double)replay->stacks[stack].live_blocks * replay->share >= 10;
}

/* Returns the share of the ten stacks with the most live bytes that are among the ten largest estimates. Without
 * `all`, only those of the ten count that have ten expected live samples or more. */
static double recall_of(const struct replay *replay, bool all)
{
	unsigned wanted = 0, found = 0;

	for (size_t s = 0; s < replay->stack_count; s++) {
		size_t larger = 0;
		bool is_found = false;

		for (size_t i = 0; i < replay->stack_count; i++)
			larger += replay->stacks[i].live > replay->stacks[s].live ||
				  (replay->stacks[i].live == replay->stacks[s].live && i < s);
		if (replay->stacks[s].live <= 0 || larger >= 10 || (!all && !is_resolved(replay, s)))
			continue;
		wanted++;
		for (size_t i = 0; i < replay->result->count && i < 10; i++)
			is_found |= replay->result->stacks[i].stack == s && replay->result->stacks[i].live > 0;
		found += is_found;
	}
	return wanted ? (double)found / wanted : 1;
}

static const struct watch_stack *result_of(const struct replay *replay, size_t stack)
{
	for (size_t i = 0; i < replay->result->count; i++)
		if (replay->result->stacks[i].stack == stack)
			return &replay->result->stacks[i];
	return NULL;
}

static void score_growth(const struct replay *replay, struct replay_score *score)
{
	size_t loser = 0;
	double lost = 0, estimated = 0;
	unsigned covered = 0;

	for (size_t s = 0; s < replay->stack_count; s++) {
		const struct replay_stack *const truth = &replay->stacks[s];
		const struct watch_stack *const stack = result_of(replay, s);
		const bool is_called = stack && stack->verdict == WATCH_GROWING;

		score->sound += truth->kind < 0;
		score->false_growing += truth->kind < 0 && is_called;
		score->growing += truth->kind > 0;
		score->found_growing += truth->kind > 0 && is_called;
		if (truth->kind > 0 && stack && is_resolved(replay, s)) {
			score->growth_resolved++;
			covered += truth->growth >= stack->growth_low && truth->growth <= stack->growth_high;
		}
		lost += truth->lost;
		estimated += stack ? stack->lost : 0;
		loser = truth->lost > replay->stacks[loser].lost ? s : loser;
	}
	score->growth_covered = score->growth_resolved ? (double)covered / score->growth_resolved : 1;
	score->lost_ratio = lost > 0 ? estimated / lost : 0;
	const struct watch_stack *const found = lost > 0 ? result_of(replay, loser) : NULL;

	if (!found || found->growth <= 0)
		return;
	score->lost_rank = 1;
	for (size_t i = 0; i < replay->result->count; i++) {
		const struct watch_stack *const other = &replay->result->stacks[i];
		const struct replay_stack *const truth = &replay->stacks[other->stack];

		score->lost_rank += other->growth > found->growth && truth->kind <= 0 &&
				    truth->growth < replay->stacks[loser].growth;
	}
}

struct replay_score replay_score(const struct replay *replay)
{
	struct replay_score score = {.recall = recall_of(replay, false), .recall_all = recall_of(replay, true)};
	double *const errors = xreallocarray(NULL, replay->stack_count + 1, sizeof(*errors)), sum = 0, truths = 0;
	unsigned covered = 0;

	for (size_t s = 0; s < replay->stack_count; s++) {
		const struct replay_stack *const truth = &replay->stacks[s];
		const struct watch_stack *const stack = result_of(replay, s);
		const double live = stack ? stack->live : 0;

		if (!is_resolved(replay, s))
			continue;
		errors[score.resolved++] = fabs(live - truth->live) / truth->live;
		sum += fabs(live - truth->live);
		truths += truth->live;
		covered += stack && stack->live_low <= truth->live && truth->live <= stack->live_high;
	}
	qsort(errors, score.resolved, sizeof(*errors), by_value);
	score.median_error = score.resolved ? errors[score.resolved / 2] : 0;
	score.sum_error = truths > 0 ? sum / truths : 0;
	score.covered = score.resolved ? (double)covered / score.resolved : 1;
	free(errors);
	score_growth(replay, &score);
	return score;
}

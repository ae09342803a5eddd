/* Simulates functrace --watch on a full trace: reads the text of a trace (functrace-postproc TRACE) from the standard
 * input, and prints how good the estimates are: simulate [NAME=VALUE...]. The names are those of main(). */
#include "config.h"
#include "replay.h"
#include "base/hash.h"
#include "base/util.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct reading {
	struct replay_event *events;
	size_t count, capacity;
	struct hash stacks;       /* hash of the frames -> number */
	uint64_t frames;          /* hash of the frames of the last event */
	uint64_t midnights, last; /* ns */
};

static void number_stack(struct reading *r)
{
	if (!r->count || !r->events[r->count - 1].is_allocation)
		return;
	uint64_t *const number = hash_place(&r->stacks, r->frames | 1);

	if (!*number)
		*number = r->stacks.count;
	r->events[r->count - 1].stack = (uint32_t)*number;
}

/* Reads the line of an event: "3. [20:08:34.640051] realloc(100) = 0x55fdc85902a0", or "...] free(0x55fdc85902a0)". */
static void read_event(struct reading *r, const char *line)
{
	const char *const bracket = strchr(line, '['), *const open = bracket ? strrchr(bracket, '(') : NULL;
	const char *const result = open ? strstr(open, ") = 0x") : NULL;
	struct replay_event event = {0};
	unsigned hours, minutes;
	double seconds;

	if (!open || sscanf(bracket, "[%u:%u:%lf]", &hours, &minutes, &seconds) != 3 ||
	    (!result && strncmp(open, "(0x", 3) != 0))
		return;
	event.time = (uint64_t)(((hours * 60ull + minutes) * 60 + seconds) * 1e9) + r->midnights;
	if (event.time + 3600000000000ull < r->last) {
		event.time += 86400000000000ull;
		r->midnights += 86400000000000ull;
	}
	r->last = event.time = event.time > r->last ? event.time : r->last;
	event.is_allocation = result != NULL;
	event.size = result ? (uint32_t)strtoul(open + 1, NULL, 10) : 0;
	event.address = strtoull(result ? result + 4 : open + 1, NULL, 16);
	ARRAY_GROW(r->events, r->capacity, r->count);
	r->events[r->count++] = event;
	r->frames = 0;
}

static struct reading read_trace(void)
{
	struct reading r = {0};
	char *line = NULL;
	size_t room = 0;

	while (getline(&line, &room, stdin) > 0) {
		if (line[0] == '\t')
			r.frames = (r.frames ^ strtoull(line + 1, NULL, 16)) * 0x9e3779b97f4a7c15ull;
		r.frames ^= r.frames >> 29;
		if (line[0] >= '0' && line[0] <= '9' && strchr(line, '[')) {
			number_stack(&r);
			read_event(&r, line);
		}
	}
	number_stack(&r);
	free(line);
	return r;
}

static double value_of(int argc, char **argv, const char *name, double value)
{
	const size_t length = strlen(name);

	for (int i = 1; i < argc; i++)
		if (!strncmp(argv[i], name, length) && argv[i][length] == '=')
			value = atof(argv[i] + length + 1);
	return value;
}

static void show_stacks(const struct replay *replay, unsigned count)
{
	for (size_t i = 0; i < replay->result->count && i < count; i++) {
		const struct watch_stack *const s = &replay->result->stacks[i];
		const struct replay_stack *const truth = &replay->stacks[s->stack];

		printf("# stack %u: live %.0f (%.0f to %.0f), truth %.0f; growth %.1f (%.1f to %.1f), truth %.1f; "
		       "samples %zu, survivors %zu, verdict %d, truth %d\n",
		       s->stack, s->live, s->live_low, s->live_high, truth->live, s->growth, s->growth_low,
		       s->growth_high, truth->growth, s->samples, s->survivors, s->verdict, truth->kind);
	}
}

int main(int argc, char **argv)
{
	struct reading r = read_trace();
	const unsigned seeds = (unsigned)value_of(argc, argv, "seeds", 5);

	for (unsigned seed = 1; seed <= seeds; seed++) {
		const struct replay_options options = {.share = value_of(argc, argv, "share", 0.05),
						       .window = value_of(argc, argv, "window", 0.1),
						       .look = value_of(argc, argv, "look", 2),
						       .from = value_of(argc, argv, "from", 0.15),
						       .lost_size = (uint32_t)value_of(argc, argv, "lost", 0),
						       .same = value_of(argc, argv, "same", 0),
						       .samples_max = (size_t)value_of(argc, argv, "samples", 0),
						       .is_jemalloc = value_of(argc, argv, "jemalloc", 0) != 0,
						       .seed = seed};
		struct replay *const replay = replay_trace(r.events, r.count, &options);

		if (!replay) {
			printf("the trace is too short, or share, window or look makes no sense\n");
			return 1;
		}
		const struct replay_score s = replay_score(replay);

		printf("events=%zu windows=%zu share=%.3f stacks=%zu resolved=%u median=%.3f sum=%.3f covered=%.3f "
		       "recall=%.2f recall_all=%.2f growing=%u found=%u sound=%u false=%u "
		       "growth_resolved=%u growth_covered=%.3f lost=%.3f rank=%u\n",
		       r.count, replay->result->windows, replay->share, replay->stack_count, s.resolved, s.median_error,
		       s.sum_error, s.covered, s.recall, s.recall_all, s.growing, s.found_growing, s.sound,
		       s.false_growing, s.growth_resolved, s.growth_covered, s.lost_ratio, s.lost_rank);
		show_stacks(replay, (unsigned)value_of(argc, argv, "show", 0));
		replay_free(replay);
	}
	hash_free(&r.stacks);
	free(r.events);
	return 0;
}

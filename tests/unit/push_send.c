/* Pushes made-up intervals, for push.py.
 *
 *	push_send URL FOLDER [files=N] [bytes=N] [answer=MS] [close=MS] [wait=MS] [longest=MS]
 *
 * Reads lines from standard input: "push N" pushes the interval of minute N, "unknown N" one without knowledge of the
 * heap. Prints a line after each. Closes at the end of the input. */
#include "config.h"
#include "base/msg.h"
#include "base/time_units.h"
#include "base/util.h"
#include "fleet/push.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PROGRAM "/usr/bin/prog"
#define LIBRARY "/usr/lib/libc.so.6"

static const struct watch_frame growing[] = {
	{"malloc", NULL, 0, LIBRARY, "aa11", 0x1001},
	{"grow", "/src/a.c", 12, PROGRAM, "bb22", 0x2001},
	{"main", "/src/a.c", 40, PROGRAM, "bb22", 0x3001},
};
/* The same call twice, and a function that is unknown, in an object without a build-id. */
static const struct watch_frame recursive[] = {
	{"f", "/src/f.c", 5, PROGRAM, "bb22", 0x2101},
	{"f", "/src/f.c", 5, PROGRAM, "bb22", 0x2101},
	{NULL, NULL, 0, "/opt/x.so", NULL, 0x101},
	{"main", "/src/a.c", 41, PROGRAM, "bb22", 0x3101},
};
/* Another file of the same path, code without a file, and a name that is no UTF-8. */
static const struct watch_frame strange[] = {
	{"malloc", NULL, 0, LIBRARY, "cc33", 0x1001},
	{"f\xff(", NULL, 0, NULL, NULL, 0x7f0001},
	{NULL, NULL, 0, NULL, NULL, 0},
};

static struct watch_row rows[] = {
	{.frames = growing,
	 .frame_count = ARRAY_SIZE(growing),
	 .allocated = 1000.5,
	 .calls = 10.25,
	 .estimate = {.live = 12345.4,
		      .live_low = 10000,
		      .live_high = 15000.6,
		      .growth = 2.5,
		      .growth_low = -1,
		      .growth_high = 5,
		      .lost = 136,
		      .blocks = 7.6,
		      .verdict = WATCH_GROWING}},
	{.frames = recursive,
	 .frame_count = ARRAY_SIZE(recursive),
	 .allocated = 1e6,
	 .calls = 1,
	 .estimate = {.live = 1ULL << 40,
		      .live_low = 1ULL << 39,
		      .live_high = 1e300,
		      .growth = -0.5,
		      .growth_low = -2,
		      .growth_high = -0.25,
		      .blocks = 3,
		      .verdict = WATCH_UNRESOLVED}},
	{.frames = strange,
	 .frame_count = ARRAY_SIZE(strange),
	 .estimate = {.live = 1, .live_low = NAN, .live_high = 2, .blocks = 1, .verdict = WATCH_FEW_WINDOWS}},
	{.estimate = {.live = 64, .live_low = 64, .live_high = 64, .blocks = 4, .verdict = WATCH_SOUND}},
};

static struct watch_interval interval_of(unsigned minute, bool is_unknown)
{
	const uint64_t begin_ns = (1700000000 + minute * UINT64_C(60)) * NS_PER_SECOND;

	rows[0].estimate.live = 12345.4 + minute;
	return (struct watch_interval){
		.host = "host-1.example",
		.service = "shop & cart/\xc3\xa4\n",
		.program = PROGRAM,
		.build_id = is_unknown ? NULL : "bb22",
		.pid = 4711,
		.process_start_ns = 1,
		.began_ns = 1700000000 * NS_PER_SECOND,
		.begin_ns = begin_ns,
		.end_ns = begin_ns + 60 * NS_PER_SECOND,
		.way = "kernel",
		.cost = {.budget = 0.02, .target = 0.0125, .own = 0.003, .longest_ns = 1500000},
		.windows = 34,
		.share = 0.0123,
		.calls = 1000,
		.unseen = 5,
		.heap_bytes = is_unknown ? WATCH_UNKNOWN : 5000,
		.heap_blocks = is_unknown ? WATCH_UNKNOWN : 50,
		.before = is_unknown ? WATCH_UNKNOWN : 500,
		.unattributed = is_unknown ? WATCH_UNKNOWN : 250.4,
		.lost = is_unknown ? WATCH_UNKNOWN : 136,
		.rows = rows,
		.count = ARRAY_SIZE(rows),
		.stacks = 12,
	};
}

static void set_limit(struct push_limits *limits, const char *argument)
{
	unsigned number;

	if (sscanf(argument, "files=%u", &number) == 1)
		limits->spool_files = number;
	else if (sscanf(argument, "bytes=%u", &number) == 1)
		limits->spool_bytes = number;
	else if (sscanf(argument, "answer=%u", &number) == 1)
		limits->answer_ms = number;
	else if (sscanf(argument, "close=%u", &number) == 1)
		limits->close_ms = number;
	else if (sscanf(argument, "wait=%u", &number) == 1)
		limits->wait_ms = number;
	else if (sscanf(argument, "longest=%u", &number) == 1)
		limits->wait_longest_ms = number;
	else
		msg_die("unknown limit: %s", argument);
}

int main(int argc, char **argv)
{
	struct push_limits limits = push_limits;
	char why[400], line[100];

	/* As in functrace, a closed connection must not end the program. */
	signal(SIGPIPE, SIG_DFL);
	setvbuf(stdout, NULL, _IOLBF, 0);
	msg_set_program("push_send");
	if (argc < 3)
		msg_die("usage: push_send URL FOLDER [LIMIT=N]...");
	limits.wait_ms = 20;
	limits.wait_longest_ms = 100;
	for (int i = 3; i < argc; i++)
		set_limit(&limits, argv[i]);
	struct push *const push = push_open_limited(argv[1], argv[2], &limits, why, sizeof(why));

	if (!push) {
		printf("refused: %s\n", why);
		return 2;
	}
	printf("open\n");
	while (fgets(line, sizeof(line), stdin)) {
		const bool is_unknown = !strncmp(line, "unknown ", 8);
		const struct watch_interval interval =
			interval_of((unsigned)strtoul(strchr(line, ' '), NULL, 10), is_unknown);

		push_interval(push, &interval);
		printf("pushed\n");
	}
	push_close(push);
	printf("closed\n");
	return 0;
}

/* Tests the report of a scan as text: names from the target (programs, types, roots) are escaped wherever they are
 * printed, because the text may go to a terminal. */
#include "config.h"
#include "unit_test.h"

#include "scan/scan_report.h"

#include <stdlib.h>
#include <string.h>

#define HOSTILE(word) word "\033[2J\n\r\xc2\x9b"
#define PLAIN(word)   word "\\033[2J\\012\\015\\302\\233"

/* Replaces the function of types.c: returns the name of a type. */
const char *scan_type_name(const struct scan_types *types, size_t type)
{
	(void)types;
	return type ? HOSTILE("type") : NULL;
}

/* Returns the report as text, which the caller frees. */
static char *text_of(struct scan_report *report)
{
	char *text = NULL;
	size_t size = 0;
	FILE *const out = open_memstream(&text, &size);

	assert_non_null(out);
	scan_report_text(out, report);
	assert_int_equal(fclose(out), 0);
	return text;
}

static void assert_has_line(const char *text, const char *line)
{
	if (!strstr(text, line))
		fail_msg("not there: %s, but: %s", line, text);
}

/* Fails if the text has other bytes than newlines and printable ASCII: other bytes may move the cursor of a
 * terminal. */
static void assert_plain(const char *text)
{
	for (const char *c = text; *c; c++)
		if (*c != '\n' && ((unsigned char)*c < ' ' || (unsigned char)*c > '~'))
			fail_msg("byte %#x at %zu of: %s", (unsigned char)*c, (size_t)(c - text), text);
}

static void names_from_the_target_are_escaped(void **state)
{
	static char owner[] = HOSTILE("owner"), root[] = HOSTILE("root");
	const struct snapshot_figures pause = {.threads = 1};
	struct scan_groups groups = {0};
	struct scan_owner owners[] = {{.name = owner, .sum = {40, 1}}};
	struct scan_step steps[] = {{.root = root},
				    {.address = 0x2000, .size = 40, .type = HOSTILE("block")},
				    {.address = 0x3000, .size = 8}};
	struct scan_retained_by whys[] = {
		{.address = 0x3000, .is_block = true, .class = CLASS_REACHABLE, .steps = steps, .step_count = 3}};
	struct scan_report report = {
		.pid = 42,
		.program = HOSTILE("program"),
		.program_before = HOSTILE("before"),
		.scan = 1,
		.scans = 1,
		.is_compared = true,
		.pause = &pause,
		.groups = &groups,
		.owners = owners,
		.owner_count = 1,
		.allocator = "glibc",
		.whys = whys,
		.why_count = 1,
		.top = 10,
	};

	scan_groups_begin(&groups, true);
	scan_groups_add(&groups, 0x1000, 40, 1, CLASS_LOST, (struct scan_sum){0});
	scan_groups_add(&groups, 0x2000, 24, 1, CLASS_POSSIBLE, (struct scan_sum){0});
	char *const text = text_of(&report);

	assert_has_line(text, PLAIN("program") " (42): 1 thread stopped");
	assert_has_line(text, "since the previous scan, which was of " PLAIN("before") ": growth is counted anew\n");
	assert_has_line(text, "            40          1        40  " PLAIN("type") " (0x1000)\n");
	assert_has_line(text, "            24          1        24  " PLAIN("type") " (0x2000)\n");
	assert_has_line(text, "           +40         +1        40  " PLAIN("type") ", now 40\n");
	assert_has_line(text, "            40          1  " PLAIN("owner") "\n");
	assert_has_line(text, "  " PLAIN("root") "\n  -> 0x2000, 40 bytes, " PLAIN("block") "\n  -> 0x3000, 8 bytes\n");
	assert_plain(text);
	free(text);
	scan_groups_free(&groups);
}

/* All blocks have one size. Each list must name a block of its class, because the user will ask about this block
 * next. */
static void each_list_names_a_block_of_its_class(void **state)
{
	const struct snapshot_figures pause = {.threads = 1};
	struct scan_groups groups = {0};
	struct scan_report report = {
		.pid = 42,
		.program = "program",
		.scan = 1,
		.scans = 1,
		.pause = &pause,
		.groups = &groups,
		.allocator = "glibc",
		.top = 10,
	};

	scan_groups_begin(&groups, false);
	scan_groups_add(&groups, 0x1000, 40, 0, CLASS_REACHABLE, (struct scan_sum){0});
	scan_groups_add(&groups, 0x2000, 40, 0, CLASS_POSSIBLE, (struct scan_sum){0});
	scan_groups_add(&groups, 0x3000, 40, 0, CLASS_LOST, (struct scan_sum){0});
	scan_groups_add(&groups, 0x4000, 40, 0, CLASS_POSSIBLE, (struct scan_sum){0});
	char *const text = text_of(&report);

	assert_has_line(text, "            40          1        40  ? (0x3000)\n");
	assert_has_line(text, "            80          2        40  ? (0x2000)\n");
	assert_int_equal(scan_group_example(&groups.items[0]), 0x3000);
	free(text);
	scan_groups_free(&groups);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_from_the_target_are_escaped),
		cmocka_unit_test(each_list_names_a_block_of_its_class),
	};

	return cmocka_run_group_tests_name("scan_report", tests, NULL, NULL);
}

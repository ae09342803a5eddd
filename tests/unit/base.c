#include "config.h"
#include "unit_test.h"

#include "base/buf.h"
#include "base/glob.h"
#include "base/hash.h"
#include "base/long_work.h"
#include "base/msg.h"
#include "base/util.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void numbers_are_parsed_whole(void **state)
{
	uint64_t value = 7;

	assert_true(parse_number("0", 10, &value));
	assert_int_equal(value, 0);
	assert_true(parse_number("0x1F", UINT64_MAX, &value));
	assert_int_equal(value, 31);
	assert_true(parse_number("18446744073709551615", UINT64_MAX, &value));
	assert_true(value == UINT64_MAX);
	assert_true(parse_number("010", 10, &value)); /* decimal, not octal */
	assert_int_equal(value, 10);

	static const char *const wrong[] = {
		"", " 1", "1 ", "-1", "+1", "0x", "0xg", "12a", "x1", "18446744073709551616", "0x10000000000000000"};

	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		value = 7;
		assert_false(parse_number(wrong[i], UINT64_MAX, &value));
		assert_int_equal(value, 7);
	}
	assert_true(parse_number("10", 10, &value));
	assert_false(parse_number("11", 10, &value));
	assert_false(parse_number("0x0x1", UINT64_MAX, &value));
	assert_true(parse_number_hex("0000000000012340", UINT64_MAX, &value));
	assert_int_equal(value, 0x12340);
	assert_true(parse_number_hex("0xffffffffffffffff", UINT64_MAX, &value));
	assert_true(value == UINT64_MAX);
	assert_false(parse_number_hex("0x0x1", UINT64_MAX, &value));
	assert_false(parse_number_hex("0x", UINT64_MAX, &value));
	assert_false(parse_number_hex(" 1", UINT64_MAX, &value));
	assert_false(parse_number_hex("11", 0x10, &value));
}

static void arithmetic_saturates(void **state)
{
	assert_true(add_saturated(UINT64_MAX - 1, 1) == UINT64_MAX);
	assert_true(add_saturated(UINT64_MAX, 1) == UINT64_MAX);
	assert_true(add_saturated(1, 2) == 3);
	assert_true(mul_saturated(UINT64_C(1) << 32, UINT64_C(1) << 32) == UINT64_MAX);
	assert_true(mul_saturated(3, 5) == 15);
	assert_true(mul_saturated(0, UINT64_MAX) == 0);
	assert_true(align_up(4097, 4096) == 8192);
	assert_true(align_up(4096, 4096) == 4096);
	assert_true(align_down(8191, 4096) == 4096);
}

static void arrays_keep_their_items_when_they_grow(void **state)
{
	unsigned *items = NULL;
	size_t capacity = 0;

	for (unsigned i = 0; i < 1000; i++) {
		ARRAY_GROW(items, capacity, i);
		assert_true(capacity > i);
		items[i] = i;
	}
	for (unsigned i = 0; i < 1000; i++)
		assert_int_equal(items[i], i);
	free(items);
}

static void buffers_append_bytes_and_text(void **state)
{
	struct buf b = {0};

	assert_string_equal(buf_str(&b), "");
	assert_int_equal(b.size, 0);
	buf_add(&b, NULL, 0);
	buf_add_str(&b, "ab");
	buf_add_char(&b, 'c');
	buf_printf(&b, "%s-%d", "", 42);
	buf_printf(&b, "%s", "");
	assert_string_equal(buf_str(&b), "abc-42");
	assert_int_equal(b.size, 6);

	/* The text gets every size near a power of two, at which the buffer grows. */
	b.size = 0;
	for (unsigned i = 0; i < 5000; i++)
		buf_printf(&b, "%u,", i);
	const char *text = buf_str(&b);
	char *end;

	for (unsigned i = 0; i < 5000; i++) {
		assert_int_equal(strtoul(text, &end, 10), i);
		assert_int_equal(*end, ',');
		text = end + 1;
	}
	assert_int_equal(*text, '\0');
	buf_free(&b);
	assert_null(b.data);
	assert_int_equal(b.capacity, 0);
}

static void maps_find_stored_keys(void **state)
{
	struct hash h = {0}, copy;
	uint64_t value;

	assert_null(hash_get(&h, 1));
	assert_false(hash_remove(&h, 1, &value));
	assert_true(hash_set(&h, 0, 5)); /* 0 is a valid key */
	assert_false(hash_set(&h, 0, 6));
	assert_int_equal(*hash_get(&h, 0), 6);
	assert_true(hash_set(&h, UINT64_MAX, 7));
	assert_int_equal(h.count, 2);
	assert_true(hash_remove(&h, 0, &value));
	assert_int_equal(value, 6);
	assert_null(hash_get(&h, 0));
	assert_int_equal(*hash_get(&h, UINT64_MAX), 7);
	hash_copy(&h, &copy);
	hash_set(&h, UINT64_MAX, 8);
	hash_free(&h);
	assert_int_equal(*hash_get(&copy, UINT64_MAX), 7);
	assert_true(hash_set(&copy, 1, 9));
	assert_int_equal(copy.count, 2);
	hash_free(&copy);
	hash_copy(&h, &copy);
	assert_null(hash_get(&copy, 1));
	assert_true(hash_set(&copy, 1, 9));
	hash_free(&copy);
}

/* The map is compared with an array that is searched from its start, over many insertions and removals of few keys, so
 * that runs of neighbours form and are split again. */
static void maps_agree_with_a_plain_list(void **state)
{
	enum { KEYS = 200 };
	static uint64_t values[KEYS];
	static bool used[KEYS];
	struct hash h = {0};
	uint64_t random = 88172645463325252u;
	size_t count = 0;

	for (unsigned step = 0; step < 100000; step++) {
		random ^= random << 13;
		random ^= random >> 7;
		random ^= random << 17;
		const unsigned k = (unsigned)(random >> 20) % KEYS;
		const uint64_t key = (uint64_t)k * 0x10; /* as addresses are */
		uint64_t value = 0;

		if (random & 1) {
			assert_int_equal(hash_set(&h, key, random), !used[k]);
			count += !used[k];
			used[k] = true;
			values[k] = random;
		} else {
			assert_int_equal(hash_remove(&h, key, &value), used[k]);
			if (used[k])
				assert_true(value == values[k]);
			count -= used[k];
			used[k] = false;
		}
		assert_int_equal(h.count, count);
	}
	for (unsigned k = 0; k < KEYS; k++) {
		const uint64_t *value = hash_get(&h, (uint64_t)k * 0x10);

		assert_int_equal(value != NULL, used[k]);
		if (value)
			assert_true(*value == values[k]);
	}
	size_t position = 0, met = 0;

	for (struct hash_entry *e; (e = hash_next(&h, &position)); met++) {
		assert_true(used[e->key / 0x10]);
		assert_true(e->value == values[e->key / 0x10]);
	}
	assert_int_equal(met, count);
	assert_true(h.capacity <= 512); /* depends on the maximum number of entries, not on the number of steps */
	hash_free(&h);
}

static void moved_maps_use_the_prepared_room(void **state)
{
	struct hash h = {0}, room = hash_with_room(1000), small = hash_with_room(1);
	const struct hash_entry *entries;

	for (uint64_t key = 0; key < 100; key++)
		hash_set(&h, key * 0x10, key);
	entries = room.entries;
	hash_move(&h, &room);
	assert_null(room.entries);
	assert_int_equal(h.count, 100);
	for (uint64_t key = 100; key < 1000; key++)
		hash_set(&h, key * 0x10, key);
	assert_ptr_equal(h.entries, entries);
	hash_move(&h, &small); /* the new room is smaller than the contents */
	assert_null(small.entries);
	assert_ptr_equal(h.entries, entries);
	for (uint64_t key = 0; key < 1000; key++)
		assert_int_equal(*hash_get(&h, key * 0x10), key);
	assert_null(hash_get(&h, 1000 * 0x10));
	hash_free(&h);
}

static void only_equal_bytes_have_equal_hashes(void **state)
{
	assert_true(hash_bytes("malloc", 6) == hash_bytes("malloc", 6));
	assert_true(hash_bytes("malloc", 6) != hash_bytes("mallod", 6));
	assert_true(hash_bytes("malloc", 5) != hash_bytes("malloc", 6));
	assert_true(hash_bytes("\0\0", 1) != hash_bytes("\0\0", 2));
}

static void files_are_read_up_to_a_bound(void **state)
{
	char folder[] = "/tmp/functrace-base-XXXXXX";
	size_t size;

	assert_non_null(mkdtemp(folder));
	char *path = xasprintf("%s/file", folder);
	const int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	char block[1000];
	size_t done;

	assert_true(fd >= 0);
	memset(block, 'x', sizeof(block));
	for (unsigned i = 0; i < 10; i++)
		assert_int_equal(write_all(fd, block, sizeof(block), &done), 0);
	assert_int_equal(done, sizeof(block));
	close(fd);

	char *text = read_file(path, 10000, &size);

	assert_non_null(text);
	assert_int_equal(size, 10000);
	assert_int_equal(text[10000], '\0');
	free(text);
	assert_null(read_file(path, 9999, &size));
	assert_int_equal(errno, EFBIG);
	unlink(path);
	assert_null(read_file(path, 10000, NULL));
	assert_int_equal(errno, ENOENT);
	assert_null(read_file(folder, 10000, NULL));
	assert_int_equal(errno, EISDIR);
	rmdir(folder);
	free(path);

	text = read_file("/proc/self/stat", 1 << 16, &size); /* a file without a size */
	assert_non_null(text);
	assert_int_equal(strlen(text), size);
	free(text);
}

static void full_device_is_an_error_of_write_all(void **state)
{
	const int fd = open("/dev/full", O_WRONLY | O_CLOEXEC);
	size_t done = 99;

	assert_true(fd >= 0);
	assert_int_equal(write_all(fd, "x", 1, &done), -ENOSPC);
	assert_int_equal(done, 0);
	close(fd);
}

/* Runs `speak` in a child, and stores in `text` what the child writes to stderr. Returns the child's exit status, or -1
 * if `speak` returned. */
static int stderr_of(void (*speak)(void), char *text, size_t size)
{
	int ends[2], status;

	assert_int_equal(pipe(ends), 0);
	fflush(NULL);
	const pid_t pid = fork();

	assert_true(pid >= 0);
	if (!pid) {
		dup2(ends[1], STDERR_FILENO);
		speak();
		_exit(99);
	}
	close(ends[1]);
	ssize_t got, used = 0;

	while ((got = read(ends[0], text + used, size - 1 - (size_t)used)) > 0)
		used += got;
	text[used] = '\0';
	close(ends[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status) == 99 ? -1 : WEXITSTATUS(status);
}

static void speak_normally(void)
{
	msg_set_program("unit");
	msg_error("one %d", 1);
	msg_warn("two");
	msg_info("three");
	msg_debug(DBG_UNWIND, 1, "not heard");
	assert_true(msg_set_debug("unwind:2,trace"));
	msg_debug(DBG_UNWIND, 2, "four");
	msg_debug(DBG_UNWIND, 3, "not heard");
	msg_debug(DBG_TRACE, 1, "five");
}

static void speak_quietly(void)
{
	msg_set_program("unit");
	msg_set_quiet(true);
	msg_error("one");
	msg_warn("two");
	msg_info("three");
	msg_die("four");
}

static void speak_at_length(void)
{
	msg_set_program("unit");
	msg_error("%8000s|", "");
}

static void messages_have_one_form(void **state)
{
	char text[16384];

	assert_int_equal(stderr_of(speak_normally, text, sizeof(text)), -1);
	assert_string_equal(text, "unit: one 1\nunit: warning: two\nunit: three\n"
				  "unit: [unwind] four\nunit: [trace] five\n");
	assert_int_equal(stderr_of(speak_quietly, text, sizeof(text)), 1);
	assert_string_equal(text, "unit: one\nunit: four\n");
	assert_int_equal(stderr_of(speak_at_length, text, sizeof(text)), -1);
	assert_true(strlen(text) <= 4096);
	assert_int_equal(text[strlen(text) - 1], '\n');
	assert_null(strchr(text, '|'));
}

/* Messages for which the full pipe has no room are counted as lost. After msg_keep() they are kept, in order, as long
 * as they fit into MESSAGES_KEPT bytes. A status line is dropped. */
static void full_pipe_does_not_block_messages(void **state)
{
	static _Atomic uint64_t lost;
	static char text[1 << 20];
	int ends[2], ready[2], status;

	assert_int_equal(pipe2(ends, O_NONBLOCK), 0);
	assert_int_equal(pipe(ready), 0);
	fflush(NULL);
	const pid_t pid = fork();

	assert_true(pid >= 0);
	if (!pid) {
		unsigned lines = 0;

		dup2(ends[1], STDERR_FILENO);
		msg_set_program("unit");
		msg_set_queue(-1, &lost);
		while (!lost)
			msg_info("%4u%90s", lines++, "");
		msg_status("never shown");
		msg_keep(MESSAGES_KEPT);
		for (unsigned i = 0; i < 5; i++)
			msg_info("kept %-95u", i); /* longer than the message that did not fit */
		if (lost != 1 || lines < 100)
			_exit(1);
		if (read(ends[0], text, sizeof(text)) < 4096 || text[0] != 'u')
			_exit(2);
		for (unsigned i = 0; lost == 1 && i < MESSAGES_KEPT; i++)
			msg_info("%90s", "");
		if (lost != 2)
			_exit(3);
		close(ends[0]);
		close(ready[1]);
		msg_settle(-1);
		_exit(lost == 2 ? 0 : 4);
	}
	close(ends[1]);
	close(ready[1]);
	ssize_t got, used = read(ready[0], text, 1);

	assert_int_equal(used, 0);
	assert_int_equal(fcntl(ends[0], F_SETFL, 0), 0);
	while ((got = read(ends[0], text + used, sizeof(text) - 1 - (size_t)used)) > 0)
		used += got;
	text[used] = '\0';
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	close(ready[0]);
	const char *at = text;

	for (unsigned i = 0; i < 5; i++) {
		char wanted[16];

		snprintf(wanted, sizeof(wanted), "kept %u ", i);
		at = strstr(at, wanted);
		assert_non_null(at);
	}
	assert_null(strstr(text, "never"));
	close(ends[0]);
}

static void unsent_kept_messages_are_counted(void **state)
{
	static _Atomic uint64_t lost;
	int ends[2], status;

	assert_int_equal(pipe2(ends, O_NONBLOCK), 0);
	fflush(NULL);
	const pid_t pid = fork();

	assert_true(pid >= 0);
	if (!pid) {
		dup2(ends[1], STDERR_FILENO);
		msg_set_queue(-1, &lost);
		while (!lost)
			msg_info("%90s", "");
		msg_keep(MESSAGES_KEPT);
		for (unsigned i = 0; i < 7; i++)
			msg_info("kept %u", i);
		msg_settle(1);
		_exit(lost == 8 ? 0 : 1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(WIFEXITED(status) ? WEXITSTATUS(status) : -1, 0);
	close(ends[0]);
	close(ends[1]);
}

static void unknown_debug_domains_are_refused(void **state)
{
	assert_false(msg_set_debug("nonsense"));
	assert_false(msg_set_debug("unwind:x"));
	assert_false(msg_set_debug("unwind:10"));
	assert_false(msg_set_debug("unwind:3"));
	assert_false(msg_set_debug("tracer:9"));
	assert_false(msg_set_debug("unwin"));
	assert_true(msg_set_debug("all:2"));
	assert_int_equal(msg_debug_level[DBG_PROCESS], 2);
	assert_true(msg_set_debug("all:0"));
	assert_true(msg_set_debug(NULL));
	assert_int_equal(msg_debug_level[DBG_SYMBOLS], 1);
	assert_true(msg_set_debug("all:0"));
}

static void items_are_counted_up_to_a_bound(void **state)
{
	const struct place {
		uint64_t start;
	} places[] = {{2}, {5}, {5}, {UINT64_MAX}};
	const struct place *const pointers[] = {&places[0], &places[1], &places[3]};

	assert_int_equal(COUNT_UP_TO(places, 0, .start, 7u), 0);
	assert_int_equal(COUNT_UP_TO(places, 4, .start, 1u), 0);
	assert_int_equal(COUNT_UP_TO(places, 4, .start, 2u), 1);
	assert_int_equal(COUNT_UP_TO(places, 4, .start, 4u), 1);
	assert_int_equal(COUNT_UP_TO(places, 4, .start, 5u), 3);
	assert_int_equal(COUNT_UP_TO(places, 4, .start, UINT64_MAX), 4);
	assert_int_equal(COUNT_UP_TO(pointers, 3, ->start, 5u), 2);
}

static void names_of_files_and_folders_are_recognised(void **state)
{
	assert_string_equal(path_name("/usr/lib/libc.so.6"), "libc.so.6");
	assert_string_equal(path_name("libc.so.6"), "libc.so.6");
	assert_string_equal(path_name("/usr/"), "");
	assert_true(path_is_folder("/"));
	assert_false(path_is_folder("/dev/null"));
	assert_false(path_is_folder(""));
}

static void paths_are_normalised(void **state)
{
	static const char *const paths[][2] = {{"/a/b/../c", "/a/c"},
					       {"/a/./../b", "/b"},
					       {"../x", "../x"},
					       {"../../x", "../../x"},
					       {"a/../b", "b"},
					       {"a/../../b", "../b"},
					       {"/..", "/"},
					       {"/../a", "/a"},
					       {"./a", "a"},
					       {"a//b", "a/b"},
					       {"/b/./../e/f.c", "/e/f.c"},
					       {"a/b/c/../../d", "a/d"},
					       {"/", "/"},
					       {"", ""},
					       {"..", ".."},
					       {"a/...", "a/..."},
					       {"../a/../b", "../b"},
					       {"/a", "/a"}};

	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		char *path = xstrdup(paths[i][0]);

		assert_string_equal(path_normalise(path), paths[i][1]);
		free(path);
	}
}

static void patterns_match_names(void **state)
{
	static const struct {
		const char *pattern, *text;
		bool matches;
		size_t literal;
	} rows[] = {
		{"", "", true, 0},
		{"", "a", false, 0},
		{"abc", "abc", true, 3},
		{"abc", "abcd", false, 3},
		{"abcd", "abc", false, 4},
		{"*", "", true, 0},
		{"*", "anything", true, 0},
		{"a*", "a", true, 1},
		{"a*c", "abbc", true, 1},
		{"a*c", "abcb", false, 1},
		{"*b*b", "abab", true, 0},
		{"**a**", "xay", true, 0},
		{"a?c", "abc", true, 1},
		{"a?c", "ac", false, 1},
		{"?", "", false, 0},
		{"Parser::*", "Parser::parse", true, 8},
		{"Parser::*", "my::Parser::parse", false, 8},
		{"[ab]x", "bx", true, 0},
		{"[a-c]x", "cx", true, 0},
		{"[a-c]x", "dx", false, 0},
		{"[!a-c]x", "dx", true, 0},
		{"[^a-c]x", "ax", false, 0},
		{"[a-]", "-", true, 0},
		{"[!]]", "a", true, 0},
		{"[!]]", "]", false, 0},
		{"[a", "[a", true, 2},
		{"[", "[", true, 1},
		{"operator[]", "operator[]", true, 10},
		{"operator[]", "operator]", false, 10},
		{"f[abi:cxx11]", "f[abi:cxx11]", true, 12},
		{"a\\*c", "a*c", true, 1},
		{"a\\*c", "abc", false, 1},
		{"a\\", "a\\", true, 1},
		{"f(char*)", "f(char*)", true, 6},
		{"*\xff*", "a\xff", true, 0},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		if (glob_matches(rows[i].pattern, rows[i].text) != rows[i].matches)
			fail_msg("'%s' on '%s'", rows[i].pattern, rows[i].text);
		if (glob_literal(rows[i].pattern) != rows[i].literal)
			fail_msg("'%s' begins with %zu literal bytes", rows[i].pattern, glob_literal(rows[i].pattern));
	}

	/* A pattern for which recursion would take centuries. */
	char *const text = xmalloc(65536);

	memset(text, 'a', 65535);
	text[65535] = '\0';
	assert_false(glob_matches("*a*a*a*a*a*a*a*a*b", text));
	free(text);
}

static void remaining_time_follows_the_pace(void **state)
{
	static const struct {
		uint64_t elapsed_ns, done, total;
		const char *words;
	} rows[] = {
		{4000000000, 25, 100, ", 12 s left"},
		{4000000000, 1, 1000, ", 67 min left"},
		{3600000000000, 1, 101, ", 100 h left"},
		{98000000000, 1, 2, ", 98 s left"},
		{100000000000, 1, 2, ", 2 min left"},
		{UINT64_MAX, UINT64_MAX / 2, UINT64_MAX, ", 5124096 h left"},
		/* No text for work that has not begun, is of unknown size, is at its end, or is larger than
		 * announced. */
		{4000000000, 0, 100, ""},
		{4000000000, 5, 0, ""},
		{4000000000, 100, 100, ""},
		{4000000000, 101, 100, ""},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct buf b = {0};

		long_work_add_left(&b, rows[i].elapsed_ns, rows[i].done, rows[i].total);
		assert_string_equal(buf_str(&b), rows[i].words);
		buf_free(&b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(items_are_counted_up_to_a_bound),
		cmocka_unit_test(names_of_files_and_folders_are_recognised),
		cmocka_unit_test(paths_are_normalised),
		cmocka_unit_test(patterns_match_names),
		cmocka_unit_test(numbers_are_parsed_whole),
		cmocka_unit_test(arithmetic_saturates),
		cmocka_unit_test(arrays_keep_their_items_when_they_grow),
		cmocka_unit_test(buffers_append_bytes_and_text),
		cmocka_unit_test(maps_find_stored_keys),
		cmocka_unit_test(maps_agree_with_a_plain_list),
		cmocka_unit_test(moved_maps_use_the_prepared_room),
		cmocka_unit_test(only_equal_bytes_have_equal_hashes),
		cmocka_unit_test(files_are_read_up_to_a_bound),
		cmocka_unit_test(full_device_is_an_error_of_write_all),
		cmocka_unit_test(messages_have_one_form),
		cmocka_unit_test(full_pipe_does_not_block_messages),
		cmocka_unit_test(unsent_kept_messages_are_counted),
		cmocka_unit_test(unknown_debug_domains_are_refused),
		cmocka_unit_test(remaining_time_follows_the_pace),
	};

	return cmocka_run_group_tests_name("base", tests, NULL, NULL);
}

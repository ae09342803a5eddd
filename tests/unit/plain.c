/* Tests that text which other programs or users control is escaped in each output: on a terminal, in lines, in JSON.
 */
#include "config.h"
#include "unit_test.h"

#include "base/json.h"
#include "base/msg.h"
#include "base/terminal_escape.h"
#include "trace/escape.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct {
	const char *text, *escaped, *masked, *json;
} rows[] = {
	{"free", "free", "free", "\"free\""},
	{"Größe, 大きさ, \xf0\x9f\x98\x80", "Größe, 大きさ, \xf0\x9f\x98\x80", "Größe, 大きさ, \xf0\x9f\x98\x80",
	 "\"Größe, 大きさ, \xf0\x9f\x98\x80\""},
	/* C0, DEL */
	{"a\033[2Jb\nc\td\x7f", "a\\033[2Jb\\012c\\011d\\177", "a?[2Jb?c?d?",
	 "\"a\\u001b[2Jb\\u000ac\\u0009d\\u007f\""},
	/* a C1 control character: in UTF-8, and as a single byte, which 8-bit terminals obey */
	{"a\xc2\x9b"
	 "31mb",
	 "a\\302\\23331mb", "a??31mb", "\"a\\u009b31mb\""},
	{"a\x9b"
	 "31mb",
	 "a\\23331mb", "a?31mb",
	 "\"a\xef\xbf\xbd"
	 "31mb\""},
	/* marks that change the direction of text (RLO, RLI, PDI, ALM); line separators; characters without width; a
	 * byte order mark */
	{"\xe2\x80\xae", "\\342\\200\\256", "???", "\"\\u202e\""},
	{"\xe2\x81\xa7x\xe2\x81\xa9", "\\342\\201\\247x\\342\\201\\251", "???x???", "\"\\u2067x\\u2069\""},
	{"\xd8\x9c", "\\330\\234", "??", "\"\\u061c\""},
	{"\xe2\x80\xa8", "\\342\\200\\250", "???", "\"\\u2028\""},
	{"\xe2\x80\x8b", "\\342\\200\\213", "???", "\"\\u200b\""},
	{"\xef\xbb\xbf", "\\357\\273\\277", "???", "\"\\ufeff\""},
	/* invalid UTF-8: truncated, overlong, a surrogate */
	{"\xe2\x80", "\\342\\200", "??", "\"\xef\xbf\xbd\xef\xbf\xbd\""},
	{"\xc0\xaf", "\\300\\257", "??", "\"\xef\xbf\xbd\xef\xbf\xbd\""},
	{"\xed\xa0\x80", "\\355\\240\\200", "???", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""},
};

static void control_characters_are_escaped_and_masked(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct buf escaped = {0}, json = {0};
		char *masked = xstrdup(rows[i].text);

		plain_add(&escaped, rows[i].text);
		assert_string_equal(buf_str(&escaped), rows[i].escaped);
		plain_mask(masked, strlen(masked), '?');
		assert_string_equal(masked, rows[i].masked);
		json_add_string(&json, rows[i].text);
		assert_string_equal(buf_str(&json), rows[i].json);
		free(masked);
		buf_free(&escaped);
		buf_free(&json);
	}
}

static void escapes_are_not_cut_in_half(void **state)
{
	char to[16];

	assert_int_equal(plain_copy(to, 4, "a\033b", false), 1);
	assert_int_equal(plain_copy(to, 5, "a\033b", false), 5);
	assert_memory_equal(to, "a\\033", 5);
	assert_int_equal(plain_copy(to, 3, "a\xe2\x82\xac", false), 1);
	assert_int_equal(plain_copy(to, 4, "a\xe2\x82\xac", false), 4);
	assert_int_equal(plain_copy(to, 16, "a\nb", true), 3);
	assert_int_equal(plain_copy(to, 16, "a\nb", false), 6);
	assert_int_equal(plain_copy(to, 0, "a", false), 0);
}

/* The reader of the text format returns the strings that the writer has escaped. */
static void escaped_text_is_read_back(void **state)
{
	static const char *const more[] = {"\\302\\233", "\\\\302", "a\\134", "\\", "\\377\\", "\\9", "\\1234"};

	for (size_t i = 0; i < ARRAY_SIZE(rows) + ARRAY_SIZE(more); i++) {
		const char *const text = i < ARRAY_SIZE(rows) ? rows[i].text : more[i - ARRAY_SIZE(rows)];
		struct buf out = {0};

		text_put_escaped(&out, text, "");
		for (const char *c = buf_str(&out); *c;) {
			assert_true(plain_size(c) > 0);
			c += plain_size(c);
		}
		char *again = xstrdup(buf_str(&out));

		assert_string_equal(text_unescape(again, ""), text);
		free(again);
		buf_free(&out);
	}
}

static void control_characters_in_messages_are_escaped(void **state)
{
	char line[4096] = "";
	int ends[2];

	assert_int_equal(pipe(ends), 0);
	const int kept = dup(STDERR_FILENO);

	dup2(ends[1], STDERR_FILENO);
	msg_warn("%s is new", "a\nfunctrace: forged \033[31m\xc2\x9b\xe2\x80\xae");
	dup2(kept, STDERR_FILENO);
	const ssize_t size = read(ends[0], line, sizeof(line) - 1);

	assert_true(size > 0);
	assert_non_null(strstr(line, ": warning: a\\012functrace: forged \\033[31m\\302\\233\\342\\200\\256 is new\n"));
	close(ends[0]);
	close(ends[1]);
	close(kept);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(control_characters_are_escaped_and_masked),
		cmocka_unit_test(escapes_are_not_cut_in_half),
		cmocka_unit_test(escaped_text_is_read_back),
		cmocka_unit_test(control_characters_in_messages_are_escaped),
	};

	return cmocka_run_group_tests_name("plain", tests, NULL, NULL);
}

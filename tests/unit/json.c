/* Tests JSON strings of any bytes. */
#include "config.h"
#include "unit_test.h"

#include "base/json.h"

static void strings_are_written_as_json(void **state)
{
	static const struct {
		const char *text, *json;
	} rows[] = {
		{NULL, "null"},
		{"", "\"\""},
		{"plain <b>&amp;</b> 'text'", "\"plain <b>&amp;</b> 'text'\""},
		{"\"quoted\" \\ back", "\"\\\"quoted\\\" \\\\ back\""},
		{"\t\n\x01\x1b\x7f", "\"\\u0009\\u000a\\u0001\\u001b\\u007f\""},
		{"\xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80", "\"\xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80\""},
		/* U+FFFD replaces each byte of these: a lone continuation byte, overlong forms, a surrogate, a code
		 * above U+10FFFF, a byte that is never valid, a truncated character. */
		{"a\x80z", "\"a\xef\xbf\xbdz\""},
		{"\xc0\xaf", "\"\xef\xbf\xbd\xef\xbf\xbd\""},
		{"\xe0\x9f\xbf", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""},
		{"\xed\xa0\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""},
		{"\xf4\x90\x80\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""},
		{"\xff", "\"\xef\xbf\xbd\""},
		{"\xe2\x82", "\"\xef\xbf\xbd\xef\xbf\xbd\""},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct buf out = {0};

		json_add_string(&out, rows[i].text);
		assert_string_equal(buf_str(&out), rows[i].json);
		buf_free(&out);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(strings_are_written_as_json),
	};

	return cmocka_run_group_tests_name("json", tests, NULL, NULL);
}

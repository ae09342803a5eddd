/* Tests how names are shortened to a width, and to the form that is usual in sources. */
#include "config.h"
#include "report/pretty.h"
#include "report/shorten.h"
#include "unit_test.h"

#include <string.h>

static void check_shortened(const char *before, const char *name, const char *after, size_t by, const char *wanted)
{
	struct buf line = {0};

	buf_printf(&line, "%s%s%s", before, name, after);
	const size_t begin = strlen(before), end = begin + strlen(name);
	const size_t new_end = shorten_name(&line, begin, end, by);

	assert_string_equal(buf_str(&line), wanted);
	assert_string_equal(buf_str(&line) + new_end, after);
	buf_free(&line);
}

static void test_template_arguments_are_dropped_first(void **state)
{
	check_shortened("a ", "short", " at x:1", 0, "a short at x:1");
	/* Template arguments are dropped first, the longest first, and no more of them than necessary. */
	check_shortened("", "map<string, vector<int>>::put<int, int>(vector<pair<char, int>>)", " at x:1", 1,
			"map<...>::put<int, int>(vector<pair<char, int>>) at x:1");
	check_shortened("", "map<string, vector<int>>::put<int, int>(vector<pair<char, int>>)", " at x:1", 20,
			"map<...>::put<int, int>(vector<...>) at x:1");
	check_shortened("", "map<string, vector<int>>::put<int, int>(vector<pair<char, int>>)", " at x:1", 33,
			"map<...>::put<...>(vector<...>) at x:1");
	/* Then parameters are dropped, then the middle. */
	check_shortened("", "map<string, vector<int>>::put<int, int>(vector<pair<char, int>>)", " at x:1", 36,
			"map<...>::put<...>(...) at x:1");
	check_shortened("", "map<string, vector<int>>::put<int, int>(vector<pair<char, int>>)", " at x:1", 45,
			"map<...>.....>(...) at x:1");
	check_shortened("12 ", "abcdefghijklmnopqrstuvwxyz", "", 10, "12 abcdefg...uvwxyz");
	/* A name never becomes empty. */
	check_shortened("", "abcdefghijklmnopqrstuvwxyz", " at x:1", 1000, "abcde...wxyz at x:1");
	check_shortened("", "abcdefghijkl", " at x:1", 1000, "abcdefghijkl at x:1");
	check_shortened("", "", " at x:1", 3, " at x:1");
}

static void test_operators_are_not_taken_for_brackets(void **state)
{
	check_shortened("", "operator<(pair<int, long long> const&)", "", 1, "operator<(pair<...> const&)");
	check_shortened("", "x::operator<< <char, traits>(stream<char>&)", "", 1, "x::operator<< <...>(stream<char>&)");
	check_shortened("", "x::operator<=> <int, long>()", "", 1, "x::operator<=> <...>()");
	check_shortened("", "x::operator-><int, long>()", "", 1, "x::operator-><...>()");
	check_shortened("", "x::operator()(int, char, long) const", "", 5, "x::operator()(...) const");
	check_shortened("", "f<(a->b)>(long long long)", "", 5, "f<...>(...)");
	check_shortened("", ">>> broken <<<", "", 2, ">>> b... <<<");
}

static void test_characters_are_not_cut(void **state)
{
	for (size_t by = 1; by < 40; by++) {
		struct buf line = {0};

		buf_add_str(&line, "äöüäöüäöüäöüäöüäöüäöüäöü");
		shorten_name(&line, 0, line.size, by);
		for (const char *c = buf_str(&line); *c; c += (*c & 0x80) ? 2 : 1)
			assert_true(*c == '.' || ((unsigned char)c[0] == 0xc3 && (c[1] & 0xc0) == 0x80));
		assert_true(line.size <= 48 - (by < 36 ? by : 35));
		buf_free(&line);
	}
}

static void check_pretty(const char *name, const char *wanted)
{
	struct buf out = {0};

	pretty_name(&out, name);
	assert_string_equal(buf_str(&out), wanted);
	buf_free(&out);
}

/* Default arguments are left out only at the end of a list: otherwise a later argument would change its place. */
static void test_default_arguments_are_dropped_only_at_the_end(void **state)
{
	check_pretty("std::map<int, long, std::less<int>, std::allocator<std::pair<int const, long> > >::at",
		     "std::map<int, long>::at");
	check_pretty("std::map<int, long, std::less<int>, Arena<std::pair<int const, long> > >::at",
		     "std::map<int, long, std::less<int>, Arena<std::pair<int const, long>>>::at");
	check_pretty("std::vector<std::unique_ptr<int, std::default_delete<int> >, std::allocator<int> >",
		     "std::vector<std::unique_ptr<int>>");
	check_pretty("f(std::set<int, std::less<int>, std::allocator<int>>, std::less<int>)",
		     "f(std::set<int>, std::less<int>)");
	check_pretty("g<int, std::less<int", "g<int, std::less<int");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_template_arguments_are_dropped_first),
		cmocka_unit_test(test_operators_are_not_taken_for_brackets),
		cmocka_unit_test(test_characters_are_not_cut),
		cmocka_unit_test(test_default_arguments_are_dropped_only_at_the_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

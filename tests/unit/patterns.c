/* Tests which symbols the patterns of rows match, and in which objects. */
#include "config.h"
#include "calls/probes/function_patterns.h"
#include "unit_test.h"

#include <stdlib.h>
#include <string.h>

static const struct resource kinds[] = {{.type = "call", .noun = "call", .is_nested = true}};

/* A list with one row with a pattern. */
struct one {
	struct function function;
	struct module module;
	const struct module *modules[1];
	struct settings set;
	struct probe_spec_list *list;
};

static struct pattern *one_begin(struct one *one, const char *symbol)
{
	*one = (struct one){.function = {.symbol = symbol, .is_pattern = true, .role = ROLE_CALL}};
	one->module = (struct module){.api = MODULE_API,
				      .name = "functions",
				      .resources = kinds,
				      .resource_count = 1,
				      .functions = &one->function,
				      .function_count = 1};
	one->modules[0] = &one->module;
	one->set.traced.modules = one->modules;
	one->set.traced.module_count = 1;
	one->list = probe_spec_new(&one->set);
	assert_non_null(one->list->patterns);
	assert_int_equal(one->list->patterns->count, 1);
	return &one->list->patterns->items[0];
}

static bool one_matches(const char *row, const char *symbol)
{
	struct one one;
	struct symbol_names names;
	const struct pattern *pattern = one_begin(&one, row);

	symbol_names_find(&names, symbol, one.list->patterns->any_parameters);
	const bool matches = pattern_matches(pattern, &names);
	bool named = false;

	for (const char *const *name = (const char *const[]){names.symbol, names.base, names.plain, names.whole, ""};
	     !*name || **name; name++)
		named |= patterns_named(one.list->patterns, *name) == pattern;
	/* A name without wildcards is found directly. */
	if (matches && !pattern->is_glob)
		assert_true(named);
	symbol_names_free(&names);
	probe_spec_free(one.list);
	return matches;
}

static void test_patterns_match_symbols(void **state)
{
	static const struct {
		const char *row, *symbol;
		bool matches;
	} rows[] = {
		{"malloc", "malloc", true},
		{"malloc", "__libc_malloc", false},
		{"*malloc", "__libc_malloc", true},
		{"sum", "sum.constprop.0", true},
		{"sum", "sum.isra.0.constprop.1", true},
		{"sum", "sum.lto_priv.0", true},
		{"sum", "sum.llvm.1234", true},
		{"sum", "sum.part.0", false},
		{"sum", "sum.cold", false},
		{"sum.constprop.0", "sum.constprop.0", true},
		{"s*m", "sum.constprop.0", true},
		{".isra.", ".isra.0", false},
		{"Parser::parse", "_ZN6Parser5parseEi", true},
		{"Parser::parse", "_ZN6Parser5parseEi.constprop.0", true},
		{"Parser::*", "_ZN6Parser5parseEi", true},
		{"Parser::*", "_ZN2my6Parser5parseEi", false},
		{"*Parser::*", "_ZN2my6Parser5parseEi", true},
		{"Parser::parse(int)", "_ZN6Parser5parseEi", true},
		{"Parser::parse(long)", "_ZN6Parser5parseEi", false},
		{"Parser::parse(*)", "_ZN6Parser5parseEi", true},
		{"*(int)", "_ZN6Parser5parseEi", true},
		{"*int*", "_ZN6Parser5parseEi", false},
		{"parse", "_ZN6Parser5parseEi", false},
		{"_ZN6Parser5parseEi", "_ZN6Parser5parseEi", true},
		{"_ZN6Parser*", "_ZN6Parser5parseEi", true},
		{"twice<int>", "_Z5twiceIiET_S0_", true},
		{"twice*", "_Z5twiceIiET_S0_", true},
		{"int twice<int>(int)", "_Z5twiceIiET_S0_", true},
		{"operator new", "_Znwm", true},
		{"operator new(*)", "_Znwm", true},
		{"operator new[]", "_Znwm", false},
		{"A::operator()", "_ZN1AclEi", true},
		{"core::fmt::Write::write_fmt", "_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE", true},
		{"mycrate::*", "_RNvCs1234_7mycrate3foo", true},
		{"malloc@libc", "malloc", true},
		{"*@main", "anything", true},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (one_matches(rows[i].row, rows[i].symbol) != rows[i].matches)
			fail_msg("'%s' on '%s'", rows[i].row, rows[i].symbol);
}

static void test_patterns_choose_objects(void **state)
{
	static const struct {
		const char *row, *path;
		bool is_program, chooses;
	} rows[] = {
		{"f", "/lib/libc.so.6", false, true},
		{"f", "/bin/program", true, true},
		{"f", "[vdso]", false, false},
		{"f@vdso", "[vdso]", false, true},
		{"f@libc.so", "/lib/libc.so.6", false, true},
		{"f@libc.so", "/lib/libm.so.6", false, false},
		{"f@main", "/bin/program", true, true},
		{"f@main", "/lib/libmain.so", false, false},
		{"main!0x10", "/bin/program", true, true},
		{"!0x10", "/bin/program", true, true},
		{"!0x10", "/lib/libc.so.6", false, false},
		{"libc!0x10", "/lib/libc.so.6", false, true},
		{"libc!0x10", "/bin/program", true, false},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct one one;
		struct object object = {.path = (char *)(uintptr_t)rows[i].path};
		const struct process p = {.program = rows[i].is_program ? &object : NULL};
		const struct pattern *pattern = one_begin(&one, rows[i].row);

		if (pattern_chooses(pattern, &p, &object) != rows[i].chooses)
			fail_msg("'%s' in %s", rows[i].row, rows[i].path);
		assert_int_equal(!pattern->name, strchr(rows[i].row, '!') != NULL);
		assert_int_equal(pattern->address, pattern->name ? 0 : 0x10);
		probe_spec_free(one.list);
	}
}

static void test_shown_names_are_kept_once(void **state)
{
	struct one one;
	struct patterns *patterns;
	char name[] = "name";

	one_begin(&one, "f");
	patterns = one.list->patterns;
	const char *const kept = patterns_keep(patterns, name);

	assert_ptr_not_equal(kept, name);
	assert_ptr_equal(patterns_keep(patterns, "name"), kept);
	assert_string_equal(patterns_shown(patterns, "_Znwm"), "operator new(unsigned long)");
	assert_string_equal(patterns_shown(patterns, "puts"), "puts");
	assert_true(patterns_are_all(one.list));
	probe_spec_free(one.list);
	/* If a row has matched two names of one function, the better name is shown. */
	assert_true(pattern_name_is_better("printf", "_IO_printf"));
	assert_false(pattern_name_is_better("_IO_printf", "printf"));
	assert_true(pattern_name_is_better("brk", "sbrk"));
	assert_true(pattern_name_is_better("a", "b"));
	assert_false(pattern_name_is_better("a", "a"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_patterns_match_symbols),
		cmocka_unit_test(test_patterns_choose_objects),
		cmocka_unit_test(test_shown_names_are_kept_once),
	};

	return cmocka_run_group_tests_name("patterns", tests, NULL, NULL);
}

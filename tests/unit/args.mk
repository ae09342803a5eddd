# unit tests of args
ARGS_TESTS = tests/unit/args_bases tests/unit/args_hostile tests/unit/args_passed tests/unit/args_pointers \
	tests/unit/args_rows tests/unit/args_signatures tests/unit/args_text tests/unit/args_values
check_PROGRAMS += $(ARGS_TESTS)
TESTS += $(ARGS_TESTS)
ARGS_TEST_UTIL = tests/unit/args_util.c tests/unit/args_util.h
ARGS_TEST_LIBS = libargs.a libaarch64.a libarm.a libsymbols.a libarch.a libbase.a $(ZYDIS_LIBS) $(UNIT_LIBS)
tests_unit_args_bases_SOURCES = tests/unit/args_bases.c $(ARGS_TEST_UTIL)
tests_unit_args_bases_LDADD = $(ARGS_TEST_LIBS)
tests_unit_args_hostile_SOURCES = tests/unit/args_hostile.c $(ARGS_TEST_UTIL)
tests_unit_args_hostile_LDADD = $(ARGS_TEST_LIBS)
tests_unit_args_pointers_SOURCES = tests/unit/args_pointers.c $(ARGS_TEST_UTIL)
tests_unit_args_pointers_LDADD = $(ARGS_TEST_LIBS)
tests_unit_args_rows_SOURCES = tests/unit/args_rows.c $(ARGS_TEST_UTIL)
tests_unit_args_rows_LDADD = $(ARGS_TEST_LIBS)
tests_unit_args_signatures_SOURCES = tests/unit/args_signatures.c $(ARGS_TEST_UTIL)
tests_unit_args_signatures_LDADD = $(ARGS_TEST_LIBS)
tests_unit_args_text_SOURCES = tests/unit/args_text.c $(ARGS_TEST_UTIL)
tests_unit_args_text_LDADD = $(ARGS_TEST_LIBS)
tests_unit_args_values_SOURCES = tests/unit/args_values.c $(ARGS_TEST_UTIL)
tests_unit_args_values_LDADD = $(ARGS_TEST_LIBS)
tests_unit_args_passed_SOURCES = tests/unit/args_passed.c $(ARGS_TEST_UTIL)
tests_unit_args_passed_LDADD = $(ARGS_TEST_LIBS)

# Every function of every module is called in a scenario, with the expected text of its arguments.
check_PROGRAMS += tests/unit/module_names
TESTS += tests/unit/args_expected.py
EXTRA_DIST += tests/unit/args_expected.py
tests_unit_module_names_LDADD = libmodules.a libbase.a

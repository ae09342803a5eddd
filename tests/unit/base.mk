# unit tests of base, and of tests/tap.sh, by which all results are counted
check_PROGRAMS += tests/unit/base
TESTS += tests/unit/base tests/unit/tap_test.sh
tests_unit_base_SOURCES = tests/unit/base.c
tests_unit_base_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_base_LDADD = libbase.a $(UNIT_LIBS)
EXTRA_DIST += tests/unit/tap_test.sh

# unit tests of base, of tests/tap.sh, by which all results are counted, and of what HACKING.md says
check_PROGRAMS += tests/unit/base
TESTS += tests/unit/base tests/unit/tap_test.sh tests/unit/hacking.py
tests_unit_base_SOURCES = tests/unit/base.c
tests_unit_base_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_base_LDADD = libbase.a $(UNIT_LIBS)
EXTRA_DIST += tests/unit/tap_test.sh tests/unit/hacking.py

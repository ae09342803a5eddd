# Unit tests of base, of tests/tap.sh, which counts all results, and of the texts for contributors.
BASE_UNIT_TESTS = tests/unit/base tests/unit/own_file tests/unit/json tests/unit/plain tests/unit/conf \
	tests/unit/conf_errors tests/unit/params
check_PROGRAMS += $(BASE_UNIT_TESTS)
TESTS += $(BASE_UNIT_TESTS) tests/unit/tap_test.sh tests/unit/hacking.py tests/unit/howto.py tests/unit/help.py
tests_unit_base_LDADD = libbase.a $(UNIT_LIBS)
tests_unit_own_file_LDADD = libbase.a $(UNIT_LIBS)
tests_unit_json_LDADD = libbase.a $(UNIT_LIBS)
tests_unit_plain_LDADD = libtrace.a libbase.a $(UNIT_LIBS)
TESTS += tests/unit/hardening.py
EXTRA_DIST += tests/unit/unit_test.h tests/unit/records.h tests/unit/hardening.py tests/unit/tap_test.sh \
	tests/unit/hacking.py tests/unit/howto.py tests/unit/help.py

# modules: descriptions by users
tests_unit_conf_SOURCES = tests/unit/conf.c tests/unit/conf_util.h
tests_unit_conf_LDADD = libmodules.a libbase.a $(UNIT_LIBS)
tests_unit_conf_errors_SOURCES = tests/unit/conf_errors.c tests/unit/conf_util.h
tests_unit_conf_errors_LDADD = libmodules.a libbase.a $(UNIT_LIBS)
tests_unit_params_LDADD = libmodules.a libarch.a libbase.a $(ZYDIS_LIBS) $(UNIT_LIBS)

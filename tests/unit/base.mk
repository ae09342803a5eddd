# Unit tests of base, of tests/tap.sh, which counts all results, and of the texts for contributors.
check_PROGRAMS += tests/unit/base
TESTS += tests/unit/base tests/unit/tap_test.sh tests/unit/hacking.py tests/unit/howto.py \
	tests/unit/help.py
tests_unit_base_SOURCES = tests/unit/base.c
tests_unit_base_LDADD = libbase.a $(UNIT_LIBS)
check_PROGRAMS += tests/unit/own_file
TESTS += tests/unit/own_file
tests_unit_own_file_SOURCES = tests/unit/own_file.c
tests_unit_own_file_LDADD = libbase.a $(UNIT_LIBS)
check_PROGRAMS += tests/unit/json
TESTS += tests/unit/json
tests_unit_json_SOURCES = tests/unit/json.c
tests_unit_json_LDADD = libbase.a $(UNIT_LIBS)
check_PROGRAMS += tests/unit/plain
TESTS += tests/unit/plain
tests_unit_plain_SOURCES = tests/unit/plain.c
tests_unit_plain_LDADD = libtrace.a libbase.a $(UNIT_LIBS)
TESTS += tests/unit/hardening.py
EXTRA_DIST += tests/unit/unit_test.h tests/unit/records.h tests/unit/hardening.py tests/unit/tap_test.sh \
	tests/unit/hacking.py tests/unit/howto.py tests/unit/help.py

# modules: descriptions by users
check_PROGRAMS += tests/unit/conf tests/unit/conf_errors tests/unit/params
TESTS += tests/unit/conf tests/unit/conf_errors tests/unit/params
tests_unit_conf_SOURCES = tests/unit/conf.c tests/unit/conf_util.h
tests_unit_conf_LDADD = libmodules.a libbase.a $(UNIT_LIBS)
tests_unit_conf_errors_SOURCES = tests/unit/conf_errors.c tests/unit/conf_util.h
tests_unit_conf_errors_LDADD = libmodules.a libbase.a $(UNIT_LIBS)
tests_unit_params_SOURCES = tests/unit/params.c
tests_unit_params_LDADD = libmodules.a libarch.a libbase.a $(ZYDIS_LIBS) $(UNIT_LIBS)

# unit tests of tracer
check_PROGRAMS += tests/unit/stop
TESTS += tests/unit/stop
tests_unit_stop_SOURCES = tests/unit/stop.c
tests_unit_stop_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_stop_LDADD = libptrace.a libbase.a $(UNIT_LIBS)

TRACER_TEST_LIBS = $(TRACER_LIBS) $(UNIT_LIBS)
check_PROGRAMS += tests/unit/ledger
TESTS += tests/unit/ledger
tests_unit_ledger_SOURCES = tests/unit/ledger.c
tests_unit_ledger_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_ledger_LDADD = librecord.a libengine.a libproc.a libmodules.a libunwinder.a libsymbols.a libarch.a \
	libtrace.a libbase.a $(DW_LIBS) $(ELF_LIBS) $(UNWIND_LIBS) $(ZYDIS_LIBS) $(IBERTY_LIBS) $(ZLIB_LIBS) $(ZSTD_LIBS) $(UNIT_LIBS)

check_PROGRAMS += tests/unit/spin
TESTS += tests/unit/spin
tests_unit_spin_SOURCES = tests/unit/spin.c
tests_unit_spin_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_spin_LDADD = $(TRACER_TEST_LIBS)

check_PROGRAMS += tests/unit/values
TESTS += tests/unit/values
tests_unit_values_SOURCES = tests/unit/values.c
tests_unit_values_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_values_LDADD = $(TRACER_TEST_LIBS)

# functrace with more kinds of resource than it has yet, and what it traces then: its functions jump to each other, so
# CFLAGS have no say.
check_PROGRAMS += tests/unit/functrace-kinds
TESTS += tests/unit/kinds.py
tests_unit_functrace_kinds_SOURCES = src/functrace.c src/options.c src/options.h src/option_values.c src/option_values.h \
	tests/unit/kinds_modules.c
tests_unit_functrace_kinds_LDADD = $(TRACER_LIBS)
EXTRA_tests_unit_functrace_kinds_DEPENDENCIES = tests/unit/kinds-target
EXTRA_DIST += tests/unit/kinds.py tests/unit/kinds_target.c
CLEANFILES += tests/unit/kinds-target
tests/unit/kinds-target: tests/unit/kinds_target.c
	$(AM_V_CC)$(CC) -O2 -g0 -o $@ $(srcdir)/tests/unit/kinds_target.c

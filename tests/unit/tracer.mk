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

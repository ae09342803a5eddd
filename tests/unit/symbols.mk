# unit tests of symbols
SYMBOLS_UNIT_TESTS = tests/unit/symbols_object tests/unit/symbols_names tests/unit/symbols_hostile \
	tests/unit/symbols_files tests/unit/symbols_slots tests/unit/signature tests/unit/signature_hostile
check_PROGRAMS += $(SYMBOLS_UNIT_TESTS)
TESTS += $(SYMBOLS_UNIT_TESTS)
tests_unit_symbols_object_SOURCES = tests/unit/symbols_object.c tests/unit/long.h tests/unit/symbols_util.c \
	tests/unit/symbols_util.h
tests_unit_symbols_object_LDADD = libsymbols.a libproc.a libarch.a libbase.a $(SYMBOLS_LIBS) $(UNIT_LIBS)

tests_unit_symbols_names_SOURCES = tests/unit/symbols_names.c tests/unit/long.h tests/unit/symbols_util.c \
	tests/unit/symbols_util.h
tests_unit_symbols_names_LDADD = libsymbols.a libproc.a libarch.a libbase.a $(SYMBOLS_LIBS) $(UNIT_LIBS)

tests_unit_symbols_hostile_SOURCES = tests/unit/symbols_hostile.c tests/unit/long.h tests/unit/symbols_util.c \
	tests/unit/symbols_util.h
tests_unit_symbols_hostile_LDADD = libsymbols.a libproc.a libarch.a libbase.a $(SYMBOLS_LIBS) $(UNIT_LIBS)

tests_unit_symbols_files_SOURCES = tests/unit/symbols_files.c tests/unit/long.h tests/unit/symbols_util.c \
	tests/unit/symbols_util.h
tests_unit_symbols_files_LDADD = libsymbols.a libproc.a libarch.a libbase.a $(SYMBOLS_LIBS) $(UNIT_LIBS)

tests_unit_symbols_slots_SOURCES = tests/unit/symbols_slots.c tests/unit/symbols_util.c tests/unit/symbols_util.h
tests_unit_symbols_slots_LDADD = libsymbols.a libproc.a libarch.a libbase.a $(SYMBOLS_LIBS) $(UNIT_LIBS)

tests_unit_signature_SOURCES = tests/unit/signature.c tests/unit/signature_util.c tests/unit/signature_util.h \
	tests/unit/long.h tests/unit/symbols_util.c tests/unit/symbols_util.h
tests_unit_signature_LDADD = libsymbols.a libproc.a $(ALL_PORTS) libbase.a $(SYMBOLS_LIBS) $(ZYDIS_LIBS) \
	$(UNIT_LIBS)
EXTRA_DIST += tests/unit/signatures/c.txt tests/unit/signatures/optimised.txt tests/unit/signatures/callbacks.txt \
	tests/unit/signatures/rust.txt tests/unit/signatures/cxx.txt tests/unit/signatures/bases.txt

tests_unit_signature_hostile_SOURCES = tests/unit/signature_hostile.c tests/unit/signature_util.c \
	tests/unit/signature_util.h tests/unit/symbols_util.c tests/unit/symbols_util.h
tests_unit_signature_hostile_LDADD = libsymbols.a libproc.a $(ALL_PORTS) libbase.a $(SYMBOLS_LIBS) $(ZYDIS_LIBS) \
	$(UNIT_LIBS)

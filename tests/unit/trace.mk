# unit tests of trace
TRACE_TESTS = tests/unit/trace_rtrace tests/unit/trace_text tests/unit/trace_io tests/unit/trace_mpatrol \
	tests/unit/trace_convert tests/unit/trace_swap tests/unit/trace_stacktrack tests/unit/trace_packer \
	tests/unit/trace_baseline tests/unit/trace_resident tests/unit/encodings
check_PROGRAMS += $(TRACE_TESTS)
TESTS += $(TRACE_TESTS)
TRACE_TEST_UTIL = tests/unit/trace_util.c tests/unit/trace_util.h
TRACE_TEST_LIBS = libtrace.a libbase.a $(TRACE_LIBS) $(UNIT_LIBS)
tests_unit_trace_rtrace_SOURCES = tests/unit/trace_rtrace.c tests/unit/trace_rtrace_bytes.h \
	$(TRACE_TEST_UTIL)
tests_unit_trace_rtrace_LDADD = $(TRACE_TEST_LIBS)
tests_unit_trace_baseline_SOURCES = tests/unit/trace_baseline.c $(TRACE_TEST_UTIL)
tests_unit_trace_baseline_LDADD = $(TRACE_TEST_LIBS)
tests_unit_trace_resident_SOURCES = tests/unit/trace_resident.c $(TRACE_TEST_UTIL)
tests_unit_trace_resident_LDADD = $(TRACE_TEST_LIBS)
tests_unit_trace_text_SOURCES = tests/unit/trace_text.c $(TRACE_TEST_UTIL)
tests_unit_trace_text_LDADD = $(TRACE_TEST_LIBS)
tests_unit_trace_swap_SOURCES = tests/unit/trace_swap.c tests/unit/long.h $(TRACE_TEST_UTIL)
tests_unit_trace_swap_LDADD = $(TRACE_TEST_LIBS)
tests_unit_trace_stacktrack_SOURCES = tests/unit/trace_stacktrack.c $(TRACE_TEST_UTIL)
tests_unit_trace_stacktrack_LDADD = $(TRACE_TEST_LIBS)
tests_unit_trace_packer_SOURCES = tests/unit/trace_packer.c $(TRACE_TEST_UTIL)
tests_unit_trace_packer_LDADD = $(TRACE_TEST_LIBS)
tests_unit_trace_io_SOURCES = tests/unit/trace_io.c tests/unit/long.h $(TRACE_TEST_UTIL)
tests_unit_trace_io_LDADD = $(TRACE_TEST_LIBS)
tests_unit_encodings_SOURCES = tests/unit/encodings.c src/postproc/postproc_checks.c \
	src/postproc/postproc_options.c \
	src/postproc/filter_options.c src/postproc/view_options.c \
	src/cli/completion.c $(TRACE_TEST_UTIL)
tests_unit_encodings_LDADD = libcli.a libreport.a libexport.a libprofile.a libanalysis.a libmodules.a \
	libsymbols.a libproc.a \
	libarch.a libtrace.a libbase.a $(SYMBOLS_LIBS) $(TRACE_LIBS) $(PROTOBUF_C_LIBS) $(UNIT_LIBS)
tests_unit_trace_mpatrol_SOURCES = tests/unit/trace_mpatrol.c $(TRACE_TEST_UTIL)
tests_unit_trace_mpatrol_LDADD = $(TRACE_TEST_LIBS)
tests_unit_trace_convert_SOURCES = tests/unit/trace_convert.c tests/unit/long.h $(TRACE_TEST_UTIL)
tests_unit_trace_convert_LDADD = $(TRACE_TEST_LIBS)

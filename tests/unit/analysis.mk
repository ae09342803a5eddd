# unit tests of analysis
ANALYSIS_UNIT_TESTS = tests/unit/analysis tests/unit/filter tests/unit/shorten tests/unit/profile \
	tests/unit/live_rows tests/unit/page tests/unit/watch tests/unit/watch_recent tests/unit/watch_time
check_PROGRAMS += $(ANALYSIS_UNIT_TESTS)
TESTS += $(ANALYSIS_UNIT_TESTS)
tests_unit_analysis_LDADD = libanalysis.a libmodules.a libsymbols.a libproc.a libarch.a libtrace.a libbase.a \
	$(SYMBOLS_LIBS) $(TRACE_LIBS) $(UNIT_LIBS)

tests_unit_filter_LDADD = libanalysis.a libmodules.a libsymbols.a libproc.a libarch.a libbase.a \
	$(SYMBOLS_LIBS) $(UNIT_LIBS)

tests_unit_shorten_LDADD = libreport.a libbase.a $(UNIT_LIBS)

tests_unit_profile_LDADD = libprofile.a libanalysis.a libmodules.a libsymbols.a libproc.a libarch.a libtrace.a \
	libbase.a $(SYMBOLS_LIBS) $(TRACE_LIBS) $(UNIT_LIBS)

tests_unit_live_rows_LDADD = liblive.a libreport.a libexport.a libprofile.a libanalysis.a libmodules.a libsymbols.a \
	libproc.a libarch.a libtrace.a libbase.a $(SYMBOLS_LIBS) $(TRACE_LIBS) $(CURSES_LIBS) $(UNIT_LIBS)

tests_unit_page_LDADD = libreport.a libprofile.a libanalysis.a libmodules.a libsymbols.a libproc.a libarch.a \
	libtrace.a libbase.a $(SYMBOLS_LIBS) $(TRACE_LIBS) $(UNIT_LIBS)

tests_unit_watch_SOURCES = tests/unit/watch.c bench/watch/replay.c bench/watch/replay.h
tests_unit_watch_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir)/bench/watch
tests_unit_watch_LDADD = libwatch.a libbase.a -lm $(UNIT_LIBS)
tests_unit_watch_recent_LDADD = libwatch.a libbase.a -lm $(UNIT_LIBS)
tests_unit_watch_time_SOURCES = tests/unit/watch_time.c bench/watch/replay.c bench/watch/replay.h
tests_unit_watch_time_CPPFLAGS = $(tests_unit_watch_CPPFLAGS)
tests_unit_watch_time_LDADD = $(tests_unit_watch_LDADD)

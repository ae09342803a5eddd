# unit tests of analysis
check_PROGRAMS += tests/unit/analysis
TESTS += tests/unit/analysis
tests_unit_analysis_SOURCES = tests/unit/analysis.c
tests_unit_analysis_LDADD = libanalysis.a libmodules.a libsymbols.a libproc.a libarch.a libtrace.a libbase.a \
	$(SYMBOLS_LIBS) $(TRACE_LIBS) $(UNIT_LIBS)

check_PROGRAMS += tests/unit/filter
TESTS += tests/unit/filter
tests_unit_filter_SOURCES = tests/unit/filter.c
tests_unit_filter_LDADD = libanalysis.a libmodules.a libsymbols.a libproc.a libarch.a libbase.a \
	$(SYMBOLS_LIBS) $(UNIT_LIBS)

check_PROGRAMS += tests/unit/shorten
TESTS += tests/unit/shorten
tests_unit_shorten_SOURCES = tests/unit/shorten.c
tests_unit_shorten_LDADD = libreport.a libbase.a $(UNIT_LIBS)

check_PROGRAMS += tests/unit/profile
TESTS += tests/unit/profile
tests_unit_profile_SOURCES = tests/unit/profile.c
tests_unit_profile_LDADD = libprofile.a libanalysis.a libmodules.a libsymbols.a libproc.a libarch.a libtrace.a \
	libbase.a $(SYMBOLS_LIBS) $(TRACE_LIBS) $(UNIT_LIBS)

check_PROGRAMS += tests/unit/live_rows
TESTS += tests/unit/live_rows
tests_unit_live_rows_SOURCES = tests/unit/live_rows.c
tests_unit_live_rows_LDADD = liblive.a libreport.a libexport.a libprofile.a libanalysis.a libmodules.a libsymbols.a \
	libproc.a libarch.a libtrace.a libbase.a $(SYMBOLS_LIBS) $(TRACE_LIBS) $(CURSES_LIBS) $(UNIT_LIBS)

check_PROGRAMS += tests/unit/page
TESTS += tests/unit/page
tests_unit_page_SOURCES = tests/unit/page.c
tests_unit_page_LDADD = libreport.a libprofile.a libanalysis.a libmodules.a libsymbols.a libproc.a libarch.a \
	libtrace.a libbase.a $(SYMBOLS_LIBS) $(TRACE_LIBS) $(UNIT_LIBS)

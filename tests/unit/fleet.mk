# unit tests of fleet
check_PROGRAMS += tests/unit/fleet_rows
TESTS += tests/unit/fleet_rows
tests_unit_fleet_rows_LDADD = libfleet.a libexport.a libreport.a libprofile.a libanalysis.a libmodules.a libsymbols.a \
	libproc.a libarch.a libtrace.a libbase.a $(PUSH_LIBS) $(MICROHTTPD_LIBS) $(SYMBOLS_LIBS) $(TRACE_LIBS) -lm \
	$(UNIT_LIBS)
check_PROGRAMS += tests/unit/fleet
TESTS += tests/unit/fleet
tests_unit_fleet_LDADD = libfleet.a libexport.a libreport.a libprofile.a libanalysis.a libmodules.a libsymbols.a \
	libproc.a libarch.a libtrace.a libbase.a $(PUSH_LIBS) $(MICROHTTPD_LIBS) $(SYMBOLS_LIBS) $(TRACE_LIBS) -lm \
	$(UNIT_LIBS)

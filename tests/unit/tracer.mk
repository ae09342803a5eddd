# unit tests of tracer
check_PROGRAMS += tests/unit/stop
TESTS += tests/unit/stop
tests_unit_stop_SOURCES = tests/unit/stop.c
tests_unit_stop_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_stop_LDADD = libtracer.a libbase.a $(UNIT_LIBS)

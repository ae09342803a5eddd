# The two programs.
bin_PROGRAMS += functrace
functrace_SOURCES = src/functrace.c src/options.c src/options.h src/option_values.c src/option_values.h
functrace_LDADD = $(TRACER_LIBS)
include src/postproc.mk

# The two programs.
bin_PROGRAMS += functrace
OPTION_SOURCES = src/options.c src/options.h src/option_attach.c src/option_attach.h src/option_conflicts.c \
	src/option_conflicts.h \
	src/option_functions.c \
	src/option_functions.h src/option_modules.c src/option_modules.h src/option_output.c src/option_output.h \
	src/option_report.c src/option_report.h src/option_scan.c src/option_scan.h src/option_values.c \
	src/option_values.h src/completion.c src/completion.h
FRONT_SOURCES = src/functrace.c src/live_run.c src/live_run.h src/postproc_process.c \
	src/postproc_process.h src/report_run.c src/report_run.h src/repair_run.h src/scan_run.h $(OPTION_SOURCES)
functrace_SOURCES = $(FRONT_SOURCES) src/repair_run.c src/scan_run.c
functrace_LDADD = libcli.a $(TRACER_LIBS)
include src/postproc.mk

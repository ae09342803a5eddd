# The program functrace. The file for functrace-postproc is included at the end.
bin_PROGRAMS += functrace
OPTION_SOURCES = src/functrace/options.c src/functrace/options.h src/functrace/option_conflicts.c \
	src/functrace/option_conflicts.h src/functrace/option_copy_file.c src/functrace/option_copy_file.h \
	src/functrace/option_functions.c \
	src/functrace/option_functions.h src/functrace/option_modules.c src/functrace/option_modules.h \
	src/functrace/option_output.c src/functrace/option_output.h \
	src/functrace/option_report.c src/functrace/option_report.h src/functrace/option_scan.c \
	src/functrace/option_scan.h src/functrace/option_values.c \
	src/functrace/option_watch.c src/functrace/option_watch.h \
	src/functrace/option_values.h src/cli/completion.c src/cli/completion.h
FRONT_SOURCES = src/functrace/functrace_main.c src/functrace/run_live.c src/functrace/run_live.h \
	src/functrace/postproc_process.c \
	src/functrace/postproc_process.h src/functrace/run_report.c src/functrace/run_report.h \
	src/functrace/run_repair.h src/functrace/run_scan.h src/functrace/run_watch.h $(OPTION_SOURCES)
functrace_SOURCES = $(FRONT_SOURCES) src/functrace/run_repair.c src/functrace/run_scan.c src/functrace/run_watch.c
FUNCTRACE_LIBS = libcli.a libfleet.a libexport.a libreport.a libprofile.a libanalysis.a $(TRACER_LIBS) $(PUSH_LIBS) \
	$(MICROHTTPD_LIBS)
functrace_LDADD = $(FUNCTRACE_LIBS)
include src/postproc/local.mk

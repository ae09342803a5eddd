bin_PROGRAMS += functrace-postproc
functrace_postproc_SOURCES = src/postproc/postproc_main.c src/postproc/postproc_options.c \
	src/postproc/postproc_options.h \
	src/postproc/postproc_checks.c src/postproc/postproc_checks.h src/postproc/postproc_settings.h \
	src/postproc/filter_options.c src/postproc/filter_options.h \
	src/postproc/postproc_input.c src/postproc/postproc_input.h src/postproc/postproc_run.c \
	src/postproc/postproc_run.h \
	src/postproc/postproc_dump.c src/postproc/postproc_dump.h \
	src/postproc/view_options.c src/postproc/view_options.h src/postproc/postproc_views.c \
	src/postproc/postproc_views.h \
	src/postproc/stacktrack_expand.c src/postproc/stacktrack_expand.h
functrace_postproc_LDADD = libcli.a liblive.a libreport.a libexport.a libprofile.a libanalysis.a \
	libmodules.a libsymbols.a \
	libproc.a libarch.a libtrace.a libbase.a \
	$(SYMBOLS_LIBS) $(TRACE_LIBS) $(CURSES_LIBS) $(PROTOBUF_C_LIBS)
functrace_postproc_SOURCES += src/cli/completion.c src/cli/completion.h

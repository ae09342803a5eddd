bin_PROGRAMS += functrace-postproc
functrace_postproc_SOURCES = src/functrace-postproc.c src/postproc-options.c src/postproc-options.h \
	src/postproc-checks.c src/postproc-checks.h \
	src/postproc-filter-options.c src/postproc-filter-options.h \
	src/postproc-input.c src/postproc-input.h src/postproc-run.c src/postproc-run.h \
	src/postproc-dump.c src/postproc-dump.h \
	src/postproc-view-options.c src/postproc-view-options.h src/postproc-views.c src/postproc-views.h \
	src/stacktrack-expand.c src/stacktrack-expand.h
functrace_postproc_LDADD = libcli.a liblive.a libreport.a libexport.a libprofile.a libanalysis.a \
	libmodules.a libsymbols.a \
	libproc.a libarch.a libtrace.a libbase.a \
	$(SYMBOLS_LIBS) $(TRACE_LIBS) $(CURSES_LIBS) $(PROTOBUF_C_LIBS)
functrace_postproc_SOURCES += src/completion.c src/completion.h

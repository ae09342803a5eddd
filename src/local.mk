# The two programs.
bin_PROGRAMS += functrace
functrace_SOURCES = src/functrace.c src/options.c src/options.h src/option_values.c src/option_values.h
functrace_LDADD = libtracer.a libmodules.a libunwinder.a libsymbols.a libarch.a libtrace.a libbase.a \
	$(DW_LIBS) $(ELF_LIBS) $(UNWIND_LIBS) $(ZYDIS_LIBS) $(IBERTY_LIBS) $(ZLIB_LIBS) $(ZSTD_LIBS)
include src/postproc.mk

# bench/: programs that measure; built by their name, run by hand
EXTRA_PROGRAMS = bench/unwind-walk
bench_unwind_walk_SOURCES = bench/unwind-walk.c tests/unit/unwind_tracee.c tests/unit/unwind_tracee.h
bench_unwind_walk_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests/unit
bench_unwind_walk_LDADD = libunwinder.a libarch.a libbase.a $(UNWIND_LIBS) $(DW_LIBS) $(ELF_LIBS) $(ZYDIS_LIBS)

# Measurements; nothing here runs in `make check`.
EXTRA_PROGRAMS = bench/make-trace
bench_make_trace_SOURCES = bench/make-trace.c
EXTRA_DIST += bench/postproc.sh
CLEANFILES += bench/make-trace

bench-postproc: functrace-postproc bench/make-trace
	$(srcdir)/bench/postproc.sh ./functrace-postproc bench/make-trace
.PHONY: bench-postproc

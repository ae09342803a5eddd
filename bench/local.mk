# Measurements; nothing here runs in `make check`.
EXTRA_PROGRAMS = bench/make-trace
bench_make_trace_SOURCES = bench/make-trace.c
EXTRA_DIST += bench/postproc.py
CLEANFILES += bench/make-trace

bench-postproc: functrace-postproc bench/make-trace
	$(PYTHON3) $(srcdir)/bench/postproc.py ./functrace-postproc bench/make-trace
.PHONY: bench-postproc

# `make bench` compares functrace with the floor of ptrace and with other tools. bench-quick does so for the
# main rows, in about a minute. Both need a quiet machine, on which no other program runs.
BENCH_TARGETS = bench/targets/malloc bench/targets/realloc bench/targets/file bench/targets/crowd \
	bench/targets/blocks bench/targets/fork bench/targets/spawn bench/targets/server \
	bench/targets/asker bench/targets/churn
EXTRA_PROGRAMS += bench/floor bench/unwind-cost $(BENCH_TARGETS)
bench_floor_SOURCES = bench/floor.c bench/targets/hot.h
bench_unwind_cost_SOURCES = bench/unwind-cost.c
bench_unwind_cost_LDADD = libunwinder.a libsymbols.a libproc.a libarch.a libbase.a $(SYMBOLS_LIBS) \
	$(UNWIND_LIBS) $(ZYDIS_LIBS) $(TRACE_LIBS)
bench_targets_malloc_SOURCES = bench/targets/run.c bench/targets/malloc.c bench/targets/hot.h
bench_targets_realloc_SOURCES = bench/targets/run.c bench/targets/realloc.c bench/targets/hot.h
bench_targets_file_SOURCES = bench/targets/run.c bench/targets/file.c bench/targets/hot.h
bench_targets_blocks_SOURCES = bench/targets/blocks.c
bench_targets_fork_SOURCES = bench/targets/run.c bench/targets/fork.c bench/targets/hot.h
bench_targets_spawn_SOURCES = bench/targets/run.c bench/targets/spawn.c bench/targets/hot.h
bench_targets_server_SOURCES = bench/targets/server.c bench/targets/hot.h
bench_targets_server_LDADD = -ldl
bench_targets_asker_SOURCES = bench/targets/asker.c
bench_targets_churn_SOURCES = bench/targets/churn.c bench/targets/malloc.c bench/targets/hot.h
bench_targets_crowd_SOURCES = bench/targets/crowd.c bench/targets/malloc.c bench/targets/hot.h
bench_targets_crowd_LDADD = -ldl
if HAVE_CXX
BENCH_TARGETS += bench/targets/new bench/targets/throw
EXTRA_PROGRAMS += bench/targets/new bench/targets/throw
bench_targets_new_SOURCES = bench/targets/run.c bench/targets/new.cpp bench/targets/hot.h
bench_targets_throw_SOURCES = bench/targets/run.c bench/targets/throw.cpp bench/targets/hot.h
endif
EXTRA_DIST += bench/targets/tiny.c bench/bench.py bench/placement.py bench/probes.py bench/programs.py \
	bench/rows.py bench/attached.py bench/forking.py bench/report.py bench/scan.py bench/servers.py bench/sizes.py
CLEANFILES += bench/floor bench/unwind-cost $(BENCH_TARGETS) bench/targets/tiny.so

bench/targets/tiny.so: bench/targets/tiny.c
	@$(MKDIR_P) bench/targets
	$(AM_V_CCLD)$(CC) $(CFLAGS) -shared -fPIC -o $@ $(srcdir)/bench/targets/tiny.c

BENCH_NEEDS = functrace bench/floor bench/unwind-cost $(BENCH_TARGETS) bench/targets/tiny.so
BENCH = PYTHONDONTWRITEBYTECODE=1 BUILD='$(abs_top_builddir)' $(PYTHON) $(srcdir)/bench/bench.py
bench: $(BENCH_NEEDS)
	$(BENCH) $(BENCH_OPTIONS)
bench-quick: $(BENCH_NEEDS)
	$(BENCH) --quick $(BENCH_OPTIONS)
.PHONY: bench bench-quick

# Simulates --watch on the text of a trace. server is a program to record: see doc/WATCH.md.
EXTRA_PROGRAMS += bench/watch/simulate
bench_watch_simulate_SOURCES = bench/watch/simulate.c bench/watch/replay.c bench/watch/replay.h
bench_watch_simulate_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir)/bench/watch
bench_watch_simulate_LDADD = libwatch.a libbase.a -lm
CLEANFILES += bench/watch/simulate
EXTRA_DIST += bench/watch/table.py bench/watch/live.py \
	bench/watch/programs/server.cpp bench/watch/programs/requests.pl \
	bench/watch/programs/worker.py bench/watch/programs/database.py \
	bench/watch/programs/worker.js bench/watch/programs/prepare.sql

# Fuzzing: `tests/fuzz/run SECONDS` needs clang. `make check` runs the harnesses on the corpus, and fuzzes each
# reader for some seconds.
EXTRA_DIST += tests/fuzz/run tests/fuzz/corpus.sh tests/fuzz/corpus/trace/14.rtrace \
	tests/fuzz/corpus/trace/2005.tlg tests/fuzz/corpus/trace/64.mpatrol tests/fuzz/corpus/trace/be32.mpatrol \
	tests/fuzz/corpus/trace/old.mpatrol \
	tests/fuzz/corpus/trace/14.rtrace.gz tests/fuzz/corpus/trace/14.txt tests/fuzz/corpus/trace/baseline.rtrace \
	tests/fuzz/corpus/trace/baseline.txt tests/fuzz/corpus/trace/be32.rtrace \
	tests/fuzz/corpus/trace/compat-be64.rtrace tests/fuzz/corpus/trace/compat.rtrace \
	tests/fuzz/corpus/trace/compat.txt tests/fuzz/corpus/trace/compat.txt.zst \
	tests/fuzz/corpus/trace/crs-before-lf tests/fuzz/corpus/trace/functracer.txt tests/fuzz/corpus/trace/group.txt \
	tests/fuzz/corpus/trace/address-0.rtrace tests/fuzz/corpus/trace/address-0.txt \
	tests/fuzz/corpus/trace/past-2106.rtrace tests/fuzz/corpus/trace/old.rtrace tests/fuzz/corpus/trace/every.swap \
	tests/fuzz/corpus/trace/stacks.tlg tests/fuzz/corpus/trace/threads.swap tests/fuzz/corpus/trace/watch.jsonl \
	tests/fuzz/corpus/layout/own.xml tests/fuzz/corpus/layout/wide.trace \
	tests/fuzz/corpus/conf/depending.conf tests/fuzz/corpus/conf/errno.conf tests/fuzz/corpus/conf/short.conf \
	tests/fuzz/corpus/conf/templates.conf \
	tests/fuzz/corpus/conf/whole.conf tests/fuzz/corpus/conf/wrong.conf
check_PROGRAMS += tests/fuzz/replay_trace
tests_fuzz_replay_trace_SOURCES = tests/fuzz/fuzz_trace.c tests/fuzz/fuzz.h
tests_fuzz_replay_trace_CPPFLAGS = $(AM_CPPFLAGS) -DFUZZ_MAIN
tests_fuzz_replay_trace_LDADD = libtrace.a libbase.a $(TRACE_LIBS)
check_PROGRAMS += tests/fuzz/replay_conf
tests_fuzz_replay_conf_SOURCES = tests/fuzz/fuzz_conf.c tests/fuzz/fuzz.h
tests_fuzz_replay_conf_CPPFLAGS = $(AM_CPPFLAGS) -DFUZZ_MAIN
tests_fuzz_replay_conf_LDADD = libmodules.a libbase.a
check_PROGRAMS += tests/fuzz/replay_layout
tests_fuzz_replay_layout_SOURCES = tests/fuzz/fuzz_layout.c tests/fuzz/fuzz.h
tests_fuzz_replay_layout_CPPFLAGS = $(AM_CPPFLAGS) -DFUZZ_MAIN
tests_fuzz_replay_layout_LDADD = libtrace.a libbase.a $(TRACE_LIBS)
TESTS += tests/fuzz/corpus.sh
EXTRA_DIST += tests/fuzz/short.sh

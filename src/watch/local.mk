# watch/: estimates of what stays, from samples
noinst_LIBRARIES += libwatch.a
libwatch_a_SOURCES = src/watch/samples.c src/watch/forget.c src/watch/index.c src/watch/counting.c \
	src/watch/counting.h src/watch/survival.c src/watch/survival.h src/watch/estimate.c \
	src/watch/interval.h src/watch/intervals.c src/watch/pace.c src/watch/pace.h src/watch/recent.c \
	src/watch/recent.h src/watch/state.c src/watch/state.h src/watch/watch.h src/watch/watch_data.h

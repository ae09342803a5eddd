# analysis/: what is computed from a trace's records: a pipeline of stages
noinst_LIBRARIES += libanalysis.a
libanalysis_a_SOURCES = src/analysis/stage.h \
	src/analysis/before.c src/analysis/before.h \
	src/analysis/call_address.c src/analysis/call_address.h \
	src/analysis/call_store.c src/analysis/call_store.h \
	src/analysis/choices.c src/analysis/choices.h \
	src/analysis/clock.c src/analysis/clock.h \
	src/analysis/compress.c src/analysis/compress.h \
	src/analysis/filter.c src/analysis/filter.h \
	src/analysis/held.c src/analysis/held.h \
	src/analysis/intern.c src/analysis/intern.h \
	src/analysis/late.c src/analysis/late.h src/analysis/layout.c src/analysis/layout.h \
	src/analysis/leak_kinds.c src/analysis/leak_kinds.h \
	src/analysis/leaks.c src/analysis/leaks.h \
	src/analysis/marks.c src/analysis/marks.h \
	src/analysis/mpatrol_hatf.c src/analysis/mpatrol_outputs.c src/analysis/mpatrol_outputs.h \
	src/analysis/mpatrol_parts.h src/analysis/mpatrol_sim.c src/analysis/mpatrol_table.c \
	src/analysis/object_map.c src/analysis/object_map.h \
	src/analysis/output.c src/analysis/output.h \
	src/analysis/prepare.c src/analysis/prepare.h \
	src/analysis/reorder.c src/analysis/reorder.h \
	src/analysis/resources.c src/analysis/resources.h \
	src/analysis/select.c src/analysis/select.h \
	src/analysis/small_groups.c src/analysis/small_groups.h \
	src/analysis/split.c src/analysis/split.h \
	src/analysis/stream.c src/analysis/stream.h \
	src/analysis/summary.c src/analysis/summary.h \
	src/analysis/threads.c src/analysis/threads.h \
	src/analysis/words.c src/analysis/words.h

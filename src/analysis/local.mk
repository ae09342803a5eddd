# analysis/: what is computed from a trace's records: a pipeline of stages
noinst_LIBRARIES += libanalysis.a
libanalysis_a_SOURCES = src/analysis/stage.h \
	src/analysis/tally.h \
	src/analysis/baseline_blocks.c src/analysis/baseline_blocks.h \
	src/analysis/select/call_address.c src/analysis/select/call_address.h \
	src/analysis/leaks/call_store.c src/analysis/leaks/call_store.h \
	src/analysis/select/unmatched_filters.c src/analysis/select/unmatched_filters.h \
	src/analysis/clock.c src/analysis/clock.h \
	src/analysis/leaks/call_groups.c src/analysis/leaks/call_groups.h \
	src/analysis/select/filter.c src/analysis/select/filter.h \
	src/analysis/call_pool.c src/analysis/call_pool.h \
	src/analysis/intern.c src/analysis/intern.h \
	src/analysis/leaks/sp_rtrace_order.c src/analysis/leaks/sp_rtrace_order.h \
	src/analysis/leaks/leak_kinds.c src/analysis/leaks/leak_kinds.h \
	src/analysis/leaks/leaks.c src/analysis/leaks/leaks.h \
	src/analysis/record_queue.c src/analysis/record_queue.h \
	src/analysis/mpatrol/mpatrol_hatf.c src/analysis/mpatrol/mpatrol_outputs.c \
	src/analysis/mpatrol/mpatrol_outputs.h \
	src/analysis/mpatrol/mpatrol_parts.h src/analysis/mpatrol/mpatrol_sim.c \
	src/analysis/mpatrol/mpatrol_table.c \
	src/analysis/object_map.c src/analysis/object_map.h \
	src/analysis/trace_writer.c src/analysis/trace_writer.h \
	src/analysis/select/prepare.c src/analysis/select/prepare.h \
	src/analysis/leaks/reorder.c src/analysis/leaks/reorder.h \
	src/analysis/resources.c src/analysis/resources.h \
	src/analysis/select/select.c src/analysis/select/select.h \
	src/analysis/leaks/min_count.c src/analysis/leaks/min_count.h \
	src/analysis/select/split.c src/analysis/select/split.h \
	src/analysis/stream.c src/analysis/stream.h \
	src/analysis/leaks/leak_summary.c src/analysis/leaks/leak_summary.h \
	src/analysis/trim.c src/analysis/trim.h \
	src/analysis/unused_threads.c src/analysis/unused_threads.h \
	src/analysis/resource_words.c src/analysis/resource_words.h

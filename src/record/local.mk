# record/: makes the records of a trace from calls: order, live set, output, summary; uses neither ptrace nor a target
noinst_LIBRARIES += librecord.a
librecord_a_SOURCES = src/record/attachments.c src/record/attachments.h src/record/heap_areas.c \
	src/record/heap_areas.h \
	src/record/released_blocks.c src/record/released_blocks.h src/record/counts.h src/record/resource_ids.c \
	src/record/resource_ids.h \
	src/record/call_event.h src/record/ledger.c src/record/ledger.h src/record/ledger_baseline.c \
	src/record/ledger_scan.c \
	src/record/live_set.c src/record/live_set.h \
	src/record/open_files.c src/record/open_files.h src/record/trace_output.c src/record/trace_output.h \
	src/record/progress.c \
	src/record/deferred.c src/record/deferred.h src/record/put_records.c src/record/put_records.h \
	src/record/run_probes.c src/record/run_probes.h \
	src/record/progress.h src/record/remarks.c src/record/remarks.h src/record/run_summary.c \
	src/record/run_summary.h \
	src/record/run_summary_counts.c src/record/run_summary_live.c src/record/resident.c src/record/resident.h \
	src/record/run.h \
	src/record/commit.c src/record/commit.h src/record/string_pool.c src/record/string_pool.h \
	src/record/times.c src/record/times.h \
	src/record/trace.c src/record/trace.h src/record/trace_file.c src/record/trace_file.h \
	src/record/trace_life.c src/record/trace_life.h \
	src/record/unread_calls.c src/record/unread_calls.h src/record/view_pipe.c src/record/view_pipe.h

# record/: what calls mean for the traces: order, live set, output, summary; knows neither ptrace nor the tracee
noinst_LIBRARIES += librecord.a
librecord_a_SOURCES = src/record/attachments.c src/record/attachments.h src/record/areas.c src/record/areas.h \
	src/record/blocks.c src/record/blocks.h src/record/counts.h src/record/kinds.c src/record/kinds.h \
	src/record/event.h src/record/ledger.c src/record/ledger.h src/record/ledger_census.c \
	src/record/ledger_scan.c \
	src/record/live.c src/record/live.h \
	src/record/open_files.c src/record/open_files.h src/record/output.c src/record/output.h \
	src/record/progress.c \
	src/record/deferred.c src/record/deferred.h src/record/put.c src/record/put.h \
	src/record/progress.h src/record/remarks.c src/record/remarks.h src/record/report.c src/record/report.h \
	src/record/report_counts.c src/record/resident.c src/record/resident.h src/record/run.h \
	src/record/settle.c src/record/settle.h src/record/texts.c src/record/texts.h \
	src/record/times.c src/record/times.h \
	src/record/trace.c src/record/trace.h src/record/trace_file.c src/record/trace_file.h \
	src/record/trace_life.c src/record/trace_life.h \
	src/record/unread.c src/record/unread.h src/record/view_pipe.c src/record/view_pipe.h

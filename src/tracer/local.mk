# tracer/: fork, exec and exit of processes, attaching, detaching, and the switch over stops
noinst_LIBRARIES += libtracer.a
libtracer_a_SOURCES = src/tracer/dispatch.c src/tracer/dispatch.h src/tracer/attach.c src/tracer/attach.h \
	src/tracer/births.c \
	src/tracer/begin_tracing.c src/tracer/begin_tracing.h \
	src/tracer/exit_captures.c src/tracer/exit_captures.h src/tracer/capture_job.c src/tracer/capture_job.h \
	src/tracer/births.h src/tracer/baseline.c src/tracer/baseline.h src/tracer/task_life.c \
	src/tracer/task_life.h \
	src/tracer/execs.c src/tracer/execs.h \
	src/tracer/forks.c src/tracer/forks.h src/tracer/letgo.c src/tracer/letgo.h \
	src/tracer/leftovers.c src/tracer/leftovers.h \
	src/tracer/traced_capture.c src/tracer/traced_capture.h src/tracer/leak_check.c src/tracer/leak_check.h \
	src/tracer/leak_check_detach.c \
	src/tracer/process.c src/tracer/process_objects.c src/tracer/process_objects.h \
	src/tracer/service.c src/tracer/service.h \
	src/tracer/process.h src/tracer/seize.c src/tracer/seize.h src/tracer/seize_stops.c \
	src/tracer/seize_stops.h \
	src/tracer/watching.c src/tracer/watching.h \
	src/tracer/watching_looks.c src/tracer/watching_parts.h \
	src/tracer/watching_results.c src/tracer/watching_stacks.c src/tracer/watching_stacks.h \
	src/tracer/watching_state.c src/tracer/watching_state.h \
	src/tracer/watching_windows.c src/tracer/watching_work.c \
	src/tracer/wait_for_births.c src/tracer/wait_for_births.h \
	src/tracer/process_start.c \
	src/tracer/process_start.h \
	src/tracer/process_report.c \
	src/tracer/kernel_events.c src/tracer/kernel_events.h \
	src/tracer/stop_pump.c src/tracer/stop_pump.h \
	src/tracer/tracer.c src/tracer/tracer.h

# Programs that contain the tracer link these libraries. The highest layer comes first.
TRACER_LIBS = libtracer.a libwatch.a libscan.a libheap.a libcalls.a librecord.a \
	libbreakpoints.a libptrace.a libuprobe.a \
	libengine.a libmodules.a \
	libunwinder.a libargs.a libsymbols.a libproc.a libarch.a libtrace.a libbase.a \
	$(DW_LIBS) $(ELF_LIBS) $(UNWIND_LIBS) $(ZYDIS_LIBS) $(BPF_LIBS) $(IBERTY_LIBS) $(TRACE_LIBS) -lm

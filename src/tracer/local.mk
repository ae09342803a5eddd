# tracer/: drives tracees; the only code that calls ptrace
noinst_LIBRARIES += libtracer.a
include src/tracer/process.mk
libtracer_a_SOURCES = $(TRACER_PROCESS_SOURCES) \
	src/tracer/act.c src/tracer/attach.c src/tracer/births.c src/tracer/breakpoints.c src/tracer/calls.c \
	src/tracer/collect.c src/tracer/engine.h src/tracer/execs.c src/tracer/follow.c src/tracer/forks.c src/tracer/ledger.c src/tracer/letgo.c \
	src/tracer/linker.c \
	src/tracer/memory.c src/tracer/model.h src/tracer/nesting.c src/tracer/output.c src/tracer/pass.c src/tracer/pin.c src/tracer/pin_watch.c \
	src/tracer/probes.c src/tracer/progress.c src/tracer/process.c src/tracer/report.c src/tracer/settings.h \
	src/tracer/seize.c src/tracer/sigtrap.c src/tracer/slots.c src/tracer/spin.c src/tracer/spin.h src/tracer/stack.c src/tracer/stop.c src/tracer/stop.h src/tracer/tasks.c \
	src/tracer/trace_file.c src/tracer/tracer.c src/tracer/who.c src/tracer/who.h

# tracer/: drives tracees, the only code that calls ptrace
include src/tracer/process.mk
noinst_LIBRARIES += libtracer.a
libtracer_a_SOURCES = $(TRACER_PROCESS_SOURCES)

# The process structure: V, E, the launched target's start, the guard.
TRACER_PROCESS_SOURCES = src/tracer/supervisor.c src/tracer/engine.c src/tracer/launch.c src/tracer/guard.c \
	src/tracer/guardian.c src/tracer/rescue.c src/tracer/cpus.c src/tracer/cpus.h \
	src/tracer/fds.c src/tracer/process.h src/tracer/engine.h src/tracer/settings.h

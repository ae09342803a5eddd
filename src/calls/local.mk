# calls/: traced functions and their calls from entry to return; what else is watched in a program
noinst_LIBRARIES += libcalls.a
libcalls_a_SOURCES = src/calls/alias.c src/calls/alias.h \
	src/calls/arguments.c src/calls/arguments.h src/calls/calls.c src/calls/calls.h \
	src/calls/contexts.c src/calls/contexts.h src/calls/enter.c src/calls/enter.h \
	src/calls/exiting.c src/calls/exiting.h \
	src/calls/inner.c src/calls/inner.h src/calls/range.c src/calls/range.h src/calls/leave.c \
	src/calls/leave.h src/calls/libraries.c src/calls/libraries.h src/calls/linker.c src/calls/linker.h \
	src/calls/manual_symbols.c src/calls/manual_symbols.h src/calls/nesting.c src/calls/nesting.h \
	src/calls/pattern_probes.c src/calls/pattern_probes.h src/calls/patterns.c src/calls/patterns.h \
	src/calls/pin.c src/calls/pin.h src/calls/pin_watch.c src/calls/pin_watch.h src/calls/places.c \
	src/calls/places.h src/calls/probe_params.c src/calls/probe_params.h \
	src/calls/probes.c src/calls/probes.h src/calls/sigtrap.c src/calls/sigtrap.h \
	src/calls/stack.c src/calls/stack.h src/calls/task_calls.h src/calls/task_errno.c \
	src/calls/task_errno.h src/calls/trap_mask.c src/calls/unseen.c src/calls/unseen.h \
	src/calls/values.c src/calls/values.h \
	src/calls/wanted.c src/calls/wanted.h

# calls/: probes at traced functions, their calls from entry to return, the contexts of calls, SIGTRAP, pinning
noinst_LIBRARIES += libcalls.a
libcalls_a_SOURCES = src/calls/probes/alias.c src/calls/probes/alias.h \
	src/calls/abandoned_calls.c src/calls/abandoned_calls.h \
	src/calls/arguments.c src/calls/arguments.h src/calls/calls.c src/calls/calls.h \
	src/calls/contexts.c src/calls/contexts.h src/calls/call_enter.c src/calls/call_enter.h \
	src/calls/forgotten_returns.c src/calls/forgotten_returns.h \
	src/calls/kernel_calls.c src/calls/kernel_calls.h src/calls/probes/kernel_probes.c \
	src/calls/probes/kernel_probes.h src/calls/probes/kernel_links.c src/calls/probes/kernel_links.h \
	src/calls/probes/kernel_sites.c src/calls/probes/kernel_sites.h \
	src/calls/exiting.c src/calls/exiting.h \
	src/calls/nested_blocks.c src/calls/nested_blocks.h src/calls/range_release.c src/calls/range_release.h \
	src/calls/call_return.c \
	src/calls/call_return.h src/calls/probes/chosen_libraries.c src/calls/probes/chosen_libraries.h \
	src/calls/probes/r_debug.c src/calls/probes/r_debug.h \
	src/calls/probes/manual_symbols.c src/calls/probes/manual_symbols.h src/calls/nesting.c \
	src/calls/nesting.h \
	src/calls/probes/ifunc_slots.c src/calls/probes/ifunc_slots.h \
	src/calls/probes/pattern_probes.c src/calls/probes/pattern_probes.h src/calls/probes/function_patterns.c \
	src/calls/probes/function_patterns.h \
	src/calls/affinity/pin.c src/calls/affinity/pin.h src/calls/affinity/pin_watch.c \
	src/calls/affinity/pin_watch.h src/calls/probes/function_start.c \
	src/calls/probes/function_start.h src/calls/probes/probe_params.c src/calls/probes/probe_params.h \
	src/calls/probes/probes.c src/calls/probes/probes.h src/calls/sigtrap.c src/calls/sigtrap.h \
	src/calls/backtrace.c src/calls/backtrace.h src/calls/task_calls.h \
	src/calls/sigtrap_mask.c src/calls/unseen_entries.c src/calls/unseen_entries.h \
	src/calls/call_numbers.c src/calls/call_numbers.h \
	src/calls/probes/probe_spec.c src/calls/probes/probe_spec.h

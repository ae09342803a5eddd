# Scenarios run programs, large and small, with and without functrace, and compare the results (see run.py and
# table.py).
# run.py and generated.py are in TESTS of tests/local.mk.
EXTRA_DIST += tests/scenarios/aliases.py tests/scenarios/allocators.py tests/scenarios/attached.py \
	tests/scenarios/long.form tests/scenarios/breakpoints.form tests/scenarios/ways.py tests/scenarios/rounds.py \
	tests/scenarios/baseline.py tests/scenarios/baseline_blocks.py tests/scenarios/builds.py \
	tests/scenarios/attachments.py tests/scenarios/chosen.py tests/scenarios/contexts.py \
	tests/scenarios/classes.py tests/scenarios/damaged.py \
	tests/scenarios/scanned.py tests/scenarios/server_programs.py tests/scenarios/servers.py \
	tests/scenarios/compressed.py tests/scenarios/deaths.py \
	tests/scenarios/described.py tests/scenarios/descriptors.py \
	tests/scenarios/endings.py tests/scenarios/endings_traced.py tests/scenarios/engine_kill.py \
	tests/scenarios/errnos.py \
	tests/scenarios/errors.py tests/scenarios/formats.py tests/scenarios/forking.py \
	tests/scenarios/core_roots.py \
	tests/scenarios/heap_classes.py tests/scenarios/hostile_cores.py tests/scenarios/kernel_probes.py \
	tests/scenarios/scan_answers.py tests/scenarios/scan_roots.py \
	tests/scenarios/generated.py tests/scenarios/kinds.py tests/scenarios/kinds_logged.py \
	tests/scenarios/layouts.py tests/scenarios/lifecycle.py \
	tests/scenarios/oracle.py tests/scenarios/outputs.py tests/scenarios/placement.py \
	tests/scenarios/probe_helper.py tests/scenarios/processes.py \
	tests/scenarios/programs.py tests/scenarios/reflog.py \
	tests/scenarios/known.py tests/scenarios/live.py \
	tests/scenarios/watching.py tests/scenarios/lost.py tests/scenarios/made.py \
	tests/scenarios/made_calls.py tests/scenarios/made_heaps.py tests/scenarios/named_files.py \
	tests/scenarios/named_places.py \
	tests/scenarios/resident.py tests/scenarios/slow_files.py \
	tests/scenarios/resource_programs.py tests/scenarios/resources.py tests/scenarios/scans.py \
	tests/scenarios/several.py tests/scenarios/shared_memory.py \
	tests/scenarios/repair.py tests/scenarios/run.py tests/scenarios/special.py \
	tests/scenarios/stacks.py tests/scenarios/stalls.py tests/scenarios/steady.py tests/scenarios/strict.py \
	tests/scenarios/swap.py tests/scenarios/table.py tests/scenarios/tagged.py \
	tests/scenarios/trace_text.py tests/scenarios/unreturned.py \
	tests/scenarios/uprobes.py tests/scenarios/virtual_bases.py tests/scenarios/words.py \
	tests/generate/arguments.py tests/generate/calls.py tests/generate/heap_model.py \
	tests/generate/heap_valgrind.py \
	tests/generate/heap_plans.py tests/generate/program.py \
	tests/generate/report_figures.py tests/generate/runtime.h tests/generate/stackless.h
CLEANFILES += tests/scenarios/matrix.txt
TESTS += tests/scenarios/man_examples.py
EXTRA_DIST += tests/scenarios/man_examples.py

# Files of generated programs that failed.
clean-local: clean-failures
clean-failures:
	rm -rf tests/failures

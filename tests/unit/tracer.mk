# unit tests of tracer
TRACER_UNIT_TESTS = tests/unit/stop tests/unit/ledger tests/unit/ledger_ranges tests/unit/ledger_arguments \
	tests/unit/ledger_times tests/unit/ledger_baseline tests/unit/ledger_files tests/unit/naming \
	tests/unit/exec_lock tests/unit/spin tests/unit/text_arm tests/unit/context_library tests/unit/contexts \
	tests/unit/calls tests/unit/patterns tests/unit/values tests/unit/snapshot tests/unit/scan_report \
	tests/unit/leave_allocator tests/unit/heap_damaged tests/unit/heap_starts tests/unit/heap_allocators \
	tests/unit/heap_stacks tests/unit/heap_musl_old tests/unit/heap_musl
check_PROGRAMS += $(TRACER_UNIT_TESTS)
TESTS += $(TRACER_UNIT_TESTS) tests/unit/hot_calls.py
if HAS_BPF
check_PROGRAMS += tests/unit/probe_sites
TESTS += tests/unit/probe_sites
endif
tests_unit_probe_sites_SOURCES = tests/unit/probe_sites.c src/uprobe/probes_sites.c src/uprobe/probes_sites.h
tests_unit_probe_sites_LDADD = libmodules.a libarch.a libbase.a $(ZYDIS_LIBS) $(UNIT_LIBS)
EXTRA_DIST += tests/unit/hot_calls.py
tests_unit_stop_LDADD = $(TRACER_TEST_LIBS)

TRACER_TEST_LIBS = $(TRACER_LIBS) $(UNIT_LIBS)
tests_unit_ledger_SOURCES = tests/unit/ledger.c tests/unit/ledger_util.c tests/unit/ledger_util.h
tests_unit_ledger_LDADD = $(LEDGER_TEST_LIBS)
LEDGER_TEST_LIBS = librecord.a libargs.a libengine.a libmodules.a libunwinder.a libsymbols.a libproc.a libarch.a \
	libtrace.a libbase.a $(DW_LIBS) $(ELF_LIBS) $(UNWIND_LIBS) $(ZYDIS_LIBS) $(IBERTY_LIBS) $(ZLIB_LIBS) \
	$(ZSTD_LIBS) $(JANSSON_LIBS) $(UNIT_LIBS)
tests_unit_ledger_ranges_SOURCES = tests/unit/ledger_ranges.c tests/unit/ledger_util.c tests/unit/ledger_util.h
tests_unit_ledger_ranges_LDADD = $(LEDGER_TEST_LIBS)
tests_unit_ledger_arguments_SOURCES = tests/unit/ledger_arguments.c tests/unit/ledger_util.c \
	tests/unit/ledger_util.h
tests_unit_ledger_arguments_LDADD = $(LEDGER_TEST_LIBS)
tests_unit_ledger_times_SOURCES = tests/unit/ledger_times.c tests/unit/ledger_util.c tests/unit/ledger_util.h
tests_unit_ledger_times_LDADD = $(LEDGER_TEST_LIBS)
tests_unit_ledger_baseline_SOURCES = tests/unit/ledger_baseline.c tests/unit/ledger_util.c tests/unit/ledger_util.h
tests_unit_ledger_baseline_LDADD = $(LEDGER_TEST_LIBS)
tests_unit_ledger_files_SOURCES = tests/unit/ledger_files.c tests/unit/ledger_util.c tests/unit/ledger_util.h
tests_unit_ledger_files_LDADD = $(LEDGER_TEST_LIBS)

tests_unit_naming_SOURCES = tests/unit/naming.c tests/unit/ledger_util.c tests/unit/ledger_util.h
tests_unit_naming_LDADD = $(LEDGER_TEST_LIBS)

tests_unit_exec_lock_LDADD = libptrace.a libproc.a libarch.a libbase.a $(UNIT_LIBS)

tests_unit_spin_LDADD = $(TRACER_TEST_LIBS)

tests_unit_text_arm_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=ptrace
tests_unit_text_arm_LDADD = libarm.a $(TRACER_TEST_LIBS)

# Races of the ptrace protocol with a fake kernel, which replaces these functions in this program. It has x86-64
# programs; the tracer's decisions do not depend on the processor.
if ARCH_X86_64
check_PROGRAMS += tests/unit/races
TESTS += tests/unit/races
tests_unit_races_SOURCES = tests/unit/races.c tests/unit/race_script.c tests/unit/race_script.h \
	tests/unit/race_verbs.c tests/unit/race_verbs.h tests/unit/race_world.c tests/unit/fake_kernel.c \
	tests/unit/fake_kernel.h tests/unit/fake_memory.c tests/unit/fake_calls.c tests/unit/fake_ptrace.c \
	tests/unit/fake_proc.c tests/unit/fake_world.c tests/unit/fake_world.h
tests_unit_races_LDFLAGS = $(AM_LDFLAGS) \
	-Wl,--wrap=ptrace -Wl,--wrap=syscall -Wl,--wrap=kill -Wl,--wrap=sendmsg -Wl,--wrap=nanosleep \
	-Wl,--wrap=sched_yield -Wl,--wrap=sigtimedwait -Wl,--wrap=clock_gettime -Wl,--wrap=setitimer \
	-Wl,--wrap=sigaction -Wl,--wrap=pwrite -Wl,--wrap=process_vm_readv -Wl,--wrap=process_vm_writev \
	-Wl,--wrap=open -Wl,--wrap=__open_2 -Wl,--wrap=readlink -Wl,--wrap=stat -Wl,--wrap=opendir \
	-Wl,--wrap=readdir -Wl,--wrap=closedir -Wl,--wrap=msg_warn -Wl,--wrap=msg_error -Wl,--wrap=msg_info \
	-Wl,--wrap=objects_update -Wl,--wrap=leak_check_write_figures -Wl,--wrap=leak_check_at_detach \
	-Wl,--wrap=capture_job_copy_and_read -Wl,--wrap=pump_once
tests_unit_races_LDADD = $(TRACER_TEST_LIBS)
endif
EXTRA_DIST += tests/unit/sequences/births.txt tests/unit/sequences/execs.txt tests/unit/sequences/collect.txt \
	tests/unit/sequences/seize.txt tests/unit/sequences/letgo.txt tests/unit/sequences/pass.txt \
	tests/unit/sequences/signals.txt tests/unit/sequences/traps.txt
# Contexts: the library that programs use, and the tracer's reading of its table.
tests_unit_context_library_LDADD = $(UNIT_LIBS)
tests_unit_contexts_LDADD = $(TRACER_TEST_LIBS)

tests_unit_calls_LDADD = $(TRACER_TEST_LIBS)
tests_unit_patterns_LDADD = $(TRACER_TEST_LIBS)
tests_unit_values_LDADD = $(TRACER_TEST_LIBS)

# functrace with made-up kinds of resource, and the program that it traces: its functions jump to each other, so CFLAGS
# are not used.
check_PROGRAMS += tests/unit/functrace-kinds
TESTS += tests/unit/kinds.py
tests_unit_functrace_kinds_SOURCES = $(FRONT_SOURCES) src/functrace/run_repair.c src/functrace/run_scan.c \
	src/functrace/run_watch.c \
	tests/unit/kinds_modules.c
tests_unit_functrace_kinds_LDADD = $(FUNCTRACE_LIBS)
EXTRA_tests_unit_functrace_kinds_DEPENDENCIES = tests/unit/kinds-target
EXTRA_DIST += tests/unit/kinds.py tests/unit/kinds_target.c
CLEANFILES += tests/unit/kinds-target
tests/unit/kinds-target: tests/unit/kinds_target.c
	$(AM_V_CC)$(CC) -O2 -g0 -funwind-tables -o $@ $(srcdir)/tests/unit/kinds_target.c

tests_unit_snapshot_LDADD = libscan.a $(TRACER_TEST_LIBS)
tests_unit_scan_report_SOURCES = tests/unit/scan_report.c src/scan/scan_report_text.c src/scan/block_groups.c
tests_unit_scan_report_LDADD = libbase.a $(UNIT_LIBS)
tests_unit_leave_allocator_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=process_vm_writev
tests_unit_leave_allocator_LDADD = libscan.a libheap.a $(TRACER_TEST_LIBS)
check_PROGRAMS += tests/unit/heap_list
tests_unit_heap_list_LDADD = libscan.a libheap.a $(TRACER_TEST_LIBS)
tests_unit_heap_damaged_LDADD = libscan.a libheap.a $(TRACER_TEST_LIBS)
tests_unit_heap_starts_LDADD = libscan.a libheap.a $(TRACER_TEST_LIBS)
tests_unit_heap_allocators_SOURCES = tests/unit/heap_allocators.c tests/unit/heap_allocate.c \
	tests/unit/heap_allocators.h tests/unit/long.h
tests_unit_heap_allocators_LDADD = libscan.a libheap.a $(TRACER_TEST_LIBS)
tests_unit_heap_stacks_LDADD = libheap.a $(TRACER_TEST_LIBS)
tests_unit_heap_musl_old_LDADD = libheap.a $(TRACER_TEST_LIBS)
tests_unit_heap_musl_LDADD = libheap.a $(TRACER_TEST_LIBS)

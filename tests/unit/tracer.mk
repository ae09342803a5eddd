# unit tests of tracer
check_PROGRAMS += tests/unit/stop
TESTS += tests/unit/stop
tests_unit_stop_SOURCES = tests/unit/stop.c
tests_unit_stop_LDADD = $(TRACER_TEST_LIBS)

TRACER_TEST_LIBS = $(TRACER_LIBS) $(UNIT_LIBS)
check_PROGRAMS += tests/unit/ledger
TESTS += tests/unit/ledger
tests_unit_ledger_SOURCES = tests/unit/ledger.c tests/unit/ledger_util.c tests/unit/ledger_util.h
tests_unit_ledger_LDADD = $(LEDGER_TEST_LIBS)
LEDGER_TEST_LIBS = librecord.a libargs.a libengine.a libmodules.a libunwinder.a libsymbols.a libproc.a libarch.a \
	libtrace.a libbase.a $(DW_LIBS) $(ELF_LIBS) $(UNWIND_LIBS) $(ZYDIS_LIBS) $(IBERTY_LIBS) $(ZLIB_LIBS) \
	$(ZSTD_LIBS) $(UNIT_LIBS)
check_PROGRAMS += tests/unit/ledger_ranges
TESTS += tests/unit/ledger_ranges
tests_unit_ledger_ranges_SOURCES = tests/unit/ledger_ranges.c tests/unit/ledger_util.c tests/unit/ledger_util.h
tests_unit_ledger_ranges_LDADD = $(LEDGER_TEST_LIBS)
check_PROGRAMS += tests/unit/ledger_arguments
TESTS += tests/unit/ledger_arguments
tests_unit_ledger_arguments_SOURCES = tests/unit/ledger_arguments.c tests/unit/ledger_util.c \
	tests/unit/ledger_util.h
tests_unit_ledger_arguments_LDADD = $(LEDGER_TEST_LIBS)
check_PROGRAMS += tests/unit/ledger_times
TESTS += tests/unit/ledger_times
tests_unit_ledger_times_SOURCES = tests/unit/ledger_times.c tests/unit/ledger_util.c tests/unit/ledger_util.h
tests_unit_ledger_times_LDADD = $(LEDGER_TEST_LIBS)
check_PROGRAMS += tests/unit/ledger_baseline
TESTS += tests/unit/ledger_baseline
tests_unit_ledger_baseline_SOURCES = tests/unit/ledger_baseline.c tests/unit/ledger_util.c tests/unit/ledger_util.h
tests_unit_ledger_baseline_LDADD = $(LEDGER_TEST_LIBS)
check_PROGRAMS += tests/unit/ledger_files
TESTS += tests/unit/ledger_files
tests_unit_ledger_files_SOURCES = tests/unit/ledger_files.c tests/unit/ledger_util.c tests/unit/ledger_util.h
tests_unit_ledger_files_LDADD = $(LEDGER_TEST_LIBS)

check_PROGRAMS += tests/unit/naming
TESTS += tests/unit/naming
tests_unit_naming_SOURCES = tests/unit/naming.c tests/unit/ledger_util.c tests/unit/ledger_util.h
tests_unit_naming_LDADD = $(LEDGER_TEST_LIBS)

check_PROGRAMS += tests/unit/exec_lock
TESTS += tests/unit/exec_lock
tests_unit_exec_lock_SOURCES = tests/unit/exec_lock.c
tests_unit_exec_lock_LDADD = libptrace.a libproc.a libarch.a libbase.a $(UNIT_LIBS)

check_PROGRAMS += tests/unit/spin
TESTS += tests/unit/spin
tests_unit_spin_SOURCES = tests/unit/spin.c
tests_unit_spin_LDADD = $(TRACER_TEST_LIBS)

check_PROGRAMS += tests/unit/text_arm
TESTS += tests/unit/text_arm
tests_unit_text_arm_SOURCES = tests/unit/text_arm.c
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
check_PROGRAMS += tests/unit/context_library tests/unit/contexts
TESTS += tests/unit/context_library tests/unit/contexts
tests_unit_context_library_SOURCES = tests/unit/context_library.c
tests_unit_context_library_LDADD = $(UNIT_LIBS)
tests_unit_contexts_SOURCES = tests/unit/contexts.c
tests_unit_contexts_LDADD = $(TRACER_TEST_LIBS)

check_PROGRAMS += tests/unit/calls
TESTS += tests/unit/calls
tests_unit_calls_SOURCES = tests/unit/calls.c
tests_unit_calls_LDADD = $(TRACER_TEST_LIBS)
check_PROGRAMS += tests/unit/patterns
TESTS += tests/unit/patterns
tests_unit_patterns_SOURCES = tests/unit/patterns.c
tests_unit_patterns_LDADD = $(TRACER_TEST_LIBS)
check_PROGRAMS += tests/unit/values
TESTS += tests/unit/values
tests_unit_values_SOURCES = tests/unit/values.c
tests_unit_values_LDADD = $(TRACER_TEST_LIBS)

# functrace with made-up kinds of resource, and the program that it traces: its functions jump to each other, so CFLAGS
# are not used.
check_PROGRAMS += tests/unit/functrace-kinds
TESTS += tests/unit/kinds.py
tests_unit_functrace_kinds_SOURCES = $(FRONT_SOURCES) src/functrace/run_repair.c src/functrace/run_scan.c \
	tests/unit/kinds_modules.c
tests_unit_functrace_kinds_LDADD = libcli.a $(TRACER_LIBS)
EXTRA_tests_unit_functrace_kinds_DEPENDENCIES = tests/unit/kinds-target
EXTRA_DIST += tests/unit/kinds.py tests/unit/kinds_target.c
CLEANFILES += tests/unit/kinds-target
tests/unit/kinds-target: tests/unit/kinds_target.c
	$(AM_V_CC)$(CC) -O2 -g0 -funwind-tables -o $@ $(srcdir)/tests/unit/kinds_target.c

check_PROGRAMS += tests/unit/snapshot
TESTS += tests/unit/snapshot
tests_unit_snapshot_SOURCES = tests/unit/snapshot.c
tests_unit_snapshot_LDADD = libscan.a $(TRACER_TEST_LIBS)
check_PROGRAMS += tests/unit/scan_report
TESTS += tests/unit/scan_report
tests_unit_scan_report_SOURCES = tests/unit/scan_report.c src/scan/scan_report_text.c src/scan/block_groups.c
tests_unit_scan_report_LDADD = libbase.a $(UNIT_LIBS)
check_PROGRAMS += tests/unit/leave_allocator
TESTS += tests/unit/leave_allocator
tests_unit_leave_allocator_SOURCES = tests/unit/leave_allocator.c
tests_unit_leave_allocator_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=process_vm_writev
tests_unit_leave_allocator_LDADD = libscan.a libheap.a $(TRACER_TEST_LIBS)
check_PROGRAMS += tests/unit/heap_list
tests_unit_heap_list_SOURCES = tests/unit/heap_list.c
tests_unit_heap_list_LDADD = libscan.a libheap.a $(TRACER_TEST_LIBS)
check_PROGRAMS += tests/unit/heap_damaged
TESTS += tests/unit/heap_damaged
tests_unit_heap_damaged_SOURCES = tests/unit/heap_damaged.c
tests_unit_heap_damaged_LDADD = libscan.a libheap.a $(TRACER_TEST_LIBS)
check_PROGRAMS += tests/unit/heap_starts
TESTS += tests/unit/heap_starts
tests_unit_heap_starts_SOURCES = tests/unit/heap_starts.c
tests_unit_heap_starts_LDADD = libscan.a libheap.a $(TRACER_TEST_LIBS)
check_PROGRAMS += tests/unit/heap_allocators
TESTS += tests/unit/heap_allocators
tests_unit_heap_allocators_SOURCES = tests/unit/heap_allocators.c tests/unit/heap_allocate.c \
	tests/unit/heap_allocators.h tests/unit/long.h
tests_unit_heap_allocators_LDADD = libscan.a libheap.a $(TRACER_TEST_LIBS)
check_PROGRAMS += tests/unit/heap_stacks
TESTS += tests/unit/heap_stacks
tests_unit_heap_stacks_SOURCES = tests/unit/heap_stacks.c
tests_unit_heap_stacks_LDADD = libheap.a $(TRACER_TEST_LIBS)
check_PROGRAMS += tests/unit/heap_musl_old
TESTS += tests/unit/heap_musl_old
tests_unit_heap_musl_old_SOURCES = tests/unit/heap_musl_old.c
tests_unit_heap_musl_old_LDADD = libheap.a $(TRACER_TEST_LIBS)
check_PROGRAMS += tests/unit/heap_musl
TESTS += tests/unit/heap_musl
tests_unit_heap_musl_SOURCES = tests/unit/heap_musl.c
tests_unit_heap_musl_LDADD = libheap.a $(TRACER_TEST_LIBS)

# Tests of the command line, and of the processes of a run, with the tracer of engine_fake.c.
check_PROGRAMS += tests/unit/options tests/unit/guard tests/unit/rescue tests/unit/rescue_tasks tests/unit/cpus \
	tests/unit/functrace-fake
TESTS += tests/unit/options tests/unit/guard tests/unit/rescue tests/unit/rescue_tasks tests/unit/cpus \
	tests/unit/process_fake.py
EXTRA_DIST += tests/unit/process_fake.py

tests_unit_options_SOURCES = tests/unit/options.c tests/unit/registry_fake.c src/trace/encoding.c \
	src/trace/compression_kinds.c src/uprobe/uprobes_missing.c \
	$(OPTION_SOURCES)
tests_unit_options_LDADD = libcli.a libfleet.a libexport.a libmodules.a libproc.a libarch.a libbase.a $(PUSH_LIBS) \
	$(ZYDIS_LIBS) $(UNIT_LIBS)

tests_unit_guard_SOURCES = tests/unit/guard.c src/engine/guardian_journal.c src/engine/rescue_code.c src/engine/cpus.c \
	src/engine/fds.c
tests_unit_guard_LDADD = libproc.a libbase.a $(UNIT_LIBS)

tests_unit_rescue_SOURCES = tests/unit/rescue.c src/engine/rescue_report.c src/engine/fds.c
tests_unit_rescue_LDFLAGS = -Wl,--wrap=open,--wrap=open64,--wrap=opendir,--wrap=nanosleep,--wrap=poll \
	-Wl,--wrap=clock_gettime
tests_unit_rescue_LDADD = libproc.a libbase.a $(UNIT_LIBS)

tests_unit_rescue_tasks_SOURCES = tests/unit/rescue_tasks.c src/engine/rescue_tasks.c src/engine/guardian_journal.c \
	src/engine/fds.c
tests_unit_rescue_tasks_LDFLAGS = -Wl,--wrap=ptrace
tests_unit_rescue_tasks_LDADD = libproc.a libarch.a libbase.a $(ZYDIS_LIBS) $(UNIT_LIBS)

tests_unit_cpus_SOURCES = tests/unit/cpus.c src/engine/cpus.c src/engine/cpus.h
tests_unit_cpus_LDADD = $(UNIT_LIBS)

tests_unit_functrace_fake_SOURCES = $(FRONT_SOURCES) tests/unit/engine_fake.c src/uprobe/uprobes_missing.c \
	tests/unit/registry_fake.c src/trace/encoding.c src/trace/compression_kinds.c
tests_unit_functrace_fake_LDADD = libcli.a libengine.a libfleet.a libexport.a libmodules.a libproc.a libarch.a \
	libbase.a $(PUSH_LIBS) $(ZYDIS_LIBS)

# The map of layers (which file may include or call which), and the layout of files.
TESTS += tests/unit/floors.py tests/unit/format.py
# same_code.py is run by hand after a renaming of files or functions: same_code.py BEFORE AFTER TABLE
TESTS += tests/unit/same_code.py
EXTRA_DIST += tests/unit/same_code.py
EXTRA_DIST += tests/unit/floors.py tests/unit/floors_pointers.py tests/unit/floors_rooms.py tests/unit/floors_rules.py \
	tests/unit/floors_self_test.py tests/unit/floors_source.py tests/unit/floors.txt tests/unit/callbacks.txt \
	tests/unit/wrapped.txt tests/unit/exceptions.txt tests/unit/format.py

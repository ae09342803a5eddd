# unit tests of unwind
UNWIND_UNIT_TESTS = tests/unit/unwind tests/unit/unwind_real tests/unit/unwind_hostile tests/unit/unwind_exidx \
	tests/unit/unwind_core tests/unit/unwind_frame_pointer tests/unit/code_rules
check_PROGRAMS += $(UNWIND_UNIT_TESTS)
TESTS += $(UNWIND_UNIT_TESTS)
unwind_ldadd = libunwinder.a libsymbols.a libproc.a libarch.a libbase.a $(UNWIND_LIBS) $(DW_LIBS) \
	$(ELF_LIBS) $(ZYDIS_LIBS) $(UNIT_LIBS)
tests_unit_unwind_SOURCES = tests/unit/unwind.c tests/unit/unwind_target.h \
	tests/unit/unwind_tracee.c tests/unit/unwind_tracee.h
tests_unit_unwind_CPPFLAGS = $(AM_CPPFLAGS) -DBUILD_DIR='"$(abs_builddir)"'
tests_unit_unwind_LDADD = $(unwind_ldadd)
EXTRA_tests_unit_unwind_DEPENDENCIES = $(unwind_targets)

tests_unit_unwind_real_SOURCES = tests/unit/unwind_real.c tests/unit/unwind_tracee.c tests/unit/unwind_tracee.h
tests_unit_unwind_real_LDADD = $(unwind_ldadd)

tests_unit_unwind_hostile_SOURCES = tests/unit/unwind_hostile.c tests/unit/unwind_target.h \
	tests/unit/unwind_tracee.c tests/unit/unwind_tracee.h
tests_unit_unwind_hostile_CPPFLAGS = $(AM_CPPFLAGS) -DBUILD_DIR='"$(abs_builddir)"'
tests_unit_unwind_hostile_LDADD = $(unwind_ldadd)
EXTRA_tests_unit_unwind_hostile_DEPENDENCIES = $(unwind_targets)

tests_unit_unwind_core_LDADD = libaarch64.a libarm.a $(unwind_ldadd)
EXTRA_DIST += tests/unit/cores/signed.c tests/unit/cores/indexed.c tests/unit/cores/small.py \
	tests/unit/cores/aarch64-signed tests/unit/cores/aarch64-signed.core \
	tests/unit/cores/arm-indexed tests/unit/cores/arm-indexed.core
tests_unit_unwind_frame_pointer_LDADD = $(unwind_ldadd)
tests_unit_unwind_exidx_LDADD = libarm.a $(unwind_ldadd)

# The program whose stacks are unwound, built several times with fixed options, so CFLAGS are not used.
unwind_targets = tests/unit/unwind-target-O0 tests/unit/unwind-target-O2 tests/unit/unwind-target-fp \
	tests/unit/unwind-target-debug \
	tests/unit/unwind-target-static tests/unit/unwind-target-musl \
	tests/unit/libunwind-target.so
CLEANFILES += $(unwind_targets)
EXTRA_DIST += tests/unit/unwind_target.c tests/unit/unwind_target_lib.c
unwind_target_source = $(srcdir)/tests/unit/unwind_target.c
unwind_target_link = tests/unit/libunwind-target.so -Wl,-rpath,$(abs_builddir)/tests/unit \
	-Wl,-z,lazy -Wl,--export-dynamic -pthread
unwind_target_depend = tests/unit/unwind_target.c tests/unit/unwind_target.h tests/unit/libunwind-target.so

tests/unit/libunwind-target.so: tests/unit/unwind_target_lib.c
	$(AM_V_CC)$(CC) -O2 -g0 -fPIC -shared -Wl,-soname,libunwind-target.so -o $@ \
		$(srcdir)/tests/unit/unwind_target_lib.c
tests/unit/unwind-target-O0: $(unwind_target_depend)
	$(AM_V_CC)$(CC) -O0 -g0 -fexceptions -DTARGET_UNWIND -o $@ $(unwind_target_source) $(unwind_target_link)
tests/unit/unwind-target-O2: $(unwind_target_depend)
	$(AM_V_CC)$(CC) -O2 -g0 -fomit-frame-pointer -fexceptions -DTARGET_UNWIND -o $@ \
		$(unwind_target_source) $(unwind_target_link)
tests/unit/unwind-target-fp: $(unwind_target_depend)
	$(AM_V_CC)$(CC) -O1 -g0 -fno-omit-frame-pointer -fno-pie -no-pie -o $@ $(unwind_target_source) \
		$(unwind_target_link)
tests/unit/unwind-target-debug: $(unwind_target_depend)
	$(AM_V_CC)$(CC) -O2 -g -fno-asynchronous-unwind-tables -fno-unwind-tables -fno-exceptions -o $@ \
		$(unwind_target_source) $(unwind_target_link)
# Some machines cannot build these two programs. Their tests are then skipped, and give the reason.
tests/unit/unwind-target-static: tests/unit/unwind_target.c tests/unit/unwind_target.h
	$(AM_V_CC)$(CC) -O2 -g0 -static-pie -DTARGET_STATIC -o $@ $(unwind_target_source) -pthread || : >$@
tests/unit/unwind-target-musl: tests/unit/unwind_target.c tests/unit/unwind_target.h
	$(AM_V_CC)$(MUSL_CC) -O2 -g0 -DTARGET_STATIC -o $@ $(unwind_target_source) -pthread || : >$@
tests_unit_code_rules_LDADD = libaarch64.a libarm.a $(unwind_ldadd)

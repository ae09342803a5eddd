# Unit tests of arch: they check the table of each port, run its copies of instructions, and compare its decoder with
# objdump. The table of AArch64 can be compiled for any processor.
check_LIBRARIES = libaarch64.a
libaarch64_a_SOURCES = $(AARCH64_SOURCES) $(ABI_SOURCES)

check_PROGRAMS += tests/unit/arch_aarch64 tests/unit/arch_aarch64_objdump
TESTS += tests/unit/arch_aarch64 tests/unit/arch_aarch64_objdump
tests_unit_arch_aarch64_LDADD = libaarch64.a libbase.a $(UNIT_LIBS)
tests_unit_arch_aarch64_objdump_SOURCES = tests/unit/arch_aarch64_objdump.c tests/unit/arch_assembled.h
tests_unit_arch_aarch64_objdump_LDADD = libaarch64.a libbase.a

check_PROGRAMS += tests/unit/arch_before
TESTS += tests/unit/arch_before
tests_unit_arch_before_LDADD = libarch.a libbase.a $(ZYDIS_LIBS) $(UNIT_LIBS)

if ARCH_AARCH64
check_PROGRAMS += tests/unit/arch_aarch64_run
TESTS += tests/unit/arch_aarch64_run
tests_unit_arch_aarch64_run_SOURCES = tests/unit/arch_aarch64_run.c tests/unit/arch_arena.c tests/unit/arch_arena.h
tests_unit_arch_aarch64_run_LDADD = libarch.a libbase.a $(UNIT_LIBS)
endif

if ARCH_X86_64
arch_tests = tests/unit/arch_x86_64 tests/unit/arch_calls tests/unit/arch_run tests/unit/arch_run_i386 \
	tests/unit/arch_emulate tests/unit/arch_emulate_i386 tests/unit/arch_interrupt tests/unit/arch_objdump \
	tests/unit/arch_objdump_i386 tests/unit/arch_uprobe
check_PROGRAMS += $(arch_tests)
TESTS += $(arch_tests)

tests_unit_arch_x86_64_SOURCES = tests/unit/arch_x86_64.c tests/unit/arch_hex.h tests/unit/arch_reach.h
tests_unit_arch_x86_64_LDADD = libarch.a libbase.a $(ZYDIS_LIBS) $(UNIT_LIBS)

tests_unit_arch_calls_SOURCES = tests/unit/arch_calls.c tests/unit/arch_hex.h
tests_unit_arch_calls_LDADD = libarch.a libbase.a $(ZYDIS_LIBS) $(UNIT_LIBS)

tests_unit_arch_uprobe_SOURCES = tests/unit/arch_uprobe.c tests/unit/arch_hex.h
tests_unit_arch_uprobe_LDADD = libarch.a libbase.a $(ZYDIS_LIBS) $(UNIT_LIBS)

tests_unit_arch_run_SOURCES = tests/unit/arch_run.c tests/unit/arch_arena.c \
	tests/unit/arch_arena.h tests/unit/arch_flags.h tests/unit/arch_hex.h tests/unit/arch_reach.h
tests_unit_arch_run_LDADD = libarch.a libbase.a $(ZYDIS_LIBS) $(UNIT_LIBS)

tests_unit_arch_emulate_SOURCES = tests/unit/arch_emulate.c tests/unit/arch_arena.c \
	tests/unit/arch_arena.h tests/unit/arch_flags.h tests/unit/arch_hex.h
tests_unit_arch_emulate_LDADD = libarch.a libbase.a $(ZYDIS_LIBS) $(UNIT_LIBS)

# The same tests for 32-bit code.
tests_unit_arch_run_i386_SOURCES = $(tests_unit_arch_run_SOURCES)
tests_unit_arch_run_i386_CPPFLAGS = $(AM_CPPFLAGS) -DARENA_32
tests_unit_arch_run_i386_LDADD = $(tests_unit_arch_run_LDADD)

tests_unit_arch_emulate_i386_SOURCES = $(tests_unit_arch_emulate_SOURCES)
tests_unit_arch_emulate_i386_CPPFLAGS = $(AM_CPPFLAGS) -DARENA_32
tests_unit_arch_emulate_i386_LDADD = $(tests_unit_arch_emulate_LDADD)

tests_unit_arch_interrupt_SOURCES = tests/unit/arch_interrupt.c tests/unit/arch_arena.c \
	tests/unit/arch_arena.h
tests_unit_arch_interrupt_LDADD = libarch.a libbase.a $(ZYDIS_LIBS) $(UNIT_LIBS)

tests_unit_arch_objdump_SOURCES = tests/unit/arch_objdump.c tests/unit/long.h tests/unit/arch_reach.h
tests_unit_arch_objdump_LDADD = libarch.a libbase.a $(ZYDIS_LIBS)

tests_unit_arch_objdump_i386_SOURCES = $(tests_unit_arch_objdump_SOURCES)
tests_unit_arch_objdump_i386_CPPFLAGS = $(AM_CPPFLAGS) -DOBJECTS_32
tests_unit_arch_objdump_i386_LDADD = $(tests_unit_arch_objdump_LDADD)
endif

# Only the tests that run instructions need a 32-bit ARM processor: the rest of its port is tested on every machine.
check_LIBRARIES += libarm.a
libarm_a_SOURCES = $(ARM_SOURCES) $(ABI_SOURCES)
# For tests that read files of other processors: the tables of all processors that compile on any machine.
check_LIBRARIES += libports.a
libports_a_SOURCES = arch/arch.c
libports_a_CPPFLAGS = $(AM_CPPFLAGS) -DARCH_PORTS='$(ARCH_PORTS) PORT(aarch64) PORT(arm)'
ALL_PORTS = libports.a libaarch64.a libarm.a libarch.a
check_PROGRAMS += tests/unit/arch_arm tests/unit/arch_arm_objdump tests/unit/arch_arm_run
TESTS += tests/unit/arch_arm tests/unit/arch_arm_objdump tests/unit/arch_arm_run
tests_unit_arch_arm_SOURCES = tests/unit/arch_arm.c tests/unit/arch_hex.h
tests_unit_arch_arm_LDADD = libarm.a libbase.a $(UNIT_LIBS)
tests_unit_arch_arm_objdump_SOURCES = tests/unit/arch_arm_objdump.c tests/unit/arch_arm_forms.h \
	tests/unit/arch_assembled.h
tests_unit_arch_arm_objdump_LDADD = libarm.a libbase.a
tests_unit_arch_arm_run_LDADD = libarm.a libbase.a

if ARCH_X86
check_PROGRAMS += tests/unit/arch_i386
TESTS += tests/unit/arch_i386

tests_unit_arch_i386_SOURCES = tests/unit/arch_i386.c tests/unit/arch_hex.h
tests_unit_arch_i386_LDADD = libarch.a libbase.a $(ZYDIS_LIBS) $(UNIT_LIBS)
endif

# An example port, which a build gets without a change to any file outside of arch/.
check_LIBRARIES += libport.a
libport_a_SOURCES = arch/arch.c tests/unit/port_riscv64.c tests/unit/port_riscv64.h
libport_a_CPPFLAGS = $(AM_CPPFLAGS) -DARCH_PORTS='$(ARCH_PORTS) PORT(riscv64)'
check_PROGRAMS += tests/unit/port
TESTS += tests/unit/port tests/unit/port.py
EXTRA_DIST += tests/unit/port.py
tests_unit_port_SOURCES = tests/unit/port.c tests/unit/port_riscv64.h
tests_unit_port_LDADD = libport.a $(TRACER_TEST_LIBS)

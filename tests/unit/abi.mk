# Unit tests of arch/abi.h: the places of arguments and results. The rules of all processors compile on each processor.
check_LIBRARIES += libabi.a
libabi_a_SOURCES = $(ABI_SOURCES) arch/x86/abi_x86.c arch/x86/abi_x86_64.c arch/x86/abi_i386.c \
	arch/aarch64/abi_aarch64.c arch/arm/abi_arm.c

check_PROGRAMS += tests/unit/abi
TESTS += tests/unit/abi
tests_unit_abi_SOURCES = tests/unit/abi.c tests/unit/arch_hex.h
tests_unit_abi_LDADD = libabi.a $(UNIT_LIBS)

# Tests generated functions with the calls of this compiler. abi_compilers.py tests other compilers.
check_PROGRAMS += tests/unit/abi_real
TESTS += tests/unit/abi_real tests/unit/abi_compilers.py
tests_unit_abi_real_SOURCES = tests/unit/abi_real.c tests/unit/abi_real.h
nodist_tests_unit_abi_real_SOURCES = tests/unit/abi_made.c
tests_unit_abi_real_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests/unit
tests_unit_abi_real_CFLAGS = $(AM_CFLAGS) -w -fno-strict-aliasing
tests_unit_abi_real_LDADD = libabi.a
tests/unit/abi_made.c: $(top_srcdir)/tests/generate/signatures.py
	@mkdir -p tests/unit
	$(AM_V_GEN)$(PYTHON) $(top_srcdir)/tests/generate/signatures.py 1 150 >$@.part && mv $@.part $@
CLEANFILES += tests/unit/abi_made.c
EXTRA_DIST += tests/generate/signatures.py tests/unit/abi_compilers.py

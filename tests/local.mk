# Unit tests are cmocka programs in tests/unit, one or more per folder of the sources. Scenarios trace real programs.
# Each test runs below tests/tap.sh, so that every subtest is counted.
UNIT_LIBS = $(CMOCKA_LIBS)

TEST_EXTENSIONS = .py .sh
TAP_DRIVER = env AM_TAP_AWK='$(AWK)' $(SHELL) $(top_srcdir)/build-aux/tap-driver.sh
LOG_DRIVER = $(TAP_DRIVER)
PY_LOG_DRIVER = $(TAP_DRIVER)
SH_LOG_DRIVER = $(TAP_DRIVER)
LOG_COMPILER = $(SHELL) $(top_srcdir)/tests/tap.sh
PY_LOG_COMPILER = $(SHELL) $(top_srcdir)/tests/tap.sh $(PYTHON)
SH_LOG_COMPILER = $(SHELL) $(top_srcdir)/tests/tap.sh $(SHELL)

# The environment of a test.
AM_TESTS_ENVIRONMENT = \
	FUNCTRACE='$(abs_top_builddir)/functrace$(EXEEXT)'; export FUNCTRACE; \
	FUNCTRACE_POSTPROC='$(abs_top_builddir)/functrace-postproc$(EXEEXT)'; export FUNCTRACE_POSTPROC; \
	TOP_SRCDIR='$(abs_top_srcdir)'; export TOP_SRCDIR; \
	TOP_BUILDDIR='$(abs_top_builddir)'; export TOP_BUILDDIR; \
	CC='$(CC)'; export CC; CXX='$(CXX)'; export CXX; NM='$(NM)'; export NM; \
	PYTHON='$(PYTHON)'; export PYTHON; \
	PYTHONDONTWRITEBYTECODE=1; export PYTHONDONTWRITEBYTECODE;

EXTRA_DIST += tests/tap.sh tests/long/abi.sh tests/long/attach_detach.py tests/long/browser.py \
	tests/long/call_values.py \
	tests/long/engine_kill.py tests/long/exec_storm.py tests/long/fuzz.sh tests/long/generated.py \
	tests/long/glibcs.py tests/long/heaps.py tests/long/i386.py tests/long/kernel_probes.py \
	tests/long/old_musl.py tests/long/packages.sh \
	tests/long/reports.py \
	tests/long/named_places.py \
	tests/long/scan_servers.py tests/long/scans.py tests/long/scenarios.py tests/long/stalls.py tests/long/unit.py \
	tests/long/verdicts.py

if HAVE_CHECK_NEEDS
# The longest tests come first, because make starts tests in this order, and a long test should not run alone at the
# end.
TESTS += tests/scenarios/run.py tests/install/debian.py tests/scenarios/generated.py \
	tests/post/page.py tests/fuzz/short.sh
include tests/unit/base.mk
include tests/unit/trace.mk
include tests/unit/symbols.mk
include tests/unit/unwind.mk
include tests/unit/arch.mk
include tests/unit/abi.mk
include tests/unit/args.mk
include tests/unit/analysis.mk
include tests/unit/tracer.mk
include tests/unit/fleet.mk
include tests/unit/front.mk
include tests/unit/push.mk
include tests/targets/local.mk
include tests/scenarios/local.mk
include tests/scenarios/front.mk
include tests/post/local.mk
include tests/fleet/metrics.mk
include tests/install/local.mk
include tests/fuzz/local.mk
else
# Without cmocka and Python most tests cannot be built. `make check` then fails with a message, and does not pass with
# few tests.
check_DATA = check-needs
endif

check-needs:
	@echo "make check needs cmocka and python3 ($(CHECK_NEEDS_MISSING) missing). Install them and run" >&2; \
	echo "configure again: on Debian and Ubuntu 'apt-get install libcmocka-dev python3', on Fedora" >&2; \
	echo "'dnf install libcmocka-devel python3'; or run ./quickstart check, which does it." >&2; \
	exit 1

# The long tests: runs each program in tests/long, one after the other. `make check` does not run them.
# LONG_SECONDS limits the tests that run for a given time. LONG_SEEDS is the number of generated programs, and
# LONG_FIRST_SEED the seed of the first.
check-long: all $(check_PROGRAMS)
	@status=0; ran=0; \
	$(AM_TESTS_ENVIRONMENT) CHECK_LONG=1; export CHECK_LONG; \
	for test in $(top_srcdir)/tests/long/*.py $(top_srcdir)/tests/long/*.sh; do \
		test -f "$$test" || continue; \
		case $$test in *.py) run='$(PYTHON)';; *) run='$(SHELL)';; esac; \
		echo "== $$test"; ran=1; $$run "$$test" || test $$? = 77 || status=1; \
	done; \
	test $$ran = 1 || { echo "there is no test in tests/long" >&2; status=1; }; \
	exit $$status

.PHONY: check-needs check-long

include tests/guest/local.mk

# Small programs that lose memory, built by each compiler.
EXTRA_DIST += tests/long/losing.py

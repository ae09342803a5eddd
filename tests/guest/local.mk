# Emulated machines with other processors (guest), and the tests that run there (check.py).
EXTRA_DIST += tests/guest/guest tests/guest/apt.sh tests/guest/glibc tests/guest/oldmusl \
	tests/guest/check.py tests/guest/suite.sh tests/guest/short.form \
	tests/guest/check.form tests/guest/long.form tests/guest/mte.form tests/long/guests.py
# All guests; GUEST_OPTIONS=--form=short for one of them and the main scenarios.
check-guest: all
	$(AM_TESTS_ENVIRONMENT) $(PYTHON) $(top_srcdir)/tests/guest/check.py --form=check --count $(GUEST_OPTIONS)

# What of this build can run elsewhere.
guest-tests:
	@for test in $(TESTS); do case $$test in tests/unit/*) echo $$test ;; esac; done
.PHONY: check-guest guest-tests

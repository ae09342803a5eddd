# Guests: emulated machines with other processors. check.py runs tests in them.
EXTRA_DIST += tests/guest/guest tests/guest/apt.sh tests/guest/glibc tests/guest/oldmusl \
	tests/guest/check.py tests/guest/suite.sh tests/guest/short.form \
	tests/guest/check.form tests/guest/long.form tests/guest/mte.form tests/long/guests.py
# Runs the tests in all guests. GUEST_OPTIONS=--form=short runs only the main scenarios, in one guest.
check-guest: all
	$(AM_TESTS_ENVIRONMENT) $(PYTHON) $(top_srcdir)/tests/guest/check.py --form=check --count $(GUEST_OPTIONS)

# Prints the tests that can run on another machine: the unit tests.
guest-tests:
	@for test in $(TESTS); do case $$test in tests/unit/*) echo $$test ;; esac; done
.PHONY: check-guest guest-tests

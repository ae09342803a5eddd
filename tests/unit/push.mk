# Profiles pushed to receivers of the test, by push_send.
check_PROGRAMS += tests/unit/push_send
TESTS += tests/unit/push.py
EXTRA_DIST += tests/unit/push.py
tests_unit_push_send_SOURCES = tests/unit/push_send.c
tests_unit_push_send_LDADD = libfleet.a libexport.a libbase.a $(PUSH_LIBS)

# The manual pages; their EXAMPLES are run by tests/scenarios/man_examples.py.
dist_man_MANS += man/functrace.1 man/functrace-context.3 man/functrace-postproc.1 man/functrace-formats.5 \
	man/functrace-limits.7 man/functrace-modules.7 man/functrace-scan.7

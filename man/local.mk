# The manual pages. tests/scenarios/man_examples.py runs the commands of their EXAMPLES.
dist_man_MANS += man/functrace.1 man/functrace-context.3 man/functrace-postproc.1 man/functrace-formats.5 \
	man/functrace-limits.7 man/functrace-modules.7 man/functrace-scan.7 man/functrace-watch.8

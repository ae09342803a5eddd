# Metrics of made-up intervals: their text, the server, the file, and Prometheus.
check_PROGRAMS += tests/fleet/metrics-made
TESTS += tests/fleet/metrics.py tests/fleet/prometheus.py
EXTRA_DIST += tests/fleet/metrics.py tests/fleet/openmetrics.py tests/fleet/serving.py
EXTRA_DIST += tests/fleet/prometheus.py tests/fleet/rules_test.yml
tests_fleet_metrics_made_SOURCES = tests/fleet/metrics_made.c
tests_fleet_metrics_made_LDADD = libfleet.a libbase.a $(MICROHTTPD_LIBS)

# fleet/: intervals of a watch in the forms that other systems read
noinst_LIBRARIES += libfleet.a
libfleet_a_SOURCES =

libfleet_a_SOURCES += src/fleet/metrics_families.c
libfleet_a_SOURCES += src/fleet/metrics_samples.c src/fleet/metrics_samples.h
libfleet_a_SOURCES += src/fleet/metrics_text.c src/fleet/metrics_text.h

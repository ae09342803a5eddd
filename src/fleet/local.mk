# fleet/: intervals of a watch in the forms that other systems read
noinst_LIBRARIES += libfleet.a
libfleet_a_SOURCES =

# Metrics. Programs that use them link $(MICROHTTPD_LIBS).
AM_CPPFLAGS += $(MICROHTTPD_CFLAGS)
libfleet_a_SOURCES += src/fleet/metrics.c src/fleet/metrics.h
libfleet_a_SOURCES += src/fleet/metrics_accept.c src/fleet/metrics_accept.h
libfleet_a_SOURCES += src/fleet/metrics_families.c
libfleet_a_SOURCES += src/fleet/metrics_file.c src/fleet/metrics_file.h
libfleet_a_SOURCES += src/fleet/metrics_http.h
libfleet_a_SOURCES += src/fleet/metrics_listen.c src/fleet/metrics_listen.h
libfleet_a_SOURCES += src/fleet/metrics_samples.c src/fleet/metrics_samples.h
libfleet_a_SOURCES += src/fleet/metrics_text.c src/fleet/metrics_text.h
if HAS_MICROHTTPD
libfleet_a_SOURCES += src/fleet/metrics_http.c
else
libfleet_a_SOURCES += src/fleet/metrics_http_missing.c
endif

# fleet/: the results of a watch, in the forms that other systems read
noinst_LIBRARIES += libfleet.a
libfleet_a_CPPFLAGS = $(AM_CPPFLAGS)
libfleet_a_SOURCES = src/fleet/fleet.c src/fleet/fleet.h \
	src/fleet/watch_text.c src/fleet/watch_text.h
# push: profiles that are sent. Programs that use it link libexport.a and $(PUSH_LIBS).
libfleet_a_SOURCES += src/fleet/push.h src/fleet/push_form.h src/fleet/push_http.h src/fleet/push_parcel.h \
	src/fleet/push_spool.h src/fleet/push_parca.h src/fleet/interval_profile.h
if HAS_PUSH
libfleet_a_CPPFLAGS += $(CURL_CFLAGS)
libfleet_a_SOURCES += src/fleet/push.c src/fleet/push_form.c src/fleet/push_http.c src/fleet/push_parcel.c \
	src/fleet/push_spool.c src/fleet/push_parca.c src/fleet/interval_profile.c
else
libfleet_a_SOURCES += src/fleet/push_missing.c
endif
PUSH_LIBS = $(CURL_LIBS) $(PROTOBUF_C_LIBS) $(ZLIB_LIBS)

# Metrics. Programs that use them link $(MICROHTTPD_LIBS).
libfleet_a_CPPFLAGS += $(MICROHTTPD_CFLAGS)
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

# Rows.
libfleet_a_SOURCES += src/fleet/rows.c src/fleet/view_rows_pipe.c src/fleet/view_rows_pipe.h src/fleet/rows.h

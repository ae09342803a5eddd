# fleet/: what a watch knows at the end of each interval, in the forms that other systems read
noinst_LIBRARIES += libfleet.a
libfleet_a_SOURCES =
libfleet_a_SOURCES += src/fleet/rows.c src/fleet/rows.h

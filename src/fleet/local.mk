# fleet/: the results of a watch, in the forms that other systems read
noinst_LIBRARIES += libfleet.a
libfleet_a_SOURCES = src/fleet/fleet.c src/fleet/fleet.h \
	src/fleet/watch_text.c src/fleet/watch_text.h

# live/: the view of the live resources of running processes
noinst_LIBRARIES += liblive.a
liblive_a_CPPFLAGS = $(AM_CPPFLAGS) $(CURSES_CFLAGS)
liblive_a_SOURCES = src/live/columns.c src/live/columns.h src/live/row_labels.c src/live/row_labels.h \
	src/live/plain_view.c src/live/live_view.c src/live/live_view.h src/live/screen.c \
	src/live/screen_keys.c src/live/screen_keys.h src/live/screen_stop.c src/live/screen_stop.h \
	src/live/view_rows.c src/live/view_rows.h src/live/view_requests.c src/live/view_text.c \
	src/live/watched.c src/live/watched.h

# scan/: the heap of a live process, looked at from outside
noinst_LIBRARIES += libscan.a
libscan_a_SOURCES = src/scan/care.c src/scan/care.h src/scan/image.h src/scan/pages.c src/scan/pages.h \
	src/scan/snapshot.c src/scan/snapshot.h src/scan/threads.c src/scan/threads.h

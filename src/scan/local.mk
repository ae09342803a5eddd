# scan/: the heap of a live process, looked at from outside
noinst_LIBRARIES += libscan.a
libscan_a_SOURCES = src/scan/care.c src/scan/care.h \
	src/scan/code_changes.c src/scan/code_changes.h src/scan/code_repair.c \
	src/scan/core.c src/scan/core.h src/scan/core_files.c src/scan/core_files.h \
	src/scan/core_objects.c src/scan/core_objects.h \
	src/scan/ending.c src/scan/ending.h src/scan/groups.c src/scan/groups.h src/scan/owners.c \
	src/scan/owners.h src/scan/pages.c src/scan/pages.h src/scan/places.c src/scan/places.h src/scan/report.h \
	src/scan/report_json.c src/scan/report_text.c src/scan/scan.c src/scan/scan.h \
	src/scan/shared.c src/scan/shared.h src/scan/snapshot.c \
	src/scan/snapshot.h src/scan/threads.c src/scan/threads.h src/scan/types.c src/scan/types.h \
	src/scan/workers.c src/scan/workers.h

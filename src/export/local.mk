# export/: files for other tools, made of a profile
noinst_LIBRARIES += libexport.a
libexport_a_SOURCES = src/export/export.h src/export/exports.c \
	src/export/parts.c src/export/stage.c src/export/callgrind.c src/export/chrome.c src/export/collapsed.c \
	src/export/heaptrack.c src/export/json.c src/export/massif.c src/export/speedscope.c src/export/xml.c

# export/: files for other tools, mostly made from a profile
noinst_LIBRARIES += libexport.a
libexport_a_CPPFLAGS = $(AM_CPPFLAGS) $(PROTOBUF_C_CFLAGS)
libexport_a_SOURCES = src/export/export.h src/export/exports.c src/export/export_parts.c src/export/export_stage.c \
	src/export/locations.c src/export/locations.h \
	src/export/callgrind.c src/export/chrome.c src/export/collapsed.c src/export/dhat.c \
	src/export/gperftools.c \
	src/export/heaptrack.c src/export/export_json.c src/export/massif.c src/export/pprof.c \
	src/export/pprof_build.c src/export/pprof_build.h \
	src/export/speedscope.c \
	src/export/export_rows.c src/export/row_line.c src/export/row_line.h \
	src/export/xml.c

# protoc-c makes C code from the description of pprof's messages.
EXTRA_DIST += src/export/pprof.proto
pprof_messages = src/export/pprof.pb-c.c src/export/pprof.pb-c.h
if PROTOBUF_C
nodist_libexport_a_SOURCES = $(pprof_messages)
CLEANFILES += $(pprof_messages)
src/export/libexport_a-pprof_build.$(OBJEXT) src/export/libexport_a-pprof.pb-c.$(OBJEXT): src/export/pprof.pb-c.h
src/export/pprof.pb-c.c: src/export/pprof.pb-c.h
src/export/pprof.pb-c.h: src/export/pprof.proto
	$(AM_V_at)$(MKDIR_P) src/export
	$(AM_V_GEN)$(PROTOC_C) --proto_path=$(srcdir)/src/export --c_out=src/export $(srcdir)/src/export/pprof.proto
endif

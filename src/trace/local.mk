# trace/: the model of a trace, its encodings, and reading and writing them
noinst_LIBRARIES += libtrace.a
libtrace_a_SOURCES = src/trace/event.h src/trace/writer.h src/trace/reader.h src/trace/encoding.c \
	src/trace/encoding.h \
	src/trace/encoding_table.c src/trace/encoding_ops.h src/trace/escape.c src/trace/escape.h \
	src/trace/writer.c src/trace/writer_state.h src/trace/rtrace/rtrace.h \
	src/trace/rtrace/rtrace_write.c src/trace/rtrace/rtrace_write.h src/trace/rtrace/rtrace_write_call.c \
	src/trace/text/text_format.c \
	src/trace/text/text_format.h src/trace/text/text_write.c src/trace/text/text_write_call.c \
	src/trace/text/text_write.h \
	src/trace/frame_text.c src/trace/frame_text.h src/trace/fd_write.c src/trace/fd_write.h \
	src/trace/compressor_thread.c src/trace/compressor_thread.h src/trace/compression_kinds.c \
	src/trace/compression_kinds.h src/trace/trace_input.c src/trace/trace_input.h src/trace/reader.c \
	src/trace/reader_state.c src/trace/reader_state.h src/trace/rtrace/rtrace_read.c \
	src/trace/rtrace/rtrace_read.h \
	src/trace/rtrace/rtrace_read_packet.c src/trace/text/text_read.c src/trace/text/text_read.h \
	src/trace/text/text_call.c \
	src/trace/text/text_input.c src/trace/text/text_lines.c src/trace/text/text_parse.c \
	src/trace/text/text_damage.c \
	src/trace/text/text_damage.h src/trace/unsupported.c src/trace/unsupported.h src/trace/call_site.c \
	src/trace/call_site.h src/trace/mpatrol/mpatrol.h src/trace/mpatrol/mpatrol_events.c \
	src/trace/mpatrol/mpatrol_write.c \
	src/trace/mpatrol/mpatrol_bytes.c src/trace/mpatrol/mpatrol_read.c src/trace/mpatrol/mpatrol_read.h \
	src/trace/swap/swap.h src/trace/swap/swap_message.c src/trace/swap/swap_message.h \
	src/trace/swap/swap_fields.c \
	src/trace/swap/swap_fields.h \
	src/trace/note_end.c src/trace/note_end.h \
	src/trace/swap/swap_value.c src/trace/swap/swap_write.c src/trace/swap/swap_write.h \
	src/trace/swap/swap_write_call.c \
	src/trace/swap/swap_read.c src/trace/swap/swap_read.h src/trace/swap/swap_read_call.c \
	src/trace/swap/swap_read_process.c src/trace/swap/swap_dump.c src/trace/mapped_objects.c \
	src/trace/mapped_objects.h src/trace/swap/swap_read_records.c src/trace/swap/swap_write_message.c \
	src/trace/stack_cache.c src/trace/stack_cache.h \
	src/trace/stacktrack/stacktrack.h \
	src/trace/stacktrack/stacktrack_write.c \
	src/trace/stacktrack/stacktrack_write.h src/trace/stacktrack/stacktrack_write_call.c \
	src/trace/stacktrack/stacktrack_entries.c \
	src/trace/stacktrack/stacktrack_cycle.c src/trace/stacktrack/stacktrack_read.c \
	src/trace/stacktrack/stacktrack_read.h \
	src/trace/digits.h src/trace/stacktrack/stacktrack_records.c src/trace/stacktrack/stacktrack_stacks.c \
	src/trace/stacktrack/stacktrack_read_call.c src/trace/stacktrack/stacktrack_layout.c \
	src/trace/stacktrack/stacktrack_layout.h src/trace/stacktrack/stacktrack_describe.c \
	src/trace/stacktrack/stacktrack_words.h
libtrace_a_SOURCES += src/trace/rows/rows_missing.c
libtrace_a_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS)
if HAS_JANSSON
libtrace_a_SOURCES += src/trace/rows/rows_read.c src/trace/rows/rows_read.h src/trace/rows/rows_line.c \
	src/trace/rows/rows_frames.c
endif
TRACE_LIBS = $(ZLIB_LIBS) $(ZSTD_LIBS) $(JANSSON_LIBS)

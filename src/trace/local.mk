# trace/: the model of a trace, its encodings, and reading and writing them
noinst_LIBRARIES += libtrace.a
libtrace_a_SOURCES = src/trace/event.h src/trace/writer.h src/trace/reader.h src/trace/encoding.c \
	src/trace/encoding.h \
	src/trace/encodings.c src/trace/encoding_ops.h src/trace/escape.c src/trace/escape.h \
	src/trace/writer.c src/trace/writer_state.h src/trace/rtrace.h \
	src/trace/rtrace_write.c src/trace/rtrace_write.h src/trace/rtrace_write_call.c src/trace/text.c \
	src/trace/text.h src/trace/text_write.c src/trace/text_write_call.c src/trace/text_write.h \
	src/trace/frame_text.c src/trace/frame_text.h src/trace/fd_write.c src/trace/fd_write.h \
	src/trace/packer.c src/trace/packer.h src/trace/packing.c \
	src/trace/packing.h src/trace/input.c src/trace/input.h src/trace/reader.c \
	src/trace/reader_state.c src/trace/reader_state.h src/trace/rtrace_read.c src/trace/rtrace_read.h \
	src/trace/rtrace_packet.c src/trace/text_read.c src/trace/text_read.h src/trace/text_call.c \
	src/trace/text_input.c src/trace/text_lines.c src/trace/text_parse.c src/trace/text_damage.c \
	src/trace/text_damage.h src/trace/omissions.c src/trace/omissions.h src/trace/call_site.c \
	src/trace/call_site.h src/trace/mpatrol.h src/trace/mpatrol_events.c src/trace/mpatrol_write.c \
	src/trace/mpatrol_bytes.c src/trace/mpatrol_read.c src/trace/mpatrol_read.h \
	src/trace/swap.h src/trace/swap_message.c src/trace/swap_message.h src/trace/swap_fields.c \
	src/trace/swap_fields.h \
	src/trace/note_end.c src/trace/note_end.h src/trace/note_unread.c src/trace/note_unread.h \
	src/trace/swap_value.c src/trace/swap_write.c src/trace/swap_write.h src/trace/swap_write_call.c \
	src/trace/swap_read.c src/trace/swap_read.h src/trace/swap_read_call.c \
	src/trace/swap_read_process.c src/trace/swap_dump.c src/trace/mapped_objects.c \
	src/trace/mapped_objects.h src/trace/swap_read_records.c src/trace/swap_write_message.c \
	src/trace/stack_cache.c src/trace/stack_cache.h \
	src/trace/stacktrack.c src/trace/stacktrack.h src/trace/stacktrack_write.c \
	src/trace/stacktrack_write.h src/trace/stacktrack_write_call.c src/trace/stacktrack_entries.c \
	src/trace/stacktrack_cycle.c src/trace/stacktrack_read.c src/trace/stacktrack_read.h \
	src/trace/digits.h src/trace/stacktrack_records.c src/trace/stacktrack_stacks.c \
	src/trace/stacktrack_read_call.c src/trace/stacktrack_layout.c \
	src/trace/stacktrack_layout.h src/trace/stacktrack_describe.c \
	src/trace/stacktrack_words.h
TRACE_LIBS = $(ZLIB_LIBS) $(ZSTD_LIBS)

# base/: containers, messages, checked arithmetic; contains nothing about tracing
noinst_LIBRARIES += libbase.a
libbase_a_SOURCES = src/base/background.c src/base/background.h \
	src/base/buf.c src/base/buf.h src/base/fd_message.c src/base/fd_message.h \
	src/base/glob.c src/base/glob.h src/base/hash.c src/base/hash.h \
	src/base/json.c src/base/json.h \
	src/base/leb128.h src/base/library_open.c src/base/library_open.h \
	src/base/long_work.c src/base/long_work.h \
	src/base/msg.c src/base/msg.h src/base/shell_quote.c src/base/shell_quote.h \
	src/base/standard_fds.c src/base/temporary.c src/base/title.c src/base/title.h \
	src/base/own_file.c src/base/own_file.h \
	src/base/terminal_stop.c src/base/terminal_stop.h \
	src/base/terminal_escape.c src/base/terminal_escape_add.c src/base/terminal_escape.h \
	src/base/utf8.c src/base/utf8.h \
	src/base/time_units.h src/base/timed.c src/base/timed.h src/base/worker.c src/base/worker.h \
	src/base/util.c src/base/write.c src/base/util.h

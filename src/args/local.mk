# args/: registers and memory -> the text of a call's arguments and result. Users link
# libargs.a libsymbols.a libarch.a libbase.a.
noinst_LIBRARIES += libargs.a
libargs_a_SOURCES = src/args/args.c src/args/args.h src/args/flatten.c src/args/flatten.h src/args/gather.c \
	src/args/gather.h src/args/list.c src/args/list.h src/args/out.c src/args/out.h src/args/plan.c \
	src/args/plan.h src/args/row.c src/args/row.h src/args/row_sockaddr.c src/args/row_words.c \
	src/args/showing.c \
	src/args/showing.h src/args/value.c \
	src/args/value.h src/args/value_base.c src/args/value_float.c src/args/value_pointer.c \
	src/args/value_struct.c \
	src/args/value_text.c

# args/: converts registers and memory to the text of a call's arguments and result. Programs that use it link
# libargs.a libsymbols.a libarch.a libbase.a.
noinst_LIBRARIES += libargs.a
libargs_a_SOURCES = src/args/args.c src/args/args.h src/args/flatten.c src/args/flatten.h src/args/fetch.c \
	src/args/fetch.h src/args/list.c src/args/list.h src/args/text_out.c src/args/text_out.h src/args/plan.c \
	src/args/plan.h src/args/module_params.c src/args/module_params.h src/args/module_params_sockaddr.c \
	src/args/module_params_words.c \
	src/args/formatter.c \
	src/args/formatter.h src/args/value.c \
	src/args/value.h src/args/value_base.c src/args/value_float.c src/args/value_pointer.c \
	src/args/value_struct.c \
	src/args/value_text.c

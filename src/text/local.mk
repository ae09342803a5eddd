# text/: the tracee's code: breakpoints, out-of-line copies, getting past them
noinst_LIBRARIES += libtext.a
libtext_a_SOURCES = src/text/breakpoints.c src/text/breakpoints.h src/text/follow.c src/text/pass.c \
	src/text/pass.h \
	src/text/patches.c src/text/patches.h src/text/slots.c src/text/slots.h src/text/text.c src/text/text.h

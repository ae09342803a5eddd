# The examples are built as one would by hand: with debug information, not optimised.
noinst_DATA = examples/leak
CLEANFILES += examples/leak
examplesdir = $(docdir)/examples
dist_examples_DATA = examples/leak.c examples/leak_cpp.cpp

examples/leak: examples/leak.c
	$(AM_V_CCLD)$(MKDIR_P) examples && $(CC) -g -O0 -Wall -o $@ $(srcdir)/examples/leak.c

if HAVE_CXX
noinst_DATA += examples/leak_cpp
CLEANFILES += examples/leak_cpp
endif

examples/leak_cpp: examples/leak_cpp.cpp
	$(AM_V_CXXLD)$(MKDIR_P) examples && $(CXX) -g -O0 -Wall -o $@ $(srcdir)/examples/leak_cpp.cpp

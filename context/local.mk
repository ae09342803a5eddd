# context/: the library with which programs name their contexts, and the table that the tracer reads in a program
CONTEXT_SONAME = libfunctrace-context.so.1
lib_LIBRARIES = libfunctrace-context.a
libfunctrace_context_a_SOURCES = context/context.c context/context.h context/context_table.h
# The library is built without sanitizers, because it is linked into programs that have none.
libfunctrace_context_a_CFLAGS = -std=gnu11 $(WARN_CFLAGS) -fPIC -fvisibility=hidden
contextincludedir = $(includedir)/functrace
contextinclude_HEADERS = context/context.h
pkgconfigdir = $(libdir)/pkgconfig
pkgconfig_DATA = context/functrace-context.pc
EXTRA_DIST += context/functrace-context.pc.in
noinst_DATA += context/$(CONTEXT_SONAME) context/libfunctrace-context.so
CLEANFILES += context/$(CONTEXT_SONAME) context/libfunctrace-context.so

# The shared object contains the whole archive, and exports the three functions and the table.
context/$(CONTEXT_SONAME): libfunctrace-context.a
	$(AM_V_CCLD)$(MKDIR_P) context && $(CC) $(CFLAGS) $(LDFLAGS) -shared -o $@ \
		-Wl,-soname,$(CONTEXT_SONAME) -Wl,--whole-archive libfunctrace-context.a -Wl,--no-whole-archive

context/libfunctrace-context.so: context/$(CONTEXT_SONAME)
	$(AM_V_GEN)cd context && rm -f libfunctrace-context.so && $(LN_S) $(CONTEXT_SONAME) libfunctrace-context.so

install-exec-local: context/$(CONTEXT_SONAME)
	$(MKDIR_P) "$(DESTDIR)$(libdir)"
	$(INSTALL_PROGRAM) context/$(CONTEXT_SONAME) "$(DESTDIR)$(libdir)/$(CONTEXT_SONAME)"
	cd "$(DESTDIR)$(libdir)" && rm -f libfunctrace-context.so && $(LN_S) $(CONTEXT_SONAME) libfunctrace-context.so

uninstall-local:
	rm -f "$(DESTDIR)$(libdir)/$(CONTEXT_SONAME)" "$(DESTDIR)$(libdir)/libfunctrace-context.so"

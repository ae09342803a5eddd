# uprobe/: probes in the kernel: the BPF program, its links, its ring of records, its table of rows. Programs that use
# it link $(BPF_LIBS).
noinst_LIBRARIES += libuprobe.a
libuprobe_a_SOURCES = src/uprobe/uprobes.h src/uprobe/uprobe_maps.h src/uprobe/uprobe_record.h
libuprobe_a_CPPFLAGS = $(AM_CPPFLAGS) -DHELPER_FOLDER='"$(pkglibexecdir)"'
if HAS_BPF
libuprobe_a_SOURCES += src/uprobe/uprobes.c src/uprobe/link_closer.c src/uprobe/link_closer.h \
	src/uprobe/uprobe_load.c src/uprobe/uprobe_load.h src/uprobe/uprobe_helper.c src/uprobe/uprobe_helper.h
else
libuprobe_a_SOURCES += src/uprobe/uprobes_missing.c
endif
# hot_calls.inc is the compiled hot_calls.bpf.c, so that a build needs no clang. tests/unit/hot_calls.py compares them.
EXTRA_DIST += src/uprobe/hot_calls.bpf.c src/uprobe/hot_stacks.bpf.h src/uprobe/hot_in_flight.bpf.h \
	src/uprobe/hot_rights.bpf.h src/uprobe/hot_calls.inc src/uprobe/embed.sh
# The helper for users without rights. It links only what it needs, because it has capabilities.
if HAS_BPF
pkglibexec_PROGRAMS += functrace-probes
functrace_probes_SOURCES = src/uprobe/probes_main.c src/uprobe/probes_rights.c src/uprobe/probes_rights.h \
	src/uprobe/probes_sites.c src/uprobe/probes_sites.h
functrace_probes_LDADD = libuprobe.a libmodules.a libproc.a libarch.a libbase.a $(BPF_LIBS) $(ZYDIS_LIBS)
endif

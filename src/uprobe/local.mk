# uprobe/: probes in the kernel: the BPF program, its links, its ring of records, its table of rows. Programs that use
# it link $(BPF_LIBS).
noinst_LIBRARIES += libuprobe.a
libuprobe_a_SOURCES = src/uprobe/uprobes.h src/uprobe/uprobe_record.h
if HAS_BPF
libuprobe_a_SOURCES += src/uprobe/uprobes.c src/uprobe/link_closer.c src/uprobe/link_closer.h \
	src/uprobe/uprobe_load.c src/uprobe/uprobe_load.h
else
libuprobe_a_SOURCES += src/uprobe/uprobes_missing.c
endif
# hot_calls.inc is the compiled hot_calls.bpf.c, so that a build needs no clang. tests/unit/hot_calls.py compares them.
EXTRA_DIST += src/uprobe/hot_calls.bpf.c src/uprobe/hot_stacks.bpf.h src/uprobe/hot_rights.bpf.h \
	src/uprobe/hot_calls.inc src/uprobe/embed.sh

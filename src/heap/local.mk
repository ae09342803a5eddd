# heap/: allocators' structures in a memory image, and what is reachable there
noinst_LIBRARIES += libheap.a
libheap_a_SOURCES = src/heap/arenas.c src/heap/blocks.c src/heap/caches.c src/heap/chosen.c \
	src/heap/code.c src/heap/code.h src/heap/form.h src/heap/glibc.h \
	src/heap/heap.c src/heap/heap.h src/heap/image.h \
	src/heap/inner.c src/heap/inside.c src/heap/inside.h \
	src/heap/jemalloc.c src/heap/jemalloc.h src/heap/jemalloc_caches.c src/heap/jemalloc_find.c \
	src/heap/known.c src/heap/links.c src/heap/links.h src/heap/mapped.c src/heap/mark.c src/heap/mimalloc.c \
	src/heap/mimalloc.h \
	src/heap/mimalloc_find.c \
	src/heap/musl.c src/heap/musl.h src/heap/musl_old.c src/heap/musl_old.h \
	src/heap/musl_old_bins.c src/heap/parts.h \
	src/heap/pieces.c src/heap/roots.c src/heap/stacks.c src/heap/stacks.h src/heap/used_chunks.c \
	src/heap/starts.c src/heap/starts.h \
	src/heap/walk.c src/heap/words.h

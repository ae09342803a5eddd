# heap/: reads allocators' structures in a memory image, and finds the reachable blocks
noinst_LIBRARIES += libheap.a
libheap_a_SOURCES = src/heap/glibc/arenas.c src/heap/block_table.c src/heap/glibc/tcache.c \
	src/heap/glibc/mmapped_pick.c \
	src/heap/allocator_code.c src/heap/allocator_code.h src/heap/malloc_layout.h src/heap/glibc/glibc.h \
	src/heap/heap.c src/heap/heap.h src/heap/image.h \
	src/heap/interior_heuristics.c src/heap/glibc/inside_malloc.c \
	src/heap/jemalloc/jemalloc.c src/heap/jemalloc/jemalloc.h src/heap/jemalloc/jemalloc_arenas.c \
	src/heap/jemalloc/jemalloc_find.c \
	src/heap/blocks_from_trace.c src/heap/glibc/stale_list_links.c \
	src/heap/glibc/mmapped.c \
	src/heap/mark.c src/heap/mimalloc/mimalloc.c \
	src/heap/mimalloc/mimalloc.h \
	src/heap/mimalloc/mimalloc_find.c \
	src/heap/musl/mallocng.c src/heap/musl/musl.h src/heap/musl/oldmalloc.c src/heap/musl/oldmalloc.h \
	src/heap/musl/oldmalloc_bins.c src/heap/heap_private.h src/heap/heap_reach.h \
	src/heap/glibc/noncontiguous.c src/heap/roots.c src/heap/thread_stacks.c src/heap/thread_stacks.h \
	src/heap/glibc/used_chunks.c \
	src/heap/block_starts.c src/heap/block_starts.h \
	src/heap/glibc/chunks.c src/heap/image_read.h

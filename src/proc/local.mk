# proc/: what /proc and a few system calls say of tasks and processes
noinst_LIBRARIES += libproc.a
libproc_a_SOURCES = src/proc/proc.c src/proc/proc.h src/proc/refusal.c src/proc/refusal.h \
	src/proc/process_search.c src/proc/process_search.h

# proc/: facts about tasks and processes, from /proc and a few system calls
noinst_LIBRARIES += libproc.a
libproc_a_SOURCES = src/proc/proc.c src/proc/proc.h src/proc/refusal.c src/proc/refusal.h \
	src/proc/process_search.c src/proc/process_search.h

# modules/: what is traced, one table a kind of resource
noinst_LIBRARIES += libmodules.a
libmodules_a_SOURCES = modules/file.c modules/memory.c modules/module.c modules/module.h

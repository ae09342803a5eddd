# modules/: what is traced, one table a kind of resource
noinst_LIBRARIES += libmodules.a
libmodules_a_SOURCES = modules/file.c modules/gobject.c modules/known.h modules/memory.c modules/memtransfer.c \
	modules/lookup.c modules/module.c modules/module.h \
	modules/qobject.c modules/shmposix.c modules/shmsysv.c modules/thread.c \
	modules/prototypes.h modules/prototypes_file.c modules/prototypes_process.c modules/prototypes_rows.h \
	modules/prototypes_text.c modules/words.c modules/words.h modules/words_socket.c
# What users describe, as a text or as a shared object.
libmodules_a_SOURCES += modules/check.c modules/conf.c modules/conf.h modules/conf_names.c modules/conf_param.c \
	modules/conf_parse.h modules/conf_read.c modules/conf_row.c modules/conf_scan.c modules/conf_scan.h \
	modules/conf_type.c modules/conf_value.c modules/conf_words.c modules/conf_write.c modules/conf_write.h \
	modules/conf_write_types.c modules/conf_write_types.h modules/load.c modules/load.h
# What a module of one's own is built with (examples/module-template.c).
moduleincludedir = $(includedir)/functrace
moduleinclude_HEADERS = modules/module.h

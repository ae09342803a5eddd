# modules/: the kinds of resources that functrace traces, each described in a file
noinst_LIBRARIES += libmodules.a
libmodules_a_SOURCES = modules/builtin.c modules/builtin.h modules/known.h modules/lookup.c modules/module.c \
	modules/module.h modules/row_code.c modules/row_code.h modules/row_code_file.c modules/row_code_gobject.c \
	modules/module_texts.c modules/module_texts.h modules/processors.c modules/processors.h
# The reader of descriptions, and of modules in shared objects.
libmodules_a_SOURCES += modules/check.c modules/check.h modules/conf/conf.c modules/conf/conf.h \
	modules/conf/conf_names.c \
	modules/conf/conf_param.c \
	modules/conf/conf_parse.h modules/conf/conf_read.c modules/conf/conf_row.c modules/conf/conf_lexer.c \
	modules/conf/conf_lexer.h \
	modules/conf/conf_type.c modules/conf/conf_value.c modules/conf/conf_words.c modules/load.c modules/load.h

# The descriptions become strings in functrace, which reads them in the same way as descriptions of users.
module_tables = modules/tables/constants.conf modules/tables/file.conf modules/tables/gobject.conf \
	modules/tables/memory.conf modules/tables/memtransfer.conf modules/tables/prototypes.conf \
	modules/tables/qobject.conf modules/tables/shmposix.conf modules/tables/shmsysv.conf modules/tables/thread.conf
EXTRA_DIST += modules/embed.sh $(module_tables)
CLEANFILES += modules/module_texts.inc
modules/module_texts.$(OBJEXT): modules/module_texts.inc
modules/module_texts.inc: modules/embed.sh $(module_tables)
	$(AM_V_at)$(MKDIR_P) modules
	$(AM_V_GEN)sh $(srcdir)/modules/embed.sh $(srcdir)/modules/tables > $@.tmp && mv $@.tmp $@

# The header with which users build modules (examples/module-template.c).
moduleincludedir = $(includedir)/functrace
moduleinclude_HEADERS = modules/module.h

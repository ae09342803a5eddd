# cli/: the parts of command lines that both programs use, independent of what the options do
noinst_LIBRARIES += libcli.a
libcli_a_SOURCES = src/cli/conflicts.c src/cli/conflicts.h src/cli/named_files.c src/cli/named_files.h \
	src/cli/report_options.h

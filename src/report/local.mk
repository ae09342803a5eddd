# report/: what people read of a profile
noinst_LIBRARIES += libreport.a
libreport_a_SOURCES = \
	src/report/lines.c src/report/lines.h \
	src/report/pretty.c src/report/pretty.h \
	src/report/report.c src/report/report.h src/report/report_groups.c src/report/report_parts.c \
	src/report/report_parts.h src/report/report_suppressed.c src/report/report_tables.c \
	src/report/report_tree.c \
	src/report/shorten.c src/report/shorten.h \
	src/report/source.c src/report/source.h \
	src/report/stats.c src/report/stats.h src/report/stats_report.c src/report/stats_report.h

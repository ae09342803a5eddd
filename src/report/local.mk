# report/: what people read of a profile
noinst_LIBRARIES += libreport.a
libreport_a_SOURCES = \
	src/report/shorten.c src/report/shorten.h \
	src/report/stats.c src/report/stats.h src/report/stats_report.c src/report/stats_report.h

# report/: a profile as text and as a page, for people
noinst_LIBRARIES += libreport.a
libreport_a_SOURCES = \
	src/report/terminal_lines.c src/report/terminal_lines.h \
	src/report/html/page.c src/report/html/page.h src/report/html/page_data.c src/report/html/page_data.h \
	src/report/html/page_parts.h \
	src/report/html/page_rows.c src/report/html/page_stacks.c src/report/html/page_template.c \
	src/report/html/page_template.h \
	src/report/pretty.c src/report/pretty.h src/report/process_ends.c src/report/process_ends.h \
	src/report/report.c src/report/report.h src/report/report_groups.c \
	src/report/report_estimates.c src/report/report_head.c \
	src/report/suggested_commands.c src/report/report_parts.c \
	src/report/report_parts.h src/report/report_suppressed.c src/report/report_tables.c \
	src/report/report_tree.c src/report/report_views.c \
	src/report/shorten.c src/report/shorten.h \
	src/report/source_lines.c src/report/source_lines.h \
	src/report/stats_report.c src/report/stats_report.h

# The template of the page: page.html with its style and its scripts, as an array of bytes in the program.
page_code = src/report/html/page_model.js src/report/html/page_flame.js src/report/html/page_time.js \
	src/report/html/page_table.js src/report/html/page.js src/report/html/page_input.js
page_files = src/report/html/page.html src/report/html/page.css $(page_code)
EXTRA_DIST += $(page_files)
CLEANFILES += src/report/html/page_template.inc
src/report/html/page_template.$(OBJEXT): src/report/html/page_template.inc
src/report/html/page_template.inc: $(page_files)
	$(AM_V_at)$(MKDIR_P) src/report/html
	$(AM_V_GEN){ echo '/^@CSS@$$/{'; echo 'r $(srcdir)/src/report/html/page.css'; echo 'd'; echo '}'; \
	echo '/^@JS@$$/{'; for script in $(page_code); do echo "r $(srcdir)/$$script"; done; echo 'd'; echo '}'; \
	} > $@.sed && \
	sed -f $@.sed $(srcdir)/src/report/html/page.html > $@.html && \
	od -A n -v -t x1 $@.html | sed 's/[0-9a-f][0-9a-f]/0x&,/g' > $@.tmp && \
	rm $@.sed $@.html && mv $@.tmp $@

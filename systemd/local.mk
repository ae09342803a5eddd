# functrace-watch@.service, which runs functrace --watch for a systemd service, its script, an example of its options, and
# the setting that gives it a network. functrace-watch(8) describes them.
EXTRA_DIST += systemd/functrace-watch.in systemd/functrace-watch@.service.in systemd/example.conf systemd/network.conf
CLEANFILES += systemd/functrace-watch systemd/functrace-watch@.service
if SYSTEMD
pkglibexec_SCRIPTS = systemd/functrace-watch
systemdsystemunit_DATA = systemd/functrace-watch@.service
watchdir = $(pkgdatadir)/watch
watch_DATA = systemd/example.conf systemd/network.conf
endif

# The quotes hide these names from configure.
WATCH_PATHS = $(SED) -e 's|@''bindir@|$(bindir)|g' -e 's|@''pkglibexecdir@|$(pkglibexecdir)|g'

systemd/functrace-watch: systemd/functrace-watch.in Makefile
	$(AM_V_GEN)$(MKDIR_P) systemd && $(WATCH_PATHS) $(srcdir)/systemd/functrace-watch.in >$@.new && \
		chmod 755 $@.new && mv $@.new $@

systemd/functrace-watch@.service: systemd/functrace-watch@.service.in Makefile
	$(AM_V_GEN)$(MKDIR_P) systemd && $(WATCH_PATHS) $(srcdir)/systemd/functrace-watch@.service.in >$@.new && mv $@.new $@

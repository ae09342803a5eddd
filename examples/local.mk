# The examples are built as a user would build them by hand: with debug information, and not optimised.
examples = examples/leak examples/phases examples/pool examples/prefixed
noinst_DATA += $(examples)
CLEANFILES += $(examples)
examplesdir = $(docdir)/examples
dist_examples_DATA = examples/leak.c examples/leak_cpp.cpp examples/module-template.c \
	examples/phases.c examples/pool.c examples/pool.conf examples/prefixed.c examples/prefixed.conf \
	examples/shapes.cpp examples/shapes.conf
# Files for the systems of a fleet.
fleetexamplesdir = $(examplesdir)/fleet
dist_fleetexamples_DATA =
dist_fleetexamples_DATA += examples/fleet/functrace.rules.yml examples/fleet/dashboard.json
EXAMPLE_CC = $(AM_V_CCLD)$(MKDIR_P) examples && $(CC) -g -O0 -Wall -o $@
EXAMPLE_CXX = $(AM_V_CXXLD)$(MKDIR_P) examples && $(CXX) -g -O0 -Wall -o $@

examples/leak: examples/leak.c
	$(EXAMPLE_CC) $(srcdir)/examples/leak.c

# phases is linked with the library of this build instead of an installed one.
examples/phases: examples/phases.c libfunctrace-context.a
	$(EXAMPLE_CC) -Iinclude $(srcdir)/examples/phases.c libfunctrace-context.a

examples/pool: examples/pool.c
	$(EXAMPLE_CC) $(srcdir)/examples/pool.c

examples/prefixed: examples/prefixed.c
	$(EXAMPLE_CC) $(srcdir)/examples/prefixed.c

if HAVE_CXX
noinst_DATA += examples/leak_cpp examples/shapes
CLEANFILES += examples/leak_cpp examples/shapes
endif

examples/leak_cpp: examples/leak_cpp.cpp
	$(EXAMPLE_CXX) $(srcdir)/examples/leak_cpp.cpp

examples/shapes: examples/shapes.cpp
	$(EXAMPLE_CXX) $(srcdir)/examples/shapes.cpp

# Tables, queries and made-up rows for many hosts.
fleetdir = $(examplesdir)/fleet
dist_fleet_DATA = examples/fleet/generate.py
fleet_clickhousedir = $(fleetdir)/clickhouse
dist_fleet_clickhouse_DATA = examples/fleet/clickhouse/table.sql examples/fleet/clickhouse/growing.sql \
	examples/fleet/clickhouse/release.sql examples/fleet/clickhouse/new.sql
fleet_duckdbdir = $(fleetdir)/duckdb
dist_fleet_duckdb_DATA = examples/fleet/duckdb/run.mjs examples/fleet/duckdb/table.sql \
	examples/fleet/duckdb/growing.sql examples/fleet/duckdb/release.sql examples/fleet/duckdb/new.sql

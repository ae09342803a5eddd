# Unit tests are cmocka programs (one a room, in tests/unit); scenarios trace real programs.
UNIT_LIBS = $(CMOCKA_LIBS)
UNIT_CPPFLAGS = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS)

include tests/unit/base.mk
include tests/unit/trace.mk
include tests/unit/symbols.mk
include tests/unit/unwind.mk
include tests/unit/arch.mk
include tests/unit/analysis.mk
include tests/unit/tracer.mk
include tests/unit/front.mk
include tests/targets/local.mk
include tests/scenarios/local.mk
include tests/fuzz/local.mk
